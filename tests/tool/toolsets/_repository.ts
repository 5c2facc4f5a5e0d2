/** A temporary Git repository with a real local lease on it, and tools called as the loop calls them. */
import assert from "node:assert/strict";
import type { HarnessEvent } from "../../../lib/harness/events.ts";
import { createAgent } from "../../../lib/harness/agent.ts";
import { createHarness } from "../../../lib/harness/harness.ts";
import { runTurn } from "../../../lib/harness/turn.ts";
import { createScriptedModelProvider } from "../../../lib/model/providers/scripted.ts";
import type { SandboxLease } from "../../../lib/sandbox/lease.ts";
import { createLocalSandboxProvider } from "../../../lib/sandbox/providers/local.ts";
import type { HarnessTool } from "../../../lib/tool/tool.ts";
import type { HarnessToolset } from "../../../lib/tool/toolset.ts";

/** What a call came to. */
export interface Called {
  readonly content: string;
  readonly isError: boolean;
}

/** See the module; everything is removed when it is disposed. */
export class Repository implements AsyncDisposable {
  /** The root; the lease's, too. */
  readonly root: string;
  /** A directory beside the root, outside of it. */
  readonly outside: string;
  /** The lease. */
  readonly lease: SandboxLease;
  readonly #folder: string;

  private constructor(folder: string, lease: SandboxLease) {
    this.#folder = folder;
    this.root = `${folder}/root`;
    this.outside = `${folder}/outside`;
    this.lease = lease;
  }

  /** Makes one with these files, all committed; `git: false` leaves Git out. */
  static async make(
    files: Readonly<Record<string, string>> = {},
    options: { git?: boolean } = {},
  ): Promise<Repository> {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "lait-test-" }));
    for (const name of ["root", "outside", "home"]) await Deno.mkdir(`${folder}/${name}`);
    const lease = await createLocalSandboxProvider({
      variables: {
        HOME: `${folder}/home`,
        XDG_CONFIG_HOME: `${folder}/home/.config`,
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CEILING_DIRECTORIES: folder,
      },
    }).acquire({ directory: `${folder}/root` });
    const place = new Repository(folder, lease);
    for (const [path, content] of Object.entries(files)) await place.write(path, content);
    if (options.git === false) return place;
    await place.git("init", "-q", "-b", "main");
    await place.git("config", "user.name", "Test");
    await place.git("config", "user.email", "test@example.invalid");
    await place.commit("first");
    return place;
  }

  /** Runs Git as a user would. */
  async git(...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await this.lease.invoke({ executable: "git", arguments: args });
    assert.equal(status, 0, `git ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  /** Commits everything. */
  async commit(message: string): Promise<void> {
    await this.git("add", "-A");
    await this.git("commit", "-q", "--allow-empty", "-m", message);
  }

  /** Writes a file below the root. */
  async write(path: string, content: string | Uint8Array): Promise<void> {
    const whole = `${this.root}/${path}`;
    await Deno.mkdir(whole.slice(0, whole.lastIndexOf("/")), { recursive: true });
    await (typeof content === "string" ? Deno.writeTextFile(whole, content) : Deno.writeFile(whole, content));
  }

  /** Reads a file below the root. */
  read(path: string): Promise<string> {
    return Deno.readTextFile(`${this.root}/${path}`);
  }

  /** Every path below the root but those of Git, sorted. */
  async paths(): Promise<string[]> {
    const { stdout } = await this.lease.invoke({
      executable: "find",
      arguments: [".", "-name", ".git", "-prune", "-o", "-print"],
    });
    return stdout.trim().split("\n").sort();
  }

  /** Calls one tool of a set through the loop, and gives what the model is told. */
  async call(set: HarnessToolset, name: string, input: Record<string, unknown>, lease = this.lease): Promise<Called> {
    const { results: [result] } = await runCalls(lease, [set], [[name, input]]);
    return result!;
  }

  /** Like `call`; it must be no error. */
  async ok(set: HarnessToolset, name: string, input: Record<string, unknown>): Promise<string> {
    const { content, isError } = await this.call(set, name, input);
    assert(!isError, content);
    return content;
  }

  /** Like `call`; it must be an error. */
  async fails(set: HarnessToolset, name: string, input: Record<string, unknown>): Promise<string> {
    const { content, isError } = await this.call(set, name, input);
    assert(isError, `${name} was expected to fail: ${content}`);
    return content;
  }

  /** Removes everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.lease.release();
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/** A lease with some of its methods in other hands. */
export function changedLease(lease: SandboxLease, changes: Partial<SandboxLease>): SandboxLease {
  return {
    root: lease.root,
    home: lease.home,
    invoke: (command) => lease.invoke(command),
    spawn: (command) => lease.spawn(command),
    upload: (from, to, options) => lease.upload(from, to, options),
    download: (from, to, options) => lease.download(from, to, options),
    release: () => lease.release(),
    ...changes,
  };
}

/** A turn whose model asks for these calls at once. */
export async function runCalls(
  lease: SandboxLease,
  sets: readonly HarnessToolset[],
  calls: readonly (readonly [name: string, input: Record<string, unknown>])[],
  wrap: (tool: HarnessTool) => HarnessTool = (tool) => tool,
): Promise<{ results: Called[]; events: HarnessEvent[] }> {
  const provider = createScriptedModelProvider([
    { calls: calls.map(([name, input], index) => ({ name, arguments: input as never, id: `c${index}` })) },
    "done",
  ]);
  const events: HarnessEvent[] = [];
  const harness = createHarness({ modelProvider: provider, tools: sets.flatMap(({ tools }) => tools.map(wrap)) });
  await runTurn(createAgent({ harness, model: "m" }), {
    lease,
    prompt: "go",
    observe: (event) => void events.push(event),
  });
  const results = (provider.requests.at(-1)?.messages?.at(-1)?.content ?? [])
    .flatMap((block) => block.type === "tool-result" ? [block] : [])
    .map(({ content, isError = false }) => ({ content, isError }));
  return { results, events };
}
