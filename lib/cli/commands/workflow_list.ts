/** `lait workflow list`: the entries of `workflows:`. */
import { messageChain } from "../../base/errors.ts";
import { visible } from "../../base/text.ts";
import { openProject, shownPath } from "../../project/project.ts";
import { readWorkflowFile } from "../../workflow/read/workflow_file.ts";
import type { CommandContext } from "../command.ts";
import { projectOptions } from "../project_options.ts";

/** It takes nothing. */
export function define(): void {}

/** Prints them by name; one that cannot be read says why. */
export async function run({ io, line, signal }: CommandContext): Promise<void> {
  const project = await openProject({ ...projectOptions(io, line.options), signal });
  const entries = Object.entries(project.config.workflows ?? {}).toSorted(([a], [b]) => a < b ? -1 : 1);
  if (entries.length === 0) {
    io.stderr.write("no workflows are registered; add `workflows: { name: path.yml }` to lait.config.yml\n");
  }
  for (const [name, path] of entries) {
    const shown = shownPath(path, io.directory);
    let description = "";
    let warning = "";
    try {
      const definition = await readWorkflowFile(path, shown);
      description = definition.description === undefined ? "" : `: ${definition.description}`;
    } catch (error) {
      warning = `    warning: ${messageChain(error).replaceAll("\n", "\n    ")}\n`;
    }
    io.stdout.write(`${visible(`${name}  (${shown})${description}`)}\n${warning}`);
  }
}
