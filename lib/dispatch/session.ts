/** A sandbox on a workspace: taken, made ready, renewed, given back. */
import type { SandboxLease, SandboxProvider } from "../sandbox/lease.ts";
import { createLocalSandboxProvider } from "../sandbox/providers/local.ts";
import { runInOrder, SandboxHooks, type WorkspaceHooks } from "./hooks.ts";
import { withIdentity } from "./identity.ts";
import type { GitWorkspace } from "./workspace.ts";

/** See the module. */
export class SandboxSession {
  /** What it stands on. */
  readonly workspace: GitWorkspace;
  readonly #provider: SandboxProvider;
  readonly #hooks: WorkspaceHooks;
  #lease: SandboxLease;
  #ready: SandboxHooks;

  private constructor(workspace: GitWorkspace, provider: SandboxProvider, hooks: WorkspaceHooks, lease: SandboxLease) {
    this.workspace = workspace;
    this.#provider = provider;
    this.#hooks = hooks;
    this.#lease = lease;
    this.#ready = new SandboxHooks(hooks.sandboxReady ?? []);
  }

  /** Takes a sandbox and makes it ready. */
  static async open(
    workspace: GitWorkspace,
    provider: SandboxProvider,
    hooks: WorkspaceHooks,
    signal: AbortSignal | undefined,
  ): Promise<SandboxSession> {
    const session = new SandboxSession(workspace, provider, hooks, await acquire(workspace, provider, signal));
    try {
      await session.#prepare(signal);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** What commands run in. */
  get lease(): SandboxLease {
    return this.#lease;
  }

  /** Gives the sandbox back and takes a new one on the same files. */
  async renew(signal: AbortSignal | undefined): Promise<void> {
    await this.#lease.release();
    this.#lease = await acquire(this.workspace, this.#provider, signal);
    this.#ready = new SandboxHooks(this.#hooks.sandboxReady ?? []);
    await this.#prepare(signal);
  }

  /** Runs the hooks again whose files have changed. */
  async refresh(signal: AbortSignal | undefined): Promise<void> {
    await this.#ready.run(this.#lease, this.workspace.directory, signal);
  }

  /** Gives the sandbox back. */
  async close(): Promise<void> {
    await this.#lease.release();
  }

  async #prepare(signal: AbortSignal | undefined): Promise<void> {
    const { directory } = this.workspace;
    const { hostReady = [] } = this.#hooks;
    const onHost = async () => {
      if (hostReady.length === 0) return;
      const lease = await createLocalSandboxProvider({ inherit: "all" }).acquire({ directory });
      try {
        await runInOrder("hostReady", hostReady, lease, signal);
      } finally {
        await lease.release();
      }
    };
    const both = await Promise.allSettled([onHost(), this.#ready.run(this.#lease, directory, signal)]);
    const failed = both.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }
}

async function acquire(
  workspace: GitWorkspace,
  provider: SandboxProvider,
  signal: AbortSignal | undefined,
): Promise<SandboxLease> {
  const { directory, gitDirectories } = workspace;
  const lease = await provider.acquire({
    directory,
    gitDirectories,
    ...(signal === undefined ? {} : { signal }),
  });
  return await withIdentity(lease, provider, workspace.git);
}
