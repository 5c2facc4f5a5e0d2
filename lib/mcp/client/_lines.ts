/** Standard output of a server as lines: messages are kept whole, anything else passes through without being kept. */
import { LIMITS } from "../../base/limits.ts";
import { decodeUtf8Lossy, joinBytes, shorten } from "../../base/text.ts";

const LINE_END = 10;
/** Bytes of the first line of noise that are kept. */
const QUOTED = 300;
const OPENERS: readonly number[] = [0x7b, 0x5b]; // { and [
const BLANKS: readonly number[] = [0x20, 0x09, 0x0d];

/** Why reading cannot go on. */
export type LineFault = "message-too-long" | "too-much-noise";

/** Splits bytes into lines; see the module. */
export class MessageLines {
  readonly #onLine: (line: string) => void;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** Unknown until the first byte that is not blank. */
  #kind: "unknown" | "message" | "noise" = "unknown";
  #noise = 0;
  #firstNoise: string | undefined;

  /** Calls `onLine` with each line that may be a message. */
  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** The first line that was no message, cut to a few words. */
  get firstNoise(): string | undefined {
    return this.#firstNoise;
  }

  /** Takes a line that only looked like a message for noise. */
  addNoise(line: string): void {
    this.#noise += line.length;
    this.#firstNoise ??= shorten(line.trim(), QUOTED);
  }

  /** Takes the next bytes; the fault when reading cannot go on. */
  push(chunk: Uint8Array): LineFault | undefined {
    for (let from = 0; from < chunk.length;) {
      const end = chunk.indexOf(LINE_END, from);
      const to = end < 0 ? chunk.length : end;
      this.#add(chunk.subarray(from, to));
      if (this.#kind === "message" && this.#bytes > LIMITS.mcpMessageBytes) return "message-too-long";
      if (end >= 0) this.#end();
      if (this.#noise > LIMITS.mcpNoiseBytes) return "too-much-noise";
      from = to + 1;
    }
    return undefined;
  }

  #add(part: Uint8Array): void {
    if (this.#kind === "unknown") {
      const first = part.find((byte) => !BLANKS.includes(byte));
      if (first !== undefined) this.#kind = OPENERS.includes(first) ? "message" : "noise";
    }
    this.#bytes += part.length;
    if (this.#kind === "message") this.#pieces.push(part.slice());
    else if (this.#kind === "noise") {
      this.#noise += part.length;
      const kept = this.#pieces.reduce((sum, piece) => sum + piece.length, 0);
      if (this.#firstNoise === undefined && kept < QUOTED) this.#pieces.push(part.slice(0, QUOTED - kept));
      // A line that never ends has to be named, too.
      if (kept >= QUOTED) this.#keepNoise();
    }
  }

  #end(): void {
    if (this.#kind === "message") this.#onLine(decodeUtf8Lossy(joinBytes(this.#pieces)));
    else if (this.#kind === "noise") this.#keepNoise();
    this.#pieces = [];
    this.#bytes = 0;
    this.#kind = "unknown";
  }

  #keepNoise(): void {
    this.#firstNoise ??= decodeUtf8Lossy(joinBytes(this.#pieces)).trim();
    this.#pieces = [];
  }
}
