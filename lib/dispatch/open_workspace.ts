/** `openWorkspace`: files and a branch for several dispatches. */
import { ConfigurationError } from "../base/errors.ts";
import { checkKeys } from "../base/options.ts";
import { continued, run } from "./dispatch.ts";
import { DISPATCH_KEYS, dispatchSettings } from "./dispatch_options.ts";
import { checkHooks } from "./hooks.ts";
import { sandboxOn } from "./sandbox.ts";
import type { DispatchResult } from "./result.ts";
import type { Disposal, GitWorkspace } from "./workspace.ts";
import { openGitWorkspace } from "./workspace.ts";
import {
  register,
  type Workspace,
  type WorkspaceDispatchOptions,
  type WorkspaceSandboxOptions,
} from "./workspace_handle.ts";
import { checkProvider, policyFor, type WorkspaceOptions } from "./workspace_options.ts";

/**
 * Opens a workspace: the checkout itself, or a worktree on a branch of its own. It is yours alone, also among other
 * programs, until it is closed.
 *
 * @throws ConfigurationError for wrong options; LaitError `workspace` when there is no repository, `conflict` when the
 *   branch is in use or checked out, `process` when a hook fails
 *
 * @example
 * ```ts
 * import { createLocalSandboxProvider, openWorkspace } from "../../mod.ts";
 * import { sampleRepository } from "../../fixtures/examples/sample.ts";
 * const repository = await sampleRepository("sample", [{ "a.txt": "one\n" }]);
 * const workspace = await openWorkspace({ repository, branch: { mode: "named", name: "agents/fix" } });
 * const sandbox = await workspace.sandbox({ sandboxProvider: createLocalSandboxProvider() });
 * const { stdout } = await sandbox.command({ executable: "git", arguments: ["branch", "--show-current"] });
 * console.assert(stdout === "agents/fix\n");
 * await sandbox.close();
 * await workspace.close();
 * await Deno.remove(repository, { recursive: true });
 * ```
 */
export async function openWorkspace(options: WorkspaceOptions = {}): Promise<Workspace> {
  return new OpenWorkspace(await openGitWorkspace(options));
}

class OpenWorkspace implements Workspace {
  readonly repository: string;
  readonly directory: string;
  readonly branch: string;
  readonly baseBranch: string;
  readonly baseline: string;
  readonly gitDirectories: readonly string[];
  readonly policy: Workspace["policy"];
  readonly #git: GitWorkspace;
  #taken = false;
  #closed = false;

  constructor(git: GitWorkspace) {
    this.#git = git;
    this.repository = git.repository;
    this.directory = git.directory;
    this.branch = git.branch;
    this.baseBranch = git.baseBranch;
    this.baseline = git.baseline;
    this.gitDirectories = git.gitDirectories;
    this.policy = git.policy;
    register(this, { git, take: () => this.#take() });
  }

  #take(): () => void {
    if (this.#closed) throw new ConfigurationError("the workspace is closed");
    if (this.#taken) throw new ConfigurationError("the workspace is busy: it serves one sandbox at a time");
    this.#taken = true;
    return () => {
      this.#taken = false;
    };
  }

  async dispatch<T>(
    options: WorkspaceDispatchOptions<T>,
  ): Promise<DispatchResult<T, Partial<WorkspaceDispatchOptions>>> {
    const what = "workspace.dispatch";
    checkKeys(what, options, [...DISPATCH_KEYS, "sandboxProvider", "hooks"]);
    checkProvider(what, options.sandboxProvider);
    policyFor(what, this.policy, options.sandboxProvider);
    if (options.hooks !== undefined) checkHooks(`${what}: hooks`, options.hooks);
    const settings = dispatchSettings(what, options);
    const again = <U>(given: Partial<WorkspaceDispatchOptions>, fork: boolean, id: string | undefined) =>
      this.dispatch<U>(continued(what, options, given, fork, id) as WorkspaceDispatchOptions<U>);
    return await run(settings, options, again, () => {
      const giveBack = this.#take();
      return Promise.resolve({
        git: this.#git,
        close: () => {
          giveBack();
          return Promise.resolve({});
        },
      });
    });
  }

  async sandbox(options: WorkspaceSandboxOptions): Promise<Awaited<ReturnType<typeof sandboxOn>>> {
    const what = "workspace.sandbox";
    checkKeys(what, options, ["sandboxProvider", "agent", "hooks", "signal"]);
    const { sandboxProvider: provider, agent, hooks, signal } = options;
    checkProvider(what, provider);
    return await sandboxOn(what, this, { provider, agent, hooks, signal });
  }

  async integrate({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const giveBack = this.#take();
    try {
      await this.#git.integrate(signal);
    } finally {
      giveBack();
    }
  }

  async close({ preserve = false }: { readonly preserve?: boolean } = {}): Promise<Disposal> {
    if (this.#taken) throw new ConfigurationError("the workspace cannot be closed while a sandbox is open on it");
    this.#closed = true;
    return await this.#git.close({ preserve });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
