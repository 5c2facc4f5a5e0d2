/** The loop: request, tool calls, results, next request, until an answer. There is one, for both faces. */
import { LimitError, ResponseError } from "../base/errors.ts";
import { throwIfAborted } from "../base/signals.ts";
import {
  checkMessages,
  messageText,
  type ModelContentBlock,
  type ModelMessage,
  reasoningText,
  type ToolCallBlock,
  toolCalls,
} from "../model/message.ts";
import type { AgentModel, ModelRequest, ResponseFormat, StopReason, ToolSpec } from "../model/provider.ts";
import { type Answer, type AskContext, askModel } from "./ask.ts";
import { CallIds } from "./call_ids.ts";
import { answerCalls, type CallContext } from "./calls.ts";
import { checkCompaction } from "./context.ts";
import type { History } from "./history.ts";
import { loadedSkills } from "./skills.ts";
import { textBlock, userMessage } from "./turn_messages.ts";

/** What the loop works with. */
export interface LoopContext extends CallContext {
  readonly system: string | undefined;
  /** An answer that must be JSON; withheld while tools are offered. */
  readonly responseFormat: ResponseFormat | undefined;
  /** The texts that came for this run since it was last asked; told to observers. */
  readonly steer: () => readonly string[];
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
}

/** Runs the loop on a conversation that ends with the user's message; it grows by all that is said. */
export async function runLoop(context: LoopContext, history: History): Promise<LoopResult> {
  const { budget, events, hooks, signal } = context;
  const ids = new CallIds(history.messages);
  const specs = context.tools.map(toolSpec);
  let loaded: ReadonlySet<string> = new Set();
  let lastUsage: Answer["usage"];
  for (let step = 1;; step++) {
    throwIfAborted(signal);
    budget.checkStep(step);
    loaded = tellLoaded(context, history.messages, loaded);
    events.emit({ kind: "step", index: step });
    await compact(context, history, step, lastUsage);
    await hooks.run("before-model", step, () => ({ messages: history.messages }));
    const answer = await ask(context, history.messages, specs, specs.length > 0 ? undefined : context.responseFormat);
    lastUsage = answer.usage;
    await hooks.run("after-model", step, () => ({ result: answer }));
    const content = ids.complete(answer.content, step);
    const calls = decide(context, answer, content, step);
    if (calls.length > 0) {
      budget.addCalls(calls.length);
      await history.add({ role: "assistant", content });
      const results = await answerCalls(context, calls, { step, loaded });
      await history.add({ role: "user", content: [...results, ...context.steer().map(textBlock)] });
      continue;
    }
    const last = specs.length > 0 && context.responseFormat !== undefined
      ? await ask(context, history.messages, [], context.responseFormat)
      : answer;
    if (last !== answer) decide(context, last, last.content, step);
    const message = answerMessage(last);
    const more = await askedToGoOn(context, messageText(message), step);
    await history.add(message);
    const told = [...more === undefined ? [] : [more], ...context.steer()];
    if (told.length === 0) {
      return { text: messageText(message), reasoning: reasoningText(last), lastUsage: last.usage, steps: step };
    }
    await history.add(userMessage(told.map(textBlock)));
  }
}

/** Says which skills the history has loaded since the last step. */
function tellLoaded(
  { harness, events }: LoopContext,
  history: readonly ModelMessage[],
  before: ReadonlySet<string>,
): ReadonlySet<string> {
  if (harness.skills.length === 0) return before;
  const loaded = loadedSkills(history);
  const names = [...loaded].filter((name) => !before.has(name));
  if (names.length > 0) events.emit({ kind: "skills-loaded", names });
  return loaded;
}

/** Makes the history what the harness's context strategy wants. */
async function compact(
  context: LoopContext,
  history: History,
  step: number,
  lastUsage: Answer["usage"],
): Promise<void> {
  const strategy = context.harness.context;
  if (strategy === undefined) return;
  const { model, signal, events } = context;
  const result = await strategy.compact({
    messages: history.messages,
    step,
    model,
    signal,
    ...(lastUsage === undefined ? {} : { lastUsage }),
    summarize: (messages, options) => summarize(context, messages, options?.model),
  });
  throwIfAborted(signal);
  if (result === undefined) return;
  const checked = checkCompaction(strategy.name, result);
  await history.replace(checked);
  events.emit({ kind: "compaction", strategy: strategy.name, messages: checked.length });
}

const SUMMARIZE = "Summarize the conversation so that the work can go on from your summary alone: the goal, what was " +
  "tried, what was learned, what is left to do. Be concise. Answer with the summary only.";

async function summarize(
  context: LoopContext,
  messages: readonly ModelMessage[],
  name: string | undefined,
): Promise<string> {
  const { harness, events, budget, signal, profile } = context;
  const by = name === undefined ? profile.summarizer : undefined;
  const conversation = [...messages, userMessage([textBlock("Summarize the conversation until here.")])];
  checkMessages(conversation);
  const asking: AskContext = {
    provider: by?.provider ?? harness.modelProvider,
    streaming: false,
    events: by === undefined ? events : events.labelled((label) => `${label} (compaction)`),
    budget,
  };
  const answer = await askModel(asking, {
    ...modelSettings(by?.model ?? { name: name ?? context.model.name }),
    messages: conversation,
    system: SUMMARIZE,
    signal,
  });
  const text = messageText(answer);
  const ended = answer.stopReason === undefined || answer.stopReason === "end";
  if (text.trim() === "" || !ended || toolCalls(answer).length > 0) {
    throw new ResponseError("the model gave no usable summary of the conversation");
  }
  return text;
}

/** What a `stop` hook wants the model to go on with; undefined when the answer is the turn's. */
async function askedToGoOn({ hooks, events }: LoopContext, text: string, step: number): Promise<string | undefined> {
  let more: string | undefined;
  await hooks.run("stop", step, () => ({ text }), (answer) => {
    more = answer.continue;
    events.emit({ kind: "stop-prevented", message: answer.continue });
    return "stop";
  });
  return more;
}

/** The answer as it goes into the history. */
function answerMessage(answer: Answer): ModelMessage {
  if (messageText(answer) === "") {
    throw new ResponseError("the model's answer is empty: it has neither text nor tool calls");
  }
  return { role: "assistant", content: answer.content.filter((block) => block.type !== "tool-call") };
}

async function ask(
  context: LoopContext,
  history: readonly ModelMessage[],
  tools: readonly ToolSpec[],
  responseFormat: ResponseFormat | undefined,
): Promise<Answer> {
  const { harness, profile, model, system, events, budget, signal } = context;
  const request: ModelRequest = {
    ...modelSettings(model),
    messages: [...history],
    ...(system === undefined ? {} : { system }),
    ...(tools.length === 0 ? {} : { tools }),
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

/** A model as requests name it. */
function modelSettings({ name, maxOutputTokens, reasoning, temperature, topP }: AgentModel): Omit<
  ModelRequest,
  "messages" | "signal"
> {
  return {
    model: name,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
  };
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

function toolSpec({ name, description, inputSchema }: CallContext["tools"][number]): ToolSpec {
  return { name, ...(description === "" ? {} : { description }), inputSchema };
}
