/** `lait [PROMPT]`: one prompt, one answer. */
import { ConfigurationError, UsageError } from "../../base/errors.ts";
import { readTextBounded } from "../../base/files.ts";
import type { Command } from "../../deps/commander.ts";
import { resolve } from "../../deps/path.ts";
import { textBlock, userMessage } from "../../harness/turn_messages.ts";
import { messageText, type ModelContentBlock, type ModelMessage } from "../../model/message.ts";
import { openProject, type Project } from "../../project/project.ts";
import { Sessions } from "../../project/sessions.ts";
import { type CallerSettings, resolveSettings } from "../../project/settings.ts";
import { ask } from "../ask.ts";
import { readAttachments } from "../../project/attachments.ts";
import { addChatOptions, callerSettings, type ChatOptions } from "../chat_options.ts";
import type { CommandContext } from "../command.ts";
import type { GlobalOptions } from "../command_line.ts";
import { readPrompt } from "../input.ts";
import { Log, logLevel } from "../log.ts";
import { projectOptions } from "../project_options.ts";
import { say } from "../say.ts";
import { readResponseFormat } from "../structured.ts";

/** Adds what a prompt takes. */
export function define(command: Command): void {
  command.argument(
    "[PROMPT]",
    "what to ask; - reads it from standard input, which is also added to it when it is piped",
  );
  addChatOptions(command);
}

/** Asks and prints; without a prompt, a terminal gets a chat. */
export async function run(context: CommandContext): Promise<void> {
  const { io, line, signal } = context;
  const options = line.options as unknown as ChatOptions & GlobalOptions;
  if (options.schemaName !== undefined && options.jsonSchema === undefined) {
    throw new UsageError("--schema-name needs --json-schema");
  }
  const caller = callerSettings(options, io.environment);
  const input = await readPrompt(io, { positional: line.words[0], noStdin: !options.stdin, signal });
  if (input === undefined) {
    if (!io.stdin.isTerminal || !options.stdin || line.words.length > 0) {
      throw new ConfigurationError('a PROMPT is required: lait "your question", or pipe one in');
    }
    tellUnused(io, options);
    const chat = await import("./repl.ts");
    return await chat.run(context);
  }
  if (options.cache) say(io, "warning", "--cache has no effect: this version of lait has no response cache");
  const project = await openProject({ ...projectOptions(io, line.options), signal });
  const prompt = options.promptName === undefined ? undefined : await namedText(project, options, input);
  const system = options.systemFile === undefined
    ? {}
    : { system: (await readTextBounded(resolve(io.directory, options.systemFile))).trimEnd() };
  const callers = [{ ...caller, ...system }, ...prompt === undefined ? [] : [prompt.settings]];
  const settings = resolveSettings(project, callers, io.environment);
  const responseFormat = options.jsonSchema === undefined ? undefined : await readResponseFormat(io.directory, {
    path: options.jsonSchema,
    ...(options.schemaName === undefined ? {} : { name: options.schemaName }),
  });
  const content = await withAttachments(io.directory, prompt?.text ?? input, options);
  const sessions = new Sessions(io.directory);
  const before = options.session === undefined ? [] : await sessions.load(options.session);
  const quiet = options.quiet ?? false;
  const result = await ask(io, new Log(io, logLevel(options.verbose, io.environment)), {
    project,
    settings,
    messages: [
      ...before.map(({ role, content }): ModelMessage => ({ role, content: [textBlock(content)] })),
      userMessage(content),
    ],
    responseFormat,
    label: "chat",
    signal,
  }, {
    stream: options.stream ?? false,
    output: options.output,
    quiet,
    showUsage: options.showUsage ?? false,
    approveTools: options.approveTools ?? false,
    showReasoning: (options.showReasoning ?? false) && !quiet,
    json: options.json ?? false,
    render: options.render ?? project.config.default?.render ?? false,
    structured: responseFormat !== undefined,
  });
  if (options.session !== undefined) {
    await sessions.append(options.session, messageText(userMessage(content)), result.text);
  }
}

/** The text of the prompt that `-p` names, and the settings that it brings. */
async function namedText(
  project: Project,
  { promptName, var: variables = [] }: ChatOptions,
  input: string,
): Promise<{ readonly text: string; readonly settings: CallerSettings }> {
  const { jsonOrText, namedPrompt, parseVariables, renderPrompt } = await import("../../project/prompts.ts");
  const prompt = namedPrompt(project, promptName!);
  const text = await renderPrompt(project, prompt, jsonOrText(input), parseVariables(variables));
  return { text, settings: prompt.settings };
}

/** Says which options of a single prompt a chat does not have. */
function tellUnused(io: CommandContext["io"], options: ChatOptions): void {
  const names = Object.entries(PROMPT_ONLY).filter(([key]) => options[key as keyof ChatOptions] !== undefined);
  if (names.length === 0) return;
  say(io, "note", `without a PROMPT this is a chat, which does not have ${names.map(([, name]) => name).join(", ")}`);
}

const PROMPT_ONLY = {
  promptName: "--prompt-name",
  var: "--var",
  file: "--file",
  image: "--image",
  jsonSchema: "--json-schema",
  json: "--json",
  output: "--output",
  render: "--render",
  quiet: "--quiet",
} satisfies Partial<Record<keyof ChatOptions, string>>;

async function withAttachments(
  directory: string,
  prompt: string,
  { file = [], image = [] }: ChatOptions,
): Promise<ModelContentBlock[]> {
  const { text, media } = await readAttachments(directory, { files: file, images: image });
  return [{ type: "text", text: text === "" ? prompt : `${prompt}\n\n${text}` }, ...media];
}
