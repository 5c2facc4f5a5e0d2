/** The JSON Schema of workflow files, for editors. Weaker than reading a file: it knows neither jq nor templates nor places. */
import type { JsonObject } from "../base/json.ts";
import { modelShape } from "../project/config_shape.ts";
import { shapeSchema } from "../source/shape_schema.ts";
import type { Kind } from "./kinds/kind.ts";
import { KINDS } from "./kinds/kinds.ts";
import {
  count,
  expression,
  type FieldSchemas,
  modelFields,
  NAME_PATTERN,
  schemaName,
  schemaReference,
  steps,
  text,
} from "./schema_parts.ts";

const RETRY: JsonObject = {
  type: "object",
  description: "How often, and how, a step is tried again",
  properties: {
    max_attempts: count("Attempts, with the first"),
    delay_seconds: { ...count("Before the second attempt", 0), default: 0 },
    backoff: { type: "number", minimum: 0, default: 1, description: "Each further wait is so many times the last" },
  },
  required: ["max_attempts"],
  additionalProperties: false,
};

const COMMON: FieldSchemas = {
  id: { type: "string", pattern: NAME_PATTERN, description: "Records what the step gives as steps.<id>" },
  when: expression("the step is skipped when it gives false or null"),
  input: expression("what the step works on, of what flows in"),
  output: expression("what the step gives, of what came out"),
};

const ATTEMPTS: FieldSchemas = {
  retry: RETRY,
  timeout: count("Seconds for each attempt"),
  on_error: steps("Runs when the last attempt has failed, on { error, input }"),
};

function objectOf(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return {
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required: [...required] }),
    additionalProperties: false,
  };
}

function namesTo(values: JsonObject): JsonObject {
  return { type: "object", propertyNames: { pattern: NAME_PATTERN }, additionalProperties: values };
}

function stepSchema(kind: Kind): JsonObject {
  const fields = { [kind.name]: kind.schema, ...COMMON, ...kind.ends ? {} : ATTEMPTS, ...kind.fields };
  return { title: kind.name, ...objectOf(fields, [kind.name, ...kind.required ?? []]) };
}

const schemaBody: JsonObject = {
  type: ["object", "boolean"],
  description: "A JSON Schema, or { file: PATH } beside the workflow",
};

const agent: JsonObject = objectOf({
  system: text("The system prompt, a template"),
  name: text("What it is called"),
  description: text("What it is for"),
  input_schema: schemaBody,
  output_schema: schemaBody,
  schema_name: schemaName,
  ...modelFields,
}, ["system"]);

/** The schema, draft 2020-12. */
export function workflowSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A workflow of lait",
    ...objectOf({
      version: { const: 2, description: "Of the format" },
      name: text("Told when a run begins"),
      description: text("Told beside the name, and in lists"),
      inputs: {
        ...namesTo({ type: ["string", "object", "null"] }),
        description: "Named inputs: the name of a type, or a JSON Schema; one with `default` may be left out",
      },
      input_schema: schemaReference("What the initial value must be"),
      output: expression("the result, of the last value"),
      timeout: count("Seconds for a run"),
      default: {
        ...objectOf({
          ...modelFields,
          system: text("System prompt of `prompt` steps, a template"),
          retry: RETRY,
          timeout: count("Seconds for each attempt"),
        }),
        description: "For steps that ask models and say nothing else",
      },
      models: {
        type: "object",
        additionalProperties: { type: "array", minItems: 1, items: shapeSchema(modelShape) },
        description: "Aliases of models, stronger than those of the configuration",
      },
      schemas: { ...namesTo(schemaBody), description: "Schemas by name" },
      agents: { ...namesTo(agent), description: "Agents by name" },
      steps: { $ref: "#/$defs/steps" },
    }, ["steps"]),
    $defs: {
      steps: { type: "array", minItems: 1, items: { $ref: "#/$defs/step" } },
      step: { oneOf: [...KINDS.values()].map(stepSchema) },
    },
  };
}
