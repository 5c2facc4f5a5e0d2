/**
 * What programs that use lait test with: a turn without a repository around it, and a provider with a script.
 *
 * @example
 * ```ts
 * import { runAgent } from "./mod.ts";
 * import { createAgent, createHarness, createLocalSandboxProvider, createScriptedModelProvider } from "../../mod.ts";
 * const harness = createHarness({ modelProvider: createScriptedModelProvider(["Hello!"]) });
 * const lease = await createLocalSandboxProvider().acquire({ directory: Deno.cwd() });
 * const { text } = await runAgent(createAgent({ harness, model: "any" }), { lease, prompt: "Say hello." });
 * console.assert(text === "Hello!");
 * await lease.release();
 * ```
 *
 * @module
 */
export { runTurn as runAgent, type TurnOptions, type TurnResult } from "../harness/turn.ts";
export {
  createScriptedModelProvider,
  type ScriptedModelProvider,
  type ScriptedProviderOptions,
} from "../model/providers/scripted.ts";
export type { ContractCase } from "./contract.ts";
export { sandboxContract } from "./sandbox_contract.ts";
export { type ModelContractOptions, modelProviderContract } from "./model_contract.ts";
export {
  createMemorySandboxProvider,
  type MemoryCommand,
  type MemorySandboxOptions,
  type MemorySandboxProvider,
} from "./memory_sandbox.ts";
