/** `createSandbox`: a sandbox that stays open, for several dispatches and commands on the same files. */
import { ConfigurationError } from "../base/errors.ts";
import { checkKeys } from "../base/options.ts";
import type { CustomAgent } from "../harness/agent.ts";
import type { Command, CommandResult, SandboxProvider } from "../sandbox/lease.ts";
import { checkAgent, DISPATCH_KEYS, type DispatchOptions, dispatchSettings } from "./dispatch_options.ts";
import { checkHooks, type WorkspaceHooks } from "./hooks.ts";
import type { SandboxDispatchResult } from "./result.ts";
import { DispatchRun } from "./run.ts";
import { SandboxSession } from "./session.ts";
import { type Disposal, GitWorkspace } from "./workspace.ts";
import { handleOf, type Workspace } from "./workspace_handle.ts";
import { checkProvider, policyFor, WORKSPACE_KEYS, type WorkspaceOptions } from "./workspace_options.ts";

/** Options of {@link createSandbox}. */
export interface SandboxOptions extends WorkspaceOptions {
  /** Where commands run. There is no default: saying so is up to you. */
  readonly sandboxProvider: SandboxProvider;
  /** The agent of dispatches that name none. */
  readonly agent?: CustomAgent;
  /** A workspace that is open already, instead of the options that open one. It stays open. */
  readonly workspace?: Workspace;
}

/** An open sandbox; made by {@link createSandbox}. One operation at a time. */
export interface Sandbox extends AsyncDisposable {
  /** The root, as commands see it. */
  readonly root: string;
  /** Where that is on this machine. */
  readonly directory: string;
  /** The branch that commits go on. */
  readonly branch: string;
  /** Runs an agent here. Nothing is merged. */
  dispatch<T = unknown>(options: DispatchOptions<T>): Promise<SandboxDispatchResult<T>>;
  /** Goes on with a conversation. */
  resume<T = unknown>(id: string, options: DispatchOptions<T>): Promise<SandboxDispatchResult<T>>;
  /** Goes on with a copy of a conversation. */
  fork<T = unknown>(id: string, options: DispatchOptions<T>): Promise<SandboxDispatchResult<T>>;
  /** Runs a command. A status other than 0 is a result. */
  command(command: Command): Promise<CommandResult>;
  /** Gives it back, and its own workspace with it, once the operation that runs has ended. May be called twice. */
  close(options?: { readonly preserve?: boolean }): Promise<Disposal>;
}

/** The names of the options of a sandbox. */
export const SANDBOX_KEYS = [...WORKSPACE_KEYS, "sandboxProvider", "agent", "workspace"] as const;

/** Refuses options that go with a workspace of one's own. */
export function checkBorrowed(what: string, options: SandboxOptions): void {
  for (const option of ["repository", "branch", "guard", "copies", "limits"] as const) {
    if (options[option] === undefined) continue;
    throw new ConfigurationError(`${what}: ${option} belongs to the workspace that is given; say it in openWorkspace`);
  }
}

/**
 * Opens a sandbox, and a workspace for it unless one is given.
 *
 * @throws ConfigurationError for wrong options; LaitError `conflict` when the branch is in use; `process` when a hook fails
 *
 * @example
 * ```ts
 * import { createLocalSandboxProvider, createSandbox } from "../../mod.ts";
 * import { sampleRepository } from "../../fixtures/examples/sample.ts";
 * const repository = await sampleRepository("sample", [{ "a.txt": "one\n" }]);
 * const sandbox = await createSandbox({ repository, sandboxProvider: createLocalSandboxProvider() });
 * const { status } = await sandbox.command({ executable: "grep", arguments: ["two", "a.txt"] });
 * console.assert(status === 1);
 * await sandbox.close();
 * await Deno.remove(repository, { recursive: true });
 * ```
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const what = "createSandbox";
  checkKeys(what, options, SANDBOX_KEYS);
  checkProvider(what, options.sandboxProvider);
  if (options.agent !== undefined) checkAgent(what, options.agent);
  const { workspace, sandboxProvider: provider, agent, signal, hooks } = options;
  if (workspace !== undefined) {
    checkBorrowed(what, options);
    return await sandboxOn(what, workspace, { provider, agent, hooks, signal });
  }
  const own = await GitWorkspace.open(what, options, policyFor(what, options.branch, provider));
  try {
    const session = await SandboxSession.open(own, provider, hooks ?? {}, signal);
    return new OpenSandbox(session, agent, ({ preserve }) => own.close({ preserve }));
  } catch (error) {
    await own.close({ discard: true });
    throw error;
  }
}

/** Opens a sandbox on a workspace that stays open. */
export async function sandboxOn(
  what: string,
  workspace: Workspace,
  options: {
    readonly provider: SandboxProvider;
    readonly agent?: CustomAgent | undefined;
    readonly hooks?: WorkspaceHooks | undefined;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<Sandbox> {
  if (options.hooks !== undefined) checkHooks(`${what}: hooks`, options.hooks);
  const { git, take } = handleOf(what, workspace);
  policyFor(what, git.policy, options.provider);
  const giveBack = take();
  try {
    const session = await SandboxSession.open(
      git,
      options.provider,
      { ...git.options.hooks, ...options.hooks },
      options.signal,
    );
    return new OpenSandbox(session, options.agent, () => {
      giveBack();
      return Promise.resolve({});
    });
  } catch (error) {
    giveBack();
    throw error;
  }
}

class OpenSandbox implements Sandbox {
  readonly #session: SandboxSession;
  readonly #agent: CustomAgent | undefined;
  readonly #dispose: (options: { preserve: boolean }) => Promise<Disposal>;
  #active: Promise<unknown> | undefined;
  #closing: Promise<Disposal> | undefined;

  constructor(
    session: SandboxSession,
    agent: CustomAgent | undefined,
    dispose: (options: { preserve: boolean }) => Promise<Disposal>,
  ) {
    this.#session = session;
    this.#agent = agent;
    this.#dispose = dispose;
  }

  get root(): string {
    return this.#session.lease.root;
  }

  get directory(): string {
    return this.#session.workspace.directory;
  }

  get branch(): string {
    return this.#session.workspace.branch;
  }

  async dispatch<T>(options: DispatchOptions<T>): Promise<SandboxDispatchResult<T>> {
    return await this.#dispatch("sandbox.dispatch", options);
  }

  async resume<T>(id: string, options: DispatchOptions<T>): Promise<SandboxDispatchResult<T>> {
    return await this.#dispatch("sandbox.resume", { ...options, continuation: { id } });
  }

  async fork<T>(id: string, options: DispatchOptions<T>): Promise<SandboxDispatchResult<T>> {
    return await this.#dispatch("sandbox.fork", { ...options, continuation: { id, fork: true } });
  }

  async #dispatch<T>(what: string, options: DispatchOptions<T>): Promise<SandboxDispatchResult<T>> {
    checkKeys(what, options, DISPATCH_KEYS);
    const settings = dispatchSettings(what, options, this.#agent);
    return await this.#alone(async () => {
      const { workspace } = this.#session;
      const run = new DispatchRun(settings);
      try {
        settings.signal?.throwIfAborted();
        await this.#session.refresh(settings.signal);
        const result = await run.work(workspace, () => Promise.resolve(this.#session.lease));
        run.phase("guard");
        await workspace.guard();
        return run.finish(result);
      } catch (error) {
        run.fail(error, { branch: workspace.branch, directory: workspace.directory });
        throw error;
      }
    });
  }

  async command(command: Command): Promise<CommandResult> {
    return await this.#alone(async () => {
      await this.#session.refresh(command.signal);
      return await this.#session.lease.invoke(command);
    });
  }

  async #alone<Result>(operation: () => Promise<Result>): Promise<Result> {
    if (this.#closing !== undefined) throw new ConfigurationError("the sandbox is closed");
    if (this.#active !== undefined) {
      throw new ConfigurationError("the sandbox is busy: one operation at a time; wait for the one that runs");
    }
    const active = operation();
    this.#active = active;
    try {
      return await active;
    } finally {
      this.#active = undefined;
    }
  }

  close({ preserve = false }: { readonly preserve?: boolean } = {}): Promise<Disposal> {
    this.#closing ??= this.#close(preserve);
    return this.#closing;
  }

  async #close(preserve: boolean): Promise<Disposal> {
    await Promise.allSettled([this.#active]);
    let disposal: Disposal = {};
    try {
      await this.#session.close();
    } finally {
      // Also when the provider fails: the branch must not stay locked.
      disposal = await this.#dispose({ preserve });
    }
    return disposal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
