/** The options of a workspace, checked. */
import { ConfigurationError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { checkInteger, checkKeys, checkText } from "../base/options.ts";
import type { SandboxProvider } from "../sandbox/lease.ts";
import { type BranchPolicy, checkBranchPolicy } from "./branch.ts";
import { checkCopies } from "./copies.ts";
import { checkGuard, type DiffGuard } from "./guard.ts";
import { checkHooks, type WorkspaceHooks } from "./hooks.ts";

/** How long the stages of a workspace may take, in milliseconds. */
export interface StageLimits {
  /** Copying files into a new worktree. Default: 600 000. */
  readonly copyMs?: number;
  /** One Git command. Default: 120 000. */
  readonly gitMs?: number;
  /** One command that reads what came out, the guard's included. Default: 60 000. */
  readonly collectMs?: number;
  /** Waiting for another merge into the repository, and merging. Default: 120 000. */
  readonly mergeMs?: number;
}

/** Options of `openWorkspace`. */
export interface WorkspaceOptions {
  /** A path in the user's Git checkout. Default: the current directory. */
  readonly repository?: string;
  /** Where the work happens. Default: the checkout itself (`current`). */
  readonly branch?: BranchPolicy;
  /**
   * Files and directories of the checkout that a new worktree gets too, though they are in no commit: `.env`,
   * `node_modules`. What is missing is left out. Not with `current`. Default: none.
   */
  readonly copies?: readonly string[];
  /** What the commits may change. Not with `current`. Default: anything. */
  readonly guard?: DiffGuard;
  /** Commands that make it ready. Default: none. */
  readonly hooks?: WorkspaceHooks;
  /** How long each stage may take. */
  readonly limits?: StageLimits;
  /** A name for people; it stands in generated branch names. Default: `dispatch`. */
  readonly label?: string;
  /** Hears what is worth knowing but is no failure. Default: nobody. */
  readonly warn?: (message: string) => void;
  /** Gives up opening. */
  readonly signal?: AbortSignal;
}

/** The names of the options of a workspace. */
export const WORKSPACE_KEYS = [
  "repository",
  "branch",
  "copies",
  "guard",
  "hooks",
  "limits",
  "label",
  "warn",
  "signal",
] as const;

/** Refuses options that are wrong, or that do not go together. */
export function checkWorkspaceOptions(what: string, options: WorkspaceOptions): void {
  const { repository, branch, copies, guard, hooks, limits, label } = options;
  if (repository !== undefined) checkText(`${what}: repository`, repository);
  if (label !== undefined) checkText(`${what}: label`, label);
  if (branch !== undefined) checkBranchPolicy(`${what}: branch`, branch);
  if (copies !== undefined) checkCopies(`${what}: copies`, copies);
  if (guard !== undefined) checkGuard(`${what}: guard`, guard);
  if (hooks !== undefined) checkHooks(`${what}: hooks`, hooks);
  stageLimits(what, limits);
}

/** Refuses what makes no sense where the agent works in the user's own checkout. */
export function checkForMode(what: string, policy: BranchPolicy, options: WorkspaceOptions): void {
  if (policy.mode !== "current") return;
  for (const option of ["guard", "copies"] as const) {
    if (options[option] === undefined) continue;
    throw new ConfigurationError(
      `${what}: ${option} needs a worktree: branch: { mode: "named", name } or { mode: "integrate" }`,
    );
  }
}

/** The limits with their defaults. */
export function stageLimits(what: string, limits: StageLimits = {}): Required<StageLimits> {
  checkKeys(`${what}: limits`, limits, ["copyMs", "gitMs", "collectMs", "mergeMs"]);
  for (const [name, value] of Object.entries(limits)) checkInteger(`${what}: limits.${name}`, value, 1);
  const { copyMs, gitMs, collectMs, mergeMs } = LIMITS;
  return { copyMs, gitMs, collectMs, mergeMs, ...limits };
}

/** Refuses what is no provider; that none is given is an error too, never the host by default. */
export function checkProvider(
  what: string,
  provider: SandboxProvider | undefined,
): asserts provider is SandboxProvider {
  if (typeof provider?.acquire === "function" && typeof provider.placement === "string") return;
  throw new ConfigurationError(
    `${what}: sandboxProvider is missing; say where commands run: createLocalSandboxProvider() for this machine without ` +
      "a wall, createBubblewrapSandboxProvider() or createContainerSandboxProvider() for one with",
  );
}

/** The policy for a provider: its own files cannot be a checkout of this machine. */
export function policyFor(what: string, branch: BranchPolicy | undefined, provider: SandboxProvider): BranchPolicy {
  const policy = branch ?? { mode: provider.placement === "remote" ? "integrate" : "current" };
  if (policy.mode === "current" && provider.placement === "remote") {
    throw new ConfigurationError(
      `${what}: a remote sandbox cannot work in the checkout itself (branch.mode "current")`,
    );
  }
  return policy;
}
