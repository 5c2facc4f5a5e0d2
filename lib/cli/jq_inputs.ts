/** The inputs of `lait jq`: values of files or of standard input, read as they are wanted. */
import { FileError } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { fileProblem } from "../base/files.ts";
import { resolve } from "../deps/path.ts";
import type { InputSource } from "../jq/jq.ts";
import { DocumentReader, JsonFault } from "../jq/values/documents.ts";
import type { Io } from "./io.ts";

/** How input is read. */
export interface InputOptions {
  /** What is made of the text. */
  readonly as: "values" | "lines" | "pieces";
  readonly maxDepth: number;
  /** Called before waiting for more: what is there to print is printed. */
  readonly beforeWait: () => void;
}

/** A source's bytes, piece by piece. */
async function* pieces(file: string | undefined, io: Io, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (file === undefined) {
    for (let bytes = await io.stdin.readSome(signal); bytes !== undefined; bytes = await io.stdin.readSome(signal)) {
      yield bytes;
    }
    return;
  }
  const path = resolve(io.directory, file);
  try {
    using opened = await Deno.open(path, { read: true });
    if ((await opened.stat()).isDirectory) throw new Deno.errors.IsADirectory();
    const buffer = new Uint8Array(256 * 1024);
    for (let count = await opened.read(buffer); count !== null; count = await opened.read(buffer)) {
      yield buffer.subarray(0, count);
      signal.throwIfAborted();
    }
  } catch (error) {
    if (signal.aborted || error instanceof FileError) throw error;
    throw new FileError(`cannot read ${path}: ${fileProblem(error)}`, { cause: error });
  }
}

/** What a source's text is made into, piece by piece. */
interface Reader {
  read(text: string): Iterable<JsonValue>;
  end(): Iterable<JsonValue>;
}

/** Every line is a text. */
class LineReader implements Reader {
  #rest = "";

  *read(text: string): Generator<JsonValue> {
    const lines = text.split("\n");
    lines[0] = this.#rest + lines[0];
    this.#rest = lines.pop()!;
    yield* lines;
  }

  *end(): Generator<JsonValue> {
    if (this.#rest !== "") yield this.#rest;
  }
}

/** The text as it comes. */
const PIECES: Reader = { read: (text) => [text], end: () => [] };

/** All inputs, one behind another. Values are taken; what is not wanted is not read. */
export class Inputs implements InputSource {
  readonly #values: AsyncGenerator<Iterator<JsonValue>>;
  readonly #options: InputOptions;
  #ready: Iterator<JsonValue> | undefined;
  #ended = false;
  #place = "";

  /** Reads the files, or standard input when there are none. */
  constructor(files: readonly string[], io: Io, signal: AbortSignal, options: InputOptions) {
    this.#options = options;
    this.#values = this.#batches(files.length === 0 ? [undefined] : files, io, signal);
  }

  /** Where the latest value stands, for messages: `data.json:3`. */
  get place(): string {
    return this.#place;
  }

  /** See `InputSource`. */
  take(): { readonly value: JsonValue } | null | undefined {
    if (this.#ended) return null;
    const next = this.#ready?.next();
    if (next === undefined || next.done === true) {
      this.#ready = undefined;
      return undefined;
    }
    return { value: next.value };
  }

  /** See `InputSource`. */
  async wait(): Promise<void> {
    this.#options.beforeWait();
    const { value, done } = await this.#values.next();
    if (done === true) this.#ended = true;
    else this.#ready = value;
  }

  /** The values, for those who take them all. */
  async *[Symbol.asyncIterator](): AsyncGenerator<JsonValue> {
    for (;;) {
      const taken = this.take();
      if (taken === null) return;
      if (taken === undefined) await this.wait();
      else yield taken.value;
    }
  }

  async *#batches(
    files: readonly (string | undefined)[],
    io: Io,
    signal: AbortSignal,
  ): AsyncGenerator<Iterator<JsonValue>> {
    for (const file of files) {
      const name = file ?? "standard input";
      // Each file has its own line numbers; a value does not go on in the next one.
      const documents = new DocumentReader(this.#options.maxDepth);
      const reader = { values: documents, lines: new LineReader(), pieces: PIECES }[this.#options.as];
      const decoder = new TextDecoder();
      for await (const bytes of pieces(file, io, signal)) {
        yield this.#placed(reader.read(decoder.decode(bytes, { stream: true })), name, documents);
      }
      const last = decoder.decode();
      if (last !== "") yield this.#placed(reader.read(last), name, documents);
      yield this.#placed(reader.end(), name, documents);
    }
  }

  *#placed(values: Iterable<JsonValue>, name: string, documents: DocumentReader): Generator<JsonValue> {
    try {
      for (const value of values) {
        this.#place = this.#options.as !== "values" ? name : `${name}:${documents.line}`;
        yield value;
      }
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      throw new FileError(`${name}: not JSON: ${error.message}`);
    }
  }
}
