/** The loop: request, tool calls, results, next request, until an answer. There is one, for both faces. */
import { LimitError, ResponseError } from "../base/errors.ts";
import { throwIfAborted } from "../base/signals.ts";
import {
  messageText,
  type ModelContentBlock,
  type ModelMessage,
  reasoningText,
  type ToolCallBlock,
  toolCalls,
} from "../model/message.ts";
import type { ModelRequest, ResponseFormat, StopReason, ToolSpec } from "../model/provider.ts";
import { type Answer, type AskContext, askModel } from "./ask.ts";
import type { TurnBudget } from "./budget.ts";
import { CallIds } from "./call_ids.ts";
import { answerCalls, type CallContext } from "./calls.ts";

/** What the loop works with. */
export interface LoopContext extends CallContext {
  readonly budget: TurnBudget;
  readonly system: string | undefined;
  /** An answer that must be JSON; withheld while tools are offered. */
  readonly responseFormat: ResponseFormat | undefined;
}

/** What the loop ends with. */
export interface LoopResult {
  /** The answer, never empty. */
  readonly text: string;
  /** The readable reasoning of the last answer. */
  readonly reasoning: string | undefined;
  /** The tokens of the last request alone; undefined when the provider reported none. */
  readonly lastUsage: Answer["usage"];
  readonly steps: number;
  /** The whole conversation, the answer included. */
  readonly messages: readonly ModelMessage[];
}

/** Runs the loop on a conversation that ends with the user's message. */
export async function runLoop(context: LoopContext, messages: readonly ModelMessage[]): Promise<LoopResult> {
  const history = [...messages];
  const ids = new CallIds(history);
  const specs = context.harness.tools.map(toolSpec);
  for (let step = 1;; step++) {
    throwIfAborted(context.signal);
    context.budget.checkStep(step);
    context.events.emit({ kind: "step", index: step });
    const withheld = specs.length > 0 ? undefined : context.responseFormat;
    const answer = await ask(context, history, specs, withheld);
    const content = ids.complete(answer.content, step);
    const calls = decide(context, answer, content, step);
    if (calls.length > 0) {
      context.budget.addCalls(calls.length);
      history.push({ role: "assistant", content });
      history.push({ role: "user", content: await answerCalls(context, calls, step) });
      continue;
    }
    const last = specs.length > 0 && context.responseFormat !== undefined
      ? await ask(context, history, [], context.responseFormat)
      : answer;
    if (last !== answer) decide(context, last, last.content, step);
    return ended(last, history, step);
  }
}

function ended(answer: Answer, history: ModelMessage[], steps: number): LoopResult {
  const text = messageText(answer);
  if (text === "") throw new ResponseError("the model's answer is empty: it has neither text nor tool calls");
  history.push({ role: "assistant", content: answer.content.filter((block) => block.type !== "tool-call") });
  return { text, reasoning: reasoningText(answer), lastUsage: answer.usage, steps, messages: history };
}

async function ask(
  context: LoopContext,
  history: readonly ModelMessage[],
  tools: readonly ToolSpec[],
  responseFormat: ResponseFormat | undefined,
): Promise<Answer> {
  const { harness, profile, model, system, events, budget, signal } = context;
  const request: ModelRequest = {
    model: model.name,
    messages: [...history],
    ...(system === undefined ? {} : { system }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(model.maxOutputTokens === undefined ? {} : { maxOutputTokens: model.maxOutputTokens }),
    ...(model.reasoning === undefined ? {} : { reasoning: model.reasoning }),
    ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
    ...(model.topP === undefined ? {} : { topP: model.topP }),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(harness.cache ? { cache: true } : {}),
    wantUsage: profile.wantUsage,
    signal,
  };
  const asking: AskContext = { provider: harness.modelProvider, streaming: profile.streaming, events, budget };
  const answer = await askModel(asking, request);
  const reasoning = reasoningText(answer);
  if (reasoning !== undefined) events.emit({ kind: "reasoning", text: reasoning });
  const text = messageText(answer);
  if (text !== "") events.emit({ kind: "text", text });
  return answer;
}

/** The calls that an answer asks for; none when it is the last one. */
function decide(
  { profile, events }: LoopContext,
  answer: Answer,
  content: readonly ModelContentBlock[],
  step: number,
): ToolCallBlock[] {
  const calls = toolCalls({ content });
  const reason: StopReason | undefined = answer.stopReason;
  if (reason === "refusal") {
    throw new ResponseError(`the model refused to answer${answer.text === "" ? "" : `: ${answer.text}`}`);
  }
  if (reason !== "max-tokens") return calls;
  // A cut answer's calls are cut, too: they never run.
  if (profile.cutAnswer === "fail") {
    throw new LimitError("maxOutputTokens", "the model's answer was cut off by its output limit", {
      details: { step },
    });
  }
  const dropped = calls.length === 0 ? "" : `; its ${calls.length} tool call(s) were not run`;
  events.emit({ kind: "warning", message: `the model's answer was cut off by its output limit${dropped}` });
  return [];
}

function toolSpec({ name, description, inputSchema }: CallContext["harness"]["tools"][number]): ToolSpec {
  return { name, ...(description === "" ? {} : { description }), inputSchema };
}
