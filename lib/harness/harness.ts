/** `createHarness`: a provider, tools and limits, checked and frozen. Nothing runs by making one. */
import { ConfigurationError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { checkInteger, checkKeys, checkOneOf, checkText } from "../base/options.ts";
import type { ModelProvider } from "../model/provider.ts";
import type { Usage } from "../model/usage.ts";
import type { ApproveTool } from "../tool/approval.ts";
import type { Decision } from "../tool/policy.ts";
import type { HarnessTool, ToolResources } from "../tool/tool.ts";

/** Bounds of one turn. */
export interface HarnessLimits {
  /** Model requests. Default: 100. */
  readonly maxSteps?: number;
  /** Tool calls, all kinds counted. Default: none. */
  readonly maxToolCalls?: number;
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
  /** The system text; several are joined by a blank line. Default: none. */
  readonly instructions?: string | readonly string[];
  /** What the model may call. Default: nothing. */
  readonly tools?: readonly HarnessTool[];
  /** Bounds of one turn. */
  readonly limits?: HarnessLimits;
  /** How calls are run. */
  readonly toolExecution?: HarnessToolExecution;
  /** Asked before each call that may run. Default: nobody is asked. */
  readonly approve?: ApproveTool;
  /** Whether the provider should cache the conversation's beginning. Default: true. */
  readonly cache?: boolean;
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
  /** Decides about calls; the command's `tool_policy`. */
  readonly policy?: (tool: string, resources: ToolResources) => Decision;
}

const API_PROFILE: LoopProfile = Object.freeze({
  streaming: "when-possible",
  cutAnswer: "fail",
  stepsLimit: Object.freeze({ name: "maxSteps", advice: "raise limits.maxSteps" }),
  wantUsage: true,
});

/** A harness; made by {@link createHarness}, frozen. */
export interface Harness {
  /** Marks a harness of this loop. */
  readonly kind: "custom";
  /** What answers. */
  readonly modelProvider: ModelProvider;
  /** The parts of the system text. */
  readonly instructions: readonly string[];
  /** What the model may call. */
  readonly tools: readonly HarnessTool[];
  /** The bounds, with the defaults filled in. */
  readonly limits: HarnessLimits & { readonly maxSteps: number };
  /** How calls are run, with the defaults filled in. */
  readonly toolExecution: Required<HarnessToolExecution>;
  /** Asked before each call that may run. */
  readonly approve?: ApproveTool;
  /** Whether the provider should cache the conversation's beginning. */
  readonly cache: boolean;
}

const profiles = new WeakMap<Harness, LoopProfile>();

const OPTION_KEYS = ["modelProvider", "instructions", "tools", "limits", "toolExecution", "approve", "cache"];
const USAGE_KEYS = ["input", "cached", "cacheCreated", "output"];
const EXECUTION_KEYS = ["concurrency", "scheduling", "deadlineMs", "onError", "onInvalidCall", "maxResultCharacters"];

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
  checkKeys("createHarness", options, OPTION_KEYS);
  const { modelProvider, instructions = [], tools = [], limits = {}, toolExecution = {}, approve, cache = true } =
    options;
  checkProvider(modelProvider);
  const texts = typeof instructions === "string" ? [instructions] : instructions;
  texts.forEach((text, index) => checkText(`createHarness: instructions[${index}]`, text));
  checkTools(tools);
  checkLimits(limits);
  checkExecution(toolExecution);
  if (approve !== undefined && typeof approve !== "function") {
    throw new ConfigurationError("createHarness: approve must be a function");
  }
  if (typeof cache !== "boolean") throw new ConfigurationError("createHarness: cache must be true or false");
  const harness: Harness = Object.freeze({
    kind: "custom" as const,
    modelProvider,
    instructions: Object.freeze([...texts]),
    tools: Object.freeze([...tools]),
    limits: Object.freeze({ ...limits, maxSteps: limits.maxSteps ?? LIMITS.steps }),
    toolExecution: Object.freeze({
      concurrency: toolExecution.concurrency ?? LIMITS.apiParallelCalls,
      scheduling: toolExecution.scheduling ?? "read-only",
      deadlineMs: toolExecution.deadlineMs ?? LIMITS.callDeadlineMs,
      onError: toolExecution.onError ?? "return-to-model",
      onInvalidCall: toolExecution.onInvalidCall ?? "return-to-model",
      maxResultCharacters: toolExecution.maxResultCharacters ?? LIMITS.resultCharacters,
    }),
    ...(approve === undefined ? {} : { approve }),
    cache,
  });
  profiles.set(harness, profile);
  return harness;
}

/** The profile of a harness; undefined when the value was not made by `createHarness`. */
export function profileOf(harness: unknown): LoopProfile | undefined {
  return typeof harness === "object" && harness !== null ? profiles.get(harness as Harness) : undefined;
}

function checkProvider(provider: unknown): void {
  const { request, validate, stream } = (provider ?? {}) as Record<string, unknown>;
  if (typeof request !== "function") {
    throw new ConfigurationError("createHarness: modelProvider must have a `request` function");
  }
  for (const [name, member] of [["validate", validate], ["stream", stream]] as const) {
    if (member !== undefined && typeof member !== "function") {
      throw new ConfigurationError(`createHarness: modelProvider.${name} must be a function`);
    }
  }
}

function checkTools(tools: readonly HarnessTool[]): void {
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    if (tool?.kind !== "tool") throw new ConfigurationError(`createHarness: tools[${index}] is not a tool`);
    if (names.has(tool.name)) throw new ConfigurationError(`createHarness: two tools are called \`${tool.name}\``);
    names.add(tool.name);
  }
}

function checkLimits(limits: HarnessLimits): void {
  checkKeys("createHarness: limits", limits, ["maxSteps", "maxToolCalls", "usage"]);
  checkInteger("createHarness: limits.maxSteps", limits.maxSteps, 1);
  checkInteger("createHarness: limits.maxToolCalls", limits.maxToolCalls, 1);
  if (limits.usage === undefined) return;
  checkKeys("createHarness: limits.usage", limits.usage, USAGE_KEYS);
  for (const [name, value] of Object.entries(limits.usage)) {
    checkInteger(`createHarness: limits.usage.${name}`, value, 0);
  }
}

function checkExecution(execution: HarnessToolExecution): void {
  const what = "createHarness: toolExecution";
  checkKeys(what, execution, EXECUTION_KEYS);
  checkInteger(`${what}.concurrency`, execution.concurrency, 1);
  checkOneOf(`${what}.scheduling`, execution.scheduling, ["read-only", "parallel"]);
  if (execution.deadlineMs !== false) checkInteger(`${what}.deadlineMs`, execution.deadlineMs, 1);
  checkOneOf(`${what}.onError`, execution.onError, ["return-to-model", "fail"]);
  checkOneOf(`${what}.onInvalidCall`, execution.onInvalidCall, ["return-to-model", "fail"]);
  if (execution.maxResultCharacters !== false) {
    checkInteger(`${what}.maxResultCharacters`, execution.maxResultCharacters, 1);
  }
}
