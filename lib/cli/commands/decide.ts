/** `lait decide`: typed questions about a state, answered by the decision service. */
import { ConfigurationError, ContextError, DiagnosticError, messageOf, UsageError } from "../../base/errors.ts";
import { readTextBounded } from "../../base/files.ts";
import type { JsonValue } from "../../base/json.ts";
import { type Command, Option } from "../../deps/commander.ts";
import { resolve } from "../../deps/path.ts";
import { decideWhole } from "../../model/decide.ts";
import { decisionService } from "../../project/decision_service.ts";
import { openProject } from "../../project/project.ts";
import { readQuestionFile } from "../../workflow/read/question_file.ts";
import type { CommandContext } from "../command.ts";
import { readPrompt } from "../input.ts";
import { projectOptions } from "../project_options.ts";

interface Options {
  readonly questions?: string;
  readonly json?: boolean;
  readonly full?: boolean;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly stdin: boolean;
}

/** Adds what it takes. */
export function define(command: Command): void {
  command.argument("[STATE]", "what the questions are about; - reads it from standard input");
  command
    .addOption(new Option("-q, --questions <file>", "a YAML file with the questions"))
    .addOption(new Option("--json", "STATE is JSON"))
    .addOption(new Option("--full", "print the service's whole reply"))
    .addOption(new Option("--model <name>", "the decision model"))
    .addOption(new Option("--base-url <url>", "the service's root"))
    .addOption(new Option("--api-key <key>", "the service's key"))
    .addOption(new Option("--no-stdin", "do not read standard input"));
}

/** Asks, and prints the answers. */
export async function run({ io, line, signal }: CommandContext): Promise<void> {
  const options = line.options as unknown as Options;
  const [positional, more] = line.words;
  if (options.questions === undefined) {
    throw new UsageError("--questions FILE is missing", "lait decide -q FILE [STATE]");
  }
  if (more !== undefined) throw new UsageError("one STATE is expected", "quote a state of several words");
  const questions = await questionsOf(resolve(io.directory, options.questions), options.questions);
  const text = await readPrompt(io, { positional, noStdin: !options.stdin, signal });
  if (text === undefined) {
    throw new ConfigurationError('a STATE is required: lait decide -q FILE "the state", or pipe one in');
  }
  const project = await openProject({ ...projectOptions(io, line.options), signal });
  const service = await decisionService(project, io.environment, signal, options);
  const reply = await decideWhole({
    baseUrl: service.baseUrl,
    key: service.key,
    model: options.model ?? service.model,
    state: options.json ? parsed(text) : text,
    questions,
    signal,
  });
  io.stdout.write(`${JSON.stringify(options.full ? reply.whole : reply.answers, null, 2)}\n`);
}

async function questionsOf(path: string, shown: string) {
  const text = await readTextBounded(path);
  try {
    return readQuestionFile(text, shown);
  } catch (error) {
    if (!(error instanceof DiagnosticError)) throw error;
    throw new ContextError(`the questions of '${shown}' cannot be used`, error);
  }
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new ConfigurationError(`the STATE is not JSON: ${messageOf(error)}`, { cause: error });
  }
}
