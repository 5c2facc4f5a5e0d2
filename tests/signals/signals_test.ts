import assert from "node:assert/strict";
import { denoCache, isRunning, Place, REPOSITORY } from "../_support/process.ts";
import { Random } from "../_support/random.ts";

const { denoDir: DENO_DIR } = await denoCache();
const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type Name = keyof typeof NUMBERS;

/** Three tools: one that obeys SIGTERM, one that does not, one whose child has left its group. */
function config(marker: string): string {
  const tool = (name: string, script: string) =>
    `  ${name}: { command: ["sh", "-c", ${JSON.stringify(script)}], timeout: 60 }\n`;
  return `default: { model: s, tools: [polite, stubborn, escaped] }
models: { s: [ { provider: { script: script.json } } ] }
tools:
${tool("polite", `sleep ${marker}1`)}${tool("stubborn", `trap '' TERM; sleep ${marker}2 & wait; sleep ${marker}3`)}${
    tool("escaped", `setsid sleep ${marker}4 & wait`)
  }`;
}

const SCRIPT = [
  {
    text: "Working.",
    delay_ms: 100,
    calls: ["polite", "stubborn", "escaped"].map((name) => ({ name: `tool__${name}` })),
  },
  "done",
];

async function interrupt(name: Name, afterMs: number, marker: string): Promise<void> {
  await using place = await Place.make();
  await Deno.writeTextFile(`${place.directory}/lait.config.yml`, config(marker));
  await Deno.writeTextFile(`${place.directory}/script.json`, JSON.stringify(SCRIPT));
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", `${REPOSITORY}cli.ts`, "--no-stdin", "go"],
    cwd: place.directory,
    clearEnv: true,
    env: place.environment({ DENO_DIR }),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const timer = setTimeout(() => process.kill(name), afterMs);
  const { code, stdout, stderr } = await process.output();
  clearTimeout(timer);
  const what = `${name} after ${afterMs} ms: ${new TextDecoder().decode(stderr)}`;
  assert.equal(code, 128 + NUMBERS[name], what);
  assert.equal(new TextDecoder().decode(stdout), "", what);
  for (const suffix of [1, 2, 3, 4]) {
    assert.equal(isRunning(`sleep ${marker}${suffix}`), false, `${what}: ${suffix} lives on`);
  }
}

Deno.test("signals: at 20 random moments, with three tools running: the right exit code, nothing on stdout, nothing left", async () => {
  const random = new Random(Date.now());
  const names = Object.keys(NUMBERS) as Name[];
  const moments = Array.from({ length: 20 }, (_, index) => ({
    name: names[index % 3]!,
    afterMs: random.below(1_500),
    // A duration that nothing else sleeps.
    marker: `9${index.toString().padStart(2, "0")}${Deno.pid}.`,
  }));
  const worker = async () => {
    for (let moment = moments.pop(); moment !== undefined; moment = moments.pop()) {
      await interrupt(moment.name, moment.afterMs, moment.marker);
    }
  };
  await Promise.all([worker(), worker()]);
});
