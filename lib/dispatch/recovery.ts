/** What an error of a dispatch knows of the work that was done until then. */
import { LaitError } from "../base/errors.ts";
import type { DispatchTurn } from "./pass.ts";
import type { DispatchUsage } from "./prices.ts";

/** Where the work is, and what it came to. */
export interface RecoveryDetails {
  /** The branch with the commits; "" on a detached HEAD. */
  readonly branch: string;
  /** The directory with the files; `undefined` when nothing is left to look at. */
  readonly directory: string | undefined;
  /** The answers so far. */
  readonly text: string;
  /** The turns so far, the one that failed included. */
  readonly turns: readonly DispatchTurn[];
  /** All tokens so far. */
  readonly usage: DispatchUsage;
  /** The last conversation, to go on with by `continuation`. */
  readonly conversation?: string;
}

const known = new WeakMap<object, RecoveryDetails>();

/** Adds the details to an error; the innermost dispatch's stay. What is no object cannot carry any. */
export function withRecovery(error: unknown, details: RecoveryDetails): void {
  if (typeof error !== "object" || error === null || known.has(error)) return;
  known.set(error, details);
  if (error instanceof LaitError) error.recovery = { ...details };
}

/**
 * What an error that came out of `dispatch` knows of the work: the branch, the directory, the answers, the tokens.
 * Undefined for an error from before there was any work.
 *
 * @example
 * ```ts
 * import { recoveryDetails } from "./recovery.ts";
 * console.assert(recoveryDetails(new Error("no dispatch")) === undefined);
 * ```
 */
export function recoveryDetails(error: unknown): RecoveryDetails | undefined {
  return typeof error === "object" && error !== null ? known.get(error) : undefined;
}
