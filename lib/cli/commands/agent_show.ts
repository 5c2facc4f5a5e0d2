/** `lait agent show`: what an agent would run with, patterns and defaults resolved. Nothing is started. */
import { untilAborted } from "../../base/signals.ts";
import { visible } from "../../base/text.ts";
import type { Command } from "../../deps/commander.ts";
import type { AgentDefinition } from "../../project/agents/agent.ts";
import { ProjectAgents } from "../../project/agents/agents.ts";
import { agentSettings } from "../../project/agents/request.ts";
import { ProjectSession } from "../../project/open.ts";
import { openProject } from "../../project/project.ts";
import { type RequestSettings, resolveSettings } from "../../project/settings.ts";
import type { CommandContext } from "../command.ts";
import { projectOptions } from "../project_options.ts";
import { say } from "../say.ts";
import { oneWord } from "../words.ts";

/** Adds what it takes. */
export function define(command: Command): void {
  command.argument("<FILE>", "a Markdown file, or the name of an entry of `agents:`");
}

/** Prints the settings. */
export async function run({ io, line, signal }: CommandContext): Promise<void> {
  const project = await openProject({ ...projectOptions(io, line.options), signal });
  const note = (message: string) => say(io, "note", message);
  const agents = new ProjectAgents(project, note);
  const definition = await untilAborted(agents.meant(oneWord(line, "agent's FILE or name")), signal);
  const settings = resolveSettings(project, agentSettings(project, definition), io.environment, {
    defaultSystem: false,
    modelAdvice: `set \`model\` in the front matter of ${definition.shown}, or default.model in lait.config.yml`,
  });
  const session = new ProjectSession(project, { environment: io.environment, signal, agents, note });
  const tools = await session.toolNames({ ...settings, mcp: [] });
  for (const [name, value] of described(definition, settings, tools)) {
    if (value !== undefined && value !== "") io.stdout.write(`${`${name}:`.padEnd(18)}${visible(value)}\n`);
  }
}

function described(
  { fields, shown, body, input, responseFormat }: AgentDefinition,
  { model, alias, endpoint, tools: _, mcp, skills, maxToolRounds }: RequestSettings,
  tools: readonly string[],
): [name: string, value: string | undefined][] {
  const { name, ...sampling } = model;
  return [
    ["file", shown],
    ["name", fields.name],
    ["description", fields.description?.trim().replaceAll(/\s*\n\s*/g, " ")],
    ["model", alias === undefined ? name : `${name} (alias ${alias})`],
    ["endpoint", endpoint.kind === "server" ? endpoint.baseUrl : endpoint.path],
    ["sampling", Object.entries(sampling).map(([key, value]) => `${key}=${value}`).join(" ")],
    ["tools", tools.join(", ") || "none"],
    ["mcp", mcp.join(", ")],
    ["skills", skills.join(", ")],
    ["max_tool_rounds", String(maxToolRounds)],
    ["input_schema", input === undefined ? undefined : JSON.stringify(input.schema)],
    ["output_schema", responseFormat === undefined ? undefined : JSON.stringify(responseFormat.schema)],
    ["system prompt", typeof body === "string" ? "text" : body.references().length === 0 ? "text" : "template"],
  ];
}
