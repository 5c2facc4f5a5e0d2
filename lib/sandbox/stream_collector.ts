/** Collecting one output stream of a program: bounded, or its tail only. */
import { decodeUtf8, decodeUtf8Lossy, joinBytes, tailOf } from "../base/text.ts";

/** How a stream is collected. */
export interface CollectorOptions {
  /** Bytes the stream may have. */
  readonly maxBytes: number;
  /** Keep only the last this many characters; then there is no limit on the stream. */
  readonly retain?: number | undefined;
  /** Called with decoded text as it arrives. */
  readonly observe?: ((text: string) => void) | undefined;
  /** Called once when the stream has more than `maxBytes`; nothing is read after it. */
  readonly onOverflow: () => void;
}

/** Reads a stream from the moment it is made. */
export class StreamCollector {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #options: CollectorOptions;
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #cut = false;
  #stopped = false;
  /** Resolves at the end of the stream, at the overflow, or after `stop`; never rejects. */
  readonly done: Promise<void>;

  /** Starts reading. */
  constructor(stream: ReadableStream<Uint8Array>, options: CollectorOptions) {
    this.#reader = stream.getReader();
    this.#options = options;
    this.done = this.#read().catch(() => {}); // A pipe that breaks has said all that it will say.
  }

  async #read(): Promise<void> {
    const { observe, retain, maxBytes, onOverflow } = this.#options;
    const decoder = observe === undefined ? undefined : new TextDecoder("utf-8", { ignoreBOM: true });
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      if (retain === undefined && this.#bytes + value.length > maxBytes) {
        this.#keep(value.subarray(0, maxBytes - this.#bytes));
        this.#cut = true;
        onOverflow();
        await this.stop();
        break;
      }
      this.#keep(value);
      if (retain !== undefined) this.#dropHead(retain);
      const text = decoder?.decode(value, { stream: true });
      if (text) observe!(text);
    }
    const rest = decoder?.decode();
    if (rest) observe!(rest);
  }

  #keep(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** Lets go of leading chunks that cannot hold any of the last `retain` characters: one has at most 4 bytes. */
  #dropHead(retain: number): void {
    while (this.#chunks.length > 1 && this.#bytes - this.#chunks[0]!.length > 4 * retain) {
      this.#bytes -= this.#chunks.shift()!.length;
    }
  }

  /** Closes the pipe. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    try {
      await this.#reader.cancel();
    } catch {
      // Already closed.
    }
  }

  /** What was kept, and whether it was UTF-8. */
  text(): { text: string; valid: boolean } {
    const bytes = joinBytes(this.#chunks);
    const { retain } = this.#options;
    if (retain !== undefined) return { text: tailOf(decodeUtf8Lossy(bytes), retain), valid: true };
    const text = decodeUtf8(bytes);
    if (text !== undefined) return { text, valid: true };
    // Where the limit has cut within a character, the half of it is left out.
    const lossy = this.#cut
      ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true })
      : decodeUtf8Lossy(bytes);
    return { text: lossy, valid: false };
  }
}
