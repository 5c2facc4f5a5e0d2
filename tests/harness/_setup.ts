/** What the loop's tests share: a turn with a scripted model and tools that are functions. */
import { createAgent } from "../../lib/harness/agent.ts";
import type { HarnessEvent } from "../../lib/harness/events.ts";
import { createHarness, createHarnessWith, type HarnessOptions, type LoopProfile } from "../../lib/harness/harness.ts";
import { runTurn, type TurnOptions } from "../../lib/harness/turn.ts";
import type { ModelMessage } from "../../lib/model/message.ts";
import type { Script } from "../../lib/model/providers/script.ts";
import { createScriptedModelProvider, type ScriptedModelProvider } from "../../lib/model/providers/scripted.ts";
import { createLocalSandboxProvider } from "../../lib/sandbox/providers/local.ts";
import { defineHarnessTool } from "../../lib/tool/define.ts";
import type { HarnessTool, HarnessToolContext, ToolOutput } from "../../lib/tool/tool.ts";

export const lease = await createLocalSandboxProvider().acquire({ directory: Deno.cwd() });

export const COMMAND: LoopProfile = {
  streaming: false,
  cutAnswer: "keep",
  stepsLimit: { name: "max_tool_rounds", advice: "raise it" },
  wantUsage: false,
  deniedByUser: "denied (--approve-tools)",
};

export interface Setup {
  readonly script: Script;
  readonly tools?: readonly HarnessTool[];
  readonly options?: Partial<HarnessOptions>;
  readonly profile?: LoopProfile;
  readonly turn?: Partial<TurnOptions>;
}

export function start({ script, tools = [], options = {}, profile, turn = {} }: Setup) {
  const provider: ScriptedModelProvider = createScriptedModelProvider(script);
  const events: HarnessEvent[] = [];
  const all = { modelProvider: provider, tools, ...options };
  const harness = profile === undefined ? createHarness(all) : createHarnessWith(all, profile);
  const agent = createAgent({ harness, model: "m" });
  const result = runTurn(agent, {
    lease,
    ...(turn.messages === undefined ? { prompt: "go" } : {}),
    observe: (event) => void events.push(event),
    ...turn,
  });
  result.catch(() => {});
  return { provider, events, result, kinds: () => events.map(({ kind }) => kind) };
}

export function tool(
  name: string,
  execute: (input: Record<string, unknown>, context: HarnessToolContext) => ToolOutput | Promise<ToolOutput>,
  more: { readOnly?: boolean } = {},
): HarnessTool {
  return defineHarnessTool({
    name,
    description: name,
    input: { type: "object" },
    ...(more.readOnly === undefined ? {} : { readOnly: more.readOnly }),
    execute,
  }) as HarnessTool;
}

export function callsOf(...names: string[]) {
  return { calls: names.map((name) => ({ name })) };
}

export function results(message: ModelMessage | undefined): { id: string; content: string; isError: boolean }[] {
  return (message?.content ?? []).filter((block) => block.type === "tool-result")
    .map(({ callId, content, isError = false }) => ({ id: callId, content, isError }));
}

export const lastMessage = (provider: ScriptedModelProvider) => provider.requests.at(-1)?.messages?.at(-1);
