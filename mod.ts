/**
 * The harness API of lait: agents over language models, with tools, limits and events.
 *
 * @example
 * ```ts
 * import { createAgent, createHarness, createScriptedModelProvider } from "./mod.ts";
 * const harness = createHarness({ modelProvider: createScriptedModelProvider(["Hello!"]) });
 * const agent = createAgent({ harness, model: "any" });
 * console.assert(agent.model.name === "any");
 * ```
 *
 * @module
 */
export { type AgentOptions, createAgent, type CustomAgent } from "./lib/harness/agent.ts";
export {
  createHarness,
  type Harness,
  type HarnessLimits,
  type HarnessOptions,
  type HarnessToolExecution,
} from "./lib/harness/harness.ts";
export type {
  CallDecision,
  EventScope,
  HarnessEvent,
  HarnessEventBody,
  HarnessObserver,
} from "./lib/harness/events.ts";
export { defineHarnessTool, type HarnessToolOptions } from "./lib/tool/define.ts";
export type { HarnessTool, HarnessToolContext, ToolObservation, ToolOutput, ToolResources } from "./lib/tool/tool.ts";
export type { ApprovalDecision, ApprovalRequest, ApproveTool } from "./lib/tool/approval.ts";
export {
  createScriptedModelProvider,
  type ScriptedModelProvider,
  type ScriptedProviderOptions,
} from "./lib/model/providers/scripted.ts";
export type { Script, ScriptedAnswer, ScriptedCall } from "./lib/model/providers/script.ts";
export type {
  AgentModel,
  ModelNotice,
  ModelProvider,
  ModelReasoning,
  ModelRequest,
  ModelResult,
  ModelStreamEvent,
  ResponseFormat,
  Served,
  StopReason,
  ToolSpec,
} from "./lib/model/provider.ts";
export type {
  FileBlock,
  ImageBlock,
  ModelContentBlock,
  ModelMessage,
  ReasoningBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
} from "./lib/model/message.ts";
export type { Usage } from "./lib/model/usage.ts";
export { createLocalSandboxProvider, type LocalSandboxOptions } from "./lib/sandbox/providers/local.ts";
export type {
  Command,
  CommandResult,
  SandboxLease,
  SandboxProcess,
  SandboxProvider,
  SpawnCommand,
} from "./lib/sandbox/lease.ts";
export type { StandardResult, StandardSchema } from "./lib/schema/standard.ts";
export type { Clock } from "./lib/base/clock.ts";
export type { JsonObject, JsonValue } from "./lib/base/json.ts";
export {
  CancelledError,
  ConfigurationError,
  type ErrorCode,
  LaitError,
  type LaitErrorOptions,
  LimitError,
  ModelError,
  type PartialOutput,
  ProcessError,
  ResponseError,
  TimeoutError,
  ToolFailure,
} from "./lib/base/errors.ts";
