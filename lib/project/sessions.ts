/** Conversations that go on: `.lait/sessions/<name>.jsonl`, one message a line, two lines a turn. */
import { ConfigurationError, FileError } from "../base/errors.ts";
import { fileProblem, readTextBounded } from "../base/files.ts";
import { isJsonObject } from "../base/json.ts";
import { lockFile } from "../base/locks.ts";
import { didYouMean } from "../base/nearest.ts";
import { WORKING_FOLDER, workingFolder } from "../base/working_folder.ts";
import { join } from "../deps/path.ts";

const FOLDER = "sessions";
const ENDING = ".jsonl";

/** A message of a session. */
export interface SessionMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** A session that a directory has. */
export interface SessionSummary {
  readonly name: string;
  /** Questions with their answers. */
  readonly turns: number;
}

/** The sessions of a directory. */
export class Sessions {
  readonly #directory: string;

  /** Those that are kept in `.lait` of this directory. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * The messages of a session; none when it does not exist yet.
   *
   * @throws ConfigurationError for a name that cannot be one
   * @throws FileError for a line that is no message, and for links
   */
  async load(name: string): Promise<readonly SessionMessage[]> {
    return await this.#read(await this.#path(name)) ?? [];
  }

  /**
   * Adds a turn, whole or not at all. Several processes may write to one session; each turn stays together.
   *
   * @throws FileError when it cannot be written
   */
  async append(name: string, user: string, assistant: string): Promise<void> {
    const path = await this.#path(name);
    await workingFolder(this.#directory, FOLDER);
    const messages: SessionMessage[] = [{ role: "user", content: user }, { role: "assistant", content: assistant }];
    const lock = await lockFile(path);
    try {
      using file = await Deno.open(path, { read: true, write: true });
      const { size } = await file.stat();
      const before = await endsOpen(file, size) ? "\n" : "";
      const lines = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
      await file.seek(0, Deno.SeekMode.End);
      await writeWhole(file, before + lines, size);
    } catch (error) {
      throw new FileError(`cannot write ${path}: ${fileProblem(error)}`, { cause: error });
    } finally {
      lock.release();
    }
  }

  /** Every session, sorted by name. */
  async list(): Promise<SessionSummary[]> {
    const folder = join(this.#directory, WORKING_FOLDER, FOLDER);
    await this.#refuseLinks(folder);
    const names: string[] = [];
    try {
      for await (const { name, isFile } of Deno.readDir(folder)) {
        if (isFile && name.endsWith(ENDING)) names.push(name.slice(0, -ENDING.length));
      }
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw new FileError(`cannot read ${folder}: ${fileProblem(error)}`, { cause: error });
    }
    return await Promise.all(
      names.toSorted().map(async (name) => {
        const text = await readTextBounded(join(folder, `${name}${ENDING}`));
        return { name, turns: Math.floor(text.split("\n").filter((line) => line.trim() !== "").length / 2) };
      }),
    );
  }

  /**
   * The messages of a session that must exist.
   *
   * @throws FileError when it does not
   */
  async show(name: string): Promise<readonly SessionMessage[]> {
    const messages = await this.#read(await this.#path(name));
    if (messages === undefined) throw await this.#unknown(name);
    return messages;
  }

  /**
   * Removes a session.
   *
   * @throws FileError when there is none of this name
   */
  async delete(name: string): Promise<void> {
    const path = await this.#path(name);
    try {
      await Deno.remove(path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) throw await this.#unknown(name);
      throw new FileError(`cannot delete ${path}: ${fileProblem(error)}`, { cause: error });
    }
  }

  async #unknown(name: string): Promise<FileError> {
    const names = (await this.list()).map((session) => session.name);
    const near = didYouMean(name, names);
    return new FileError(`there is no session ${name} in ${this.#directory}${near === undefined ? "" : ` (${near})`}`);
  }

  async #path(name: string): Promise<string> {
    if (!/^[A-Za-z0-9_-]+$/.test(name)) {
      throw new ConfigurationError(
        `the name of a session must be letters, digits, \`_\` or \`-\` (got ${JSON.stringify(name)})`,
      );
    }
    const path = join(this.#directory, WORKING_FOLDER, FOLDER, `${name}${ENDING}`);
    await this.#refuseLinks(path);
    return path;
  }

  /** What is read and written stays in this directory: neither the file nor the folders above it may be links. */
  async #refuseLinks(path: string): Promise<void> {
    const folders = [join(this.#directory, WORKING_FOLDER), join(this.#directory, WORKING_FOLDER, FOLDER)];
    for (const part of new Set([...folders, path])) {
      if ((await infoOf(part))?.isSymlink) {
        throw new FileError(`${part} is a symbolic link; sessions are not kept behind links`);
      }
    }
  }

  async #read(path: string): Promise<readonly SessionMessage[] | undefined> {
    if (await infoOf(path) === undefined) return undefined;
    const lines = (await readTextBounded(path)).split("\n");
    return lines.flatMap((line, index) => line.trim() === "" ? [] : [readMessage(line, `${path}:${index + 1}`)]);
  }
}

async function infoOf(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.lstat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw new FileError(`cannot read ${path}: ${fileProblem(error)}`, { cause: error });
  }
}

function readMessage(line: string, place: string): SessionMessage {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = undefined;
  }
  if (isJsonObject(value)) {
    const { role, content } = value;
    if ((role === "user" || role === "assistant") && typeof content === "string") return { role, content };
  }
  throw new FileError(
    `${place}: not a message of a session: expected {"role":"user" or "assistant","content":"…"}; repair the line, or ` +
      "delete the session",
  );
}

/** Whether the last line of a file lacks its ending. */
async function endsOpen(file: Deno.FsFile, size: number): Promise<boolean> {
  if (size === 0) return false;
  const last = new Uint8Array(1);
  await file.seek(size - 1, Deno.SeekMode.Start);
  await file.read(last);
  return last[0] !== 10;
}

/** Writes all of a text at the end, or leaves the file as long as it was. */
async function writeWhole(file: Deno.FsFile, text: string, size: number): Promise<void> {
  try {
    let bytes = new TextEncoder().encode(text);
    while (bytes.length > 0) bytes = bytes.subarray(await file.write(bytes));
  } catch (error) {
    await file.truncate(size).catch(() => {});
    throw error;
  }
}
