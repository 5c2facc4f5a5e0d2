/** What the tests of dispatch share: a real repository, agents with scripted models and real tools. */
import assert from "node:assert/strict";
import { LaitError } from "../../lib/base/errors.ts";
import { type ColdDispatchOptions, dispatch } from "../../lib/dispatch/dispatch.ts";
import type { DispatchObservation } from "../../lib/dispatch/observation.ts";
import { createAgent, type CustomAgent } from "../../lib/harness/agent.ts";
import { createHarness, type HarnessOptions } from "../../lib/harness/harness.ts";
import type { Script, ScriptedAnswer } from "../../lib/model/providers/script.ts";
import { createScriptedModelProvider } from "../../lib/model/providers/scripted.ts";
import { createLocalSandboxProvider } from "../../lib/sandbox/providers/local.ts";
import { createHarnessShellTools } from "../../lib/tool/toolsets/shell.ts";

/** The host, as the tests' sandbox. */
export const local = createLocalSandboxProvider();

const VARIABLES = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" } as const;

/** A repository with one commit, on `main`. While it is there, Git reads nobody's own configuration. */
export class Project implements AsyncDisposable {
  /** The top of the checkout. */
  readonly root: string;
  readonly #before: Readonly<Record<string, string | undefined>>;

  private constructor(root: string) {
    this.root = root;
    this.#before = Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, Deno.env.get(name)]));
    for (const [name, value] of Object.entries(VARIABLES)) Deno.env.set(name, value);
  }

  /** Makes one with these files. */
  static async make(files: Readonly<Record<string, string>> = { "a.txt": "one\n" }): Promise<Project> {
    const project = new Project(await Deno.realPath(await Deno.makeTempDir({ prefix: "lait-test-" })));
    await project.git("init", "-q", "-b", "main");
    await project.git("config", "user.name", "Test");
    await project.git("config", "user.email", "test@example.invalid");
    for (const [path, text] of Object.entries(files)) await project.write(path, text);
    await project.git("add", "-A");
    await project.git("commit", "-q", "--allow-empty", "-m", "first");
    return project;
  }

  /** Runs Git as the user would; gives what it printed, trimmed. */
  async git(...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await this.sh("git", ...args);
    assert.equal(status, 0, `git ${args.join(" ")}: ${stderr}`);
    return stdout.trim();
  }

  /** Runs a program at the top. */
  async sh(executable: string, ...args: string[]) {
    const lease = await local.acquire({ directory: this.root });
    return await lease.invoke({ executable, arguments: args });
  }

  /** Writes a file. */
  async write(path: string, text: string): Promise<void> {
    const whole = `${this.root}/${path}`;
    await Deno.mkdir(whole.slice(0, whole.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(whole, text);
  }

  /** The names in a branch's commit, one `path`s list. */
  async files(commit = "HEAD"): Promise<string[]> {
    return (await this.git("ls-tree", "-r", "--name-only", commit)).split("\n");
  }

  /** The directories of the worktrees besides the checkout. */
  async worktrees(): Promise<string[]> {
    const text = await this.git("worktree", "list", "--porcelain");
    return [...text.matchAll(/^worktree (.*)$/gm)].map(([, path]) => path!).filter((path) => path !== this.root);
  }

  /** A dispatch in here, by the host, with its events. */
  start<T = unknown>(options: Omit<ColdDispatchOptions<T>, "sandboxProvider" | "repository">) {
    const events: DispatchObservation[] = [];
    const warnings: string[] = [];
    const result = dispatch<T>({
      repository: this.root,
      sandboxProvider: local,
      observe: (event) => void events.push(event),
      warn: (message) => void warnings.push(message),
      ...options,
    });
    result.catch(() => {});
    return { result, events, warnings, kinds: () => events.map(({ kind }) => kind) };
  }

  /** Removes it. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const [name, value] of Object.entries(this.#before)) {
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    }
    await Deno.remove(this.root, { recursive: true });
  }
}

/** An agent that can run shell commands, and says what the script says. */
export function agentOf(script: Script, options: Partial<HarnessOptions> = {}): CustomAgent {
  return scripted(script, options).agent;
}

/** The same with the provider, which keeps its requests. */
export function scripted(script: Script, options: Partial<HarnessOptions> = {}) {
  const provider = createScriptedModelProvider(script);
  const harness = createHarness({ modelProvider: provider, tools: [createHarnessShellTools()], ...options });
  return { provider, agent: createAgent({ harness, model: "m" }) };
}

/** An answer that runs a shell command. */
export function shell(command: string): ScriptedAnswer {
  return { calls: [{ name: "shell", arguments: { command } }] };
}

/** A command that commits one file. */
export function commitOf(path: string, text = `${path}\n`, message = `add ${path}`): string {
  const folder = path.includes("/") ? `mkdir -p '${path.slice(0, path.lastIndexOf("/"))}' && ` : "";
  return `${folder}printf '%s' '${text}' > '${path}' && git add -- '${path}' && git commit -q -m '${message}'`;
}

/** The error of a promise, which must be one of lait's with this code. */
export async function failure(promise: Promise<unknown>, code: string): Promise<LaitError> {
  const error = await promise.then(() => undefined, (error) => error);
  assert(error instanceof LaitError, `expected an error, got ${error}`);
  assert.equal(error.code, code, error.message);
  return error;
}
