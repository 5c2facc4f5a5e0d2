/** Agents of the project as tools of a model. */
import { ConfigurationError, ToolFailure } from "../../base/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue, textForm } from "../../base/json.ts";
import { type DelegatedRun, delegating } from "../../harness/subagents.ts";
import { qualifiedName } from "../../tool/name.ts";
import type { HarnessTool } from "../../tool/tool.ts";
import type { AgentDefinition } from "./agent.ts";
import { checkInput } from "./request.ts";

/** Makes the run of an agent for an input, and the text that the agent gets as the user's message. */
export type OpenSubagent = (input: JsonValue, text: string) => Promise<DelegatedRun>;

const ANY_INPUT: JsonObject = Object.freeze({
  type: "object",
  properties: Object.freeze({
    input: Object.freeze({ description: "What the subagent is to work on: a text, or any JSON value" }),
  }),
  required: Object.freeze(["input"]),
});

/**
 * The tool `agent__<name>`. With an `input_schema` its arguments are the agent's input, else their `input` is: a text
 * as it is, also one that holds JSON. Arguments that do not fit, and whatever fails within, end the turn.
 */
export function subagentTool(name: string, definition: AgentDefinition, open: OpenSubagent): HarnessTool {
  const { fields, input: schema, realPath } = definition;
  const label = `subagent '${name}'`;
  const inputOf = (value: JsonObject): { input: JsonValue; text: string } => {
    if (schema !== undefined) return { input: value, text: JSON.stringify(value) };
    if (!Object.hasOwn(value, "input")) {
      throw new ConfigurationError("the arguments lack the key `input`, which is what the subagent works on");
    }
    return { input: value["input"]!, text: textForm(value["input"]) };
  };
  const tool: HarnessTool = Object.freeze({
    kind: "tool" as const,
    name: qualifiedName("agent", name),
    description: fields.description ?? `Runs the '${name}' subagent for a delegated task.`,
    readOnly: false,
    inputSchema: parameters(schema?.schema),
    validate: (value: unknown) => {
      try {
        checkInput(definition, inputOf(value as JsonObject).input);
      } catch (error) {
        return Promise.reject(new ToolFailure(label, { fatal: true, cause: error }));
      }
      return Promise.resolve({ value });
    },
    resources: () => ({}),
    execute: () => {
      throw new ConfigurationError(`the subagent \`${name}\` runs only within the turn of another agent`);
    },
  });
  return delegating(tool, {
    label,
    ...(realPath === undefined ? {} : { identity: realPath }),
    result: "text",
    fatal: true,
    open: async (value) => {
      const { input, text } = inputOf(value as JsonObject);
      return await open(input, text);
    },
  });
}

function parameters(schema: unknown): JsonObject {
  if (schema === undefined) return ANY_INPUT;
  return isJsonObject(schema) ? schema : { type: "object" };
}
