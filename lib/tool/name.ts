/** The names under which tools are offered to a model. */
import { ConfigurationError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";

/** What a tool name may be. */
export const TOOL_NAME = new RegExp(`^[A-Za-z0-9_-]{1,${LIMITS.toolNameLength}}$`);

/** Where a tool of the user's own comes from, which is the first half of its name. */
export type ToolOrigin = "tool" | "agent" | "skill" | "workflow";

/**
 * The qualified name of a tool of the user's own: `tool__<name>`, with every other character than letters, digits, `_`
 * and `-` as `_`.
 *
 * @throws ConfigurationError when it is longer than 64 characters: names of the user's own are never cut
 */
export function qualifiedName(origin: ToolOrigin, name: string): string {
  const qualified = `${origin}__${name}`.replace(/[^A-Za-z0-9_-]/gu, "_");
  if (qualified.length > LIMITS.toolNameLength) {
    throw new ConfigurationError(
      `the tool name \`${qualified}\` has ${qualified.length} characters, at most ${LIMITS.toolNameLength} are possible; ` +
        `rename \`${name}\` in lait.config.yml`,
    );
  }
  return qualified;
}

/** A tool and what to call its source in a message, such as `tools.find`. */
export interface NamedTool {
  readonly name: string;
  readonly source: string;
}

/**
 * Checks that no two tools have one name.
 *
 * @throws ConfigurationError naming both sources
 */
export function checkCollisions(tools: readonly NamedTool[]): void {
  const seen = new Map<string, string>();
  for (const { name, source } of tools) {
    const other = seen.get(name);
    if (other !== undefined) {
      throw new ConfigurationError(
        other === source
          ? `${source} is listed twice: the tool \`${name}\` can be offered once`
          : `${other} and ${source} would both be offered as the tool \`${name}\`; rename one of them`,
      );
    }
    seen.set(name, source);
  }
}
