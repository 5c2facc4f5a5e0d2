/** A workspace: the files and the branch that an agent works on, owned by one program at a time. */
import { ConfigurationError, LaitError } from "../base/errors.ts";
import type { HeldLock } from "../base/locks.ts";
import { checkKeys } from "../base/options.ts";
import { throwIfAborted } from "../base/signals.ts";
import { createLocalSandboxProvider } from "../sandbox/providers/local.ts";
import { type BranchPolicy, generatedBranch } from "./branch.ts";
import { copyInto, unchangedCopies } from "./copies.ts";
import { enforceGuard } from "./guard.ts";
import { runInOrder } from "./hooks.ts";
import { integrate, programSettings } from "./integrate.ts";
import { reportLeftovers } from "./leftovers.ts";
import { Repository } from "./repository.ts";
import {
  checkForMode,
  checkWorkspaceOptions,
  type StageLimits,
  stageLimits,
  WORKSPACE_KEYS,
  type WorkspaceOptions,
} from "./workspace_options.ts";
import {
  deleteBranch,
  exists,
  markWorktree,
  openWorktree,
  removeWorktree,
  unsavedOf,
  type Worktree,
} from "./worktree.ts";

/** A commit that came of the work. */
export interface Commit {
  /** Its id, in full. */
  readonly oid: string;
  /** The first line of its message. */
  readonly subject: string;
}

/** What closing left. */
export interface Disposal {
  /** The worktree that stays, because something in it is in no commit, or work in it failed. */
  readonly retainedDirectory?: string;
}

/** What is fixed when a workspace opens. */
interface Opening {
  readonly repository: Repository;
  readonly policy: BranchPolicy;
  readonly options: WorkspaceOptions;
  readonly limits: Required<StageLimits>;
  readonly locks: readonly HeldLock[];
  readonly branch: string;
  readonly baseBranch: string;
  readonly baseline: string;
  readonly worktree: Worktree | undefined;
  readonly settings: string;
}

/** An open workspace, for the rest of this room; users have `Workspace`. */
export class GitWorkspace {
  /** What it was opened with. */
  readonly options: WorkspaceOptions;
  /** Where the work happens. */
  readonly policy: BranchPolicy;
  /** The top of the user's checkout. */
  readonly repository: string;
  /** Where the agent works. */
  readonly directory: string;
  /** The branch with the work; "" when the checkout's HEAD is detached. */
  readonly branch: string;
  /** The branch that was checked out in the user's checkout; "" when its HEAD was detached. */
  readonly baseBranch: string;
  /** The commit that the work started from; "" in a repository without one. */
  readonly baseline: string;
  /** What commands need of Git outside the directory. */
  readonly gitDirectories: readonly string[];
  readonly #opening: Opening;
  #integrated: string | undefined;
  /** Whether the guard refused the commits: somebody has to look at them. */
  #refused = false;
  #closing: Promise<Disposal> | undefined;

  private constructor(opening: Opening) {
    const { repository, worktree, policy, options } = opening;
    this.#opening = opening;
    this.options = options;
    this.policy = policy;
    this.repository = repository.root;
    this.directory = worktree?.directory ?? repository.root;
    this.branch = opening.branch;
    this.baseBranch = opening.baseBranch;
    this.baseline = opening.baseline;
    this.gitDirectories = Object.freeze(gitDirectoriesOf(repository, worktree));
  }

  /** Opens one; see `openWorkspace`. */
  static async open(what: string, options: WorkspaceOptions, policy: BranchPolicy): Promise<GitWorkspace> {
    checkWorkspaceOptions(what, options);
    checkForMode(what, policy, options);
    const limits = stageLimits(what, options.limits);
    throwIfAborted(options.signal);
    const repository = await Repository.open(options.repository ?? ".", limits.gitMs);
    const locks: HeldLock[] = [];
    let made: GitWorkspace | undefined;
    try {
      const opening = await begin(repository, policy, options, limits, locks);
      made = new GitWorkspace(opening);
      await made.#prepare();
      return made;
    } catch (error) {
      // Nobody has worked in it: what is clean goes.
      await made?.close({ discard: true }).catch(() => {});
      for (const lock of locks) lock.release();
      throw error;
    }
  }

  async #prepare(): Promise<void> {
    const { worktree, options, limits, repository } = this.#opening;
    const { copies = [], hooks = {}, signal } = options;
    if (!worktree?.created) return;
    await copyInto(repository.root, worktree.directory, copies, limits.copyMs, signal);
    if (hooks.workspaceReady === undefined) return;
    const lease = await createLocalSandboxProvider({ inherit: "all" }).acquire({ directory: worktree.directory });
    try {
      await runInOrder("workspaceReady", hooks.workspaceReady, lease, signal);
    } finally {
      await lease.release();
    }
  }

  /** The commit that the branch is at now, whatever is checked out in its worktree; "" when there is none. */
  async head(): Promise<string> {
    return await this.#opening.repository.commit(this.#ref) ?? "";
  }

  get #ref(): string {
    return this.#opening.worktree === undefined ? "HEAD" : `refs/heads/${this.branch}`;
  }

  /** The commits since the opening, or since another commit, the oldest first. */
  async commits(since: string = this.baseline): Promise<Commit[]> {
    const { repository, limits } = this.#opening;
    const head = await this.head();
    if (head === since || head === "") return [];
    const range = since === "" ? head : `${since}..${head}`;
    const text = await repository.git("log", ["--reverse", "-z", "--format=%H %s", range, "--"], {
      deadlineMs: limits.collectMs,
    });
    return text.split("\0").filter((line) => line !== "").map((line) => ({
      oid: line.slice(0, line.indexOf(" ")),
      subject: line.slice(line.indexOf(" ") + 1),
    }));
  }

  /** The repository, for reading diffs. */
  get git(): Repository {
    return this.#opening.repository;
  }

  /** Holds the commits of a named branch against the guard; those of `integrate` are looked at when they are merged. */
  async guard(): Promise<void> {
    const { repository, options, limits } = this.#opening;
    if (options.guard === undefined || this.policy.mode !== "named") return;
    const { guard } = options;
    const head = await this.head() || this.baseline;
    await this.#orKeep(() => enforceGuard(repository, guard, this.baseline, head, limits.collectMs));
  }

  async #orKeep<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.#refused ||= error instanceof LaitError && error.code === "guard";
      throw error;
    }
  }

  /** Merges the work into the user's branch. Nothing to do unless the mode is `integrate`. */
  async integrate(signal: AbortSignal | undefined): Promise<void> {
    if (this.policy.mode !== "integrate") return;
    const { repository, options, limits, branch, baseBranch, settings } = this.#opening;
    const { guard } = options;
    this.#integrated = await this.#orKeep(() =>
      integrate({ repository, branch, baseBranch, guard, limits, settings, signal })
    );
  }

  /**
   * Gives it back; a second call gives the first one's result. `discard`: nobody has worked in it, so that files in it
   * are those of copies and hooks.
   */
  close(how: { readonly preserve?: boolean; readonly discard?: boolean }): Promise<Disposal> {
    this.#closing ??= this.#close(how);
    return this.#closing;
  }

  async #close({ preserve = false, discard = false }: { preserve?: boolean; discard?: boolean }): Promise<Disposal> {
    const { worktree, locks } = this.#opening;
    try {
      if (worktree === undefined) return {};
      const force = discard && worktree.created && await this.head() === this.baseline;
      return await this.#dispose(worktree, preserve || this.#refused, force);
    } finally {
      for (const lock of locks) lock.release();
    }
  }

  async #dispose(worktree: Worktree, preserve: boolean, force: boolean): Promise<Disposal> {
    const { repository, policy, branch, baseline, options } = this.#opening;
    const { directory } = worktree;
    const generated = policy.mode === "integrate";
    const keep = async () => {
      await markWorktree(worktree, { branch, directory, baseline, generated, state: "kept" }).catch(() => {});
      return { retainedDirectory: directory };
    };
    if (preserve) return await keep();
    const { files, moved } = await unsavedOf(repository, directory, branch);
    const copied = await unchangedCopies(repository.root, directory, options.copies ?? [], files);
    if (!force && (files.length > copied || moved)) {
      options.warn?.(whyKept(directory, branch, files, moved));
      return await keep();
    }
    const lock = await repository.lock("worktrees");
    try {
      if (!await removeWorktree(repository, directory, force || copied > 0 || !await exists(directory))) {
        return await keep();
      }
      // A branch with commits that are nowhere else stays.
      if (generated) await deleteBranch(repository, branch, this.#integrated ?? baseline);
      return {};
    } finally {
      lock.release();
    }
  }
}

function whyKept(directory: string, branch: string, files: readonly string[], moved: boolean): string {
  if (moved) return `the worktree ${directory} stays: ${branch} is not checked out in it any more`;
  const more = files.length > 5 ? ` and ${files.length - 5} more` : "";
  const names = files.slice(0, 5).map((entry) => entry.slice(3)).join(", ");
  return `the worktree ${directory} stays, because these are in no commit: ${names}${more}`;
}

function gitDirectoriesOf(repository: Repository, worktree: Worktree | undefined): string[] {
  const own = worktree?.gitDirectory ?? repository.gitDirectory;
  const outside = [...new Set([own, repository.commonDirectory])];
  const directory = worktree?.directory ?? repository.root;
  return outside.filter((path) => path !== directory && !path.startsWith(`${directory}/`));
}

/** Takes what the policy needs: locks, which go into `locks` at once, and a worktree. */
async function begin(
  repository: Repository,
  policy: BranchPolicy,
  options: WorkspaceOptions,
  limits: Required<StageLimits>,
  locks: HeldLock[],
): Promise<Opening> {
  const own = async (name: string, what: string) => {
    const lock = await repository.tryLock(name);
    if (lock === undefined) {
      throw new LaitError("conflict", `${what} is in use by another dispatch`, {
        details: { repository: repository.root },
      });
    }
    locks.push(lock);
  };
  const [baseBranch = "", head = ""] = await Promise.all([repository.branch(), repository.commit("HEAD")]);
  const settings = await programSettings(repository);
  const common = { repository, policy, options, limits, locks, baseBranch, settings };
  if (policy.mode === "current") {
    await own(`checkout:${repository.gitDirectory}`, `the checkout ${repository.root}`);
    if (baseBranch !== "") await own(`branch:${baseBranch}`, `the branch ${baseBranch}`);
    return { ...common, branch: baseBranch, baseline: head, worktree: undefined };
  }
  if (policy.mode === "integrate" && baseBranch === "") {
    throw new ConfigurationError(
      `the checkout ${repository.root} is on a detached HEAD, so there is no branch to merge into; check one out, or ` +
        'use branch: { mode: "named", name }',
    );
  }
  const from = policy.from ?? "HEAD";
  if (await repository.commit(from) === undefined) {
    throw head === "" && policy.from === undefined
      ? new LaitError("workspace", `the repository ${repository.root} has no commit yet; a worktree needs one`)
      : new ConfigurationError(`branch.from: ${from} is no commit of ${repository.root}`);
  }
  const branch = policy.mode === "named" ? policy.name : generatedBranch(options.label);
  const format = await repository.attempt("check-ref-format", [`refs/heads/${branch}`]);
  if (format.status !== 0) throw new ConfigurationError(`branch.name: ${JSON.stringify(branch)} cannot name a branch`);
  if (branch === baseBranch) {
    throw new LaitError("conflict", `the branch ${branch} is checked out in ${repository.root}`, {
      details: { branch },
    });
  }
  await own(`branch:${branch}`, `the branch ${branch}`);
  const worktree = await ownWorktree(repository, policy, branch, options);
  const start = await repository.commit("HEAD", { directory: worktree.directory }) ?? "";
  const mark = { branch, directory: worktree.directory, baseline: start, generated: policy.mode === "integrate" };
  await markWorktree(worktree, { ...mark, state: "open" });
  return { ...common, branch, baseline: start, worktree };
}

async function ownWorktree(
  repository: Repository,
  policy: BranchPolicy & { from?: string },
  branch: string,
  { warn, signal }: WorkspaceOptions,
): Promise<Worktree> {
  // Git adds to its list of worktrees in several steps; one program at a time.
  const lock = await repository.lock("worktrees", signal);
  try {
    await reportLeftovers(repository, branch, warn);
    const worktree = await openWorktree(repository, branch, policy.from, signal);
    if (!worktree.created) {
      warn?.(
        `the worktree ${worktree.directory} of an earlier run on ${branch} was there still; the work goes on in it`,
      );
    }
    return worktree;
  } finally {
    lock.release();
  }
}

/** Opens a workspace of the options alone. */
export async function openGitWorkspace(options: WorkspaceOptions): Promise<GitWorkspace> {
  checkKeys("openWorkspace", options, WORKSPACE_KEYS);
  return await GitWorkspace.open("openWorkspace", options, options.branch ?? { mode: "current" });
}
