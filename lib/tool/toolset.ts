/** `defineHarnessToolset`: tools under one name, to be shared between harnesses. */
import { ConfigurationError } from "../base/errors.ts";
import { checkKeys, checkText } from "../base/options.ts";
import { findCollision } from "./name.ts";
import type { HarnessTool } from "./tool.ts";

/** Options of {@link defineHarnessToolset}. */
export interface HarnessToolsetOptions {
  /** What the set is called; not blank. The model does not see it, and two sets may have one name. */
  readonly name: string;
  /** Tools, and other sets to any depth. */
  readonly tools: readonly (HarnessTool | HarnessToolset)[];
}

/** A set of tools; made by {@link defineHarnessToolset}, frozen. */
export interface HarnessToolset {
  /** Marks a set. */
  readonly kind: "toolset";
  /** What the set is called. */
  readonly name: string;
  /** Its tools; those of sets within it stand where the set stood. */
  readonly tools: readonly HarnessTool[];
}

/**
 * Puts tools and other sets together.
 *
 * @throws ConfigurationError for a wrong option, or for two tools with one name
 *
 * @example
 * ```ts
 * import { defineHarnessToolset } from "./toolset.ts";
 * import { createHarnessFileTools } from "./toolsets/files.ts";
 * import { createHarnessGitTools } from "./toolsets/git.ts";
 * const inspect = defineHarnessToolset({ name: "inspect", tools: [createHarnessFileTools(), createHarnessGitTools()] });
 * console.assert(inspect.tools.map(({ name }) => name).join() === "read_file,list_files,git");
 * ```
 */
export function defineHarnessToolset(options: HarnessToolsetOptions): HarnessToolset {
  checkKeys("defineHarnessToolset", options, ["name", "tools"]);
  const { name, tools } = options;
  checkText("defineHarnessToolset: name", name);
  if (!Array.isArray(tools)) {
    throw new ConfigurationError(`defineHarnessToolset: the tools of \`${name}\` must be a list`);
  }
  const flat = tools.flatMap((entry: HarnessTool | HarnessToolset, index) => {
    const source = `tools[${index}]`;
    if (entry?.kind === "toolset") return entry.tools.map((tool) => ({ tool, source: `${source} (${entry.name})` }));
    if (entry?.kind === "tool") return [{ tool: entry, source }];
    throw new ConfigurationError(
      `defineHarnessToolset: ${source} of \`${name}\` is neither a tool nor a toolset`,
    );
  });
  const collision = findCollision(flat.map(({ tool, source }) => ({ name: tool.name, source })));
  if (collision !== undefined) throw new ConfigurationError(`defineHarnessToolset: \`${name}\`: ${collision.message}`);
  return Object.freeze({ kind: "toolset" as const, name, tools: Object.freeze(flat.map(({ tool }) => tool)) });
}
