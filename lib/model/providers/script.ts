/** The form of a script: answers written down beforehand, for tests, demos and replays by hand. */
import { ConfigurationError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import { checkInteger, checkKeys, checkOneOf, checkRange } from "../../base/options.ts";
import type { StopReason } from "../provider.ts";
import { type Usage, usageFrom } from "../usage.ts";

/** A tool call of a scripted answer. */
export interface ScriptedCall {
  /** The tool's name as the model sees it, such as `tool__find`. */
  readonly name: string;
  /** An object; or a text that is sent as it is, also when it is no JSON. Default: `{}`. */
  readonly arguments?: unknown;
  /** Default: an id of lait's own. */
  readonly id?: string;
}

/** One scripted answer. `{{ last }}` in `text`, `chunks` and the texts of `arguments` is the last tool result. */
export interface ScriptedAnswer {
  /** The answer's text. Default: none. */
  readonly text?: string;
  /** The reasoning before it. Default: none. */
  readonly reasoning?: string;
  /** The tools it asks for. Default: none. */
  readonly calls?: readonly ScriptedCall[];
  /** The pieces in which a streamed answer arrives; together they are the text. Default: word by word. */
  readonly chunks?: readonly string[];
  /** Milliseconds before the answer, and between its chunks when it is streamed. Default: 0. */
  readonly delay_ms?: number;
  /** An HTTP status: the request fails with it, and `text` is what the server said. */
  readonly status?: number;
  /** Tokens: `input` and `output`, or `prompt_tokens` and `completion_tokens`. Default: none are reported. */
  readonly usage?: Readonly<Record<string, number>>;
  /** Why the answer ended: a stop reason, or the wire's `stop`, `tool_calls`, `length`, `content_filter`. */
  readonly finish?: string;
  /** Only for requests whose system text or messages contain this text. Default: every request. */
  readonly when?: { readonly contains: string };
}

/** A script: a list of answers, or one with settings. A text stands for `{ text }`. */
export type Script = readonly (string | ScriptedAnswer)[] | {
  readonly answers: readonly (string | ScriptedAnswer)[];
  /** Whether answers that nobody asked for are an error at the end of a successful run. Default: true. */
  readonly strict?: boolean;
};

/** A script that has been checked. */
export interface CheckedScript {
  readonly answers: readonly ScriptedAnswer[];
  readonly strict: boolean;
}

const ANSWER_KEYS = ["text", "reasoning", "calls", "chunks", "delay_ms", "status", "usage", "finish", "when"];
const USAGE_KEYS = ["input", "output", "cached", "prompt_tokens", "completion_tokens", "total_tokens"];
const FINISH: Readonly<Record<string, StopReason>> = {
  "end": "end",
  "tool-calls": "tool-calls",
  "max-tokens": "max-tokens",
  "refusal": "refusal",
  "stop": "end",
  "tool_calls": "tool-calls",
  "length": "max-tokens",
  "content_filter": "refusal",
};

/**
 * Checks a script.
 *
 * @throws ConfigurationError naming the answer by its number, from 1
 */
export function checkScript(script: unknown, name: string): CheckedScript {
  const isList = Array.isArray(script);
  if (!isList) {
    checkKeys(`${name}: a script must be a list of answers, or an object with \`answers\`; the script`, script, [
      "answers",
      "strict",
    ]);
  }
  const whole = isList ? { answers: script } : script as { answers?: unknown; strict?: unknown };
  const { answers, strict = true } = whole as { answers?: unknown; strict?: unknown };
  if (!Array.isArray(answers)) throw new ConfigurationError(`${name}: \`answers\` must be a list`);
  if (typeof strict !== "boolean") throw new ConfigurationError(`${name}: \`strict\` must be true or false`);
  return { answers: answers.map((answer, index) => checkAnswer(answer, `${name}: answer ${index + 1}`)), strict };
}

function checkAnswer(answer: unknown, what: string): ScriptedAnswer {
  if (typeof answer === "string") return { text: answer };
  checkKeys(what, answer, ANSWER_KEYS);
  const checked = answer as Record<string, unknown>;
  checkText(`${what}: \`text\``, checked["text"]);
  checkText(`${what}: \`reasoning\``, checked["reasoning"]);
  checkInteger(`${what}: \`delay_ms\``, checked["delay_ms"], 0);
  checkInteger(`${what}: \`status\``, checked["status"], 100);
  checkRange(`${what}: \`status\``, checked["status"], 100, 599);
  checkOneOf(`${what}: \`finish\``, checked["finish"], Object.keys(FINISH));
  const { chunks, calls, usage, when } = checked;
  if (chunks !== undefined && !(Array.isArray(chunks) && chunks.every((chunk) => typeof chunk === "string"))) {
    throw new ConfigurationError(`${what}: \`chunks\` must be a list of texts`);
  }
  if (chunks !== undefined && checked["text"] !== undefined && (chunks as string[]).join("") !== checked["text"]) {
    throw new ConfigurationError(`${what}: \`chunks\` must come to \`text\`; leave \`text\` out`);
  }
  if (calls !== undefined && !Array.isArray(calls)) throw new ConfigurationError(`${what}: \`calls\` must be a list`);
  (calls as unknown[] | undefined)?.forEach((call, index) => checkCall(call, `${what}: call ${index + 1}`));
  if (usage !== undefined) checkUsage(`${what}: \`usage\``, usage);
  if (when !== undefined) {
    checkKeys(`${what}: \`when\``, when, ["contains"]);
    if (typeof (when as { contains?: unknown }).contains !== "string") {
      throw new ConfigurationError(`${what}: \`when.contains\` must be a text`);
    }
  }
  return checked as ScriptedAnswer;
}

function checkCall(call: unknown, what: string): void {
  checkKeys(what, call, ["name", "arguments", "id"]);
  const { name, id, arguments: given } = call as { name?: unknown; id?: unknown; arguments?: unknown };
  if (typeof name !== "string" || name === "") throw new ConfigurationError(`${what}: \`name\` must be a text`);
  checkText(`${what}: \`id\``, id);
  if (given !== undefined && given !== null && typeof given !== "string" && !isJsonObject(given)) {
    throw new ConfigurationError(`${what}: \`arguments\` must be an object, or a text that is sent as it is`);
  }
}

function checkUsage(what: string, usage: unknown): void {
  checkKeys(what, usage, USAGE_KEYS);
  for (const [key, count] of Object.entries(usage as Record<string, unknown>)) {
    checkInteger(`${what}: \`${key}\``, count, 0);
  }
}

function checkText(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== "string") throw new ConfigurationError(`${what} must be a text`);
}

/** The stop reason of an answer; undefined when the content decides. */
export function finishOf(answer: ScriptedAnswer): StopReason | undefined {
  return answer.finish === undefined ? undefined : FINISH[answer.finish];
}

/** The usage of an answer in lait's own terms; undefined when it reports none. */
export function usageOf(answer: ScriptedAnswer): Usage | undefined {
  if (answer.usage === undefined) return undefined;
  const { input, output, cached, prompt_tokens, completion_tokens } = answer.usage;
  return usageFrom({ input: input ?? prompt_tokens ?? 0, cached, output: output ?? completion_tokens ?? 0 });
}

/** The value with `{{ last }}` replaced in each of its texts. */
export function withLast<T>(value: T, last: string): T {
  if (typeof value === "string") return value.replace(/\{\{\s*last\s*\}\}/g, () => last) as T;
  if (Array.isArray(value)) return value.map((item) => withLast(item, last)) as T;
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withLast(item, last)])) as T;
}
