/** Reading answers of Anthropic's Messages API, whole or event by event. */
import { isJsonObject } from "../../base/json.ts";
import { type ModelContentBlock, parseArguments } from "../message.ts";
import type { ModelResult, StopReason } from "../provider.ts";
import { type Usage, usageFrom } from "../usage.ts";
import { type AnswerDelta, MalformedAnswer } from "./answer_assembler.ts";
import { ReportedError, serverErrorOf } from "./_server_error.ts";
import type { WireAssembler } from "./_wire_provider.ts";

type Item = Record<string, unknown>;
const NOTHING: AnswerDelta = { text: "", reasoning: "" };

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "end",
  stop_sequence: "end",
  tool_use: "tool-calls",
  max_tokens: "max-tokens",
  model_context_window_exceeded: "max-tokens",
  refusal: "refusal",
};

/** Collects one answer. */
export class AnthropicAssembler implements WireAssembler {
  /** The blocks as the server would have sent them whole; a tool's input stays text until the end. */
  readonly #blocks: Item[] = [];
  readonly #inputs = new Map<number, string>();
  #usage: Item | undefined;
  #stop: string | undefined;
  started = false;
  finished = false;

  /** Adds a whole answer. */
  addWhole(answer: unknown): AnswerDelta {
    if (!isJsonObject(answer)) throw new MalformedAnswer("it is no JSON object");
    if (answer["type"] === "error") throw new ReportedError(serverErrorOf(answer["error"]));
    if (!Array.isArray(answer["content"])) throw new MalformedAnswer("it has no `content`");
    this.started = true;
    this.#blocks.push(...answer["content"].filter(isJsonObject).map((block) => ({ ...block })));
    this.#end(answer);
    return { text: this.#texts("text", "text"), reasoning: this.#texts("thinking", "thinking") };
  }

  /** Adds an event of a stream; kinds that are not known say nothing. */
  addChunk(event: unknown): AnswerDelta {
    if (!isJsonObject(event)) throw new MalformedAnswer("an event is no JSON object");
    this.started = true;
    const index = typeof event["index"] === "number" ? event["index"] : 0;
    switch (event["type"]) {
      case "message_start":
        if (isJsonObject(event["message"])) this.#end(event["message"]);
        return NOTHING;
      case "content_block_start":
        if (isJsonObject(event["content_block"])) this.#blocks[index] = { ...event["content_block"] };
        return NOTHING;
      case "content_block_delta":
        return isJsonObject(event["delta"]) ? this.#delta(index, event["delta"]) : NOTHING;
      case "message_delta":
        this.#end({ usage: event["usage"], ...(isJsonObject(event["delta"]) ? event["delta"] : {}) });
        return NOTHING;
      case "message_stop":
        this.finished = true;
        return NOTHING;
      case "error":
        throw new ReportedError(serverErrorOf(event["error"]));
      default:
        return NOTHING;
    }
  }

  #delta(index: number, delta: Item): AnswerDelta {
    const block = this.#blocks[index] ??= { type: delta["type"] === "text_delta" ? "text" : "thinking" };
    const append = (key: string, value: unknown) => {
      const piece = typeof value === "string" ? value : "";
      block[key] = (typeof block[key] === "string" ? block[key] : "") + piece;
      return piece;
    };
    switch (delta["type"]) {
      case "text_delta":
        return { text: append("text", delta["text"]), reasoning: "" };
      case "thinking_delta":
        return { text: "", reasoning: append("thinking", delta["thinking"]) };
      case "signature_delta":
        append("signature", delta["signature"]);
        return NOTHING;
      case "input_json_delta":
        this.#inputs.set(index, (this.#inputs.get(index) ?? "") + String(delta["partial_json"] ?? ""));
        return NOTHING;
      default:
        return NOTHING;
    }
  }

  /** Usage comes in parts that each replace what they name. */
  #end({ usage, stop_reason: stop }: Readonly<Record<string, unknown>>): void {
    if (isJsonObject(usage)) this.#usage = { ...this.#usage, ...withoutNulls(usage) };
    if (typeof stop === "string") this.#stop = stop;
  }

  /** The whole answer; see `AnswerAssembler.result`. */
  result(identity: string, model: string): ModelResult {
    const content: ModelContentBlock[] = [];
    this.#blocks.forEach((block, index) => {
      const { type, text, id, name, input } = block as Record<string, unknown>;
      if (type === "text" && typeof text === "string" && text !== "") content.push({ type: "text", text });
      if (type === "thinking" || type === "redacted_thinking") {
        const shown = block["thinking"];
        const readable = typeof shown === "string" && shown !== "" ? { text: shown } : {};
        content.push({ type: "reasoning", provider: identity, model, data: block, ...readable });
      }
      if (type !== "tool_use") return;
      if (typeof name !== "string" || name === "") throw new MalformedAnswer("it has a tool call without a name");
      const raw = this.#inputs.get(index) ?? JSON.stringify(input ?? {});
      content.push({
        type: "tool-call",
        id: typeof id === "string" ? id : "",
        name,
        input: parseArguments(raw),
        arguments: raw,
      });
    });
    const reason = STOP_REASONS[this.#stop ?? ""];
    const usage = this.#usage === undefined ? undefined : usageOf(this.#usage);
    return {
      text: this.#texts("text", "text"),
      content,
      // A server that says it ended beside calls is believed in what it did.
      ...(reason === undefined || reason === "end" || reason === "tool-calls" ? {} : { stopReason: reason }),
      ...(usage === undefined ? {} : { usage }),
    };
  }

  #texts(type: string, key: string): string {
    return this.#blocks.filter((block) => block["type"] === type).map((block) => String(block[key] ?? "")).join("");
  }
}

function withoutNulls(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null && value !== undefined));
}

/** All that was sent counts as input: fresh, read from the cache, and written to it. */
function usageOf(usage: Item): Usage {
  const count = (key: string) => typeof usage[key] === "number" ? usage[key] : 0;
  const [cached, cacheCreated] = [count("cache_read_input_tokens"), count("cache_creation_input_tokens")];
  return usageFrom({
    input: count("input_tokens") + cached + cacheCreated,
    cached,
    cacheCreated,
    output: usage["output_tokens"],
  });
}
