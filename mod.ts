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
export {
  defineHarnessInstructions,
  type HarnessInstructions,
  type InstructionsContext,
  type InstructionsResolver,
  type McpPrompts,
} from "./lib/harness/instructions.ts";
export { defineHarnessSkill, type HarnessSkill, type HarnessSkillOptions } from "./lib/harness/skills.ts";
export {
  defineHarnessHook,
  type HarnessHook,
  type HarnessHookOptions,
  type HookCall,
  type HookContext,
  type HookPhase,
  type HookPhases,
} from "./lib/harness/hooks.ts";
export {
  type CompactionInput,
  defineHarnessContextStrategy,
  type HarnessContextStrategy,
  summarizeHistory,
  type SummarizeOptions,
  type TruncateOptions,
  truncateToolResults,
} from "./lib/harness/context.ts";
export { defineHarnessSubagent, type HarnessSubagentOptions } from "./lib/harness/subagents.ts";
export {
  defineJsonResponse,
  defineTextResponse,
  type HarnessResponse,
  type JsonResponseOptions,
} from "./lib/harness/response.ts";
export {
  type ConversationPlace,
  type ConversationStore,
  type ConversationWriter,
  createHarnessConversations,
  type HarnessConversationsOptions,
} from "./lib/harness/conversations.ts";
export type { Continuation } from "./lib/harness/transcript.ts";
export { createSteering, type Steering, type SteeringMode, type SteeringTarget } from "./lib/harness/steering.ts";
export type {
  CallDecision,
  EventScope,
  HarnessEvent,
  HarnessEventBody,
  HarnessObserver,
} from "./lib/harness/events.ts";
export { defineHarnessTool, type HarnessToolOptions } from "./lib/tool/define.ts";
export type { HarnessTool, HarnessToolContext, ToolObservation, ToolOutput, ToolResources } from "./lib/tool/tool.ts";
export { type Approvals, createApprovals } from "./lib/tool/approvals.ts";
export { defineHarnessToolset, type HarnessToolset, type HarnessToolsetOptions } from "./lib/tool/toolset.ts";
export { createHarnessFileTools, type HarnessFileToolsOptions } from "./lib/tool/toolsets/files.ts";
export { createHarnessSearchTools, type HarnessSearchToolsOptions } from "./lib/tool/toolsets/search.ts";
export { createHarnessGitTools } from "./lib/tool/toolsets/git.ts";
export { createHarnessEditTools } from "./lib/tool/toolsets/edit.ts";
export { createHarnessShellTools, type HarnessShellToolsOptions } from "./lib/tool/toolsets/shell.ts";
export {
  defineHarnessPermissions,
  type HarnessPermissionRule,
  type HarnessPermissions,
  type HarnessPermissionsOptions,
} from "./lib/tool/permissions.ts";
export type { Decision } from "./lib/tool/policy.ts";
export type { ApprovalDecision, ApprovalRequest, ApproveTool } from "./lib/tool/approval.ts";
export {
  createScriptedModelProvider,
  type ScriptedModelProvider,
  type ScriptedProviderOptions,
} from "./lib/model/providers/scripted.ts";
export { type AnthropicModelProviderOptions, createAnthropicModelProvider } from "./lib/model/providers/anthropic.ts";
export { createOpenAIModelProvider, type OpenAIModelProviderOptions } from "./lib/model/providers/openai.ts";
export type { Script, ScriptedAnswer, ScriptedCall } from "./lib/model/providers/script.ts";
export { defineMcpPrompt, type McpPromptOptions } from "./lib/harness/mcp_prompt.ts";
export type { McpHttpServer, McpServers, McpStdioServer, McpToolFilter } from "./lib/mcp/client/declaration.ts";
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
export { type BubblewrapSandboxOptions, createBubblewrapSandboxProvider } from "./lib/sandbox/providers/bubblewrap.ts";
export { type ContainerSandboxOptions, createContainerSandboxProvider } from "./lib/sandbox/providers/container.ts";
export type { Egress, SandboxMount, SandboxVariables } from "./lib/sandbox/providers/isolation.ts";
export type {
  AcquireOptions,
  Command,
  CommandResult,
  SandboxLease,
  SandboxProcess,
  SandboxProvider,
  SpawnCommand,
} from "./lib/sandbox/lease.ts";
export type { StandardOutcome, StandardResult, StandardSchema, StandardValidator } from "./lib/schema/standard.ts";
export type { Clock } from "./lib/base/clock.ts";
export type { JsonObject, JsonValue } from "./lib/base/json.ts";
export {
  CancelledError,
  ConfigurationError,
  type ErrorCode,
  LaitError,
  type LaitErrorOptions,
  LimitError,
  McpServerError,
  ModelError,
  type PartialOutput,
  ProcessError,
  ResponseError,
  TimeoutError,
  ToolFailure,
} from "./lib/base/errors.ts";
export { type ColdDispatchOptions, dispatch } from "./lib/dispatch/dispatch.ts";
export type { DispatchOptions } from "./lib/dispatch/dispatch_options.ts";
export type { DispatchResult, SandboxDispatchResult } from "./lib/dispatch/result.ts";
export type { DispatchTurn } from "./lib/dispatch/pass.ts";
export type { Brief, BriefValue } from "./lib/dispatch/brief.ts";
export type { BranchPolicy } from "./lib/dispatch/branch.ts";
export type { DiffGuard, GuardViolation } from "./lib/dispatch/guard.ts";
export { changed, type HookCommand, type WhenChanged, type WorkspaceHooks } from "./lib/dispatch/hooks.ts";
export type { StageLimits, WorkspaceOptions } from "./lib/dispatch/workspace_options.ts";
export type { Commit, Disposal } from "./lib/dispatch/workspace.ts";
export { openWorkspace } from "./lib/dispatch/open_workspace.ts";
export type { Workspace, WorkspaceDispatchOptions, WorkspaceSandboxOptions } from "./lib/dispatch/workspace_handle.ts";
export { createSandbox, type Sandbox, type SandboxOptions } from "./lib/dispatch/sandbox.ts";
export type {
  DispatchEvent,
  DispatchObservation,
  DispatchPhase,
  DispatchStopReason,
} from "./lib/dispatch/observation.ts";
export { createReporter, type ReporterOptions } from "./lib/dispatch/reporter.ts";
export {
  calculateUsageCost,
  type DispatchUsage,
  type ModelPrice,
  type ModelPriceTable,
  type UsageCost,
} from "./lib/dispatch/prices.ts";
export { type RecoveryDetails, recoveryDetails } from "./lib/dispatch/recovery.ts";
export type { ReportDiff, ReportFailure, ReportFile, ReportOptions, RunReport } from "./lib/dispatch/report.ts";
export type { WatchdogOptions } from "./lib/dispatch/watchdog.ts";
