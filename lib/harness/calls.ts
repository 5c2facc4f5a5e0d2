/**
 * The tool calls of one answer: prepared in order, run side by side, answered in order.
 *
 * The order of a call's checks: name known → arguments an object → schema → skill loaded → policy and permissions →
 * before-tool hooks → (if one changed the input: schema and permissions again) → approval → run. A fatal failure while
 * preparing stops before any call of the answer has run.
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
import type { ApproveTool } from "../tool/approval.ts";
import type { Decision } from "../tool/policy.ts";
import type { HarnessTool, ToolObservation, ToolOutput, ToolResources } from "../tool/tool.ts";
import { BoundLease } from "./bound_lease.ts";
import type { TurnBudget } from "./budget.ts";
import type { CallDecision, EventStream } from "./events.ts";
import type { Harness, LoopProfile } from "./harness.ts";
import type { HookRunner } from "./hooks.ts";
import { runBatches } from "./schedule.ts";
import { type HarnessSkill, LOAD_SKILL } from "./skills.ts";
import { type Delegate, delegateOf } from "./subagents.ts";

/** Decides whether a call may run. */
export type EvaluateCall = (tool: string, resources: ToolResources) => Decision;

/** A call of a subagent. */
export interface Delegation {
  readonly delegate: Delegate;
  readonly input: unknown;
  readonly callId: string;
  readonly name: string;
  readonly signal: AbortSignal;
}

/** What the calls of a turn work with. */
export interface CallContext {
  readonly harness: Harness;
  readonly profile: LoopProfile;
  /** The tools that are offered. */
  readonly tools: readonly HarnessTool[];
  readonly model: AgentModel;
  readonly lease: SandboxLease;
  readonly events: EventStream;
  readonly signal: AbortSignal;
  readonly budget: TurnBudget;
  readonly approve: ApproveTool | undefined;
  /** Every one of these must allow a call. */
  readonly evaluators: readonly EvaluateCall[];
  readonly hooks: HookRunner;
  /** Runs a subagent. */
  readonly delegate: (delegation: Delegation) => Promise<string>;
}

/** What the answer whose calls are run depends on. */
export interface Round {
  /** The step, from 1. */
  readonly step: number;
  /** The skills that the history before this answer has loaded. */
  readonly loaded: ReadonlySet<string>;
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
  round: Round,
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
  const results: ToolResultBlock[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    results.push(await finish(context, calls[index]!, outcome, round.step));
  }
  return results;
}

async function prepare(context: CallContext, call: ToolCallBlock, round: Round): Promise<Prepared> {
  const { tools, events, signal } = context;
  throwIfAborted(signal);
  const text = call.arguments ?? JSON.stringify(call.input);
  events.emit({
    kind: "tool",
    callId: call.id,
    name: call.name,
    input: call.input,
    arguments: text,
    round: round.step,
  });
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) return invalid(context, call, unknownTool(call.name, tools));
  if (!isJsonObject(call.input)) {
    return invalid(
      context,
      call,
      `the arguments of the tool \`${call.name}\` must be a JSON object (got: ${headOf(text, 200)})`,
    );
  }
  const skill = lockingSkill(context.harness.skills, tool, round.loaded);
  let checked = await check(context, tool, call.input, skill);
  let hooked: { readonly input: unknown } | undefined;
  let deny: string | undefined;
  if ("input" in checked) {
    let { input } = checked;
    const current = () => ({ call: { id: call.id, name: call.name, input } });
    await context.hooks.run("before-tool", round.step, current, (answer) => {
      if ("deny" in answer) {
        deny = answer.deny;
        return "stop";
      }
      hooked = { input: input = answer.input };
      return "go-on";
    });
  }
  if (deny !== undefined) return denied(context, call, deny);
  if (hooked !== undefined) checked = await check(context, tool, hooked.input, skill);
  if ("failed" in checked) return settled(call, { content: checked.failed, isError: true });
  if ("denied" in checked) return denied(context, call, checked.denied);
  const { input } = checked;
  const preview = tool.preview?.(input);
  if (context.approve !== undefined) {
    const answer = await untilAborted(
      context.approve({
        callId: call.id,
        tool: tool.name,
        input,
        arguments: text,
        ...(preview === undefined ? {} : { preview }),
        signal,
      }),
      signal,
    );
    if (answer === "deny") return denied(context, call, context.profile.deniedByUser);
  }
  return { call, tool, input, preview };
}

/** Whether an input may be run: the schema, the skill that locks the tool, and everyone who may forbid it. */
async function check(
  { evaluators }: CallContext,
  tool: HarnessTool,
  value: unknown,
  skill: string | undefined,
): Promise<{ readonly input: unknown } | { readonly failed: string } | { readonly denied: string }> {
  const checked = await tool.validate(value);
  if ("issues" in checked) return { failed: `tool arguments failed validation: ${checked.issues}` };
  if (skill !== undefined) {
    return {
      denied: `the tool \`${tool.name}\` belongs to the skill \`${skill}\`; load it with \`${LOAD_SKILL}\` first`,
    };
  }
  if (evaluators.length > 0) {
    const resources = tool.resources(checked.value);
    for (const evaluate of evaluators) {
      const decision = evaluate(tool.name, resources);
      if (!decision.allowed) return { denied: decision.reason };
    }
  }
  return { input: checked.value };
}

/** The skill that has to be loaded before a tool can be used; undefined when none has. */
function lockingSkill(
  skills: readonly HarnessSkill[],
  tool: HarnessTool,
  loaded: ReadonlySet<string>,
): string | undefined {
  const skill = skills.find(({ tools }) => tools.includes(tool));
  return skill === undefined || loaded.has(skill.name) ? undefined : skill.name;
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
    const delegate = delegateOf(tool);
    const execute = async () =>
      delegate === undefined
        ? await tool.execute(input, {
          sandbox,
          signal,
          callId: call.id,
          ...(call.arguments === undefined ? {} : { arguments: call.arguments }),
          model,
          observe,
        })
        : await context.delegate({ delegate, input, callId: call.id, name: tool.name, signal });
    const output = checkOutput(tool.name, await untilAborted(execute(), signal));
    isError = output.isError;
    return { ...output, decision: "allowed" };
  } catch (error) {
    throwIfAborted(roundSignal);
    // A subagent may have used up what the turn has.
    context.budget.checkTokens();
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

async function finish(
  { harness, events, hooks }: CallContext,
  call: ToolCallBlock,
  outcome: Outcome,
  step: number,
): Promise<ToolResultBlock> {
  const limit = harness.toolExecution.maxResultCharacters;
  const { decision, reason } = outcome;
  let { content: full, isError } = outcome;
  const seen = () => ({
    call: { id: call.id, name: call.name, input: call.input },
    result: { content: full, isError },
  });
  await hooks.run("after-tool", step, seen, ({ result }) => {
    ({ content: full, isError } = checkOutput(call.name, result));
    return "go-on";
  });
  const characters = full.length;
  const kept = limit === false ? full : headOf(full, limit);
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
