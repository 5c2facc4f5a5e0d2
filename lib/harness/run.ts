/** One run of an agent: its instructions resolved, its hooks started, its loop run. Turns and subagents are runs. */
import { LimitError, ToolFailure } from "../base/errors.ts";
import { messageText, type ModelMessage } from "../model/message.ts";
import type { ResponseFormat } from "../model/provider.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import type { ApproveTool } from "../tool/approval.ts";
import type { HarnessTool } from "../tool/tool.ts";
import type { CustomAgent } from "./agent.ts";
import { BoundLease } from "./bound_lease.ts";
import { TurnBudget } from "./budget.ts";
import type { Delegation, EvaluateCall } from "./calls.ts";
import type { EventStream } from "./events.ts";
import { type Harness, profileOf } from "./harness.ts";
import { HookRunner } from "./hooks.ts";
import { type LoopResult, runLoop } from "./loop.ts";
import type { McpPrompts } from "./instructions.ts";
import type { RunningMcp } from "./mcp.ts";
import { checkToolNames } from "./tool_list.ts";
import { skillCatalogue } from "./skills.ts";
import type { Delegate } from "./subagents.ts";
import type { ConversationPlace } from "./conversations.ts";
import { History } from "./history.ts";
import type { SteeringQueue } from "./steering.ts";
import { openTranscript, type Transcript } from "./transcript.ts";
import { textBlock, userMessage } from "./turn_messages.ts";

/** What a run is given by the turn that it belongs to. */
export interface RunEnvironment {
  readonly lease: SandboxLease;
  readonly events: EventStream;
  readonly signal: AbortSignal;
  readonly budget: TurnBudget;
  readonly approve: ApproveTool | undefined;
  /** Every one of these must allow a call: the agent's own, and those of the agents that delegated to it. */
  readonly evaluators: readonly EvaluateCall[];
  /** The identities of the agents that delegated to this one, the outermost first. */
  readonly trail: readonly string[];
  /** How many more levels of delegation the agents above allow. */
  readonly depthLeft: number;
  readonly responseFormat: ResponseFormat | undefined;
  /** Which tools are offered. */
  readonly offers: (tool: HarnessTool) => boolean;
  readonly steering: SteeringQueue | undefined;
  /** Where conversations are kept. */
  readonly place: ConversationPlace;
  /** The run's own transcript. */
  readonly transcript: Transcript | undefined;
  /** Takes secrets out of what transcripts store. */
  readonly redact: (<Value>(value: Value) => Value) | undefined;
}

/** Takes the texts that came for a run (a subagent's, or `null` for the outermost), and tells observers. */
export function steer({ steering, events }: RunEnvironment, run: string | null): readonly string[] {
  const texts = steering?.take(run, "injected") ?? [];
  for (const text of texts) events.emit({ kind: "steer", text, mode: "injected" });
  return texts;
}

/** Runs an agent on a conversation that ends with the user's message. */
export async function runAgentLoop(
  agent: CustomAgent,
  environment: RunEnvironment,
  history: History,
  run: string | null = null,
): Promise<LoopResult> {
  const { mcpServers } = agent.harness;
  if (mcpServers === undefined) return await runWithTools(agent, environment, history, run, undefined);
  const { startMcp } = await import("./mcp.ts");
  const mcp = await startMcp(mcpServers, environment.lease, environment.signal);
  try {
    return await runWithTools(agent, environment, history, run, mcp);
  } finally {
    await mcp.close();
  }
}

async function runWithTools(
  agent: CustomAgent,
  environment: RunEnvironment,
  history: History,
  run: string | null,
  mcp: RunningMcp | undefined,
): Promise<LoopResult> {
  const { harness, model } = agent;
  const { events, signal, lease } = environment;
  const tools = mcp === undefined ? harness.tools : [...harness.tools, ...mcp.tools];
  if (mcp !== undefined) checkToolNames(tools, "the tools of the harness and of its MCP servers");
  const borrowed = new BoundLease(lease, signal, () => {});
  const hooks = new HookRunner(harness.hooks, { sandbox: borrowed, signal, model }, events);
  const system = await systemText(agent, hooks, environment, borrowed, history.messages, mcp?.prompts);
  return await runLoop({
    harness,
    profile: profileOf(harness)!,
    tools: tools.filter(environment.offers),
    model,
    lease,
    events,
    signal,
    budget: environment.budget,
    approve: environment.approve ?? harness.approve,
    evaluators: [...environment.evaluators, ...ownEvaluators(harness)],
    hooks,
    system,
    responseFormat: environment.responseFormat,
    steer: () => steer(environment, run),
    delegate: (delegation) => delegate(agent, environment, delegation),
  }, history);
}

function ownEvaluators(harness: Harness): EvaluateCall[] {
  const { permissions } = harness;
  const { policy } = profileOf(harness)!;
  return [
    ...(policy === undefined ? [] : [policy]),
    ...(permissions === undefined ? [] : [permissions.evaluate.bind(permissions)]),
  ];
}

async function systemText(
  { harness, model }: CustomAgent,
  hooks: HookRunner,
  { events, signal }: RunEnvironment,
  sandbox: SandboxLease,
  messages: readonly ModelMessage[],
  mcp: McpPrompts | undefined,
): Promise<string | undefined> {
  const context = { sandbox, signal, model, ...(mcp === undefined ? {} : { mcp }) };
  const resolved = await Promise.all(harness.instructions.map((entry) => entry.resolve(context)));
  const parts = resolved.filter((text) => text.trim() !== "");
  events.emit({ kind: "instructions-loaded", count: parts.length });
  const catalogue = skillCatalogue(harness.skills);
  if (catalogue !== undefined) parts.push(catalogue);
  const prompt = messageText(messages.at(-1)!);
  await hooks.run("session-start", 0, () => ({ prompt }), ({ instructions }) => {
    if (instructions.trim() !== "") parts.push(instructions);
    return "go-on";
  });
  return parts.length === 0 ? undefined : parts.join("\n\n");
}

/** Runs a subagent within a tool call; what it gives is the call's result. */
async function delegate(delegating: CustomAgent, environment: RunEnvironment, delegation: Delegation): Promise<string> {
  const { delegate: { fatal, label }, signal } = delegation;
  try {
    return await runDelegate(delegating, environment, delegation);
  } catch (error) {
    if (!fatal || signal.aborted) throw error;
    throw new ToolFailure(label, { fatal, cause: error });
  }
}

async function runDelegate(
  delegating: CustomAgent,
  environment: RunEnvironment,
  delegation: Delegation,
): Promise<string> {
  const { delegate, input, callId, name, signal } = delegation;
  const { identity } = profileOf(delegating.harness)!;
  const trail = identity === undefined ? environment.trail : [...environment.trail, identity];
  const depthLeft = Math.min(environment.depthLeft, delegating.harness.limits.maxDelegationDepth);
  checkDelegation(delegate, name, trail, depthLeft);
  const { agent, prompt, responseFormat } = await delegate.open(input);
  const id = crypto.randomUUID();
  const parent = { parentCallId: callId, ...optionally("parentConversation", environment.transcript?.id) };
  const transcript = await openTranscript(agent, environment.place, { parent, redact: environment.redact });
  const conversation = optionally("conversation", transcript?.id);
  const tell = (status: "started" | "finished" | "failed") =>
    environment.events.emit({ kind: "subagent", id, callId, name, status, ...conversation });
  const ended = environment.steering?.begin(id);
  tell("started");
  try {
    const { harness } = agent;
    const history = new History([], transcript);
    await history.add(userMessage([textBlock(prompt)]));
    const { text } = await runAgentLoop(
      agent,
      {
        ...environment,
        signal,
        events: environment.events.child(delegate.label, id),
        budget: new TurnBudget(harness.limits, profileOf(harness)!.stepsLimit, environment.budget),
        evaluators: [...environment.evaluators, ...ownEvaluators(delegating.harness)],
        trail,
        depthLeft: depthLeft - 1,
        responseFormat,
        offers: () => true,
        transcript,
      },
      history,
      id,
    );
    tell("finished");
    return delegate.result === "text" ? text : JSON.stringify({ text, ...conversation });
  } catch (error) {
    tell("failed");
    throw error;
  } finally {
    ended?.();
    await transcript?.close();
  }
}

/** An agent does not run within itself, nor deeper than the limit. */
function checkDelegation({ identity }: Delegate, name: string, trail: readonly string[], depthLeft: number): void {
  if (identity !== undefined && trail.includes(identity)) {
    const path = [...trail.slice(trail.indexOf(identity)), identity].join(" → ");
    throw new LimitError("delegationCycle", `a cycle of subagents: \`${name}\` runs already (${path})`);
  }
  if (depthLeft < 1) {
    throw new LimitError("maxDelegationDepth", `the subagent \`${name}\` is one level of delegation too deep`);
  }
}

function optionally<Name extends string>(name: Name, value: string | undefined): { [N in Name]?: string } {
  return (value === undefined ? {} : { [name]: value }) as { [N in Name]?: string };
}
