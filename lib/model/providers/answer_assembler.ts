/** Reading answers of Chat Completions, whole or in chunks: every deviation of a server is absorbed here. */
import { isJsonObject } from "../../base/json.ts";
import { type ModelContentBlock, parseArguments } from "../message.ts";
import type { ModelResult, StopReason } from "../provider.ts";
import { type Usage, usageFrom } from "../usage.ts";
import { isUsable, ReportedError, serverErrorIn, serverErrorOf } from "./_server_error.ts";
import { ToolCallAssembler } from "./tool_call_assembler.ts";

/** A finish reason that is not here leaves the decision to the content. */
const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "end",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  length: "max-tokens",
  max_tokens: "max-tokens",
  content_filter: "refusal",
};

/** New text of a chunk, for whoever shows it as it comes. */
export interface AnswerDelta {
  readonly text: string;
  readonly reasoning: string;
}

const NOTHING: AnswerDelta = { text: "", reasoning: "" };

/** Why an answer cannot be used; the transport adds where it came from. */
export class MalformedAnswer extends Error {}

type Part = Readonly<Record<string, unknown>>;

/** Collects one answer. */
export class AnswerAssembler {
  readonly #calls = new ToolCallAssembler();
  #text = "";
  #reasoning = "";
  #reasoningField: string | undefined;
  #refusal = "";
  #finish: string | undefined;
  #usage: Usage | undefined;
  #hasChoices = false;
  #hasDeltas = false;
  /** Whether anything has been added. */
  started = false;

  /** Whether the server said why the answer ended. */
  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /**
   * Adds a chunk of a stream.
   *
   * @throws MalformedAnswer when it is none
   * @throws ReportedError when it is an error of the server
   */
  addChunk(chunk: unknown): AnswerDelta {
    const choice = this.#open(chunk);
    if (choice === undefined) return NOTHING;
    if (isJsonObject(choice["delta"])) {
      this.#hasDeltas = true;
      return this.#addPart(choice["delta"], false);
    }
    // A `message` behind deltas says everything again.
    return isJsonObject(choice["message"]) && !this.#hasDeltas ? this.#addPart(choice["message"], true) : NOTHING;
  }

  /** Adds a whole answer; throws as {@link AnswerAssembler.addChunk} does. */
  addWhole(answer: unknown): AnswerDelta {
    const choice = this.#open(answer);
    const part = choice?.["message"] ?? choice?.["delta"];
    return isJsonObject(part) ? this.#addPart(part, true) : NOTHING;
  }

  /** What chunks and whole answers have in common; returns the first choice. */
  #open(body: unknown): Part | undefined {
    this.started = true;
    if (!isJsonObject(body)) {
      const reported = Array.isArray(body) ? serverErrorIn(body) : undefined;
      throw reported === undefined ? new MalformedAnswer("it is no JSON object") : new ReportedError(reported);
    }
    const { error, choices, usage } = body as { error?: unknown; choices?: unknown; usage?: unknown };
    if (isUsable(error)) throw new ReportedError(serverErrorOf(error));
    if (isJsonObject(usage)) this.#usage = usageOf(usage);
    if (!Array.isArray(choices)) return undefined;
    this.#hasChoices = true;
    const choice: unknown = choices[0];
    if (!isJsonObject(choice)) return undefined;
    if (isUsable(choice["error"])) throw new ReportedError(serverErrorOf(choice["error"]));
    if (isJsonObject(choice["usage"])) this.#usage = usageOf(choice["usage"]);
    const finish = choice["finish_reason"];
    if (typeof finish === "string" && finish !== "") this.#finish = finish;
    return choice;
  }

  #addPart(part: Part, whole: boolean): AnswerDelta {
    const text = contentText(part["content"]);
    this.#text += text;
    const reasoning = this.#addReasoning(part);
    if (typeof part["refusal"] === "string") this.#refusal += part["refusal"];
    const entries = part["tool_calls"];
    // The form before `tool_calls`: one call, without an id.
    const legacy = part["function_call"];
    if (Array.isArray(entries)) entries.forEach((entry) => this.#calls.add(entry, whole));
    else if (isJsonObject(legacy)) this.#calls.add({ function: legacy }, whole);
    return { text, reasoning };
  }

  /** The reasoning to show; blank beginnings are kept back, because nothing may follow them. */
  #addReasoning(part: Part): string {
    const field = ["reasoning", "reasoning_content"].find((name) =>
      typeof part[name] === "string" && part[name] !== ""
    );
    if (field === undefined) return "";
    const blankBefore = this.#reasoning.trim() === "";
    const piece = part[field] as string;
    this.#reasoning += piece;
    this.#reasoningField ??= field;
    if (!blankBefore) return piece;
    return this.#reasoning.trim() === "" ? "" : this.#reasoning;
  }

  /**
   * The whole answer. Calls whose id is missing have an empty one: the loop gives them ids.
   *
   * @throws MalformedAnswer when there never were choices, or a tool call never got a name
   */
  result(identity: string, model: string): ModelResult {
    if (!this.#hasChoices) throw new MalformedAnswer("it has no `choices`");
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
    const reason = Object.hasOwn(STOP_REASONS, this.#finish ?? "") ? STOP_REASONS[this.#finish!] : undefined;
    // A server that says `stop` beside calls, or `tool_calls` without any, is believed in what it did.
    return reason === "end" || reason === "tool-calls" ? undefined : reason;
  }
}

/** Content is a text, or a list of parts of which the text ones count. */
function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: unknown) => {
    if (typeof part === "string") return part;
    if (!isJsonObject(part) || typeof part["text"] !== "string") return "";
    return ["text", "output_text", undefined].includes(part["type"] as string | undefined) ? part["text"] : "";
  }).join("");
}

function usageOf(usage: Part): Usage {
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
