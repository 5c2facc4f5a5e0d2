/**
 * Prints the figures of the budgets, measured here and now. Nothing is asserted: two runs are compared by a person.
 *
 *   deno task bench [--binary PATH]
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createChatCompletionsProvider } from "../lib/model/providers/chat_completions.ts";
import {
  createAgent,
  createHarness,
  createLocalSandboxProvider,
  createScriptedModelProvider,
  defineHarnessTool,
} from "../mod.ts";
import { openProject } from "../lib/project/project.ts";
import { runAgent } from "../lib/testing/mod.ts";
import { parseWorkflow } from "../lib/workflow/read/workflow_file.ts";
import type { WorkflowHost } from "../lib/workflow/run/host.ts";
import { rootRun, runFile } from "../lib/workflow/run/run_workflow.ts";

const { values } = parseArgs({ options: { binary: { type: "string" } } });
const root = join(import.meta.dirname!, "..");
const rows: string[][] = [];

/** Runs a whole command several times; milliseconds of the median run. */
async function command(program: string, args: string[]): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 11; i++) {
    const start = performance.now();
    await new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" }).output();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[5]!;
}

async function startUp(): Promise<void> {
  const cli = join(root, "cli.ts");
  const deno = Deno.execPath();
  rows.push(["deno: an empty program", `${(await command(deno, ["eval", ""])).toFixed(0)} ms`]);
  for (const args of [["--version"], ["--help"], ["demo"]]) {
    const fromSource = await command(deno, ["run", "-A", cli, ...args]);
    rows.push([`lait ${args.join(" ")} (source)`, `${fromSource.toFixed(0)} ms`]);
    if (values.binary === undefined) continue;
    rows.push([`lait ${args.join(" ")} (binary)`, `${(await command(values.binary, args)).toFixed(0)} ms`]);
  }
}

/** The loop's own cost: a scripted model that asks for a tool that does nothing, over and over. */
async function rounds(count: number): Promise<void> {
  const nothing = defineHarnessTool({
    name: "nothing",
    description: "Does nothing.",
    input: { type: "object" },
    execute: () => "",
  });
  const call = { calls: [{ name: "nothing" }] };
  const script = [...Array.from({ length: count }, () => call), "done"];
  const harness = createHarness({
    modelProvider: createScriptedModelProvider(script),
    tools: [nothing],
    limits: { maxSteps: count + 1 },
  });
  const lease = await createLocalSandboxProvider().acquire({ directory: root });
  const start = performance.now();
  await runAgent(createAgent({ harness, model: "m" }), { lease, prompt: "go" });
  const each = (performance.now() - start) / count;
  await lease.release();
  rows.push([`one tool round, of ${count}`, `${each.toFixed(3)} ms`]);
}

/** A tool that floods its output: how much the process grows until it is stopped. */
async function flood(): Promise<void> {
  const lease = await createLocalSandboxProvider().acquire({ directory: root });
  const before = Deno.memoryUsage().rss;
  const start = performance.now();
  await lease.invoke({ executable: "yes" }).catch(() => {});
  const grown = (Deno.memoryUsage().rss - before) / 1024 / 1024;
  rows.push(["a flooding tool stopped", `${(performance.now() - start).toFixed(0)} ms, ${grown.toFixed(0)} MiB more`]);
  await lease.release();
}

/** The most memory that a whole command held; Linux only. */
async function memory(name: string, program: string, args: string[]): Promise<void> {
  if (Deno.build.os !== "linux") return;
  const child = new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
  let most = 0;
  const timer = setInterval(() => {
    try {
      const status = Deno.readTextFileSync(`/proc/${child.pid}/status`);
      most = Math.max(most, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // Ended.
    }
  }, 2);
  await child.status;
  clearInterval(timer);
  rows.push([`memory of ${name}`, `${(most / 1024).toFixed(0)} MiB`]);
}

/** How fast a streamed answer gets through: a server on this machine sends many small chunks. */
async function streamThroughput(): Promise<void> {
  const chunk = new TextEncoder().encode(`data: {"choices":[{"delta":{"content":"${"word ".repeat(4)}"}}]}\n\n`);
  const chunks = 50_000;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        for (let i = 0; i < 100 && sent < chunks; i++, sent++) controller.enqueue(chunk);
        if (sent < chunks) return;
        controller.enqueue(new TextEncoder().encode("data: [DONE]\n\n"));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  const provider = createChatCompletionsProvider({
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    apiKey: false,
    timeoutMs: 60_000,
    timeoutCovers: "exchange",
    maxResponseBytes: 64 * 1024 * 1024,
    storeFalse: false,
  });
  const start = performance.now();
  let deltas = 0;
  for await (const event of provider.stream!({ model: "m", prompt: "go" })) {
    if (event.type === "text-delta") deltas += 1;
  }
  const seconds = (performance.now() - start) / 1000;
  const mebibytes = chunk.length * chunks / 1024 / 1024;
  rows.push([
    "a streamed answer",
    `${Math.round(deltas / seconds)} chunks/s, ${(mebibytes / seconds).toFixed(1)} MiB/s`,
  ]);
  await server.shutdown();
}

/** The engine of workflows: many steps that compute, and many items with a deadline each. */
async function workflows(): Promise<void> {
  const directory = await Deno.makeTempDir();
  const place = { shown: "w.yml", realPath: `${directory}/w.yml`, directory };
  const project = await openProject({ directory, noConfig: true, environment: () => undefined });
  const host = { project, environment: () => undefined, directory, tell() {}, observe() {} } as unknown as WorkflowHost;
  const timed = async (text: string, value: number) => {
    const definition = parseWorkflow(text, place);
    const start = performance.now();
    await runFile(rootRun(host, definition, {}), {
      state: { completed: 0, counter: 0, value, records: {} },
      signal: new AbortController().signal,
    });
    return performance.now() - start;
  };
  const steps = Array.from({ length: 200 }, (_, index) => `  - { id: s${index}, jq: '. + 1' }`).join("\n");
  const times: number[] = [];
  for (let i = 0; i < 21; i++) times.push(await timed(`steps:\n${steps}`, 0));
  rows.push(["a jq step of a workflow of 200", `${(times.sort((a, b) => a - b)[10]! / 200).toFixed(3)} ms`]);
  const items = "steps:\n  - for_each: '[range(.)]'\n    max_concurrency: 16\n    steps: [{ jq: ., timeout: 60 }]";
  await timed(items, 1_000);
  const before = Deno.memoryUsage().rss;
  const each = await timed(items, 50_000) / 50_000;
  const grown = (Deno.memoryUsage().rss - before) / 1024 / 1024;
  rows.push(["an item of a for_each of 50,000", `${each.toFixed(3)} ms, ${grown.toFixed(0)} MiB more in all`]);
  await Deno.remove(directory, { recursive: true });
}

/** Other tools of the kind, where they are installed: how long they take to say their version. */
async function peers(): Promise<void> {
  for (const program of ["aichat", "llm", "mods", "opencode", "codex", "gemini", "claude", "goose", "fabric"]) {
    try {
      rows.push([`${program} --version (installed here)`, `${(await command(program, ["--version"])).toFixed(0)} ms`]);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

await startUp();
await peers();
await memory("lait demo (source)", Deno.execPath(), ["run", "-A", join(root, "cli.ts"), "demo"]);
if (values.binary !== undefined) await memory("lait demo (binary)", values.binary, ["demo"]);
for (const count of [10, 100, 1000]) await rounds(count);
await streamThroughput();
await flood();
await workflows();
const width = Math.max(...rows.map(([name]) => name!.length));
await Deno.stdout.write(
  new TextEncoder().encode(rows.map(([name, figure]) => `${name!.padEnd(width)}  ${figure}\n`).join("")),
);
