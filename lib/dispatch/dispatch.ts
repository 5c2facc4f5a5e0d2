/** `dispatch`: an agent at work on a repository, from opening a workspace to what came of it. */
import { ConfigurationError } from "../base/errors.ts";
import { checkKeys } from "../base/options.ts";
import { DISPATCH_KEYS, type DispatchOptions, type DispatchSettings, dispatchSettings } from "./dispatch_options.ts";
import type { DispatchResult } from "./result.ts";
import { DispatchRun } from "./run.ts";
import { checkBorrowed, SANDBOX_KEYS, type SandboxOptions } from "./sandbox.ts";
import { SandboxSession } from "./session.ts";
import { type Disposal, GitWorkspace } from "./workspace.ts";
import { handleOf } from "./workspace_handle.ts";
import { checkForMode, checkProvider, checkWorkspaceOptions, policyFor } from "./workspace_options.ts";

/** Options of {@link dispatch}. */
export type ColdDispatchOptions<T = unknown> = SandboxOptions & DispatchOptions<T>;

const KEYS = [...new Set([...SANDBOX_KEYS, ...DISPATCH_KEYS])];

/**
 * Runs an agent on a Git repository, in a sandbox, and hands back its answer, its commits and its tokens.
 *
 * The workspace and the sandbox are opened for it and closed behind it. With `branch: { mode: "integrate" }` the commits
 * are merged into the checked-out branch once everything has succeeded. When something fails, the work stays where it
 * is; `recoveryDetails(error)` says where. Nothing is ever pushed.
 *
 * @throws ConfigurationError for wrong options, before anything runs; the signal's very reason when it aborts; otherwise
 *   a LaitError whose `code` says what it was
 *
 * @example
 * ```ts
 * import { createAgent, createHarness, createLocalSandboxProvider, createScriptedModelProvider, dispatch } from "../../mod.ts";
 * import { sampleRepository } from "../../fixtures/examples/sample.ts";
 * const repository = await sampleRepository("sample", [{ "a.txt": "one\n" }]);
 * const modelProvider = createScriptedModelProvider(["Nothing risky."]);
 * const result = await dispatch({
 *   repository,
 *   sandboxProvider: createLocalSandboxProvider(),
 *   agent: createAgent({ harness: createHarness({ modelProvider }), model: "any" }),
 *   brief: { text: "Review the last commit and report risky changes." },
 * });
 * console.assert(result.text === "Nothing risky.");
 * await Deno.remove(repository, { recursive: true });
 * ```
 */
export async function dispatch<T = unknown>(
  options: ColdDispatchOptions<T>,
): Promise<DispatchResult<T, Partial<ColdDispatchOptions>>> {
  const what = "dispatch";
  checkKeys(what, options, KEYS);
  checkProvider(what, options.sandboxProvider);
  checkWorkspaceOptions(what, options);
  const settings = dispatchSettings(what, options);
  if (options.workspace !== undefined) checkBorrowed(what, options);
  const policy = options.workspace?.policy ?? policyFor(what, options.branch, options.sandboxProvider);
  checkForMode(what, policy, options);
  const again = <U>(given: Partial<ColdDispatchOptions>, fork: boolean, id: string | undefined) =>
    dispatch<U>(continued("dispatch", options, given, fork, id) as ColdDispatchOptions<U>);
  return await run(settings, options, again, async (warn) => {
    const { workspace } = options;
    if (workspace === undefined) {
      const git = await GitWorkspace.open(what, { ...options, warn }, policy);
      return { git, close: (how) => git.close(how) };
    }
    const { git, take } = handleOf(what, workspace);
    const giveBack = take();
    return {
      git,
      close: () => {
        giveBack();
        return Promise.resolve({});
      },
    };
  });
}

/** A workspace for one dispatch. */
export interface WorkspaceForDispatch {
  readonly git: GitWorkspace;
  /** Gives it back; its worktree stays with `preserve`, and goes with `discard`, because nobody has worked in it. */
  close(how: { readonly preserve?: boolean; readonly discard?: boolean }): Promise<Disposal>;
}

/** Starts another dispatch from a result. */
type Again<D> = <U>(given: D, fork: boolean, id: string | undefined) => Promise<DispatchResult<U, D>>;

/** The life of a dispatch with a sandbox of its own. */
export async function run<T, D extends object>(
  settings: DispatchSettings<T>,
  options: Pick<SandboxOptions, "sandboxProvider" | "hooks">,
  again: Again<D>,
  open: (warn: (message: string) => void) => Promise<WorkspaceForDispatch>,
): Promise<DispatchResult<T, D>> {
  const { signal } = settings;
  const dispatched = new DispatchRun(settings);
  let workspace: WorkspaceForDispatch | undefined;
  let session: SandboxSession | undefined;
  try {
    signal?.throwIfAborted();
    dispatched.phase("workspace");
    workspace = await open(dispatched.warn);
    const { git } = workspace;
    dispatched.phase("sandbox", git);
    const hooks = { ...git.options.hooks, ...options.hooks };
    const opened = session = await SandboxSession.open(git, options.sandboxProvider, hooks, signal);
    const result = await dispatched.work(git, async (pass) => {
      // The agent of a later pass finds the files, and nothing else, as the one before left them.
      if (pass > 1) await opened.renew(signal);
      return opened.lease;
    });
    // Nothing may run in the workspace while its commits are looked at and merged.
    session = undefined;
    await opened.close();
    signal?.throwIfAborted();
    if (git.options.guard !== undefined) dispatched.phase("guard");
    await git.guard();
    if (git.policy.mode === "integrate") dispatched.phase("integrate", git);
    await git.integrate(signal);
    dispatched.phase("close");
    const { retainedDirectory } = await workspace.close({});
    const id = result.conversation;
    return dispatched.finish({
      ...result,
      ...(retainedDirectory === undefined ? {} : { retainedDirectory }),
      resume: <U>(given: D) => again<U>(given, false, id),
      fork: <U>(given: D) => again<U>(given, true, id),
    });
  } catch (error) {
    await session?.close().catch((reason) => dispatched.warn(`the sandbox could not be given back: ${reason}`));
    const { begun } = dispatched;
    await workspace?.close({ preserve: begun, discard: !begun })
      .catch((reason) => dispatched.warn(`the workspace could not be given back: ${reason}`));
    dispatched.fail(error, workspace && await placeOf(workspace.git));
    throw error;
  }
}

async function placeOf(
  { branch, directory }: GitWorkspace,
): Promise<{ branch: string; directory: string | undefined }> {
  const isThere = await Deno.stat(directory).then(() => true, () => false);
  return { branch, directory: isThere ? directory : undefined };
}

/** The options of a dispatch that goes on with another one's conversation. */
export function continued<O extends DispatchOptions>(
  what: string,
  before: O,
  given: Partial<O>,
  fork: boolean,
  id: string | undefined,
): O {
  if (id === undefined) {
    throw new ConfigurationError(
      `${what}: the conversation was not kept, so it cannot go on; the harness says \`conversations: false\``,
    );
  }
  const { steering: _, passes: _passes, signal: _signal, ...rest } = before;
  return { ...rest, ...given, agent: before.agent, continuation: { id, fork } } as unknown as O;
}
