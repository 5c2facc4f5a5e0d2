/** `createAgent`: a harness bound to a model. */
import { ConfigurationError } from "../base/errors.ts";
import { checkInteger, checkKeys, checkOneOf, checkRange, checkText } from "../base/options.ts";
import { type AgentModel, REASONING_LEVELS } from "../model/provider.ts";
import type { ConversationStore } from "./conversations.ts";
import { type Harness, profileOf } from "./harness.ts";

/** Options of {@link createAgent}. */
export interface AgentOptions {
  /** Made by `createHarness`. */
  readonly harness: Harness;
  /** The model's name, or the model with its settings. */
  readonly model: string | AgentModel;
}

/** An agent; made by {@link createAgent}, frozen. */
export interface CustomAgent {
  /** Marks an agent of this loop. */
  readonly kind: "custom";
  /** The kind of agent, for messages. */
  readonly name: "custom";
  /** What it works with. */
  readonly harness: Harness;
  /** The model, with its settings. */
  readonly model: AgentModel;
  /** Whether its conversations are kept; true unless the harness says `conversations: false`. */
  readonly capture: boolean;
  /** Whether they can go on later; as `capture`. */
  readonly resumable: boolean;
  /** The store of the harness, where one was given. */
  readonly storage?: ConversationStore;
}

/**
 * Binds a harness to a model. The model's settings are checked here, also by the provider; whether the service knows
 * the name shows with the first request.
 *
 * @throws ConfigurationError for a wrong setting
 *
 * @example
 * ```ts
 * import { createAgent } from "./agent.ts";
 * import { createHarness } from "./harness.ts";
 * import { createScriptedModelProvider } from "../model/providers/scripted.ts";
 * const harness = createHarness({ modelProvider: createScriptedModelProvider(["Hello!"]) });
 * const agent = createAgent({ harness, model: "any" });
 * console.assert(agent.model.name === "any");
 * ```
 */
export function createAgent(options: AgentOptions): CustomAgent {
  checkKeys("createAgent", options, ["harness", "model"]);
  const { harness } = options;
  if (profileOf(harness) === undefined) {
    throw new ConfigurationError("createAgent: harness must be made by createHarness");
  }
  const model: AgentModel = typeof options.model === "string" ? { name: options.model } : options.model;
  checkKeys("createAgent: model", model, ["name", "reasoning", "maxOutputTokens", "temperature", "topP"]);
  checkText("createAgent: model.name", model.name);
  checkOneOf("createAgent: model.reasoning", model.reasoning, REASONING_LEVELS);
  checkInteger("createAgent: model.maxOutputTokens", model.maxOutputTokens, 1);
  checkRange("createAgent: model.temperature", model.temperature, 0, 2);
  checkRange("createAgent: model.topP", model.topP, 0, 1);
  harness.modelProvider.validate?.(model);
  const { conversations } = harness;
  const kept = conversations !== false;
  return Object.freeze({
    kind: "custom",
    name: "custom",
    harness,
    model: Object.freeze({ ...model }),
    capture: kept,
    resumable: kept,
    ...(conversations ? { storage: conversations } : {}),
  });
}
