/** Commands that make a workspace ready: an install, a build. */
import { ConfigurationError, LaitError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { checkInteger, checkKeys, checkText } from "../base/options.ts";
import { posix, resolve } from "../deps/path.ts";
import type { SandboxLease } from "../sandbox/lease.ts";

/** When a hook runs again; made by {@link changed}. */
export interface WhenChanged {
  /** Marks the condition. */
  readonly kind: "changed";
  /** Paths relative to the hook's directory. */
  readonly paths: readonly string[];
}

/** A command of a hook. */
export interface HookCommand {
  /** The program. */
  readonly executable: string;
  /** Its arguments. Default: none. */
  readonly arguments?: readonly string[];
  /** Where it runs, relative to the workspace. Default: its root. */
  readonly directory?: string;
  /** Variables on top. Default: none. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Milliseconds that it may take. Default: 600 000. */
  readonly deadlineMs?: number;
  /** Only in a sandbox: runs before an operation only if these files differ from when it last succeeded. */
  readonly when?: WhenChanged;
}

/** The hooks of a workspace. Each command must end with status 0. */
export interface WorkspaceHooks {
  /** On this machine, in order, once a new worktree exists. */
  readonly workspaceReady?: readonly HookCommand[];
  /** On this machine, in order, once the sandbox is there; beside `sandboxReady`. */
  readonly hostReady?: readonly HookCommand[];
  /** In the sandbox, all at once. */
  readonly sandboxReady?: readonly HookCommand[];
}

/**
 * A hook's condition: it runs when the content or existence of one of these files has changed.
 *
 * @throws ConfigurationError for paths that are none, or lead out
 *
 * @example
 * ```ts
 * import { changed } from "./hooks.ts";
 * console.assert(changed(["package-lock.json"]).paths.length === 1);
 * ```
 */
export function changed(paths: readonly string[]): WhenChanged {
  if (!Array.isArray(paths) || paths.length === 0) throw new ConfigurationError("changed: give at least one path");
  for (const path of paths) {
    checkText("changed: a path", path);
    if (path.startsWith("/") || path.split(/[/\\]/).includes("..")) {
      throw new ConfigurationError(`changed: ${path} must be relative, without \`..\``);
    }
  }
  if (new Set(paths).size !== paths.length) throw new ConfigurationError("changed: a path is given twice");
  return Object.freeze({ kind: "changed", paths: Object.freeze([...paths]) });
}

const PHASES = ["workspaceReady", "hostReady", "sandboxReady"] as const;

/** Refuses hooks that are none. */
export function checkHooks(what: string, hooks: WorkspaceHooks): void {
  checkKeys(what, hooks, PHASES);
  for (const phase of PHASES) {
    const commands = hooks[phase] ?? [];
    if (!Array.isArray(commands)) throw new ConfigurationError(`${what}.${phase} must be a list of commands`);
    for (const [index, command] of commands.entries()) {
      const name = `${what}.${phase}[${index}]`;
      checkKeys(name, command, ["executable", "arguments", "directory", "variables", "deadlineMs", "when"]);
      checkText(`${name}.executable`, command.executable);
      checkInteger(`${name}.deadlineMs`, command.deadlineMs, 1);
      if (command.when === undefined) continue;
      if (command.when?.kind !== "changed") throw new ConfigurationError(`${name}.when must be made by \`changed\``);
      if (phase !== "sandboxReady") throw new ConfigurationError(`${name}.when is for sandboxReady alone`);
    }
  }
}

/**
 * Runs one hook.
 *
 * @throws LaitError `process` when its status is not 0; ProcessError when it cannot start or takes too long
 */
export async function runHook(
  phase: keyof WorkspaceHooks,
  hook: HookCommand,
  lease: SandboxLease,
  signal?: AbortSignal,
): Promise<void> {
  const { when: _, deadlineMs = LIMITS.hookMs, ...command } = hook;
  const result = await lease.invoke({
    ...command,
    deadlineMs,
    retain: LIMITS.previewCharacters,
    ...(signal === undefined ? {} : { signal }),
  });
  if (result.status === 0) return;
  const said = (result.stderr.trim() || result.stdout.trim()).slice(-LIMITS.previewCharacters);
  const words = [hook.executable, ...hook.arguments ?? []].join(" ");
  throw new LaitError("process", `the ${phase} hook \`${words}\` ended with status ${result.status}: ${said}`, {
    details: { phase, status: result.status },
  });
}

/** Runs hooks one after the other. */
export async function runInOrder(
  phase: keyof WorkspaceHooks,
  hooks: readonly HookCommand[],
  lease: SandboxLease,
  signal?: AbortSignal,
): Promise<void> {
  for (const hook of hooks) await runHook(phase, hook, lease, signal);
}

/** The `sandboxReady` hooks of one sandbox, which remember what they last saw. */
export class SandboxHooks {
  readonly #hooks: readonly HookCommand[];
  readonly #seen = new Map<HookCommand, string>();
  #prepared = false;

  /** Hooks that have not run yet. */
  constructor(hooks: readonly HookCommand[]) {
    this.#hooks = hooks;
  }

  /** Runs them all the first time, afterwards those whose files have changed. */
  async run(lease: SandboxLease, directory: string, signal?: AbortSignal): Promise<void> {
    const due: { hook: HookCommand; print: string | undefined }[] = [];
    for (const hook of this.#hooks) {
      const print = hook.when && await fingerprint(resolve(directory, hook.directory ?? "."), hook.when.paths);
      if (!this.#prepared || print !== undefined && this.#seen.get(hook) !== print) due.push({ hook, print });
    }
    const runs = due.map(async ({ hook, print }) => {
      await runHook("sandboxReady", hook, lease, signal);
      if (print !== undefined) this.#seen.set(hook, print);
    });
    // All of them end before a failure is told: nothing goes on behind the caller's back.
    const failed = (await Promise.allSettled(runs)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    this.#prepared = true;
  }
}

/** Content and existence of files; what cannot be read counts as missing. */
async function fingerprint(directory: string, paths: readonly string[]): Promise<string> {
  const parts = await Promise.all(paths.map(async (path) => {
    try {
      const bytes = await Deno.readFile(posix.join(directory, path));
      return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    } catch {
      return "-";
    }
  }));
  return parts.join(" ");
}
