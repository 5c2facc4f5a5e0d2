/** `runTurn`: the one entry to the loop. The command, a subagent, a workflow step and dispatch all come in here. */
import { ConfigurationError, LaitError, messageChain, ResponseError } from "../base/errors.ts";
import type { ModelMessage } from "../model/message.ts";
import type { ResponseFormat } from "../model/provider.ts";
import type { Usage } from "../model/usage.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import type { ApproveTool } from "../tool/approval.ts";
import type { CustomAgent } from "./agent.ts";
import { TurnBudget } from "./budget.ts";
import { EventStream, type HarnessObserver } from "./events.ts";
import { profileOf } from "./harness.ts";
import type { LoopResult } from "./loop.ts";
import { type HarnessResponse, repairPrompt } from "./response.ts";
import { runAgentLoop, type RunEnvironment } from "./run.ts";
import { openingMessages, userMessage } from "./turn_messages.ts";

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
  const profile = profileOf(agent.harness);
  if (profile === undefined) throw new ConfigurationError("runTurn: the agent must be made by createAgent");
  const messages = openingMessages(options);
  const signal = options.signal ?? new AbortController().signal;
  const label = options.label ?? "turn";
  const events = new EventStream({ label, path: [label] }, [options.observe ?? []].flat());
  const budget = new TurnBudget(agent.harness.limits, profile.stepsLimit);
  const environment: RunEnvironment = {
    lease: options.lease,
    events,
    signal,
    budget,
    approve: options.approve,
    evaluators: [],
    depthLeft: agent.harness.limits.maxDelegationDepth,
    responseFormat: options.responseFormat,
    offers: () => true,
  };
  try {
    const { result, value } = await runWithRepairs(agent, environment, messages, options.response);
    const { text, reasoning, lastUsage, steps, messages: all } = result;
    events.emit({ kind: "result", text });
    events.emit({ kind: "finished", usage: budget.usage });
    return {
      text,
      ...(reasoning === undefined ? {} : { reasoning }),
      usage: budget.usage,
      ...(lastUsage === undefined ? {} : { lastUsage }),
      steps,
      messages: all,
      ...(value === undefined ? {} : { value }),
    };
  } catch (error) {
    if (signal.aborted) {
      events.emit({ kind: "stopped", reason: "aborted", usage: budget.usage });
      throw signal.reason;
    }
    const code = error instanceof LaitError ? error.code : "tool";
    events.emit({ kind: "failure", code, message: messageChain(error), usage: budget.usage });
    throw error;
  }
}

/** The loop, and again with what was wrong while a typed answer does not fit. Repairs may only read. */
async function runWithRepairs<T>(
  agent: CustomAgent,
  environment: RunEnvironment,
  messages: readonly ModelMessage[],
  response: HarnessResponse<T> | undefined,
): Promise<{ result: LoopResult; value?: T }> {
  let result = await runAgentLoop(agent, environment, messages);
  if (response === undefined) return { result };
  for (let attempt = 1;; attempt++) {
    try {
      return { result, value: await response.read(result.text) };
    } catch (error) {
      if (!(error instanceof ResponseError) || attempt > response.repairs) throw error;
      environment.events.emit({ kind: "response-repair", attempt, message: error.message });
      const again = repairPrompt(error, response.repairs - attempt);
      result = await runAgentLoop(
        agent,
        { ...environment, offers: (tool) => tool.readOnly },
        [...result.messages, userMessage([{ type: "text", text: again }])],
      );
    }
  }
}
