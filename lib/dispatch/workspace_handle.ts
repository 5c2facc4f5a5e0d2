/** The workspace that users hold, and what of it this room needs. */
import { ConfigurationError } from "../base/errors.ts";
import type { CustomAgent } from "../harness/agent.ts";
import type { SandboxProvider } from "../sandbox/lease.ts";
import type { BranchPolicy } from "./branch.ts";
import type { DispatchOptions } from "./dispatch_options.ts";
import type { WorkspaceHooks } from "./hooks.ts";
import type { DispatchResult } from "./result.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Disposal, GitWorkspace } from "./workspace.ts";

/** How a sandbox is taken on a workspace. */
export interface WorkspaceSandboxOptions {
  /** Where commands run. */
  readonly sandboxProvider: SandboxProvider;
  /** The agent of dispatches that name none. */
  readonly agent?: CustomAgent;
  /** Instead of the workspace's `hostReady` and `sandboxReady`. */
  readonly hooks?: WorkspaceHooks;
  /** Gives up opening. */
  readonly signal?: AbortSignal;
}

/** Options of a dispatch on an open workspace. */
export interface WorkspaceDispatchOptions<T = unknown> extends DispatchOptions<T> {
  /** Where commands run. */
  readonly sandboxProvider: SandboxProvider;
  /** Instead of the workspace's `hostReady` and `sandboxReady`. */
  readonly hooks?: WorkspaceHooks;
}

/** Files and a branch that agents work on, owned until it is closed; made by `openWorkspace`. */
export interface Workspace extends AsyncDisposable {
  /** The top of the user's checkout. */
  readonly repository: string;
  /** Where agents work. */
  readonly directory: string;
  /** The branch with the work; "" on a detached HEAD. */
  readonly branch: string;
  /** The branch that was checked out in the user's checkout; "" on a detached HEAD. */
  readonly baseBranch: string;
  /** The commit that the work started from; "" in a repository without one. */
  readonly baseline: string;
  /** What commands need of Git outside the directory. */
  readonly gitDirectories: readonly string[];
  /** Where the work happens, and what becomes of the commits. */
  readonly policy: BranchPolicy;
  /** Runs an agent in a sandbox of its own, and merges on success in the mode `integrate`. */
  dispatch<T = unknown>(
    options: WorkspaceDispatchOptions<T>,
  ): Promise<DispatchResult<T, Partial<WorkspaceDispatchOptions>>>;
  /** Opens a sandbox. One at a time; closing it merges nothing. */
  sandbox(options: WorkspaceSandboxOptions): Promise<Sandbox>;
  /** Merges the commits; does nothing unless the mode is `integrate`. */
  integrate(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /**
   * Gives it back. The worktree goes unless something in it is in no commit, or `preserve` says that it stays.
   *
   * @throws ConfigurationError while a sandbox is open
   */
  close(options?: { readonly preserve?: boolean }): Promise<Disposal>;
}

/** What this room knows of a workspace. */
export interface WorkspaceHandle {
  readonly git: GitWorkspace;
  /** Takes it for a sandbox; the returned function gives it back. */
  take(): () => void;
}

const handles = new WeakMap<Workspace, WorkspaceHandle>();

/** Makes a workspace known. */
export function register(workspace: Workspace, handle: WorkspaceHandle): void {
  handles.set(workspace, handle);
}

/** The handle of a workspace. */
export function handleOf(what: string, workspace: Workspace): WorkspaceHandle {
  const handle = handles.get(workspace);
  if (handle === undefined) throw new ConfigurationError(`${what}: workspace must be made by openWorkspace`);
  return handle;
}
