/** Reading answers of the Responses API, whole or event by event. */
import { isJsonObject } from "../../base/json.ts";
import { type ModelContentBlock, parseArguments } from "../message.ts";
import type { ModelResult, StopReason } from "../provider.ts";
import { type Usage, usageFrom } from "../usage.ts";
import { type AnswerDelta, MalformedAnswer } from "./answer_assembler.ts";
import type { WireAssembler } from "./_wire_provider.ts";
import { ReportedError, serverErrorOf } from "./_server_error.ts";

type Item = Readonly<Record<string, unknown>>;
const NOTHING: AnswerDelta = { text: "", reasoning: "" };

/** Collects one answer. */
export class ResponsesAssembler implements WireAssembler {
  /** The output items by their index; an item that is done is taken as it is. */
  readonly #items = new Map<number, Item>();
  readonly #arguments = new Map<number, string>();
  #streamedText = "";
  #streamedReasoning = "";
  #stopReason: StopReason | undefined;
  #usage: Usage | undefined;
  started = false;
  finished = false;

  /** Adds a whole answer. */
  addWhole(answer: unknown): AnswerDelta {
    if (!isJsonObject(answer)) throw new MalformedAnswer("it is no JSON object");
    const error = answer["error"];
    if (error !== undefined && error !== null) throw new ReportedError(serverErrorOf(error));
    if (!Array.isArray(answer["output"])) throw new MalformedAnswer("it has no `output`");
    this.#complete(answer);
    return { text: this.#text(), reasoning: this.#reasoning() };
  }

  /** Adds an event of a stream; kinds that are not known say nothing. */
  addChunk(event: unknown): AnswerDelta {
    if (!isJsonObject(event)) throw new MalformedAnswer("an event is no JSON object");
    this.started = true;
    const index = typeof event["output_index"] === "number" ? event["output_index"] : 0;
    const delta = typeof event["delta"] === "string" ? event["delta"] : "";
    switch (event["type"]) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        this.#streamedText += delta;
        return { text: delta, reasoning: "" };
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.#streamedReasoning += delta;
        return { text: "", reasoning: delta };
      case "response.output_item.added":
      case "response.output_item.done":
        if (isJsonObject(event["item"])) this.#items.set(index, event["item"]);
        return NOTHING;
      case "response.function_call_arguments.delta":
        this.#arguments.set(index, (this.#arguments.get(index) ?? "") + delta);
        return NOTHING;
      case "response.completed":
      case "response.incomplete":
        if (isJsonObject(event["response"])) this.#complete(event["response"]);
        this.finished = true;
        return NOTHING;
      case "response.failed":
        throw new ReportedError(serverErrorOf(isJsonObject(event["response"]) ? event["response"]["error"] : event));
      case "error":
        throw new ReportedError(serverErrorOf(event["error"] ?? event));
      default:
        return NOTHING;
    }
  }

  #complete(response: Item): void {
    const { output, usage, status, incomplete_details: details } = response as Record<string, unknown>;
    this.started = true;
    // A stream's last event repeats the items; from a server that leaves them out, what was streamed counts.
    if (Array.isArray(output) && output.length > 0) {
      this.#items.clear();
      output.forEach((item: unknown, index) => isJsonObject(item) && this.#items.set(index, item));
    }
    if (isJsonObject(usage)) this.#usage = usageOf(usage);
    if (status === "failed" || status === "cancelled") {
      throw new ReportedError(serverErrorOf(response["error"] ?? `the response has the status ${status}`));
    }
    const reason = isJsonObject(details) ? details["reason"] : undefined;
    if (status === "incomplete") this.#stopReason = reason === "content_filter" ? "refusal" : "max-tokens";
  }

  /** The whole answer; see `AnswerAssembler.result`. */
  result(identity: string, model: string): ModelResult {
    const content: ModelContentBlock[] = [];
    for (const [index, item] of [...this.#items].sort(([a], [b]) => a - b)) {
      if (item["type"] === "reasoning") {
        const text = summaryText(item);
        content.push({ type: "reasoning", provider: identity, model, data: item, ...(text === "" ? {} : { text }) });
      } else if (item["type"] === "message") {
        const text = contentText(item);
        if (text !== "") content.push({ type: "text", text });
        if (isRefusal(item) && this.#stopReason === undefined) this.#stopReason = "refusal";
      } else if (item["type"] === "function_call") {
        content.push(this.#call(item, index));
      }
    }
    const text = this.#text();
    if (text !== "" && !content.some(({ type }) => type === "text")) content.push({ type: "text", text });
    return {
      text,
      content,
      ...(this.#stopReason === undefined ? {} : { stopReason: this.#stopReason }),
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
    };
  }

  #call(item: Item, index: number): ModelContentBlock {
    const { call_id: id, name, arguments: whole } = item as Record<string, unknown>;
    if (typeof name !== "string" || name === "") throw new MalformedAnswer("it has a tool call without a name");
    const streamed = this.#arguments.get(index) ?? "";
    const text = typeof whole === "string" && whole !== "" ? whole : streamed;
    return {
      type: "tool-call",
      id: typeof id === "string" ? id : "",
      name,
      input: parseArguments(text),
      arguments: text,
    };
  }

  #text(): string {
    const items = [...this.#items.values()].filter(({ type }) => type === "message").map(contentText).join("");
    return items === "" ? this.#streamedText : items;
  }

  #reasoning(): string {
    const items = [...this.#items.values()].filter(({ type }) => type === "reasoning").map(summaryText);
    return items.filter((text) => text !== "").join("\n\n") || this.#streamedReasoning;
  }
}

function parts(value: unknown): Item[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function contentText(item: Item): string {
  return parts(item["content"]).map((part) => {
    const text = part["type"] === "refusal" ? part["refusal"] : part["text"];
    return typeof text === "string" ? text : "";
  }).join("");
}

function isRefusal(item: Item): boolean {
  return parts(item["content"]).some(({ type }) => type === "refusal");
}

/** The summary's parts, or the reasoning itself where a server shows it; joined by a blank line. */
function summaryText(item: Item): string {
  const shown = [...parts(item["summary"]), ...parts(item["content"])];
  return shown.map(({ text }) => text).filter((text): text is string => typeof text === "string" && text !== "")
    .join("\n\n");
}

function usageOf(usage: Item): Usage {
  const details = (key: string, field: string) => isJsonObject(usage[key]) ? usage[key][field] : undefined;
  return usageFrom({
    input: usage["input_tokens"],
    cached: details("input_tokens_details", "cached_tokens"),
    output: usage["output_tokens"],
    reasoning: details("output_tokens_details", "reasoning_tokens"),
  });
}
