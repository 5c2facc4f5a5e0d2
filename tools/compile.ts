/**
 * Builds the binary: bundle with code splitting, so that `--version` loads nothing heavy, then `deno compile`.
 *
 *   deno task compile [--target TRIPLE] [--output PATH]
 *
 * `LAIT_COMPILE_DENO` names another Deno for the compile step; `DENORT_BIN` its runtime.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { target: { type: "string" }, output: { type: "string" } } });
const root = join(import.meta.dirname!, "..");
const dist = join(root, "dist", "bundle");
const windows = values.target?.includes("windows") ?? Deno.build.os === "windows";
const output = values.output ?? join(root, "dist", windows ? "lait.exe" : "lait");

async function run(program: string, args: string[], cwd: string): Promise<void> {
  const { success, code, stdout, stderr } = await new Deno.Command(program, { args, cwd }).output();
  if (success) return;
  await Deno.stderr.write(stdout);
  await Deno.stderr.write(stderr);
  await Deno.stderr.write(new TextEncoder().encode(`compile: ${program} ${args[0]} failed with ${code}\n`));
  Deno.exit(1);
}

await Deno.remove(dist, { recursive: true }).catch(() => {});
await run(Deno.execPath(), ["bundle", "--platform", "deno", "--code-splitting", "--outdir", dist, "cli.ts"], root);

// Beside a lock file or a manifest the whole npm snapshot would be embedded (60 MB more): the compile step runs in the
// bundle's own directory and is told to look for neither.
const target = values.target === undefined ? [] : ["--target", values.target];
await run(
  Deno.env.get("LAIT_COMPILE_DENO") ?? Deno.execPath(),
  ["compile", "-A", "--no-prompt", "--no-lock", "--no-config", "--no-check", ...target, "--output", output, "cli.js"],
  dist,
);
await Deno.stdout.write(new TextEncoder().encode(`${output}\n`));
