/** `runTurn`: the one entry to the loop. The command, a subagent, a workflow step and dispatch all come in here. */
import { ConfigurationError, LaitError, messageChain } from "../base/errors.ts";
import { checkMessages, type ModelContentBlock, type ModelMessage } from "../model/message.ts";
import type { ResponseFormat } from "../model/provider.ts";
import type { Usage } from "../model/usage.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import type { ApproveTool } from "../tool/approval.ts";
import type { CustomAgent } from "./agent.ts";
import { TurnBudget } from "./budget.ts";
import { EventStream, type HarnessObserver } from "./events.ts";
import { type Harness, profileOf } from "./harness.ts";
import { type LoopContext, runLoop } from "./loop.ts";

/** Options of {@link runTurn}. Either `prompt` or `messages` is given. */
export interface TurnOptions {
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
}

/** What a turn came to. */
export interface TurnResult {
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
}

/**
 * Runs one turn of an agent to its answer.
 *
 * Observers hear exactly one terminal event: `finished`, `failure` or `stopped` (cancelled); each carries the tokens
 * used so far.
 *
 * @throws ModelError, LimitError, ResponseError, ToolFailure as they come up; the signal's reason when it aborts
 */
export async function runTurn(agent: CustomAgent, options: TurnOptions): Promise<TurnResult> {
  const profile = profileOf(agent.harness);
  if (profile === undefined) throw new ConfigurationError("runTurn: the agent must be made by createAgent");
  const messages = openingMessages(options);
  const signal = options.signal ?? new AbortController().signal;
  const label = options.label ?? "turn";
  const events = new EventStream({ label, path: [label] }, [options.observe ?? []].flat());
  const budget = new TurnBudget(agent.harness.limits, profile.stepsLimit);
  const harness: Harness = options.approve === undefined
    ? agent.harness
    : { ...agent.harness, approve: options.approve };
  const system = harness.instructions.join("\n\n");
  const context: LoopContext = {
    harness,
    profile,
    model: agent.model,
    lease: options.lease,
    events,
    signal,
    budget,
    system: system === "" ? undefined : system,
    responseFormat: options.responseFormat,
  };
  try {
    events.emit({ kind: "instructions-loaded", count: harness.instructions.length });
    const { text, reasoning, lastUsage, steps, messages: all } = await runLoop(context, messages);
    events.emit({ kind: "result", text });
    events.emit({ kind: "finished", usage: budget.usage });
    return {
      text,
      ...(reasoning === undefined ? {} : { reasoning }),
      usage: budget.usage,
      ...(lastUsage === undefined ? {} : { lastUsage }),
      steps,
      messages: all,
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

function openingMessages({ prompt, messages }: TurnOptions): readonly ModelMessage[] {
  if ((prompt === undefined) === (messages === undefined)) {
    throw new ConfigurationError("runTurn: give either `prompt` or `messages`");
  }
  const opening = messages ?? [userMessage([{ type: "text", text: prompt! }])];
  checkMessages(opening);
  return opening;
}

/** A message of the user's. */
export function userMessage(content: readonly ModelContentBlock[]): ModelMessage {
  return { role: "user", content };
}
