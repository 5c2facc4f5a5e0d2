/** A provider that answers from a script, with no server behind it. */
import { type Clock, systemClock } from "../../base/clock.ts";
import { ConfigurationError, ModelError } from "../../base/errors.ts";
import { throwIfAborted } from "../../base/signals.ts";
import { type ModelContentBlock, type ModelMessage, parseArguments } from "../message.ts";
import {
  type ModelProvider,
  type ModelRequest,
  type ModelResult,
  type ModelStreamEvent,
  requestMessages,
} from "../provider.ts";
import {
  type CheckedScript,
  checkScript,
  finishOf,
  type Script,
  type ScriptedAnswer,
  usageOf,
  withLast,
} from "./script.ts";

/** A provider with a script, and what is left of it. */
export interface ScriptedModelProvider extends ModelProvider {
  /** Every request so far, in order. */
  readonly requests: readonly ModelRequest[];
  /**
   * For the end of a run that succeeded.
   *
   * @throws ConfigurationError when answers are left that nobody asked for, unless the script says `strict: false`
   */
  checkUsed(): void;
}

/** Settings of {@link createScriptedModelProvider}. */
export interface ScriptedProviderOptions {
  /** Where the script comes from, for messages. Default: `script`. */
  readonly name?: string;
  /** What waits for `delay_ms`. Default: the machine's clock. */
  readonly clock?: Clock;
}

/**
 * A provider whose answers are written down: each request takes the first answer left whose `when` fits it.
 *
 * @throws ConfigurationError when the script is not valid
 *
 * @example
 * ```ts
 * import { createScriptedModelProvider } from "./scripted.ts";
 * const provider = createScriptedModelProvider(["Hello!"]);
 * const { text } = await provider.request({ model: "any", prompt: "Say hello." });
 * console.assert(text === "Hello!");
 * ```
 */
export function createScriptedModelProvider(
  script: Script,
  options: ScriptedProviderOptions = {},
): ScriptedModelProvider {
  const name = options.name ?? "script";
  return new ScriptedProvider(checkScript(script, name), name, options.clock ?? systemClock);
}

class ScriptedProvider implements ScriptedModelProvider {
  readonly name = "scripted";
  readonly identity = "scripted";
  readonly requests: ModelRequest[] = [];
  readonly #script: CheckedScript;
  readonly #origin: string;
  readonly #clock: Clock;
  readonly #used = new Set<number>();

  constructor(script: CheckedScript, origin: string, clock: Clock) {
    this.#script = script;
    this.#origin = origin;
    this.#clock = clock;
  }

  async request(request: ModelRequest): Promise<ModelResult> {
    const answer = this.#take(request);
    await this.#wait(answer, request.signal);
    this.#failIfAsked(answer);
    return this.#result(answer, request);
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelStreamEvent> {
    const answer = this.#take(request);
    await this.#wait(answer, request.signal);
    this.#failIfAsked(answer);
    const result = this.#result(answer, request);
    if (answer.reasoning !== undefined) yield { type: "reasoning", text: answer.reasoning };
    const chunks = answer.chunks === undefined
      ? words(result.text)
      : withLast(answer.chunks, lastResult(requestMessages(request)));
    for (const [index, chunk] of chunks.filter((chunk) => chunk !== "").entries()) {
      if (index > 0) await this.#wait(answer, request.signal);
      yield { type: "text-delta", text: chunk };
    }
    yield { type: "result", result };
  }

  checkUsed(): void {
    const left = this.#script.answers.length - this.#used.size;
    if (left === 0 || !this.#script.strict) return;
    const first = this.#script.answers.findIndex((_, index) => !this.#used.has(index)) + 1;
    throw new ConfigurationError(
      `${this.#origin}: ${left} scripted answer(s) were not used, the first is answer ${first}; ` +
        "remove them or set `strict: false`",
    );
  }

  #take(request: ModelRequest): ScriptedAnswer {
    throwIfAborted(request.signal);
    this.requests.push(request);
    const all = textOf(request);
    const index = this.#script.answers.findIndex(({ when }, index) =>
      !this.#used.has(index) && (when === undefined || all().includes(when.contains))
    );
    if (index < 0) {
      const { length } = this.#script.answers;
      const unfit = length > this.#used.size ? "; the `when` of none that is left fits" : "";
      throw new ModelError(
        `${this.#origin}: there is no answer for request ${this.requests.length} ` +
          `(${length} scripted, ${this.#used.size} used${unfit})`,
        { details: { request: this.requests.length } },
      );
    }
    this.#used.add(index);
    return this.#script.answers[index]!;
  }

  async #wait(answer: ScriptedAnswer, signal: AbortSignal | undefined): Promise<void> {
    if (answer.delay_ms) await this.#clock.sleep(answer.delay_ms, signal);
    throwIfAborted(signal);
  }

  #failIfAsked({ status, text }: ScriptedAnswer): void {
    if (status === undefined || (status >= 200 && status < 300)) return;
    const said = text === undefined ? "" : `: ${text}`;
    throw new ModelError(`${this.#origin}: the model server answered ${status}${said}`, {
      code: status === 429 ? "quota" : "provider",
      details: { status },
    });
  }

  #result(answer: ScriptedAnswer, request: ModelRequest): ModelResult {
    const last = lastResult(requestMessages(request));
    const text = answer.chunks === undefined
      ? withLast(answer.text ?? "", last)
      : withLast(answer.chunks, last).join("");
    const content: ModelContentBlock[] = [];
    if (answer.reasoning !== undefined) {
      const { reasoning } = answer;
      content.push({ type: "reasoning", provider: "scripted", model: request.model, data: reasoning, text: reasoning });
    }
    if (text !== "") content.push({ type: "text", text });
    for (const call of answer.calls ?? []) {
      const input = withLast(call.arguments ?? {}, last);
      const raw = typeof input === "string" ? input : JSON.stringify(input);
      content.push({ type: "tool-call", id: call.id ?? "", name: call.name, input: asValue(input), arguments: raw });
    }
    const usage = usageOf(answer);
    const stopReason = finishOf(answer);
    return {
      text,
      content,
      ...(stopReason === undefined ? {} : { stopReason }),
      ...(usage === undefined ? {} : { usage }),
      served: { endpoint: this.#origin, model: request.model, source: "live" },
    };
  }
}

/** The words of a text, each with the white space before it; the last one with what is behind it, too. */
function words(text: string): readonly string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? [text];
}

function asValue(input: unknown): unknown {
  return typeof input === "string" ? parseArguments(input) : input;
}

/** All that a request says, made when a `when` first asks for it. */
function textOf(request: ModelRequest): () => string {
  let text: string | undefined;
  return () => text ??= [request.system ?? "", ...requestMessages(request).map(messageContent)].join("\n");
}

function messageContent(message: ModelMessage): string {
  return message.content.map((block) => {
    if (block.type === "text") return block.text;
    return block.type === "tool-result" ? block.content : "";
  }).join("\n");
}

/** The result of the last tool call; empty when there was none. */
function lastResult(messages: readonly ModelMessage[]): string {
  for (const message of messages.toReversed()) {
    const result = message.content.findLast((block) => block.type === "tool-result");
    if (result !== undefined) return result.content;
  }
  return "";
}
