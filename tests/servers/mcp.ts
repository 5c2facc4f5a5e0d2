/**
 * The MCP programs of others that tests work with, each at an exact version, as a program: its first argument names one,
 * the rest is that one's own. Started with `--cached-only`.
 */
import process from "node:process";

const PROGRAMS: Readonly<Record<string, () => Promise<unknown>>> = {
  everything: () => import("npm:@modelcontextprotocol/server-everything@2026.8.31/dist/index.js"),
  filesystem: () => import("npm:@modelcontextprotocol/server-filesystem@2026.8.31/dist/index.js"),
  memory: () => import("npm:@modelcontextprotocol/server-memory@2026.8.31/dist/index.js"),
  conformance: () => import("npm:@modelcontextprotocol/conformance@0.1.16/dist/index.js"),
};

/** The words that start one of them. */
export function mcpProgram(name: string, ...args: readonly string[]): [string, ...string[]] {
  if (!Object.hasOwn(PROGRAMS, name)) throw new Error(`there is no MCP program ${name}`);
  return [Deno.execPath(), "run", "-A", "--cached-only", "--quiet", "--no-check", import.meta.filename!, name, ...args];
}

if (import.meta.main) {
  const [name] = process.argv.splice(2, 1);
  await PROGRAMS[name!]!();
}
