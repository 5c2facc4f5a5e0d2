/** A checkout of the user's, and hardened Git in it. Everything here runs on this machine, beside the sandbox. */
import { LaitError, messageOf, ProcessError } from "../base/errors.ts";
import { fileProblem } from "../base/files.ts";
import { LIMITS } from "../base/limits.ts";
import { type HeldLock, lockFile, tryLockFile } from "../base/locks.ts";
import { join, resolve } from "../deps/path.ts";
import { gitCommand, type GitReader, runGit } from "../sandbox/git.ts";
import type { CommandResult, SandboxLease } from "../sandbox/lease.ts";
import { createLocalSandboxProvider } from "../sandbox/providers/local.ts";

/** Variables that tell Git where its repository is. Set for a hook that starts lait, they are about another one. */
const PLACE_VARIABLES: readonly string[] = [
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_COMMON_DIR",
  "GIT_CONFIG",
  "GIT_CONFIG_COUNT",
  "GIT_CONFIG_PARAMETERS",
  "GIT_DIR",
  "GIT_GRAFT_FILE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_NAMESPACE",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
  "GIT_REPLACE_REF_BASE",
  "GIT_SHALLOW_FILE",
  "GIT_WORK_TREE",
];

/** How one Git command runs. */
export interface GitRun {
  /** The directory it runs in. Default: the checkout's top. */
  readonly directory?: string;
  /** Milliseconds that it may take. Default: those of the repository. */
  readonly deadlineMs?: number;
  /** Ends it; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A checkout that was found. */
export class Repository {
  /** The top of the checkout, without links. */
  readonly root: string;
  /** What all worktrees of the repository share. */
  readonly commonDirectory: string;
  /** The checkout's own Git directory. */
  readonly gitDirectory: string;
  readonly #lease: SandboxLease;
  readonly #gitMs: number;

  private constructor(lease: SandboxLease, root: string, own: string, common: string, gitMs: number) {
    this.#lease = lease;
    this.root = root;
    this.gitDirectory = own;
    this.commonDirectory = common;
    this.#gitMs = gitMs;
  }

  /**
   * Finds the checkout that a directory is in.
   *
   * @throws LaitError `workspace` when the directory is missing or in no checkout
   */
  static async open(directory: string, gitMs: number = LIMITS.gitMs): Promise<Repository> {
    let real: string;
    try {
      real = await Deno.realPath(resolve(directory));
    } catch (error) {
      throw new LaitError("workspace", `the repository ${directory} cannot be opened: ${fileProblem(error)}`, {
        cause: error,
      });
    }
    const lease = await hostLease(real);
    const words = ["--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"];
    const found = await lease.invoke({ ...gitCommand("rev-parse", words), deadlineMs: gitMs });
    if (found.status !== 0) {
      throw new LaitError("workspace", `${directory} is in no Git checkout: ${gitProblem(found)}`, {
        details: { directory },
      });
    }
    const [root = "", own = "", common = ""] = found.stdout.split("\n");
    return new Repository(await hostLease(root), root, own, common, gitMs);
  }

  /** Runs a Git command to its end, whatever that is. */
  async attempt(subcommand: string, args: readonly string[], run: GitRun = {}): Promise<CommandResult> {
    return await this.#lease.invoke({
      ...gitCommand(subcommand, args),
      directory: run.directory ?? this.root,
      deadlineMs: run.deadlineMs ?? this.#gitMs,
      ...(run.signal === undefined ? {} : { signal: run.signal }),
    });
  }

  /**
   * The standard output of a Git command, without the last line feed.
   *
   * @throws LaitError `workspace` with what Git said
   */
  async git(subcommand: string, args: readonly string[], run: GitRun = {}): Promise<string> {
    const result = await this.attempt(subcommand, args, run);
    if (result.status !== 0) {
      throw new LaitError(
        "workspace",
        `\`git ${subcommand}\` failed in ${run.directory ?? this.root}: ${gitProblem(result)}`,
      );
    }
    return result.stdout.replace(/\n$/, "");
  }

  /** Runs a reading command in a worktree of this repository; see `runGit`. */
  async read(directory: string, subcommand: GitReader, args: readonly string[]): Promise<CommandResult> {
    const lease = directory === this.root ? this.#lease : await hostLease(directory);
    return await runGit(lease, subcommand, args, { signal: AbortSignal.timeout(this.#gitMs) });
  }

  /** The commit that a name stands for; undefined when there is none. */
  async commit(name: string, run: GitRun = {}): Promise<string | undefined> {
    const { status, stdout } = await this.attempt("rev-parse", [
      "--quiet",
      "--verify",
      "--end-of-options",
      `${name}^{commit}`,
    ], run);
    return status === 0 ? stdout.trim() : undefined;
  }

  /** The branch that is checked out; undefined when HEAD is detached. */
  async branch(run: GitRun = {}): Promise<string | undefined> {
    const { status, stdout } = await this.attempt("symbolic-ref", ["--quiet", "HEAD"], run);
    return status === 0 ? stdout.trim().replace(/^refs\/heads\//, "") : undefined;
  }

  /** Takes a lock of this repository if it is free; held by this process or another, it gives undefined. */
  async tryLock(name: string): Promise<HeldLock | undefined> {
    return await tryLockFile(await this.#lockPath(name));
  }

  /** Takes a lock of this repository, waiting for it. */
  async lock(name: string, signal?: AbortSignal): Promise<HeldLock> {
    return await lockFile(await this.#lockPath(name), signal);
  }

  async #lockPath(name: string): Promise<string> {
    const folder = join(this.commonDirectory, "lait");
    try {
      await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new LaitError("workspace", `cannot create ${folder}: ${fileProblem(error)}`, { cause: error });
    }
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(name));
    return join(folder, `${new Uint8Array(digest).toHex().slice(0, 32)}.lock`);
  }
}

async function hostLease(directory: string): Promise<SandboxLease> {
  return await createLocalSandboxProvider({ withhold: PLACE_VARIABLES, inherit: "all" }).acquire({ directory });
}

/** What Git said, in one line. */
export function gitProblem({ status, stdout, stderr }: CommandResult): string {
  const said = (stderr.trim() || stdout.trim()).replace(/^(?:fatal|error): /gm, "").replaceAll("\n", "; ");
  return said || `exit status ${status}`;
}

/** Whether an error says that a command took too long. */
export function isTimeout(error: unknown): boolean {
  return error instanceof ProcessError && error.kind === "timeout" ||
    error instanceof DOMException && error.name === "TimeoutError";
}

/** Why a command could not be run to its end, for the message of another error. */
export function whyUnread(error: unknown): string {
  return isTimeout(error) ? "it took too long" : messageOf(error);
}
