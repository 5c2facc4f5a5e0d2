/** Where an answer goes: standard output, or a file that is there only when it is whole. */
import { FileError } from "../base/errors.ts";
import { fileProblem, replaceFile } from "../base/files.ts";
import { dirname, resolve } from "../deps/path.ts";
import type { Io } from "./io.ts";

/** A place for an answer. */
export interface AnswerSink {
  /** Whether it is standard output. */
  readonly toStdout: boolean;
  /** Writes a piece of a streamed answer. */
  write(text: string): void;
  /** Writes a whole answer. */
  writeWhole(text: string): Promise<void>;
  /** Waits until everything is written. */
  finish(): Promise<void>;
}

/**
 * The sink for `--output`: `-` or nothing is standard output.
 *
 * @throws FileError for a path that cannot become a file: the answer would be lost once it has been paid for
 */
export async function answerSink(io: Io, output: string | undefined): Promise<AnswerSink> {
  if (output === undefined || output === "-") {
    return {
      toStdout: true,
      write: (text) => io.stdout.write(text),
      writeWhole: (text) => Promise.resolve(io.stdout.write(text)),
      finish: () => io.stdout.flush(),
    };
  }
  const path = resolve(io.directory, output);
  if (await isDirectory(path)) throw new FileError(`cannot write ${path}: it is a directory`);
  if (await isDirectory(dirname(path)) === false) {
    throw new FileError(`cannot write ${path}: its directory does not exist`);
  }
  return new FileSink(path);
}

/** Undefined when lait may not look: then the writing itself will tell. */
async function isDirectory(path: string): Promise<boolean | undefined> {
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? false : undefined;
  }
}

class FileSink implements AnswerSink {
  readonly toStdout = false;
  readonly #path: string;
  #file: Deno.FsFile | undefined;
  #queue: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** The first piece creates or empties the file: by then the stream is open. */
  write(text: string): void {
    this.#queue = this.#queue.then(() => this.#append(text));
    this.#queue.catch(() => {}); // `finish` tells.
  }

  async writeWhole(text: string): Promise<void> {
    await replaceFile(this.#path, text);
  }

  async finish(): Promise<void> {
    try {
      await this.#queue;
    } finally {
      this.#file?.close();
      this.#file = undefined;
    }
  }

  async #append(text: string): Promise<void> {
    try {
      this.#file ??= await Deno.open(this.#path, { write: true, create: true, truncate: true });
      let bytes = new TextEncoder().encode(text);
      while (bytes.length > 0) bytes = bytes.subarray(await this.#file.write(bytes));
    } catch (error) {
      throw new FileError(`cannot write ${this.#path}: ${fileProblem(error)}`, { cause: error });
    }
  }
}
