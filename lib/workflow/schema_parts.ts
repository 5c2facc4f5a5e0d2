/** What the schemas of kinds are made of. */
import type { JsonObject } from "../base/json.ts";
import { agentFields, modelFields as fields, SCHEMA_NAME } from "../project/agents/agent_shape.ts";
import { fieldSchemas } from "../source/shape_schema.ts";
import { NAME } from "./read/fields.ts";

/** Schemas of fields by their names. */
export type FieldSchemas = Readonly<Record<string, JsonObject>>;

/** What names may be. */
export const NAME_PATTERN = NAME.source;

/** A text. */
export const text = (description: string): JsonObject => ({ type: "string", description });

/** A text that is not blank. */
export const filled = (description: string): JsonObject => ({ type: "string", pattern: "\\S", description });

/** A list of texts, with at least so many. */
export const texts = (description: string, minItems = 0): JsonObject => ({
  type: "array",
  items: { type: "string" },
  ...(minItems === 0 ? {} : { minItems }),
  description,
});

/** A jq expression. */
export const expression = (description: string): JsonObject => ({ type: "string", description: `jq: ${description}` });

/** A whole number of at least `minimum`. */
export const count = (description: string, minimum = 1): JsonObject => ({ type: "integer", minimum, description });

/** A list of steps. */
export const steps = (description: string): JsonObject => ({ $ref: "#/$defs/steps", description });

/** A schema: a name, `{ file: PATH }`, or the schema itself. */
export const schemaReference = (description: string): JsonObject => ({
  type: ["string", "object", "boolean"],
  description: `${description}: a name of \`schemas:\`, { file: PATH }, or the schema itself`,
});

/** The fields that every step with a model has. */
export const modelFields: FieldSchemas = fieldSchemas(fields) as FieldSchemas;

/** `schema_name`. */
export const schemaName: JsonObject = {
  ...fieldSchemas({ schema_name: agentFields.schema_name })["schema_name"] as JsonObject,
  pattern: SCHEMA_NAME.source,
};

/** `files` and `images`. */
export const attachments: FieldSchemas = {
  files: texts("Text files and PDFs behind the message; templates, from the current directory"),
  images: texts("Images behind the message: paths or addresses; templates"),
};
