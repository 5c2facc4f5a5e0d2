/**
 * Prints what a sandbox costs, measured here and now: taking it, and one command in it once it is there, beside a bare
 * process. Nothing is asserted. A sandbox that this machine lacks is left out, with the reason.
 *
 *   deno run -A tools/sandbox_bench.ts
 */
import { createBubblewrapSandboxProvider, createLocalSandboxProvider, type SandboxProvider } from "../mod.ts";
import { Engine, noBubblewrap, noContainers } from "../tests/sandbox/_boxes.ts";

const ROUNDS = 41;

/** Milliseconds of the median run. */
async function median(work: () => Promise<unknown>, rounds = ROUNDS): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)]!;
}

const print = (...cells: string[]) =>
  Deno.stdout.writeSync(new TextEncoder().encode(`${cells.map((cell) => cell.padEnd(16)).join("").trimEnd()}\n`));

const directory = await Deno.makeTempDir({ prefix: "lait-bench-" });
const command = { executable: "sh", arguments: ["-c", "exit 0"] };
const bare = await median(() =>
  new Deno.Command("sh", { args: command.arguments, stdin: "null", stdout: "piped", stderr: "piped" }).output()
);

async function measure(name: string, provider: SandboxProvider): Promise<void> {
  const take = await median(async () => await (await provider.acquire({ directory })).release(), 7);
  const lease = await provider.acquire({ directory });
  const one = await median(() => lease.invoke(command));
  await lease.release();
  print(name, `${take.toFixed(1)} ms`, `${one.toFixed(1)} ms`, `${(one / bare).toFixed(1)} x`);
}

print("", "take and release", "one command", "to a bare process");
print("a bare process", "-", `${bare.toFixed(1)} ms`, "1.0 x");
await measure("local", createLocalSandboxProvider());
if (noBubblewrap === undefined) await measure("bubblewrap", createBubblewrapSandboxProvider());
else print("bubblewrap", noBubblewrap);
if (noContainers === undefined) {
  await using engine = await Engine.make();
  await measure("podman", engine.provider());
} else print("podman", noContainers);
await Deno.remove(directory, { recursive: true });
