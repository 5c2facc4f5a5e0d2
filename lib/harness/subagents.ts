/** Subagents: an agent as a tool of another. */
import { ConfigurationError } from "../base/errors.ts";
import { checkKeys } from "../base/options.ts";
import { defineHarnessTool } from "../tool/define.ts";
import type { HarnessTool } from "../tool/tool.ts";
import type { CustomAgent } from "./agent.ts";

/** Options of {@link defineHarnessSubagent}. */
export interface HarnessSubagentOptions {
  /** 1–64 letters, digits, `_` or `-`; unique in a harness. */
  readonly name: string;
  /** Tells the model when to delegate; not blank. */
  readonly description: string;
  /** Made by `createAgent`. */
  readonly agent: CustomAgent;
}

const agents = new WeakMap<HarnessTool, CustomAgent>();

/**
 * Makes a tool of an agent: the model gives it a `prompt` and gets `{"text", "conversation"?}` as JSON. Each call starts
 * a history of its own in the same sandbox, with the agent's own tools, hooks, limits and instructions; each of its
 * calls must pass the permissions of both.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { createAgent } from "./agent.ts";
 * import { createHarness } from "./harness.ts";
 * import { defineHarnessSubagent } from "./subagents.ts";
 * import { createScriptedModelProvider } from "../model/providers/scripted.ts";
 * const agent = createAgent({
 *   harness: createHarness({ modelProvider: createScriptedModelProvider(["Nothing found."]) }),
 *   model: "small",
 * });
 * const finder = defineHarnessSubagent({ name: "finder", description: "Finds things.", agent });
 * console.assert(finder.readOnly === false);
 * ```
 */
export function defineHarnessSubagent(options: HarnessSubagentOptions): HarnessTool {
  checkKeys("defineHarnessSubagent", options, ["name", "description", "agent"]);
  const { name, description, agent } = options;
  if (agent?.kind !== "custom") {
    throw new ConfigurationError(`defineHarnessSubagent: the agent of \`${name}\` must be made by createAgent`);
  }
  const tool = defineHarnessTool<{ prompt: string }>({
    name,
    description,
    input: {
      type: "object",
      properties: { prompt: { type: "string", minLength: 1, description: "What the agent is to do" } },
      required: ["prompt"],
      additionalProperties: false,
    },
    execute: () => {
      throw new ConfigurationError(`the subagent \`${name}\` runs only within the turn of another agent`);
    },
  }) as HarnessTool;
  agents.set(tool, agent);
  return tool;
}

/** The agent behind a tool; undefined for any other tool. */
export function subagentOf(tool: HarnessTool): CustomAgent | undefined {
  return agents.get(tool);
}
