/** Where transcripts of conversations are kept; by default files under `.lait/conversations/harness`. */
import { ConfigurationError, LaitError } from "../base/errors.ts";
import { fileProblem, readTextBounded } from "../base/files.ts";
import { LIMITS } from "../base/limits.ts";
import { tryLockFile } from "../base/locks.ts";
import { checkKeys, checkText } from "../base/options.ts";
import { workingFolder } from "../base/working_folder.ts";
import { join, resolve } from "../deps/path.ts";

/** Where a conversation belongs to. */
export interface ConversationPlace {
  /** The repository on this machine; undefined for a turn that was not told one. */
  readonly repository: string | undefined;
}

/** One conversation, open for writing. */
export interface ConversationWriter {
  /** Adds whole lines, each with its line feed; resolves when they are stored. */
  append(lines: string): Promise<void>;
  /** Ends the writing, so that another may open it. May be called twice. */
  close(): Promise<void>;
}

/**
 * Keeps transcripts: texts of JSON lines, one a conversation, that only grow. Another store than the built-in one
 * implements these three.
 */
export interface ConversationStore {
  /** `harness`, if given. */
  readonly format?: string;
  /** Where the transcript of a conversation is (a path or a URL, for people); undefined when it keeps nothing there. */
  locate(id: string, place: ConversationPlace): Promise<string | undefined>;
  /**
   * Opens a conversation for writing, a new one if there is none.
   *
   * @throws LaitError `conflict` when somebody writes it already
   */
  capture(id: string, place: ConversationPlace): Promise<ConversationWriter>;
  /**
   * The transcript so far.
   *
   * @throws LaitError `session` when there is none
   */
  restore(id: string, place: ConversationPlace): Promise<string>;
}

/** Options of {@link createHarnessConversations}. */
export interface HarnessConversationsOptions {
  /** The directory of the transcripts. Default: `.lait/conversations/harness` in the repository. */
  readonly directory?: string;
}

/**
 * The built-in store: one file `<id>.jsonl` a conversation, readable by this user alone. One writer at a time, also
 * across processes; a lock ends with the process that held it.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { createHarnessConversations } from "./conversations.ts";
 * const store = createHarnessConversations();
 * console.assert(store.format === "harness");
 * ```
 */
export function createHarnessConversations(options: HarnessConversationsOptions = {}): ConversationStore {
  checkKeys("createHarnessConversations", options, ["directory"]);
  if (options.directory !== undefined) checkText("createHarnessConversations: directory", options.directory);
  const directory = options.directory === undefined ? undefined : resolve(options.directory);
  return Object.freeze({
    format: "harness",
    locate: (id: string, place: ConversationPlace) => {
      checkId(id);
      const folder = folderOf(directory, place);
      return Promise.resolve(folder === undefined ? undefined : join(folder, `${id}.jsonl`));
    },
    capture: (id: string, place: ConversationPlace) => capture(id, directory, place),
    restore: (id: string, place: ConversationPlace) => restore(id, directory, place),
  });
}

/** Refuses a store that is none. */
export function checkConversationStore(what: string, store: unknown): void {
  if (store === undefined || store === false) return;
  const { locate, capture, restore, format } = (store ?? {}) as Record<string, unknown>;
  if ([locate, capture, restore].some((member) => typeof member !== "function")) {
    throw new ConfigurationError(`${what} must be false or a store with the functions locate, capture and restore`);
  }
  if (format !== undefined && format !== "harness") {
    throw new ConfigurationError(`${what}: a store of the format ${JSON.stringify(format)} cannot keep these`);
  }
}

function folderOf(directory: string | undefined, { repository }: ConversationPlace): string | undefined {
  if (directory !== undefined) return directory;
  return repository === undefined ? undefined : join(repository, ".lait", "conversations", "harness");
}

/** An id becomes a file name, and may come from a user. */
function checkId(id: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(id)) {
    throw new LaitError("session", `${JSON.stringify(id)} is no id of a conversation`);
  }
}

async function capture(
  id: string,
  directory: string | undefined,
  { repository }: ConversationPlace,
): Promise<ConversationWriter> {
  checkId(id);
  const folder = directory ?? await workingFolder(place(id, repository), "conversations", "harness");
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${id}.jsonl`);
  const lock = await tryLockFile(join(folder, `${id}.lock`));
  if (lock === undefined) {
    throw new LaitError("conflict", `the conversation ${id} is being written by another turn; wait, or fork it`, {
      details: { conversation: id },
    });
  }
  try {
    await dropTornLine(path);
    const file = await Deno.open(path, { append: true, create: true, mode: 0o600 });
    return new FileWriter(file, path, () => lock.release());
  } catch (error) {
    lock.release();
    throw error instanceof LaitError ? error : cannot("write", path, error);
  }
}

function place(id: string, repository: string | undefined): string {
  if (repository !== undefined) return repository;
  throw new ConfigurationError(
    `the conversation ${id} has no place: give the turn a \`repository\`, or the store a \`directory\``,
  );
}

async function restore(id: string, directory: string | undefined, at: ConversationPlace): Promise<string> {
  checkId(id);
  const path = join(folderOf(directory, at) ?? place(id, undefined), `${id}.jsonl`);
  try {
    await Deno.stat(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw cannot("read", path, error);
    throw new LaitError("session", `there is no conversation ${id} (${path})`, { details: { conversation: id } });
  }
  try {
    return await readTextBounded(path, LIMITS.transcriptBytes);
  } catch (error) {
    throw cannot("read", path, error);
  }
}

/** A process that was killed while it wrote leaves part of a line: that was never said. */
async function dropTornLine(path: string): Promise<void> {
  try {
    const bytes = await Deno.readFile(path);
    const end = bytes.lastIndexOf(0x0a) + 1;
    if (end < bytes.length) await Deno.truncate(path, end);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function cannot(what: string, path: string, error: unknown): LaitError {
  return new LaitError("session", `cannot ${what} the conversation ${path}: ${fileProblem(error)}`, { cause: error });
}

class FileWriter implements ConversationWriter {
  readonly #file: Deno.FsFile;
  readonly #path: string;
  readonly #release: () => void;
  #closed = false;

  constructor(file: Deno.FsFile, path: string, release: () => void) {
    this.#file = file;
    this.#path = path;
    this.#release = release;
  }

  async append(lines: string): Promise<void> {
    const bytes = new TextEncoder().encode(lines);
    try {
      for (let at = 0; at < bytes.length;) at += await this.#file.write(bytes.subarray(at));
    } catch (error) {
      throw cannot("write", this.#path, error);
    }
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#file.close();
      this.#release();
    }
    return Promise.resolve();
  }
}
