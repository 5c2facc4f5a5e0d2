/** `createHarness`: a provider, tools and limits, checked and frozen. Nothing runs by making one. */
import { LIMITS } from "../base/limits.ts";
import { checkMcpServers, type McpServers } from "../mcp/client/declaration.ts";
import type { AgentModel, ModelProvider } from "../model/provider.ts";
import type { Usage } from "../model/usage.ts";
import type { ApproveTool } from "../tool/approval.ts";
import type { HarnessPermissions } from "../tool/permissions.ts";
import type { Decision } from "../tool/policy.ts";
import type { HarnessTool, ToolResources } from "../tool/tool.ts";
import type { HarnessToolset } from "../tool/toolset.ts";
import type { HarnessContextStrategy } from "./context.ts";
import type { ConversationStore } from "./conversations.ts";
import { checkHarnessOptions } from "./harness_checks.ts";
import type { HarnessHook } from "./hooks.ts";
import { asInstructions, type HarnessInstructions } from "./instructions.ts";
import { type HarnessSkill, loadSkillTool } from "./skills.ts";
import { checkToolNames, flattenTools } from "./tool_list.ts";

/** Bounds of one turn. */
export interface HarnessLimits {
  /** Model requests. Default: 100. */
  readonly maxSteps?: number;
  /** Tool calls, all kinds counted. Default: none. */
  readonly maxToolCalls?: number;
  /** Levels of subagents below an agent; 0: none. An agent below may lower it, not raise it. Default: 3. */
  readonly maxDelegationDepth?: number;
  /** Tokens; a turn that goes over one of them fails. Default: none. */
  readonly usage?: Partial<Pick<Required<Usage>, "input" | "cached" | "cacheCreated" | "output">>;
}

/** How tool calls are run. */
export interface HarnessToolExecution {
  /** Calls that run at once. Default: 4. */
  readonly concurrency?: number;
  /** `read-only`: neighbouring read-only calls together, others alone. `parallel`: all together. Default: `read-only`. */
  readonly scheduling?: "read-only" | "parallel";
  /** Milliseconds for one call; `false`: no deadline but the tool's own. Default: 300,000. */
  readonly deadlineMs?: number | false;
  /** What a thrown error does. Default: `return-to-model`. */
  readonly onError?: "return-to-model" | "fail";
  /** What an unknown tool, or arguments that are no JSON object, do. Default: `return-to-model`. */
  readonly onInvalidCall?: "return-to-model" | "fail";
  /** Characters of a result that reach the model; `false`: all. Default: 100,000. */
  readonly maxResultCharacters?: number | false;
}

/** Options of {@link createHarness}. */
export interface HarnessOptions {
  /** What answers. */
  readonly modelProvider: ModelProvider;
  /** The system text: texts, or what is made at the start of each turn; joined by blank lines. Default: none. */
  readonly instructions?: string | HarnessInstructions | readonly (string | HarnessInstructions)[];
  /** What the model may call. Default: nothing. */
  readonly tools?: readonly (HarnessTool | HarnessToolset)[];
  /** Bounds of one turn. */
  readonly limits?: HarnessLimits;
  /** How calls are run. */
  readonly toolExecution?: HarnessToolExecution;
  /** Asked before each call that may run. Default: nobody is asked. */
  readonly approve?: ApproveTool;
  /** Which calls may run. Default: all. */
  readonly permissions?: HarnessPermissions;
  /** Functions of the user's own at fixed places of a turn; in this order within a phase. Default: none. */
  readonly hooks?: readonly HarnessHook[];
  /** What the model sees of a long history. Default: all of it. */
  readonly context?: HarnessContextStrategy;
  /** Instructions and tools that the model loads when it needs them. Default: none. */
  readonly skills?: readonly HarnessSkill[];
  /** MCP servers whose tools are offered; they run for the length of a turn. Default: none. */
  readonly mcpServers?: McpServers;
  /** Whether the provider should cache the conversation's beginning. Default: true. */
  readonly cache?: boolean;
  /**
   * Where transcripts are kept, so that a conversation can go on later. `false`: nowhere, and typed answers are not
   * asked for again. Default: `createHarnessConversations()`, for turns that know a repository.
   */
  readonly conversations?: ConversationStore | false;
}

/**
 * What the command needs of the loop and the API does not offer.
 */
export interface LoopProfile {
  /** Whether answers are streamed: when the provider can, or as said. */
  readonly streaming: "when-possible" | boolean;
  /** An answer that was cut by its output cap: the turn fails, or it is kept with a warning. */
  readonly cutAnswer: "fail" | "keep";
  /** What `maxSteps` is called where the user set it, for the error. */
  readonly stepsLimit: { readonly name: string; readonly advice: string };
  /** Whether streamed requests ask for their tokens. */
  readonly wantUsage: boolean;
  /** What the model is told about a call that an approver refused. */
  readonly deniedByUser: string;
  /** What tells this agent from others: it may not run within itself. */
  readonly identity?: string;
  /** What summaries of long histories are made by, instead of the agent's own model. */
  readonly summarizer?: { readonly provider: ModelProvider; readonly model: AgentModel };
  /** Decides about calls; the command's `tool_policy`. */
  readonly policy?: (tool: string, resources: ToolResources) => Decision;
}

const API_PROFILE: LoopProfile = Object.freeze({
  streaming: "when-possible",
  cutAnswer: "fail",
  stepsLimit: Object.freeze({ name: "maxSteps", advice: "raise limits.maxSteps" }),
  wantUsage: true,
  deniedByUser: "the user denied this call",
});

/** A harness; made by {@link createHarness}, frozen. */
export interface Harness {
  /** Marks a harness of this loop. */
  readonly kind: "custom";
  /** What answers. */
  readonly modelProvider: ModelProvider;
  /** The parts of the system text. */
  readonly instructions: readonly HarnessInstructions[];
  /** What the model may call: the harness's own tools, those of its skills, and `load_skill`. */
  readonly tools: readonly HarnessTool[];
  /** The bounds, with the defaults filled in. */
  readonly limits: HarnessLimits & { readonly maxSteps: number; readonly maxDelegationDepth: number };
  /** How calls are run, with the defaults filled in. */
  readonly toolExecution: Required<HarnessToolExecution>;
  /** Asked before each call that may run. */
  readonly approve?: ApproveTool;
  /** Which calls may run. */
  readonly permissions?: HarnessPermissions;
  /** The hooks, in order. */
  readonly hooks: readonly HarnessHook[];
  /** What the model sees of a long history. */
  readonly context?: HarnessContextStrategy;
  /** The skills. */
  readonly skills: readonly HarnessSkill[];
  /** The MCP servers, when there are some. */
  readonly mcpServers?: McpServers;
  /** Whether the provider should cache the conversation's beginning. */
  readonly cache: boolean;
  /** Where transcripts are kept, when that was said. */
  readonly conversations?: ConversationStore | false;
}

const profiles = new WeakMap<Harness, LoopProfile>();

/**
 * Makes a harness: what an agent works with. It only checks and freezes.
 *
 * @throws ConfigurationError for an unknown option, a wrong value, or two tools with one name
 *
 * @example
 * ```ts
 * import { createHarness } from "./harness.ts";
 * import { createScriptedModelProvider } from "../model/providers/scripted.ts";
 * const harness = createHarness({ modelProvider: createScriptedModelProvider(["Hello!"]) });
 * console.assert(harness.limits.maxSteps === 100);
 * ```
 */
export function createHarness(options: HarnessOptions): Harness {
  return createHarnessWith(options, API_PROFILE);
}

/** `createHarness` with a profile of the caller's; for the command. */
export function createHarnessWith(options: HarnessOptions, profile: LoopProfile): Harness {
  checkHarnessOptions(options);
  const { modelProvider, limits = {}, toolExecution = {}, approve, permissions, context, cache = true } = options;
  const { conversations } = options;
  const skills = Object.freeze([...options.skills ?? []]);
  const entries = [options.instructions ?? []].flat();
  const tools = [
    ...flattenTools(options.tools ?? [], "createHarness: tools"),
    ...skills.flatMap((skill) => skill.tools),
    ...(skills.length === 0 ? [] : [loadSkillTool(skills)]),
  ];
  checkToolNames(tools, "createHarness");
  const mcpServers = checkMcpServers("createHarness: mcpServers", options.mcpServers ?? {});
  const harness: Harness = Object.freeze({
    kind: "custom" as const,
    modelProvider,
    instructions: Object.freeze(
      entries.map((entry, index) => asInstructions(entry, `createHarness: instructions[${index}]`)),
    ),
    tools: Object.freeze(tools),
    limits: Object.freeze({
      ...limits,
      maxSteps: limits.maxSteps ?? LIMITS.steps,
      maxDelegationDepth: limits.maxDelegationDepth ?? LIMITS.delegationDepth,
    }),
    toolExecution: Object.freeze({
      concurrency: toolExecution.concurrency ?? LIMITS.apiParallelCalls,
      scheduling: toolExecution.scheduling ?? "read-only",
      deadlineMs: toolExecution.deadlineMs ?? LIMITS.callDeadlineMs,
      onError: toolExecution.onError ?? "return-to-model",
      onInvalidCall: toolExecution.onInvalidCall ?? "return-to-model",
      maxResultCharacters: toolExecution.maxResultCharacters ?? LIMITS.resultCharacters,
    }),
    ...(approve === undefined ? {} : { approve }),
    ...(permissions === undefined ? {} : { permissions }),
    hooks: Object.freeze([...options.hooks ?? []]),
    ...(context === undefined ? {} : { context }),
    skills,
    ...(Object.keys(mcpServers).length === 0 ? {} : { mcpServers }),
    cache,
    ...(conversations === undefined ? {} : { conversations }),
  });
  profiles.set(harness, profile);
  return harness;
}

/** The profile of a harness; undefined when the value was not made by `createHarness`. */
export function profileOf(harness: unknown): LoopProfile | undefined {
  return typeof harness === "object" && harness !== null ? profiles.get(harness as Harness) : undefined;
}
