/** `lait prompt run`: a named prompt, one input, one answer. */
import { ConfigurationError } from "../../base/errors.ts";
import { type Command, Option } from "../../deps/commander.ts";
import { openProject } from "../../project/project.ts";
import { jsonOrText, namedPrompt, parseVariables, renderPrompt } from "../../project/prompts.ts";
import { resolveSettings } from "../../project/settings.ts";
import { ask, quietOptions } from "../ask.ts";
import { collect } from "../chat_options.ts";
import type { CommandContext } from "../command.ts";
import type { GlobalOptions } from "../command_line.ts";
import { readPrompt } from "../input.ts";
import { Log, logLevel } from "../log.ts";
import { projectOptions } from "../project_options.ts";
import { addRunOptions, type RunOptions } from "../run_options.ts";
import { wordAndInput } from "../words.ts";

/** Adds what it takes. */
export function define(command: Command): void {
  command.argument("<NAME>", "a prompt of `prompts:`");
  command.argument("[INPUT]", "its input, JSON or text; - reads it from standard input");
  command.addOption(
    new Option("--var <key=value>", "a variable of the prompt; repeatable").argParser(collect).helpGroup(
      "Input options:",
    ),
  );
  addRunOptions(command);
}

/** Runs the prompt and prints the answer. */
export async function run({ io, line, signal }: CommandContext): Promise<void> {
  const options = line.options as unknown as RunOptions & GlobalOptions & { readonly var?: readonly string[] };
  const { word: name, input: positional } = wordAndInput(line, "prompt's NAME");
  const variables = parseVariables(options.var ?? []);
  const input = await readPrompt(io, { positional, noStdin: !options.stdin, signal });
  if (input === undefined) {
    throw new ConfigurationError(`an INPUT is required: lait prompt run ${name} "your input", or pipe one in`);
  }
  const project = await openProject({ ...projectOptions(io, line.options), signal });
  const prompt = namedPrompt(project, name);
  const text = await renderPrompt(project, prompt, jsonOrText(input), variables);
  const settings = resolveSettings(project, prompt.settings, io.environment, {
    defaultSystem: false,
    modelAdvice: `set prompts.${name}.model or default.model in lait.config.yml`,
  });
  await ask(io, new Log(io, logLevel(options.verbose, io.environment)), {
    project,
    settings,
    messages: [{ role: "user", content: [{ type: "text", text }] }],
    responseFormat: undefined,
    label: `prompt '${name}'`,
    signal,
  }, { ...quietOptions(options, project), structured: false });
}
