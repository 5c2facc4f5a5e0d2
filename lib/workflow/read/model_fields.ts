/** The fields that every step with a model has, and their ranges. */
import { type AgentFields, agentFields } from "../../project/agents/agent_shape.ts";
import { type Infer, record, type Shape } from "../../source/shape.ts";
import type { FieldReader } from "./fields.ts";

const {
  model,
  reasoning_effort,
  temperature,
  top_p,
  max_tokens,
  mcp,
  skills,
  subagents,
  tools,
  max_tool_rounds,
} = agentFields;

const shape = record({
  model,
  reasoning_effort,
  temperature,
  top_p,
  max_tokens,
  mcp,
  skills,
  subagents,
  tools,
  max_tool_rounds,
});

/** Settings of a model step, as the file has them: `placeOf` knows where each stands. */
export type ModelFields = Infer<typeof shape>;

/** The names of these fields. */
export const MODEL_FIELDS: readonly string[] = [
  "model",
  "reasoning_effort",
  "temperature",
  "top_p",
  "max_tokens",
  "mcp",
  "max_tool_rounds",
  "skills",
  "subagents",
  "tools",
];

const RANGES = [
  ["temperature", 0, 2],
  ["top_p", 0, 1],
  ["max_tokens", 1, 4_294_967_295],
  ["max_tool_rounds", 1, Infinity],
] as const;

/** Reads the model fields of a map. */
export function readModelFields(reader: FieldReader): ModelFields {
  const fields = reader.shaped(shape as Shape<ModelFields>, MODEL_FIELDS) ?? {};
  for (const [key, least, most] of RANGES) checkRange(reader, key, fields[key], least, most);
  return fields;
}

/** Checks a number against a range; the fault names the field. */
export function checkRange(
  reader: FieldReader,
  key: string,
  value: number | undefined,
  least: number,
  most: number,
): void {
  if (value === undefined || (value >= least && value <= most)) return;
  const range = most === Infinity ? `at least ${least}` : `from ${least} to ${most}`;
  reader.fault(key, "range", `\`${key}\` must be ${range} (got ${value})`);
}

/** The fields as agents have them. */
export function asAgentFields(fields: ModelFields): AgentFields {
  return fields as AgentFields;
}
