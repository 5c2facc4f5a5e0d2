/** `lait [PROMPT]`: one prompt, one answer. */
import { ConfigurationError, UsageError } from "../../base/errors.ts";
import { readTextBounded } from "../../base/files.ts";
import type { Command } from "../../deps/commander.ts";
import { resolve } from "../../deps/path.ts";
import { userMessage } from "../../harness/turn_messages.ts";
import type { ModelContentBlock } from "../../model/message.ts";
import { openProject } from "../../project/project.ts";
import { resolveSettings } from "../../project/settings.ts";
import { ask } from "../ask.ts";
import { readAttachments } from "../../project/attachments.ts";
import { addChatOptions, callerSettings, type ChatOptions } from "../chat_options.ts";
import type { CommandContext } from "../command.ts";
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

/** Asks and prints. */
export async function run({ io, line, signal }: CommandContext): Promise<void> {
  const options = line.options as unknown as ChatOptions & CommandContext["line"]["options"];
  if (options.schemaName !== undefined && options.jsonSchema === undefined) {
    throw new UsageError("--schema-name needs --json-schema");
  }
  const caller = callerSettings(options, io.environment);
  const prompt = await readPrompt(io, { positional: line.words[0], noStdin: !options.stdin, signal });
  if (prompt === undefined) {
    throw new ConfigurationError('a PROMPT is required: lait "your question", or pipe one in');
  }
  if (options.cache) say(io, "warning", "--cache has no effect: this version of lait has no response cache");
  const project = await openProject({ ...projectOptions(io, line.options), signal });
  const system = options.systemFile === undefined
    ? {}
    : { system: (await readTextBounded(resolve(io.directory, options.systemFile))).trimEnd() };
  const settings = resolveSettings(project, { ...caller, ...system }, io.environment);
  const responseFormat = options.jsonSchema === undefined ? undefined : await readResponseFormat(io.directory, {
    path: options.jsonSchema,
    ...(options.schemaName === undefined ? {} : { name: options.schemaName }),
  });
  const content = await withAttachments(io.directory, prompt, options);
  const quiet = options.quiet ?? false;
  await ask(io, new Log(io, logLevel(options.verbose, io.environment)), {
    project,
    settings,
    messages: [userMessage(content)],
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
}

async function withAttachments(
  directory: string,
  prompt: string,
  { file = [], image = [] }: ChatOptions,
): Promise<ModelContentBlock[]> {
  const { text, media } = await readAttachments(directory, { files: file, images: image });
  return [{ type: "text", text: text === "" ? prompt : `${prompt}\n\n${text}` }, ...media];
}
