/** `lait skill list`: the skills of `skills:`. */
import { untilAborted } from "../../base/signals.ts";
import type { Command } from "../../deps/commander.ts";
import { ProjectSkills } from "../../project/agents/skills.ts";
import { openProject } from "../../project/project.ts";
import type { CommandContext } from "../command.ts";
import { projectOptions } from "../project_options.ts";
import { printRegistry } from "../registry_list.ts";
import { say } from "../say.ts";

/** It takes nothing of its own. */
export function define(_command: Command): void {}

/** Prints the list. */
export async function run({ io, line, signal }: CommandContext): Promise<void> {
  const project = await openProject({ ...projectOptions(io, line.options), signal });
  const skills = new ProjectSkills(project, (message) => say(io, "note", message));
  printRegistry(
    io,
    line,
    { kind: "skills", example: "skills: { style: skills/style.md }" },
    await untilAborted(skills.list(), signal),
  );
}
