/** The tools of a harness: its own, those of its skills, and the one that loads skills. */
import { ConfigurationError } from "../base/errors.ts";
import type { HarnessTool } from "../tool/tool.ts";
import type { HarnessToolset } from "../tool/toolset.ts";

/** The tools of a list in which sets stand beside tools. */
export function flattenTools(tools: readonly (HarnessTool | HarnessToolset)[], what = "tools"): HarnessTool[] {
  return tools.flatMap((entry, index) => {
    if (entry?.kind === "toolset") return [...entry.tools];
    if (entry?.kind === "tool") return [entry];
    throw new ConfigurationError(`${what}[${index}] is neither a tool nor a toolset`);
  });
}

/**
 * Checks that no two tools have one name.
 *
 * @throws ConfigurationError naming it
 */
export function checkToolNames(tools: readonly HarnessTool[], what: string): void {
  const names = new Set<string>();
  for (const { name } of tools) {
    if (names.has(name)) throw new ConfigurationError(`${what}: two tools are called \`${name}\``);
    names.add(name);
  }
}
