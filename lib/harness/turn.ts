/** `runTurn`: the one entry to the loop. The command, a subagent, a workflow step and dispatch all come in here. */
import { ConfigurationError, LaitError, messageChain, ResponseError } from "../base/errors.ts";
import type { ModelMessage } from "../model/message.ts";
import type { ResponseFormat } from "../model/provider.ts";
import type { Usage } from "../model/usage.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import type { ApproveTool } from "../tool/approval.ts";
import type { HarnessTool } from "../tool/tool.ts";
import type { CustomAgent } from "./agent.ts";
import { TurnBudget } from "./budget.ts";
import { EventStream, type HarnessObserver } from "./events.ts";
import { profileOf } from "./harness.ts";
import type { LoopResult } from "./loop.ts";
import { type HarnessResponse, repairPrompt } from "./response.ts";
import { History } from "./history.ts";
import { runAgentLoop, type RunEnvironment, steer } from "./run.ts";
import { type Steering, type SteeringQueue, steeringQueue } from "./steering.ts";
import { type Continuation, openTranscript, type Transcript } from "./transcript.ts";
import { openingMessages, textBlock, userMessage, withParts } from "./turn_messages.ts";

/** Options of {@link runTurn}. Either `prompt` or `messages` is given. */
export interface TurnOptions<T = unknown> {
  /** Where the tools work. It is borrowed, not released. */
  readonly lease: SandboxLease;
  /** The user's message. */
  readonly prompt?: string;
  /** A conversation that ends with the user's message. */
  readonly messages?: readonly ModelMessage[];
  /** Cancels the turn, with every request and call in it; the turn rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Hears every event. */
  readonly observe?: HarnessObserver | readonly HarnessObserver[];
  /** Asked before each call that may run, instead of the harness's own. */
  readonly approve?: ApproveTool;
  /** What the events' scope says. Default: `turn`. */
  readonly label?: string;
  /** An answer that must be JSON of this schema; sent to the provider once no tool is needed any more. */
  readonly responseFormat?: ResponseFormat;
  /** A typed answer, read from a tag; `value` holds it. One that does not fit is asked for again, `repairs` times. */
  readonly response?: HarnessResponse<T>;
  /** The repository on this machine that the turn works for: where the built-in store keeps conversations. */
  readonly repository?: string;
  /** Goes on with a conversation that was kept, `prompt` being what the user says next. Default: a new one. */
  readonly continuation?: Continuation;
  /** Made by `createSteering`: tells the agent more while it works. */
  readonly steering?: Steering;
}

/** What a turn came to. */
export interface TurnResult<T = unknown> {
  /** The answer, never empty. */
  readonly text: string;
  /** The readable reasoning of the last answer, where there is one. */
  readonly reasoning?: string;
  /** All tokens of the turn. */
  readonly usage: Usage;
  /** The tokens of the last request alone, where the provider reported them. */
  readonly lastUsage?: Usage;
  /** Model requests of the loop. */
  readonly steps: number;
  /** The conversation, the answer included. */
  readonly messages: readonly ModelMessage[];
  /** The typed answer, when `response` was given. */
  readonly value?: T;
  /** The id of the conversation, when it was kept. */
  readonly conversation?: string;
}

/**
 * Runs one turn of an agent to its answer.
 *
 * Observers hear exactly one terminal event: `finished`, `failure` or `stopped` (cancelled); each carries the tokens
 * used so far.
 *
 * @throws ModelError, LimitError, ResponseError, ToolFailure as they come up; the signal's reason when it aborts
 */
export async function runTurn<T = unknown>(agent: CustomAgent, options: TurnOptions<T>): Promise<TurnResult<T>> {
  const steering = options.steering === undefined ? undefined : queueOf(options.steering);
  const detach = steering?.attach();
  try {
    return await runTurnWith(agent, options, { ...(steering === undefined ? {} : { steering }) });
  } finally {
    detach?.();
  }
}

/** What dispatch needs of a turn beyond its options. */
export interface TurnInternals {
  /** Texts that may come while it runs; `TurnOptions.steering` is not looked at. */
  readonly steering?: SteeringQueue;
  /** Which tools are offered. Default: all. */
  readonly offers?: (tool: HarnessTool) => boolean;
  /** What is said behind the prompt and the texts that came before the turn. Default: nothing. */
  readonly suffix?: readonly string[];
  /** Takes secrets out of what the transcript stores. */
  readonly redact?: <Value>(value: Value) => Value;
}

/**
 * Why a turn is stopped by whoever runs it, other than the user: given to `abort`, it makes the turn say the reason in
 * its last event and reject with the error.
 */
export class TurnStop {
  /** As the `stopped` event says it. */
  readonly reason: string;
  /** What the turn rejects with. */
  readonly error: unknown;

  /** A stop for a reason. */
  constructor(reason: string, error: unknown) {
    this.reason = reason;
    this.error = error;
  }
}

/** `runTurn` for dispatch. */
export async function runTurnWith<T = unknown>(
  agent: CustomAgent,
  options: TurnOptions<T>,
  internals: TurnInternals,
): Promise<TurnResult<T>> {
  const profile = profileOf(agent.harness);
  if (profile === undefined) throw new ConfigurationError("runTurn: the agent must be made by createAgent");
  const opening = openingMessages(options);
  const signal = options.signal ?? new AbortController().signal;
  const label = options.label ?? "turn";
  const events = new EventStream({ label, path: [label] }, [options.observe ?? []].flat());
  const budget = new TurnBudget(agent.harness.limits, profile.stepsLimit);
  const { steering, suffix = [], offers = () => true } = internals;
  const place = { repository: options.repository };
  let transcript: Transcript | undefined;
  try {
    transcript = await openTranscript(agent, place, {
      continuation: options.continuation,
      redact: internals.redact,
    });
    if (transcript !== undefined) events.emit({ kind: "conversation", id: transcript.id });
    const environment: RunEnvironment = {
      lease: options.lease,
      events,
      signal,
      budget,
      approve: options.approve,
      evaluators: [],
      trail: [],
      depthLeft: agent.harness.limits.maxDelegationDepth,
      responseFormat: options.responseFormat,
      offers,
      steering,
      place,
      transcript,
      redact: internals.redact,
    };
    const history = new History(transcript?.history ?? [], transcript);
    const steered = steer(environment, null);
    for (const message of withParts(opening, [...steered, ...responseParts(options.response), ...suffix])) {
      await history.add(message);
    }
    const { result, value } = await runWithRepairs(agent, environment, history, options.response);
    const { text, reasoning, lastUsage, steps } = result;
    events.emit({ kind: "result", text });
    events.emit({ kind: "finished", usage: budget.usage });
    return {
      text,
      ...(reasoning === undefined ? {} : { reasoning }),
      usage: budget.usage,
      ...(lastUsage === undefined ? {} : { lastUsage }),
      steps,
      messages: history.messages,
      ...(value === undefined ? {} : { value }),
      ...(transcript === undefined ? {} : { conversation: transcript.id }),
    };
  } catch (error) {
    if (signal.aborted) {
      const { reason } = signal;
      const stop = reason instanceof TurnStop ? reason : new TurnStop("aborted", reason);
      events.emit({ kind: "stopped", reason: stop.reason, usage: budget.usage });
      throw stop.error;
    }
    const code = error instanceof LaitError ? error.code : "tool";
    events.emit({ kind: "failure", code, message: messageChain(error), usage: budget.usage });
    throw error;
  } finally {
    await transcript?.close();
  }
}

function queueOf(steering: Steering): SteeringQueue {
  const queue = steeringQueue(steering);
  if (queue === undefined) throw new ConfigurationError("runTurn: steering must be made by createSteering");
  return queue;
}

function responseParts(response: HarnessResponse | undefined): string[] {
  return response === undefined ? [] : [response.instructions];
}

/** The loop, and again with what was wrong while a typed answer does not fit. Repairs may only read. */
async function runWithRepairs<T>(
  agent: CustomAgent,
  environment: RunEnvironment,
  history: History,
  response: HarnessResponse<T> | undefined,
): Promise<{ result: LoopResult; value?: T }> {
  let result = await runAgentLoop(agent, environment, history);
  if (response === undefined) return { result };
  const repairs = agent.resumable ? response.repairs : 0;
  for (let attempt = 1;; attempt++) {
    try {
      return { result, value: await response.read(result.text) };
    } catch (error) {
      if (!(error instanceof ResponseError) || attempt > repairs) throw error;
      environment.events.emit({ kind: "response-repair", attempt, message: error.message });
      await history.add(userMessage([textBlock(repairPrompt(response, error, repairs - attempt))]));
      result = await runAgentLoop(agent, { ...environment, offers: (tool) => tool.readOnly }, history);
    }
  }
}
