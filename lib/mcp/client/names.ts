/** The names under which tools of MCP servers are offered. */
import { LIMITS } from "../../base/limits.ts";

/** Hexadecimal digits at the end of a name that was cut. */
const DIGITS = 8;

/**
 * `<server>__<tool>`, with every other character than letters, digits, `_` and `-` as `_`. A name over 64 characters is cut
 * and ends with `_` and 8 digits of the SHA-256 of the whole.
 *
 * @example
 * ```ts
 * import { mcpToolName } from "./names.ts";
 * console.assert(await mcpToolName("my server", "tool.name") === "my_server__tool_name");
 * ```
 */
export async function mcpToolName(server: string, tool: string): Promise<string> {
  const whole = `${server}__${tool}`;
  const name = whole.replace(/[^A-Za-z0-9_-]/gu, "_");
  if (name.length <= LIMITS.toolNameLength) return name;
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(whole)));
  const digits = [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("").slice(0, DIGITS);
  return `${name.slice(0, LIMITS.toolNameLength - DIGITS - 1)}_${digits}`;
}
