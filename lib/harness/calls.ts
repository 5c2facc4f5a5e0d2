/**
 * The tool calls of one answer: prepared in order, run side by side, answered in order.
 *
 * The order of a call's checks: name known → arguments an object → schema → policy → approval → run. A fatal failure
 * while preparing stops before any call of the answer has run.
 */
import { messageOf, TimeoutError, ToolFailure } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { didYouMean } from "../base/nearest.ts";
import { anySignal, throwIfAborted, untilAborted } from "../base/signals.ts";
import { headOf } from "../base/text.ts";
import type { ToolCallBlock, ToolResultBlock } from "../model/message.ts";
import type { AgentModel } from "../model/provider.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import type { HarnessTool, ToolObservation, ToolOutput } from "../tool/tool.ts";
import { BoundLease } from "./bound_lease.ts";
import type { CallDecision, EventStream } from "./events.ts";
import type { Harness, LoopProfile } from "./harness.ts";
import { runBatches } from "./schedule.ts";

/** What the calls of a turn work with. */
export interface CallContext {
  readonly harness: Harness;
  readonly profile: LoopProfile;
  readonly model: AgentModel;
  readonly lease: SandboxLease;
  readonly events: EventStream;
  readonly signal: AbortSignal;
}

/** What a call came to. */
interface Outcome {
  readonly content: string;
  readonly isError: boolean;
  readonly decision: CallDecision;
  readonly reason?: string;
}

/** A call that is settled already, or that waits to be run. */
type Prepared =
  | { readonly call: ToolCallBlock; readonly outcome: Outcome }
  | {
    readonly call: ToolCallBlock;
    readonly tool: HarnessTool;
    readonly input: unknown;
    readonly preview: readonly string[] | undefined;
  };

/** Runs the calls of one answer; the results are in call order. */
export async function answerCalls(
  context: CallContext,
  calls: readonly ToolCallBlock[],
  round: number,
): Promise<ToolResultBlock[]> {
  const prepared: Prepared[] = [];
  for (const call of calls) prepared.push(await prepare(context, call, round));
  const { scheduling, concurrency } = context.harness.toolExecution;
  const outcomes = await runBatches(prepared, {
    concurrency,
    signal: context.signal,
    together: (item) => "outcome" in item || scheduling === "parallel" || item.tool.readOnly,
    run: async (item, signal) => "outcome" in item ? item.outcome : await run(context, item, signal),
  });
  return outcomes.map((outcome, index) => finish(context, calls[index]!, outcome));
}

async function prepare(context: CallContext, call: ToolCallBlock, round: number): Promise<Prepared> {
  const { harness, events, signal } = context;
  throwIfAborted(signal);
  const text = call.arguments ?? JSON.stringify(call.input);
  events.emit({ kind: "tool", callId: call.id, name: call.name, input: call.input, arguments: text, round });
  const tool = harness.tools.find(({ name }) => name === call.name);
  if (tool === undefined) return invalid(context, call, unknownTool(call.name, harness.tools));
  if (!isJsonObject(call.input)) {
    return invalid(
      context,
      call,
      `the arguments of the tool \`${call.name}\` must be a JSON object (got: ${headOf(text, 200)})`,
    );
  }
  const checked = await tool.validate(call.input);
  if ("issues" in checked) {
    return settled(call, { content: `tool arguments failed validation: ${checked.issues}`, isError: true });
  }
  const input = checked.value;
  const decision = context.profile.policy?.(tool.name, tool.resources(input));
  if (decision?.allowed === false) return denied(context, call, decision.reason);
  const preview = tool.preview?.(input);
  if (harness.approve !== undefined) {
    const answer = await untilAborted(
      harness.approve({
        callId: call.id,
        tool: tool.name,
        input,
        arguments: text,
        ...(preview === undefined ? {} : { preview }),
        signal,
      }),
      signal,
    );
    if (answer === "deny") return denied(context, call, "the user denied this call (--approve-tools)");
  }
  return { call, tool, input, preview };
}

function unknownTool(name: string, tools: readonly HarnessTool[]): string {
  const names = tools.map((tool) => tool.name);
  const hint = didYouMean(name, names);
  return `the model called an unknown tool '${name}'${hint === undefined ? "" : ` (${hint})`}; offered: ${
    names.join(", ") || "none"
  }`;
}

function invalid({ harness }: CallContext, call: ToolCallBlock, message: string): Prepared {
  if (harness.toolExecution.onInvalidCall === "fail") throw new ToolFailure(message, { fatal: true });
  return settled(call, { content: message, isError: true });
}

function settled(call: ToolCallBlock, result: { content: string; isError: boolean }): Prepared {
  return { call, outcome: { ...result, decision: "allowed" } };
}

function denied({ events }: CallContext, call: ToolCallBlock, reason: string): Prepared {
  events.emit({ kind: "tool-denied", callId: call.id, name: call.name, reason });
  return { call, outcome: { content: `Denied: ${reason}`, isError: true, decision: "denied", reason } };
}

async function run(
  context: CallContext,
  { call, tool, input, preview }: Exclude<Prepared, { outcome: Outcome }>,
  roundSignal: AbortSignal,
): Promise<Outcome> {
  const { harness, events, lease, model } = context;
  const { deadlineMs, onError } = harness.toolExecution;
  const ended = new AbortController();
  const late = new TimeoutError(`the tool \`${tool.name}\` did not finish within ${deadlineMs} ms`);
  const timer = deadlineMs === false ? undefined : setTimeout(() => ended.abort(late), deadlineMs);
  const signal = anySignal(roundSignal, ended.signal);
  const sandbox = new BoundLease(lease, signal, (channel, text) => {
    if (!ended.signal.aborted) events.emit({ kind: "tool-output", callId: call.id, channel, text });
  });
  events.emit({
    kind: "tool-started",
    callId: call.id,
    name: tool.name,
    ...(preview === undefined ? {} : { preview }),
  });
  let isError = true;
  try {
    const observe = (observation: ToolObservation) => report(context, call.id, observation, ended.signal);
    const execute = async () => await tool.execute(input, { sandbox, signal, callId: call.id, model, observe });
    const output = checkOutput(tool.name, await untilAborted(execute(), signal));
    isError = output.isError;
    return { ...output, decision: "allowed" };
  } catch (error) {
    throwIfAborted(roundSignal);
    if (onError === "fail" || (error instanceof ToolFailure && error.fatal)) throw error;
    return { content: messageOf(error), isError, decision: "allowed" };
  } finally {
    clearTimeout(timer);
    ended.abort();
    await sandbox.settled();
    events.emit({ kind: "tool-ended", callId: call.id, name: tool.name, isError });
  }
}

function report({ events }: CallContext, callId: string, observation: ToolObservation, ended: AbortSignal): void {
  if (ended.aborted) throw new ToolFailure("the call has ended: there is nobody to observe it any more");
  if (observation.kind === "text") events.emit({ kind: "tool-text", callId, text: observation.text });
  else if (observation.kind === "warning") events.emit({ kind: "warning", callId, message: observation.message });
  else if (observation.kind === "raw") events.emit({ kind: "tool-raw", callId, value: observation.value });
  else throw new ToolFailure(`observe takes text, warning and raw (got ${JSON.stringify(observation)})`);
}

function checkOutput(name: string, output: ToolOutput): { content: string; isError: boolean } {
  if (typeof output === "string") return { content: output, isError: false };
  const { content, isError = false } = (output ?? {}) as { content?: unknown; isError?: unknown };
  if (typeof content !== "string" || typeof isError !== "boolean") {
    throw new ToolFailure(
      `the tool \`${name}\` must return a text or { content, isError? } (got ${JSON.stringify(output)})`,
    );
  }
  return { content, isError };
}

function finish({ harness, events }: CallContext, call: ToolCallBlock, outcome: Outcome): ToolResultBlock {
  const limit = harness.toolExecution.maxResultCharacters;
  const { isError, decision, reason } = outcome;
  const characters = outcome.content.length;
  const kept = limit === false ? outcome.content : headOf(outcome.content, limit);
  const content = kept.length === characters ? kept : `${kept}\n[truncated ${characters - kept.length} characters]`;
  events.emit({
    kind: "tool-result",
    callId: call.id,
    name: call.name,
    isError,
    preview: headOf(content, LIMITS.previewCharacters),
    characters,
    decision,
    ...(reason === undefined ? {} : { reason }),
  });
  return { type: "tool-result", callId: call.id, content, ...(isError ? { isError } : {}) };
}
