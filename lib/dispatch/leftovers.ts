/** What runs that were cut off (killed, a machine that stopped) left behind: told once, never thrown away. */
import {
  deleteBranch,
  exists,
  markWorktree,
  readMarks,
  removeWorktree,
  unsavedOf,
  type WorktreeMark,
} from "./worktree.ts";
import type { Repository } from "./repository.ts";

/**
 * Tells of each worktree whose run is gone. One with nothing in it is taken away; the others stay where they are. The
 * caller holds the repository's `worktrees` lock.
 */
export async function reportLeftovers(
  repository: Repository,
  except: string,
  warn: ((message: string) => void) | undefined,
): Promise<void> {
  for (const { gitDirectory, mark } of await readMarks(repository)) {
    if (mark.state !== "open" || mark.branch === except) continue;
    const lock = await repository.tryLock(`branch:${mark.branch}`);
    if (lock === undefined) continue;
    try {
      await settle(repository, gitDirectory, mark, warn);
    } finally {
      lock.release();
    }
  }
}

async function settle(
  repository: Repository,
  gitDirectory: string,
  mark: WorktreeMark,
  warn: ((message: string) => void) | undefined,
): Promise<void> {
  const { branch, directory, baseline, generated } = mark;
  const { files, moved } = await unsavedOf(repository, directory, branch);
  const isThere = await exists(directory);
  const head = await repository.commit(`refs/heads/${branch}`);
  if (files.length === 0 && !moved && head === baseline && await removeWorktree(repository, directory, !isThere)) {
    if (generated) await deleteBranch(repository, branch, baseline);
    return;
  }
  await markWorktree({ gitDirectory }, { ...mark, state: "kept" });
  const uncommitted = files.length === 0 ? "" : `, ${files.length} files in no commit`;
  const place = isThere ? `, in ${directory}` : "; its directory is gone";
  warn?.(`a run that was cut off left its work: branch ${branch}${uncommitted}${place}`);
}
