/** Checking the options of `createHarness`. */
import { ConfigurationError } from "../base/errors.ts";
import { checkInteger, checkKeys, checkOneOf } from "../base/options.ts";
import { checkConversationStore } from "./conversations.ts";
import type { HarnessLimits, HarnessOptions, HarnessToolExecution } from "./harness.ts";

const OPTION_KEYS = [
  "modelProvider",
  "instructions",
  "tools",
  "limits",
  "toolExecution",
  "approve",
  "permissions",
  "hooks",
  "context",
  "skills",
  "mcpServers",
  "cache",
  "conversations",
];
const USAGE_KEYS = ["input", "cached", "cacheCreated", "output"];
const EXECUTION_KEYS = ["concurrency", "scheduling", "deadlineMs", "onError", "onInvalidCall", "maxResultCharacters"];

/**
 * Refuses unknown options and wrong values.
 *
 * @throws ConfigurationError naming the option
 */
export function checkHarnessOptions(options: HarnessOptions): void {
  if (typeof options === "object" && options !== null && "run" in options) {
    throw new ConfigurationError("createHarness: `run` is no option: a harness is run by its agent");
  }
  checkKeys("createHarness", options, OPTION_KEYS);
  const { modelProvider, limits = {}, toolExecution = {}, approve, cache, permissions, context, hooks, skills } =
    options;
  checkProvider(modelProvider);
  checkLimits(limits);
  checkExecution(toolExecution);
  if (approve !== undefined && typeof approve !== "function") {
    throw new ConfigurationError("createHarness: approve must be a function");
  }
  if (cache !== undefined && typeof cache !== "boolean") {
    throw new ConfigurationError("createHarness: cache must be true or false");
  }
  checkConversationStore("createHarness: conversations", options.conversations);
  checkKind("permissions", permissions, "permissions", "defineHarnessPermissions");
  checkKind("context", context, "context", "defineHarnessContextStrategy");
  (hooks ?? []).forEach((hook, index) => checkKind(`hooks[${index}]`, hook, "hook", "defineHarnessHook"));
  (skills ?? []).forEach((skill, index) => checkKind(`skills[${index}]`, skill, "skill", "defineHarnessSkill"));
  const names = new Set<string>();
  for (const { name } of skills ?? []) {
    if (names.has(name)) throw new ConfigurationError(`createHarness: two skills are called \`${name}\``);
    names.add(name);
  }
}

function checkKind(what: string, value: { readonly kind?: unknown } | undefined, kind: string, maker: string): void {
  if (value === undefined || value?.kind === kind) return;
  throw new ConfigurationError(`createHarness: ${what} must be made by ${maker}`);
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

function checkLimits(limits: HarnessLimits): void {
  checkKeys("createHarness: limits", limits, ["maxSteps", "maxToolCalls", "maxDelegationDepth", "usage"]);
  checkInteger("createHarness: limits.maxSteps", limits.maxSteps, 1);
  checkInteger("createHarness: limits.maxToolCalls", limits.maxToolCalls, 1);
  checkInteger("createHarness: limits.maxDelegationDepth", limits.maxDelegationDepth, 0);
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
