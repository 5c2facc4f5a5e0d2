/** `lait agent run`: one agent, one input, one answer. */
import { ConfigurationError, ContextError } from "../../base/errors.ts";
import { untilAborted } from "../../base/signals.ts";
import type { Command } from "../../deps/commander.ts";
import { ProjectAgents } from "../../project/agents/agents.ts";
import { agentLabel, agentRequest } from "../../project/agents/request.ts";
import { jsonOrText } from "../../project/prompts.ts";
import { openProject } from "../../project/project.ts";
import { ask, quietOptions } from "../ask.ts";
import type { CommandContext } from "../command.ts";
import type { GlobalOptions } from "../command_line.ts";
import { Interruption } from "../interrupt.ts";
import { readPrompt } from "../input.ts";
import { Log, logLevel } from "../log.ts";
import { projectOptions } from "../project_options.ts";
import { addRunOptions, type RunOptions } from "../run_options.ts";
import { banner, say } from "../say.ts";
import { wordAndInput } from "../words.ts";

/** Adds what it takes. */
export function define(command: Command): void {
  command.argument("<FILE>", "a Markdown file, or the name of an entry of `agents:`");
  command.argument("[INPUT]", "what the agent works on, JSON or text; - reads it from standard input");
  addRunOptions(command);
}

/** Runs the agent and prints its answer. */
export async function run({ io, line, signal }: CommandContext): Promise<void> {
  const options = line.options as unknown as RunOptions & GlobalOptions;
  const { word: file, input: positional } = wordAndInput(line, "agent's FILE or name");
  const text = await readPrompt(io, { positional, noStdin: !options.stdin, signal });
  if (text === undefined) {
    throw new ConfigurationError(`an INPUT is required: lait agent run ${file} "your input", or pipe one in`);
  }
  const project = await openProject({ ...projectOptions(io, line.options), signal });
  const agents = new ProjectAgents(project, (message) => say(io, "note", message));
  const definition = await untilAborted(agents.meant(file), signal);
  const { name, description } = definition.fields;
  if (name !== undefined) banner(io, description === undefined ? name : `${name}: ${description}`);
  try {
    const request = agentRequest(project, definition, { input: jsonOrText(text) }, io.environment);
    await ask(io, new Log(io, logLevel(options.verbose, io.environment)), {
      project,
      agents,
      settings: request.settings,
      messages: [{ role: "user", content: [{ type: "text", text }] }],
      responseFormat: request.responseFormat,
      label: agentLabel(definition),
      signal,
    }, {
      ...quietOptions(options, project),
      structured: request.responseFormat !== undefined,
    });
  } catch (error) {
    if (error instanceof Interruption || signal.aborted) throw error;
    throw new ContextError(`agent '${definition.shown}'`, error);
  }
}
