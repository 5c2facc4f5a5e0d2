/** What a dispatch gives. */
import type { DispatchTurn } from "./pass.ts";
import type { DispatchUsage } from "./prices.ts";
import type { ReportOptions } from "./report.ts";
import type { Commit } from "./workspace.ts";

/** What an agent did on an open sandbox. */
export interface SandboxDispatchResult<T = unknown> {
  /** The answers of all turns, repairs included, one below the other. */
  readonly text: string;
  /** The typed answer, when `response` was given. */
  readonly value: T;
  /** Whether a marker of `until` is in the last answer, or the typed answer fits. */
  readonly completed: boolean;
  /** The marker that was found. */
  readonly completion?: string;
  /** The turns, in order. */
  readonly turns: readonly DispatchTurn[];
  /** All tokens. */
  readonly usage: DispatchUsage;
  /** The conversation of the last turn, when it is kept. */
  readonly conversation?: string;
  /** Where that conversation is kept: a path or a URL. */
  readonly transcript?: string;
  /** The branch with the commits; "" on a detached HEAD. */
  readonly branch: string;
  /** Where the agent worked. */
  readonly directory: string;
  /** The commits that came of it, the oldest first. */
  readonly commits: readonly Commit[];
  /** What the observer threw. */
  readonly observerErrors?: readonly unknown[];
  /** What happened, as it was when the dispatch ended, for people (Markdown) or programs (JSON). */
  report(options?: ReportOptions): string;
}

/** What a dispatch of its own gives. `D` are the options of another one. */
export interface DispatchResult<T = unknown, D = object> extends SandboxDispatchResult<T> {
  /** The worktree that stays, because something in it is in no commit. */
  readonly retainedDirectory?: string;
  /**
   * Another dispatch that goes on with the conversation. The options are put over those of this one, `steering`
   * excepted; the agent stays.
   *
   * @throws ConfigurationError when the conversation was not kept
   */
  resume<U = T>(options: D): Promise<DispatchResult<U, D>>;
  /** As `resume`, with a copy of the conversation, so that this one can be gone on with otherwise. */
  fork<U = T>(options: D): Promise<DispatchResult<U, D>>;
}
