/** `lait agent list`: the agents of `agents:`. */
import { untilAborted } from "../../base/signals.ts";
import type { Command } from "../../deps/commander.ts";
import { ProjectAgents } from "../../project/agents/agents.ts";
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
  const agents = new ProjectAgents(project, (message) => say(io, "note", message));
  printRegistry(
    io,
    line,
    { kind: "agents", example: "agents: { reviewer: agents/reviewer.md }" },
    await untilAborted(agents.list(), signal),
  );
}
