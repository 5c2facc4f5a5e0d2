/**
 * Prints the figures of the budgets, measured here and now. Nothing is asserted: two runs are compared by a person.
 *
 *   deno task bench [--binary PATH]
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createAgent, createHarness, createScriptedModelProvider, defineHarnessTool } from "../mod.ts";
import { createLocalSandboxProvider } from "../mod.ts";
import { runAgent } from "../lib/testing/mod.ts";

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

await startUp();
for (const count of [10, 100, 1000]) await rounds(count);
await flood();
const width = Math.max(...rows.map(([name]) => name!.length));
await Deno.stdout.write(
  new TextEncoder().encode(rows.map(([name, figure]) => `${name!.padEnd(width)}  ${figure}\n`).join("")),
);
