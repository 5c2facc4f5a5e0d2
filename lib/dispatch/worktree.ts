/** Worktrees under `.lait/workspaces`: made, found again after a run that was cut off, taken away when nothing is lost. */
import { LaitError } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { replaceFile } from "../base/files.ts";
import { WORKING_FOLDER, workingFolder } from "../base/working_folder.ts";
import { join } from "../deps/path.ts";
import { directoryOfBranch } from "./branch.ts";
import { gitProblem, type Repository } from "./repository.ts";

/** What a worktree says of itself in its Git directory, so that another run knows whose it was. */
export interface WorktreeMark {
  /** The branch it was made for. */
  readonly branch: string;
  /** Where it is. */
  readonly directory: string;
  /** The commit that the work started from. */
  readonly baseline: string;
  /** Whether lait made the branch's name up. */
  readonly generated: boolean;
  /** `kept` once somebody has been told that it stays. */
  readonly state: "open" | "kept";
}

/** A worktree that is ready. */
export interface Worktree {
  readonly directory: string;
  /** Its own Git directory. */
  readonly gitDirectory: string;
  /** False when it was there already. */
  readonly created: boolean;
}

interface Listed {
  readonly directory: string;
  readonly branch: string | undefined;
}

const MARK = "lait.json";

/** What is in the way of removing a worktree: files that are in no commit, or a HEAD that is elsewhere. */
export interface Unsaved {
  /** Paths behind two letters of state and a space, as `git status --porcelain` writes them. */
  readonly files: readonly string[];
  /** Whether another branch than the worktree's own is checked out, or none. */
  readonly moved: boolean;
}

/**
 * The worktree of a branch: a new one, or the one that a run left behind. The caller owns the branch and holds the
 * repository's `worktrees` lock.
 *
 * @throws LaitError `conflict` when the branch is checked out elsewhere, or its directory holds something else
 */
export async function openWorktree(
  repository: Repository,
  branch: string,
  from: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Worktree> {
  const directory = join(await workspacesFolder(repository), await directoryOfBranch(branch));
  const listed = (await listWorktrees(repository)).find((one) => one.branch === branch);
  if (listed !== undefined && listed.directory !== directory) {
    throw new LaitError("conflict", `the branch ${branch} is checked out in ${listed.directory}`, {
      details: { branch, directory: listed.directory },
    });
  }
  const isThere = await exists(directory);
  if (isThere && listed === undefined) {
    throw new LaitError(
      "conflict",
      `${directory}, where the worktree of ${branch} belongs, holds something else; look at it, and remove it with ` +
        "`git worktree remove`",
      { details: { branch, directory } },
    );
  }
  if (isThere) return { directory, gitDirectory: await gitDirectoryOf(repository, directory), created: false };
  if (listed !== undefined) await repository.git("worktree", ["remove", "--force", directory]);
  try {
    await add(repository, branch, from, directory, signal);
    return { directory, gitDirectory: await gitDirectoryOf(repository, directory), created: true };
  } catch (error) {
    await discard(repository, directory);
    throw error;
  }
}

/** Where worktrees are. A link that leads out of the repository is not followed. */
async function workspacesFolder(repository: Repository): Promise<string> {
  const folder = await workingFolder(repository.root, "workspaces");
  const real = await Deno.realPath(folder);
  if (real === join(repository.root, WORKING_FOLDER, "workspaces")) return real;
  throw new LaitError("workspace", `${folder} is a link to ${real}; worktrees are made in the repository itself`);
}

async function add(
  repository: Repository,
  branch: string,
  from: string | undefined,
  directory: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const known = await repository.commit(`refs/heads/${branch}`) !== undefined;
  const words = known ? [directory, branch] : ["--no-track", "-b", branch, directory, from ?? "HEAD"];
  const made = await repository.attempt("worktree", ["add", "--quiet", ...words], { signal });
  if (made.status === 0) return;
  throw new LaitError("workspace", `the worktree ${directory} cannot be made: ${gitProblem(made)}`, {
    details: { branch, directory },
  });
}

/** Takes away what a worktree that could not be made may have left. */
async function discard(repository: Repository, directory: string): Promise<void> {
  await repository.attempt("worktree", ["remove", "--force", directory]);
  await repository.attempt("worktree", ["prune"]);
}

async function gitDirectoryOf(repository: Repository, directory: string): Promise<string> {
  return await repository.git("rev-parse", ["--path-format=absolute", "--git-dir"], { directory });
}

/** Whether something is at a path. */
export async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function listWorktrees(repository: Repository): Promise<Listed[]> {
  const text = await repository.git("worktree", ["list", "--porcelain", "-z"]);
  return text.split("\0\0").filter((entry) => entry !== "").map((entry) => {
    const fields = new Map(
      entry.split("\0").map((line) => {
        const space = line.indexOf(" ");
        return space < 0 ? [line, ""] : [line.slice(0, space), line.slice(space + 1)];
      }),
    );
    return { directory: fields.get("worktree") ?? "", branch: fields.get("branch")?.replace(/^refs\/heads\//, "") };
  });
}

/** Writes down whose a worktree is. */
export async function markWorktree({ gitDirectory }: { gitDirectory: string }, mark: WorktreeMark): Promise<void> {
  await replaceFile(join(gitDirectory, MARK), JSON.stringify(mark) + "\n");
}

/** The marks of all worktrees of a repository, with the Git directory of each. */
export async function readMarks(repository: Repository): Promise<{ gitDirectory: string; mark: WorktreeMark }[]> {
  const folder = join(repository.commonDirectory, "worktrees");
  const found: { gitDirectory: string; mark: WorktreeMark }[] = [];
  let names: string[];
  try {
    names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  } catch {
    return found;
  }
  for (const name of names) {
    const gitDirectory = join(folder, name);
    try {
      const mark: unknown = JSON.parse(await Deno.readTextFile(join(gitDirectory, MARK)));
      if (isMark(mark)) found.push({ gitDirectory, mark });
    } catch {
      // Not one of lait's, or gone meanwhile.
    }
  }
  return found;
}

/** Commands of agents can write it, too: a branch of the user's is none that lait made up. */
function isMark(value: unknown): value is WorktreeMark {
  if (!isJsonObject(value)) return false;
  const { branch, directory, baseline, generated, state } = value;
  return [branch, directory, baseline].every((text) => typeof text === "string" && text !== "") &&
    (generated === false || generated === true && (branch as string).startsWith("lait/")) &&
    (state === "open" || state === "kept");
}

/** What would be lost with a worktree. Ignored files count: nobody else has them. */
export async function unsavedOf(repository: Repository, directory: string, branch: string): Promise<Unsaved> {
  if (!await exists(directory)) return { files: [], moved: false };
  const status = await repository.read(directory, "status", [
    "--porcelain",
    "-z",
    "--ignored",
    "--untracked-files=normal",
  ]);
  if (status.status !== 0) return { files: [`(unreadable: ${gitProblem(status)})`], moved: true };
  return {
    files: status.stdout.split("\0").filter((entry) => entry !== ""),
    moved: await repository.branch({ directory }) !== branch,
  };
}

/** Takes a worktree away that holds nothing unsaved; false when Git does not want to. `force` for files in no commit. */
export async function removeWorktree(repository: Repository, directory: string, force = false): Promise<boolean> {
  const words = force ? ["remove", "--force", directory] : ["remove", directory];
  return (await repository.attempt("worktree", words)).status === 0;
}

/** Deletes a branch if it still points at a commit. */
export async function deleteBranch(repository: Repository, branch: string, at: string): Promise<boolean> {
  return (await repository.attempt("update-ref", ["-d", `refs/heads/${branch}`, at])).status === 0;
}
