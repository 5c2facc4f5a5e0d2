/** Merging a branch of lait's into the user's: one at a time, the very commit that was looked at, or not at all. */
import { LaitError } from "../base/errors.ts";
import { anySignal, throwIfAborted } from "../base/signals.ts";
import { type DiffGuard, enforceGuard } from "./guard.ts";
import { gitProblem, isTimeout, type Repository } from "./repository.ts";
import type { StageLimits } from "./workspace_options.ts";

/** What is to be merged. */
export interface Integration {
  readonly repository: Repository;
  /** The branch with the commits. */
  readonly branch: string;
  /** The branch that was checked out in the user's checkout at the start. */
  readonly baseBranch: string;
  readonly guard: DiffGuard | undefined;
  readonly limits: Required<StageLimits>;
  /** The repository's settings that name programs, as they were at the start. */
  readonly settings: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * Merges, and gives the commit that was merged.
 *
 * @throws LaitError `conflict` when the branches conflict, the checkout is on another branch by now, or another merge
 *   takes too long; `guard` when the guard refuses
 */
export async function integrate(integration: Integration): Promise<string> {
  const { repository, limits, branch, signal } = integration;
  const waiting = AbortSignal.timeout(limits.mergeMs);
  const lock = await repository.lock("merge", anySignal(waiting, signal))
    .catch((error) => {
      throwIfAborted(signal);
      if (!waiting.aborted) throw error;
      throw conflict(integration, `another merge into this repository has gone on for ${limits.mergeMs} ms`);
    });
  try {
    const head = await repository.commit(`refs/heads/${branch}`);
    if (head === undefined) throw conflict(integration, `the branch ${branch} is gone`);
    await checkHost(integration);
    await guarded(integration, head);
    // From here on the merge is carried to its end: half of one helps nobody.
    throwIfAborted(signal);
    await merge(integration, head);
    return head;
  } finally {
    lock.release();
  }
}

async function checkHost(integration: Integration): Promise<void> {
  const { repository, baseBranch, settings } = integration;
  const now = await repository.branch();
  if (now !== baseBranch) {
    const where = now === undefined ? "a detached HEAD" : `the branch ${now}`;
    throw conflict(
      integration,
      `the checkout ${repository.root} is on ${where} by now; the work started on ${baseBranch}`,
    );
  }
  if (await programSettings(repository) !== settings) {
    throw new LaitError(
      "workspace",
      "the repository's configuration names other filters, ways to merge or another work tree than at the start; " +
        `the branch ${integration.branch} was not merged, because that would run them. Look at it, and merge it yourself`,
      { details: { branch: integration.branch } },
    );
  }
}

/** What the repository's own configuration makes a merge run. */
export async function programSettings(repository: Repository): Promise<string> {
  const { stdout } = await repository.attempt("config", [
    "--show-scope",
    "-z",
    "--get-regexp",
    String.raw`^(filter\..*|merge\..*\.driver|merge\..*\.recursive|branch\..*\.mergeoptions|pull\..*|core\.worktree)$`,
  ]);
  const fields = stdout.split("\0");
  return fields.flatMap((field, index) =>
    index % 2 === 1 && ["local", "worktree"].includes(fields[index - 1]!) ? [field] : []
  ).join("\0");
}

async function guarded({ repository, guard, limits, baseBranch }: Integration, head: string): Promise<void> {
  if (guard === undefined) return;
  const deadlineMs = limits.collectMs;
  const bases = (await repository.git("merge-base", ["--all", `refs/heads/${baseBranch}`, head], { deadlineMs })
    .catch(() => "")).split("\n").filter((line) => line !== "");
  const [base] = bases;
  if (base === undefined || bases.length > 1) {
    throw new LaitError(
      "guard",
      `the diff guard needs one common commit of ${baseBranch} and ${head}, and found ${bases.length}`,
      {
        details: { violations: [], bases, head },
      },
    );
  }
  await enforceGuard(repository, guard, base, head, deadlineMs);
}

async function merge(integration: Integration, head: string): Promise<void> {
  const { repository, branch, limits } = integration;
  const words = ["--no-edit", "--no-gpg-sign", "--no-verify-signatures", "--no-autostash", "--no-squash", "--commit"];
  let problem: string;
  try {
    const result = await repository.attempt("merge", [...words, "-m", `Merge branch '${branch}'`, head], {
      deadlineMs: limits.mergeMs,
    });
    if (result.status === 0) return;
    problem = gitProblem(result);
  } catch (error) {
    if (!isTimeout(error)) throw error;
    problem = `the merge took longer than ${limits.mergeMs} ms`;
  }
  if (await repository.commit("MERGE_HEAD") === head) await repository.attempt("merge", ["--abort"]);
  throw conflict(integration, problem);
}

function conflict({ branch, baseBranch }: Integration, why: string): LaitError {
  return new LaitError("conflict", `${branch} was not merged into ${baseBranch}: ${why}`, {
    details: { branch, baseBranch },
  });
}
