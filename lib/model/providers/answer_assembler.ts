/** Reading answers of Chat Completions, whole or in chunks: every deviation of a server is absorbed here. */
import { isJsonObject } from "../../base/json.ts";
import { type ModelContentBlock, parseArguments } from "../message.ts";
import type { ModelResult, StopReason } from "../provider.ts";
import { type Usage, usageFrom } from "../usage.ts";
import { ToolCallAssembler } from "./tool_call_assembler.ts";

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "end",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  length: "max-tokens",
  content_filter: "refusal",
};

/** New text of a chunk, for whoever shows it as it comes. */
export interface AnswerDelta {
  readonly text: string;
  readonly reasoning: string;
}

/** Why an answer cannot be used; the transport adds where it came from. */
export class MalformedAnswer extends Error {}

/** Collects one answer. */
export class AnswerAssembler {
  readonly #calls = new ToolCallAssembler();
  #text = "";
  #reasoning = "";
  #reasoningField: string | undefined;
  #refusal = "";
  #finish: string | undefined;
  #usage: Usage | undefined;

  /** Whether the server said why the answer ended. */
  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /**
   * Adds a chunk of a stream, or a whole answer.
   *
   * @throws MalformedAnswer when it is neither
   */
  add(chunk: unknown): AnswerDelta {
    if (!isJsonObject(chunk)) throw new MalformedAnswer("it is no JSON object");
    const { error, choices, usage } = chunk as { error?: unknown; choices?: unknown; usage?: unknown };
    if (error !== undefined && error !== null) throw new MalformedAnswer(`it is an error: ${errorMessage(error)}`);
    if (isJsonObject(usage)) this.#usage = usageOf(usage);
    if (!Array.isArray(choices)) {
      if (usage !== undefined && usage !== null) return { text: "", reasoning: "" };
      throw new MalformedAnswer("it has no `choices`");
    }
    const choice: unknown = choices[0];
    if (!isJsonObject(choice)) return { text: "", reasoning: "" };
    if (typeof choice["finish_reason"] === "string" && choice["finish_reason"] !== "") {
      this.#finish = choice["finish_reason"];
    }
    const part = isJsonObject(choice["delta"]) ? choice["delta"] : choice["message"];
    return isJsonObject(part) ? this.#addPart(part) : { text: "", reasoning: "" };
  }

  #addPart(part: Readonly<Record<string, unknown>>): AnswerDelta {
    const text = contentText(part["content"]);
    this.#text += text;
    const field = ["reasoning", "reasoning_content"].find((name) =>
      typeof part[name] === "string" && part[name] !== ""
    );
    const reasoning = field === undefined ? "" : part[field] as string;
    this.#reasoning += reasoning;
    this.#reasoningField ??= field;
    if (typeof part["refusal"] === "string") this.#refusal += part["refusal"];
    if (Array.isArray(part["tool_calls"])) part["tool_calls"].forEach((entry) => this.#calls.add(entry));
    return { text, reasoning };
  }

  /**
   * The whole answer. Calls whose id is missing have an empty one: the loop gives them ids.
   *
   * @throws MalformedAnswer when a tool call never got a name
   */
  result(identity: string, model: string): ModelResult {
    const content: ModelContentBlock[] = [];
    if (this.#reasoning.trim() !== "") {
      content.push({
        type: "reasoning",
        provider: identity,
        model,
        data: { [this.#reasoningField!]: this.#reasoning },
        text: this.#reasoning,
      });
    }
    const text = this.#text === "" ? this.#refusal : this.#text;
    if (text !== "") content.push({ type: "text", text });
    const calls = this.#calls.calls();
    for (const call of calls) {
      if (call.name === "") throw new MalformedAnswer("it has a tool call without a name");
      const input = parseArguments(call.arguments);
      content.push({ type: "tool-call", id: call.id, name: call.name, input, arguments: call.arguments });
    }
    const stopReason = this.#stopReason(calls.length > 0);
    return {
      text,
      content,
      ...(stopReason === undefined ? {} : { stopReason }),
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
    };
  }

  #stopReason(hasCalls: boolean): StopReason | undefined {
    if (this.#refusal !== "" && this.#text === "" && !hasCalls) return "refusal";
    const reason = STOP_REASONS[this.#finish ?? ""];
    // A server that says `stop` beside calls, or `tool_calls` without any, is believed in what it did.
    return reason === "end" || reason === "tool-calls" ? undefined : reason;
  }
}

/** Content is a text, or a list of parts of which the text ones count. */
function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: unknown) => isJsonObject(part) && typeof part["text"] === "string" ? part["text"] : "")
    .join("");
}

function usageOf(usage: Readonly<Record<string, unknown>>): Usage {
  const details = (key: string, field: string) => {
    const value = usage[key];
    return isJsonObject(value) ? value[field] : undefined;
  };
  return usageFrom({
    input: usage["prompt_tokens"],
    cached: details("prompt_tokens_details", "cached_tokens") ?? usage["prompt_cache_hit_tokens"],
    output: usage["completion_tokens"],
    reasoning: details("completion_tokens_details", "reasoning_tokens"),
  });
}

function errorMessage(error: unknown): string {
  const message = isJsonObject(error) ? error["message"] : error;
  return typeof message === "string" ? message : JSON.stringify(error);
}
