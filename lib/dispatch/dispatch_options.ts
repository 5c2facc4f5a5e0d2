/** The options of a dispatch, checked. */
import { ConfigurationError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { checkInteger, checkKeys, checkText } from "../base/options.ts";
import type { CustomAgent } from "../harness/agent.ts";
import { profileOf } from "../harness/harness.ts";
import type { HarnessResponse } from "../harness/response.ts";
import { type Steering, steeringQueue } from "../harness/steering.ts";
import type { Continuation } from "../harness/transcript.ts";
import type { ApproveTool } from "../tool/approval.ts";
import { type Brief, checkBrief } from "./brief.ts";
import type { DispatchObservation } from "./observation.ts";
import { checkPrices, type ModelPriceTable } from "./prices.ts";
import { checkRedact } from "./redact.ts";
import { checkWatchdog, type WatchdogOptions } from "./watchdog.ts";

/** What an agent is to do, and within which bounds. Durations are milliseconds, more than 0; none means "unlimited". */
export interface DispatchOptions<T = unknown> {
  /** What the agent is told. */
  readonly brief: Brief;
  /** Made by `createAgent`. Default: the sandbox's own. */
  readonly agent?: CustomAgent;
  /** A name for people, in progress output. Default: `dispatch`. */
  readonly label?: string;
  /**
   * How often the brief is run at most, each time as a new conversation on the same files, until a marker of `until`
   * is in the last answer. Default: 1, and no more with `response` or `continuation`.
   */
  readonly passes?: number;
  /**
   * Texts that say that the work is complete; `[]` for none, so that every pass runs. The agent is not told: say it in
   * the brief. Default: `<lait>done</lait>`.
   */
  readonly until?: string | readonly string[];
  /** How long the agent may be silent, time in tools not counted; then it is stopped (`timeout`). Default: 600 000. */
  readonly idleMs?: number;
  /** After how much silence a `warning` is told, again and again. Default: 60 000. */
  readonly idleWarningMs?: number;
  /**
   * How long an agent that is a program of its own may stay after it has printed a marker. An agent of `createHarness`
   * ends with its answer, so nothing waits. Default: 60 000.
   */
  readonly settleMs?: number;
  /** How long a turn may take; then it is stopped (`timeout`). Default: 3 600 000. */
  readonly deadlineMs?: number;
  /** How long one shell command of a brief's file may take. Default: 30 000. */
  readonly expansionMs?: number;
  /** Stops everything; the dispatch rejects with the signal's very reason. */
  readonly signal?: AbortSignal;
  /** Goes on with a conversation of before, or with a copy of it (`fork`). */
  readonly continuation?: Continuation;
  /** A typed answer, made by `defineJsonResponse` or `defineTextResponse`. */
  readonly response?: HarnessResponse<T>;
  /** Made by `createSteering`: tells the agent more while it works. */
  readonly steering?: Steering;
  /** Looks out for an agent that repeats itself. Default: nobody does. */
  readonly watchdog?: WatchdogOptions;
  /** What models cost; with it, usage is told by model, and the report says the cost. */
  readonly prices?: ModelPriceTable;
  /**
   * What must not be stored or told: matches become `[REDACTED]` in events, the report and the stored conversation.
   * What the agent is told and what it answers to the caller stay as they are.
   */
  readonly redact?: readonly RegExp[];
  /** Asked before each tool call that may run, instead of the harness's own. */
  readonly approve?: ApproveTool;
  /** Hears every event. What it throws is in the result's `observerErrors`. */
  readonly observe?: (observation: DispatchObservation) => void;
  /** Hears what is worth knowing but is no failure. */
  readonly warn?: (message: string) => void;
  /** Hears figures, such as how much a command of the brief added. */
  readonly diagnostic?: (message: string) => void;
}

/** The names of the options of a dispatch. */
export const DISPATCH_KEYS = [
  "brief",
  "agent",
  "label",
  "passes",
  "until",
  "idleMs",
  "idleWarningMs",
  "settleMs",
  "deadlineMs",
  "expansionMs",
  "signal",
  "continuation",
  "response",
  "steering",
  "watchdog",
  "prices",
  "redact",
  "approve",
  "observe",
  "warn",
  "diagnostic",
] as const;

/** Options with their defaults. */
export interface DispatchSettings<T = unknown> extends DispatchOptions<T> {
  readonly agent: CustomAgent;
  readonly label: string;
  readonly passes: number;
  readonly markers: readonly string[];
  readonly idleMs: number;
  readonly idleWarningMs: number;
  readonly deadlineMs: number;
  readonly expansionMs: number;
}

const MARKER = "<lait>done</lait>";

/**
 * Checks the options; nothing runs before.
 *
 * @throws ConfigurationError for what is wrong or does not go together
 */
export function dispatchSettings<T>(
  what: string,
  options: DispatchOptions<T>,
  fallback?: CustomAgent,
): DispatchSettings<T> {
  const { brief, label = "dispatch", passes = 1, response, continuation, watchdog, prices, redact, steering } = options;
  checkBrief(what, brief);
  checkText(`${what}: label`, label);
  checkInteger(`${what}: passes`, passes, 1);
  const durations = { idleMs: 0, idleWarningMs: 0, settleMs: 0, deadlineMs: 0, expansionMs: 0 };
  for (const name of Object.keys(durations) as (keyof typeof durations)[]) {
    checkInteger(`${what}: ${name}`, options[name], 1);
  }
  if (passes > 1 && (response !== undefined || continuation !== undefined)) {
    const other = response === undefined ? "continuation" : "response";
    throw new ConfigurationError(`${what}: passes must be 1 with ${other} (got ${passes})`);
  }
  if (watchdog !== undefined) checkWatchdog(`${what}: watchdog`, watchdog);
  if (prices !== undefined) checkPrices(`${what}: prices`, prices);
  checkRedact(what, redact);
  checkMade(what, options);
  const agent = checkAgent(what, options.agent ?? fallback);
  if (continuation !== undefined) checkContinuation(what, continuation, agent);
  if (steering !== undefined && steeringQueue(steering) === undefined) {
    throw new ConfigurationError(`${what}: steering must be made by createSteering`);
  }
  return {
    ...options,
    agent,
    label,
    passes,
    markers: markersOf(what, options.until),
    idleMs: options.idleMs ?? LIMITS.turnIdleMs,
    idleWarningMs: options.idleWarningMs ?? LIMITS.idleWarningMs,
    deadlineMs: options.deadlineMs ?? LIMITS.turnDeadlineMs,
    expansionMs: options.expansionMs ?? LIMITS.expansionMs,
  };
}

/** The functions, and what must come from one of lait's. */
function checkMade(what: string, options: DispatchOptions): void {
  for (const name of ["observe", "warn", "diagnostic", "approve"] as const) {
    if (options[name] !== undefined && typeof options[name] !== "function") {
      throw new ConfigurationError(`${what}: ${name} must be a function`);
    }
  }
  if (options.response !== undefined && options.response?.kind !== "response") {
    throw new ConfigurationError(`${what}: response must be made by defineJsonResponse or defineTextResponse`);
  }
  if (options.signal !== undefined && !(options.signal instanceof AbortSignal)) {
    throw new ConfigurationError(`${what}: signal must be an AbortSignal`);
  }
}

/** Refuses what is no agent. */
export function checkAgent(what: string, agent: CustomAgent | undefined): CustomAgent {
  if (agent === undefined) throw new ConfigurationError(`${what}: agent is missing; make one with createAgent`);
  if (agent?.kind !== "custom" || profileOf(agent.harness) === undefined) {
    throw new ConfigurationError(`${what}: agent must be made by createAgent`);
  }
  return agent;
}

function checkContinuation(what: string, continuation: Continuation, agent: CustomAgent): void {
  checkKeys(`${what}: continuation`, continuation, ["id", "fork"]);
  checkText(`${what}: continuation.id`, continuation.id);
  if (agent.resumable) return;
  throw new ConfigurationError(`${what}: continuation needs an agent whose harness keeps conversations`);
}

function markersOf(what: string, until: DispatchOptions["until"] = MARKER): readonly string[] {
  const markers = typeof until === "string" ? [until] : until;
  if (!Array.isArray(markers) || markers.some((marker) => typeof marker !== "string" || marker === "")) {
    throw new ConfigurationError(`${what}: until must be a non-empty text or a list of them ([] for none)`);
  }
  return markers;
}
