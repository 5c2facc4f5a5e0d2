/** `createHarnessSearchTools`: searching in files. */
import { defineHarnessTool } from "../define.ts";
import type { HarnessTool } from "../tool.ts";
import { defineHarnessToolset, type HarnessToolset } from "../toolset.ts";
import type { SearchInput } from "./_matches.ts";
import { searchFound } from "./_search_filesystem.ts";
import { searchTracked } from "./_search_git.ts";
import { type HarnessSelectionOptions, selectionOf } from "./_selection.ts";
import { TOOLSET_LIMITS } from "./limits.ts";

/** Options of {@link createHarnessSearchTools}. */
export type HarnessSearchToolsOptions = HarnessSelectionOptions;

const WORDS = Object.freeze({
  git: {
    description: "Searches the files that Git tracks or does not ignore with an extended regular expression",
    pattern: "A POSIX extended regular expression.",
    glob: "Only files that fit this glob, which is relative to `path`; without a slash it fits at any depth.",
  },
  filesystem: {
    description: "Searches files with a JavaScript regular expression",
    pattern: "A JavaScript regular expression; it is tried on each line.",
    glob:
      "Only files that fit this glob, which is relative to the repository's root; without a slash it is about the " +
      "file's name at any depth.",
  },
});

/**
 * The toolset `search` with the tool of that name, read-only. Paths stay within the sandbox's root, links counted.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { createHarnessSearchTools } from "./search.ts";
 * console.assert(createHarnessSearchTools().tools[0]?.name === "search");
 * ```
 */
export function createHarnessSearchTools(options: HarnessSearchToolsOptions = {}): HarnessToolset {
  const selection = selectionOf("createHarnessSearchTools", options);
  return defineHarnessToolset({ name: "search", tools: [searchTool(selection)] });
}

function searchTool(selection: "git" | "filesystem"): HarnessTool<SearchInput> {
  const words = WORDS[selection];
  const most = TOOLSET_LIMITS.matches;
  return defineHarnessTool<SearchInput>({
    name: "search",
    description: `${words.description}; binary files are left out. Answers \`path:line:text\`, paths relative to the ` +
      `repository's root. A path in double quotes is written as in JSON.`,
    input: {
      type: "object",
      properties: {
        pattern: { type: "string", minLength: 1, description: words.pattern },
        path: { type: "string", minLength: 1, description: "Search in this directory or file; the root unless given." },
        glob: { type: "string", minLength: 1, description: words.glob },
        ignore_case: { type: "boolean", description: "Take upper and lower case as the same; false unless given." },
        max_results: {
          type: "integer",
          minimum: 1,
          maximum: most,
          description: `Lines to show; ${most} unless given.`,
        },
      },
      required: ["pattern"],
      additionalProperties: false,
    },
    readOnly: true,
    ...(selection === "git" ? { workspace: "git" } : {}),
    resources: ({ path }) => ({ paths: [path ?? "."] }),
    execute: (input, context) => selection === "git" ? searchTracked(input, context) : searchFound(input, context),
  });
}
