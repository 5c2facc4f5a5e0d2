/** Subagents: an agent as a tool of another. */
import { ConfigurationError } from "../base/errors.ts";
import type { ResponseFormat } from "../model/provider.ts";
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

/** How a call of a tool becomes a run of an agent. */
export interface Delegate {
  /** What the events of its run are labelled with. */
  readonly label: string;
  /** What tells this agent from others, for the check that it does not run within itself; undefined: no check. */
  readonly identity?: string;
  /** What the delegating model gets: `{"text", "conversation"?}` as JSON, or the answer alone. */
  readonly result: "json" | "text";
  /** Whether a failure ends the delegating turn, with `label` before its message. Otherwise `onError` decides. */
  readonly fatal: boolean;
  /** What is run, for a checked input. */
  open(input: unknown): Promise<DelegatedRun>;
}

/** A run of an agent that another one asked for. */
export interface DelegatedRun {
  readonly agent: CustomAgent;
  /** The user's message. */
  readonly prompt: string;
  /** How the answer is asked for; undefined for text. */
  readonly responseFormat?: ResponseFormat | undefined;
}

const delegates = new WeakMap<HarnessTool, Delegate>();

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
  return delegating(tool, {
    label: name,
    result: "json",
    fatal: false,
    open: (input) => Promise.resolve({ agent, ...input as { prompt: string } }),
  });
}

/** Makes the calls of a tool runs of an agent. */
export function delegating(tool: HarnessTool, delegate: Delegate): HarnessTool {
  delegates.set(tool, delegate);
  return tool;
}

/** How the calls of a tool become runs of an agent; undefined for any other tool. */
export function delegateOf(tool: HarnessTool): Delegate | undefined {
  return delegates.get(tool);
}
