/** The shape of an agent file's front matter: every key, its type, and a line about it. */
import { type Infer, integerIn, json, numberIn, oneOf, record, stringList, text } from "../../source/shape.ts";

/** What `schema_name` may be. */
export const SCHEMA_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The fields of an agent. */
export const agentFields = {
  name: { shape: text, description: "What the agent is called in banners and usage" },
  description: { shape: text, description: "What it is for; shown to models that may call it" },
  model: { shape: text, description: "Alias or id of the model" },
  reasoning_effort: {
    shape: oneOf(["none", "minimal", "low", "medium", "high", "xhigh"]),
    description: "How hard the model thinks",
  },
  temperature: { shape: numberIn({ minimum: 0, maximum: 2 }), description: "Sampling temperature" },
  top_p: { shape: numberIn({ minimum: 0, maximum: 1 }), description: "Nucleus sampling" },
  max_tokens: {
    shape: integerIn({ minimum: 1, maximum: 4_294_967_295 }),
    description: "Tokens that one answer may have",
  },
  input_schema: { shape: json, description: "JSON Schema of the input, or `{ file: PATH }`" },
  output_schema: { shape: json, description: "JSON Schema of the answer, or `{ file: PATH }`" },
  schema_name: {
    shape: text,
    description: "What the output schema is called: 1 to 64 letters, digits, `_` or `-`",
    default: "structured_output",
  },
  mcp: { shape: stringList, description: "MCP servers to offer; replaces `default.mcp`" },
  max_tool_rounds: { shape: integerIn({ minimum: 1 }), description: "Model requests of one run", default: 8 },
  skills: { shape: stringList, description: "Skills to use; replaces `default.skills`" },
  subagents: { shape: stringList, description: "Agents to offer as tools; replaces `default.subagents`" },
  tools: { shape: stringList, description: "Local commands to offer; replaces `default.tools`" },
} as const;

const {
  name: _name,
  description: _description,
  input_schema: _input,
  output_schema: _output,
  schema_name: _schemaName,
  ...rest
} = agentFields;

/** Those of them that a workflow's steps with a model have, too: what is asked of the model, and what it is offered. */
export const modelFields = rest;

/** The shape of an agent file's front matter. */
export const agentShape = record(agentFields);

/** An agent's front matter, checked for keys, types and enums. */
export type AgentFields = Infer<typeof agentShape>;

/** Keys that are refused with a reason instead of a guess at what was meant. */
export const REFUSED_KEYS: Readonly<Record<string, string>> = {
  system: "the text below the front matter is the system prompt",
  system_prompt_template: "the text below the front matter is the system prompt, and a template",
  structured_output: "`output_schema` alone asks for a structured answer",
};
