/** The streams and surroundings of a command, so that a command can be run with others than the process's. */
import { type EnvironmentReader, readEnvironment } from "../base/environment.ts";
import { ConfigurationError, FileError } from "../base/errors.ts";
import { fileProblem } from "../base/files.ts";
import { decodeUtf8, decodeUtf8Lossy, joinBytes } from "../base/text.ts";
import { untilAborted } from "../base/signals.ts";

/** Standard output: results only. */
export interface ResultStream {
  readonly isTerminal: boolean;
  /** Queues text; what is queued is written in order. */
  write(text: string): void;
  /**
   * Resolves when everything queued has been written, or nobody reads any more.
   *
   * @throws FileError when it could not be written for any other reason, such as a full disk
   */
  flush(): Promise<void>;
  /** Called once when nothing more can be written: with the failure, or without one when nobody reads any more. */
  onClosed(listener: (failure?: FileError) => void): void;
}

/** Standard error: everything that is no result. Written at once. */
export interface MessageStream {
  readonly isTerminal: boolean;
  write(text: string): void;
}

/** Standard input. */
export interface InputStream {
  readonly isTerminal: boolean;
  /** Everything up to the end, as text; `heard` is called with each piece that comes. */
  readAll(signal: AbortSignal, heard?: () => void): Promise<string>;
  /** One line without its ending; undefined at the end of the input. */
  readLine(signal: AbortSignal): Promise<string | undefined>;
  /** The bytes that come next, as soon as there are any; undefined at the end of the input. */
  readSome(signal: AbortSignal): Promise<Uint8Array | undefined>;
}

/** What surrounds a command. */
export interface Io {
  readonly stdout: ResultStream;
  readonly stderr: MessageStream;
  readonly stdin: InputStream;
  readonly environment: EnvironmentReader;
  /** The current directory, absolute. */
  readonly directory: string;
}

/** The process's own streams and surroundings. */
export function systemIo(): Io {
  return {
    stdout: new QueuedOutput(Deno.stdout, Deno.stdout.isTerminal()),
    stderr: { isTerminal: Deno.stderr.isTerminal(), write: writeMessage },
    stdin: new BufferedInput(Deno.stdin, Deno.stdin.isTerminal()),
    environment: readEnvironment,
    directory: Deno.cwd(),
  };
}

function writeMessage(text: string): void {
  let bytes = new TextEncoder().encode(text);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(Deno.stderr.writeSync(bytes));
  } catch {
    // Nobody reads messages: there is nobody to tell.
  }
}

/** What results are written to. */
export interface ResultWriter {
  write(bytes: Uint8Array): Promise<number>;
  writeSync(bytes: Uint8Array): number;
}

/**
 * Writes in order and in full, however slow the reader is. To a terminal it writes at once: results stand in order with
 * the messages there.
 */
export class QueuedOutput implements ResultStream {
  readonly isTerminal: boolean;
  readonly #writer: ResultWriter;
  readonly #listeners: ((failure?: FileError) => void)[] = [];
  #queue: Promise<void> = Promise.resolve();
  #closed = false;
  #failure: FileError | undefined;

  /** Writes to `writer`. */
  constructor(writer: ResultWriter, isTerminal: boolean) {
    this.#writer = writer;
    this.isTerminal = isTerminal;
  }

  /** Queues text. */
  write(text: string): void {
    if (text === "") return;
    if (this.isTerminal) this.#writeNow(text);
    else this.#queue = this.#queue.then(() => this.#writeQueued(text));
  }

  /** Waits for the queue. */
  async flush(): Promise<void> {
    await this.#queue;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** See the interface. */
  onClosed(listener: (failure?: FileError) => void): void {
    this.#listeners.push(listener);
  }

  #writeNow(text: string): void {
    if (this.#closed) return;
    let bytes = new TextEncoder().encode(text);
    try {
      while (bytes.length > 0) bytes = bytes.subarray(this.#writer.writeSync(bytes));
    } catch (error) {
      this.#close(error);
    }
  }

  async #writeQueued(text: string): Promise<void> {
    if (this.#closed) return;
    let bytes = new TextEncoder().encode(text);
    try {
      while (bytes.length > 0) bytes = bytes.subarray(await this.#writer.write(bytes));
    } catch (error) {
      this.#close(error);
    }
  }

  #close(error: unknown): void {
    this.#closed = true;
    // That nobody reads any more is no failure: `lait … | head` has got what it wanted.
    if (!(error instanceof Deno.errors.BrokenPipe)) {
      this.#failure = new FileError(`cannot write to standard output: ${fileProblem(error)}`, { cause: error });
    }
    for (const listener of this.#listeners) listener(this.#failure);
  }
}

/** Reads text and lines from one source; what a line leaves over is kept for the next. */
export class BufferedInput implements InputStream {
  readonly isTerminal: boolean;
  readonly #reader: { read(buffer: Uint8Array): Promise<number | null> };
  #buffered: Uint8Array = new Uint8Array();

  /** Reads from `reader`. */
  constructor(reader: { read(buffer: Uint8Array): Promise<number | null> }, isTerminal: boolean) {
    this.#reader = reader;
    this.isTerminal = isTerminal;
  }

  /** Reads to the end. */
  async readAll(signal: AbortSignal, heard: () => void = () => {}): Promise<string> {
    const chunks = [this.#buffered];
    for (let chunk = await this.#read(signal); chunk !== undefined; chunk = await this.#read(signal)) {
      heard();
      chunks.push(chunk);
    }
    const text = decodeUtf8(joinBytes(chunks));
    this.#buffered = new Uint8Array();
    if (text === undefined) throw new ConfigurationError("standard input is not UTF-8 text");
    return text.replace(/^\ufeff/, ""); // A byte order mark is no part of what was said.
  }

  /** Reads a line. */
  async readLine(signal: AbortSignal): Promise<string | undefined> {
    for (;;) {
      const end = this.#buffered.indexOf(10);
      if (end >= 0) return this.#take(end, end + 1);
      const chunk = await this.#read(signal);
      if (chunk !== undefined) this.#buffered = joinBytes([this.#buffered, chunk]);
      else return this.#buffered.length === 0 ? undefined : this.#take(this.#buffered.length, this.#buffered.length);
    }
  }

  /** Reads what is there. */
  readSome(signal: AbortSignal): Promise<Uint8Array | undefined> {
    if (this.#buffered.length === 0) return this.#read(signal);
    const buffered = this.#buffered;
    this.#buffered = new Uint8Array();
    return Promise.resolve(buffered);
  }

  #take(end: number, next: number): string {
    const line = decodeUtf8Lossy(this.#buffered.subarray(0, end)).replace(/\r$/, "");
    this.#buffered = this.#buffered.subarray(next);
    return line;
  }

  async #read(signal: AbortSignal): Promise<Uint8Array | undefined> {
    const chunk = new Uint8Array(64 * 1024);
    const reading = this.#reader.read(chunk).catch((error) => {
      throw new FileError(`cannot read standard input: ${fileProblem(error)}`, { cause: error });
    });
    const count = await untilAborted(reading, signal);
    return count === null ? undefined : chunk.subarray(0, count);
  }
}
