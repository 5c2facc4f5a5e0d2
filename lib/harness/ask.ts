/** Asking the provider once: streamed or not, checked, with the events that belong to it. */
import { ConfigurationError, ResponseError } from "../base/errors.ts";
import { throwIfAborted } from "../base/signals.ts";
import type { ModelContentBlock } from "../model/message.ts";
import type { ModelNotice, ModelProvider, ModelRequest, ModelResult } from "../model/provider.ts";
import { NO_USAGE, type Usage, usageFrom } from "../model/usage.ts";
import type { TurnBudget } from "./budget.ts";
import type { EventStream } from "./events.ts";

/** An answer whose content is there, whatever the provider left out. */
export interface Answer extends ModelResult {
  readonly content: readonly ModelContentBlock[];
}

/** What `askModel` works with. */
export interface AskContext {
  readonly provider: ModelProvider;
  readonly streaming: "when-possible" | boolean;
  readonly events: EventStream;
  readonly budget: TurnBudget;
}

/** Sends a request and accounts its tokens. Everything that the provider throws comes through. */
export async function askModel(context: AskContext, request: ModelRequest): Promise<Answer> {
  const { provider, events, budget } = context;
  const startedAt = Date.now();
  const asked: ModelRequest = {
    ...request,
    onNotice: (notice) => tell(events, notice),
  };
  const streamed = context.streaming !== false && provider.stream !== undefined;
  const result = checkResult(streamed ? await readStream(context, asked) : await provider.request(asked), provider);
  throwIfAborted(request.signal);
  const usage = result.usage === undefined ? undefined : checkUsage(result.usage);
  events.emit({
    kind: "usage",
    tokens: usage ?? { ...NO_USAGE, complete: false },
    reported: usage !== undefined,
    model: request.model,
    source: result.served?.source ?? "live",
    startedAt,
    endedAt: Date.now(),
  });
  budget.addUsage(usage);
  return { ...result, content: result.content ?? [{ type: "text", text: result.text }] };
}

function tell(events: EventStream, { kind, message, attempt }: ModelNotice): void {
  if (kind === "retry") events.emit({ kind: "model-retry", attempt: attempt ?? 2, message });
  else if (kind === "fallback") events.emit({ kind: "warning", message });
  else events.emit({ kind: kind === "detail" ? "detail" : "notice", message });
}

async function readStream({ provider, events }: AskContext, request: ModelRequest): Promise<ModelResult> {
  let result: ModelResult | undefined;
  for await (const event of provider.stream!(request)) {
    if (event.type === "text-delta") events.emit({ kind: "text-delta", text: event.text });
    else if (event.type === "reasoning") events.emit({ kind: "reasoning-delta", text: event.text });
    else if (result === undefined) result = event.result;
    else throw new ConfigurationError(`the provider \`${provider.name}\` ended its stream with two results`);
  }
  throwIfAborted(request.signal);
  if (result === undefined) {
    throw new ResponseError(`the provider \`${provider.name}\` ended its stream without a result`);
  }
  return result;
}

function checkResult(result: ModelResult, provider: ModelProvider): ModelResult {
  if (typeof result?.text !== "string") {
    throw new ConfigurationError(`the provider \`${provider.name}\` answered without a \`text\``);
  }
  return result;
}

/** A provider of the user's own may count anything; a usage that contradicts itself is mended and marked. */
function checkUsage(usage: Usage): Usage {
  const checked = usageFrom(usage);
  return usage.complete === false ? { ...checked, complete: false } : checked;
}
