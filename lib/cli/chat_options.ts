/** The options of prompts: what they are called, what they may be, and which variables stand in for them. */
import { UsageError } from "../base/errors.ts";
import type { EnvironmentReader } from "../base/environment.ts";
import { type ModelReasoning, REASONING_LEVELS } from "../model/provider.ts";
import { type Command, InvalidArgumentError, Option } from "../deps/commander.ts";
import type { CallerSettings } from "../project/settings.ts";

/** The parsed options of a prompt. */
export interface ChatOptions {
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly system?: string;
  readonly systemFile?: string;
  readonly file?: readonly string[];
  readonly image?: readonly string[];
  readonly jsonSchema?: string;
  readonly schemaName?: string;
  readonly render?: boolean;
  readonly tool?: readonly string[];
  readonly mcp?: readonly string[];
  readonly subagent?: readonly string[];
  readonly session?: string;
  readonly promptName?: string;
  readonly var?: readonly string[];
  readonly reasoningEffort?: string;
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxTokens?: number;
  readonly stream?: boolean;
  readonly json?: boolean;
  readonly output?: string;
  readonly quiet?: boolean;
  readonly showReasoning?: boolean;
  readonly showUsage?: boolean;
  /** False with `--no-stdin`. */
  readonly stdin: boolean;
}

/** Levels that the command offers; the API has one more. */
const EFFORTS = REASONING_LEVELS.filter((level) => level !== "max");

/** A number as a person writes it. */
function parseNumber(text: string): number {
  const value = text.trim() === "" ? NaN : Number(text);
  if (!Number.isFinite(value)) throw new InvalidArgumentError("It must be a number.");
  return value;
}

/** A whole number that fits 32 bits. */
function parseCount(text: string): number {
  if (!/^\d+$/.test(text.trim()) || Number(text) > 4_294_967_295) {
    throw new InvalidArgumentError("It must be a whole number up to 4294967295.");
  }
  return Number(text);
}

/** For options that may be given several times. */
export function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...before ?? [], value];
}

/** Adds the options that single prompts and chats share. */
export function addSharedOptions(command: Command): Command {
  const model = "Model options:";
  const output = "Output options:";
  return command
    .addOption(new Option("--model <name>", "alias or id of the model (env LLM_MODEL)").helpGroup(model))
    .addOption(new Option("--base-url <url>", "root of the API (env OPENAI_BASE_URL)").helpGroup(model))
    .addOption(new Option("--api-key <key>", "key of the API (env OPENAI_API_KEY)").helpGroup(model))
    .addOption(new Option("--system <text>", "system prompt").conflicts("systemFile").helpGroup(model))
    .addOption(new Option("--system-file <path>", "file with the system prompt").helpGroup(model))
    .addOption(
      new Option("--reasoning-effort <level>", "how hard the model thinks (env LLM_REASONING_EFFORT)").choices([
        ...EFFORTS,
      ])
        .helpGroup(model),
    )
    .addOption(
      new Option("--temperature <number>", "0 to 2 (env LLM_TEMPERATURE)").argParser(parseNumber).helpGroup(model),
    )
    .addOption(new Option("--top-p <number>", "0 to 1 (env LLM_TOP_P)").argParser(parseNumber).helpGroup(model))
    .addOption(
      new Option("--max-tokens <count>", "tokens that one answer may have (env LLM_MAX_TOKENS)").argParser(parseCount)
        .helpGroup(model),
    )
    .addOption(
      new Option("--tool <name>", "offer a command of `tools:`, or tools of a server: server__pattern; repeatable")
        .argParser(collect)
        .helpGroup(model),
    )
    .addOption(
      new Option("--mcp <name>", "offer the tools of a server of `mcp_servers:`; repeatable").argParser(collect)
        .helpGroup(model),
    )
    .addOption(
      new Option("--subagent <name>", "offer an agent of `agents:` as a tool; repeatable").argParser(collect)
        .helpGroup(model),
    )
    .addOption(
      new Option("--session <name>", "go on with the conversation of this name, and keep it").helpGroup(
        "Input options:",
      ),
    )
    .addOption(new Option("--show-reasoning", "print the model's reasoning before the answer").helpGroup(output))
    .addOption(new Option("--show-usage", "print the tokens used on stderr").helpGroup(output))
    .addOption(new Option("--no-history", "do not record this run in the history").helpGroup(output));
}

/** Adds the options of a prompt. */
export function addChatOptions(command: Command): Command {
  const input = "Input options:";
  const output = "Output options:";
  return addSharedOptions(command)
    .addOption(
      new Option("-p, --prompt-name <name>", "use a prompt of `prompts:`; PROMPT is its input").helpGroup(input),
    )
    .addOption(
      new Option("--var <key=value>", "a variable of the prompt; repeatable").argParser(collect).helpGroup(input),
    )
    .addOption(
      new Option("--file <path>", "add a text file or PDF to the prompt; repeatable").argParser(collect).helpGroup(
        input,
      ),
    )
    .addOption(
      new Option("--image <path-or-url>", "add an image to the prompt; repeatable").argParser(collect).helpGroup(input),
    )
    .addOption(new Option("--no-stdin", "do not read standard input").helpGroup(input))
    .addOption(new Option("--json-schema <path>", "ask for an answer that is JSON of this schema").helpGroup(output))
    .addOption(new Option("--schema-name <name>", "what the schema is called (structured_output)").helpGroup(output))
    .addOption(new Option("--stream", "print the answer as it comes").conflicts("json").helpGroup(output))
    .addOption(new Option("--json", "print one JSON document").helpGroup(output))
    .addOption(new Option("-o, --output <path>", "write the answer to a file; - is standard output").helpGroup(output))
    .addOption(new Option("--render", "show Markdown styled on a terminal").helpGroup(output))
    .addOption(new Option("--quiet", "no reasoning, no usage, no progress").helpGroup(output));
}

/**
 * What the caller set: flags first, then their variables.
 *
 * @throws UsageError for a variable that is no value of its flag
 */
export function callerSettings(options: ChatOptions, environment: EnvironmentReader): CallerSettings {
  const text = (flag: string | undefined, name: string): string | undefined => flag ?? environment(name);
  const parsed = <T>(flag: T | undefined, name: string, parse: (text: string) => T): T | undefined => {
    if (flag !== undefined) return flag;
    const value = environment(name);
    if (value === undefined || value.trim() === "") return undefined;
    try {
      return parse(value);
    } catch (error) {
      if (error instanceof InvalidArgumentError) {
        throw new UsageError(`the variable ${name} is invalid: ${error.message} (got ${JSON.stringify(value)})`);
      }
      throw error;
    }
  };
  const parseEffort = (value: string): string => {
    if (!(EFFORTS as readonly string[]).includes(value)) {
      throw new InvalidArgumentError(`It must be one of ${EFFORTS.join(", ")}.`);
    }
    return value;
  };
  const settings = {
    model: text(options.model, "LLM_MODEL"),
    baseUrl: blankAsUnset(text(options.baseUrl, "OPENAI_BASE_URL"), options.baseUrl),
    apiKey: text(options.apiKey, "OPENAI_API_KEY"),
    system: options.system,
    tools: options.tool,
    mcp: options.mcp,
    subagents: options.subagent,
    reasoningEffort: parsed(options.reasoningEffort, "LLM_REASONING_EFFORT", parseEffort) as ModelReasoning | undefined,
    temperature: parsed(options.temperature, "LLM_TEMPERATURE", parseNumber),
    topP: parsed(options.topP, "LLM_TOP_P", parseNumber),
    maxTokens: parsed(options.maxTokens, "LLM_MAX_TOKENS", parseCount),
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as CallerSettings;
}

/** A variable that is set to nothing counts as unset; a flag that is given empty is a mistake to be told. */
function blankAsUnset(value: string | undefined, flag: string | undefined): string | undefined {
  return flag === undefined && value?.trim() === "" ? undefined : value;
}
