/** `lait prompt list`: the prompts of `prompts:`. */
import { visible } from "../../base/text.ts";
import type { Command } from "../../deps/commander.ts";
import { openProject } from "../../project/project.ts";
import type { CommandContext } from "../command.ts";
import { projectOptions } from "../project_options.ts";
import { noWords } from "../words.ts";

/** It takes nothing of its own. */
export function define(_command: Command): void {}

/** Prints the list. */
export async function run({ io, line, signal }: CommandContext): Promise<void> {
  noWords(line);
  const project = await openProject({ ...projectOptions(io, line.options), signal });
  const prompts = Object.entries(project.config.prompts ?? {}).toSorted(([a], [b]) => a < b ? -1 : 1);
  if (prompts.length === 0) {
    io.stdout.write(
      'no prompts defined in lait.config.yml; add some under `prompts:`, as in prompts: { sum: { template: "Sum up: ' +
        '{{ input }}" } }\n',
    );
  }
  for (const [name, { model }] of prompts) {
    io.stdout.write(`${visible(name)}${model === undefined ? "" : `  (model: ${visible(model)})`}\n`);
  }
}
