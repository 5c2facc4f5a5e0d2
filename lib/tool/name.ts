/** The names under which tools are offered to a model. */
import { ConfigurationError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";

/** What a tool name may be. */
export const TOOL_NAME = new RegExp(`^[A-Za-z0-9_-]{1,${LIMITS.toolNameLength}}$`);

/** Where a tool of the user's own comes from, which is the first half of its name. */
export type ToolOrigin = "tool" | "agent" | "skill" | "workflow";

function qualify(origin: ToolOrigin, name: string): string {
  return `${origin}__${name}`.replace(/[^A-Za-z0-9_-]/gu, "_");
}

/** What is wrong with a name of the user's own; undefined when it can be offered. Such names are never cut. */
export function checkOwnName(origin: ToolOrigin, name: string): string | undefined {
  const qualified = qualify(origin, name);
  if (qualified.length <= LIMITS.toolNameLength) return undefined;
  return `the tool name \`${qualified}\` has ${qualified.length} characters, at most ${LIMITS.toolNameLength} are ` +
    `possible; rename \`${name}\``;
}

/**
 * The qualified name of a tool of the user's own: `tool__<name>`, with every other character than letters, digits, `_`
 * and `-` as `_`.
 *
 * @throws ConfigurationError when it is longer than 64 characters
 */
export function qualifiedName(origin: ToolOrigin, name: string): string {
  const fault = checkOwnName(origin, name);
  if (fault !== undefined) throw new ConfigurationError(fault);
  return qualify(origin, name);
}

/** A tool and what to call its source in a message, such as `tools.find`. */
export interface NamedTool {
  readonly name: string;
  readonly source: string;
}

/** The first tool whose name another one before it has, and what to say about it; undefined when there is none. */
export function findCollision(tools: readonly NamedTool[]): { index: number; message: string } | undefined {
  const seen = new Map<string, string>();
  for (const [index, { name, source }] of tools.entries()) {
    const other = seen.get(name);
    if (other === source) {
      return { index, message: `${source} is listed twice: the tool \`${name}\` can be offered once` };
    }
    if (other !== undefined) {
      const message = `${other} and ${source} would both be offered as the tool \`${name}\`; rename one of them`;
      return { index, message };
    }
    seen.set(name, source);
  }
  return undefined;
}
