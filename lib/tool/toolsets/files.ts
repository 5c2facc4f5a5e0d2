/** `createHarnessFileTools`: reading and listing files. */
import type { HarnessTool } from "../tool.ts";
import { defineHarnessToolset, type HarnessToolset } from "../toolset.ts";
import { listFilesTool } from "./_list_files.ts";
import { readFileTool } from "./_read_file.ts";
import { type HarnessSelectionOptions, selectionOf } from "./_selection.ts";

/** Options of {@link createHarnessFileTools}. */
export type HarnessFileToolsOptions = HarnessSelectionOptions;

/**
 * The toolset `files`: `read_file` and `list_files`, both read-only. Paths stay within the sandbox's root, links
 * counted.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { createHarnessFileTools } from "./files.ts";
 * console.assert(createHarnessFileTools().tools.length === 2);
 * console.assert(createHarnessFileTools({ selection: "filesystem" }).name === "files");
 * ```
 */
export function createHarnessFileTools(options: HarnessFileToolsOptions = {}): HarnessToolset {
  const selection = selectionOf("createHarnessFileTools", options);
  const tools: readonly HarnessTool[] = [readFileTool(), listFilesTool(selection)];
  return defineHarnessToolset({ name: "files", tools });
}
