/** What a workflow is started with: the initial value and the named inputs. */
import { ConfigurationError, ContextError } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { didYouMean } from "../../base/nearest.ts";
import { setOwn } from "../../base/json.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import type { InputDefinition, WorkflowDefinition } from "../definition.ts";
import { checkValue, loadSchema } from "./ask_model.ts";

/** Inputs by name. */
export type Inputs = Readonly<Record<string, JsonValue>>;

/**
 * The inputs with their defaults, checked.
 *
 * @throws ConfigurationError for one that is unknown or missing; LaitError for one that does not fit
 */
export function bindInputs(definitions: readonly InputDefinition[], given: Inputs): Inputs {
  const names = definitions.map(({ name }) => name);
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue;
    if (names.length === 0) throw new ConfigurationError(`unknown input '${name}': the workflow declares no 'inputs:'`);
    const hint = didYouMean(name, names);
    const declared = `declared: ${names.join(", ")}`;
    throw new ConfigurationError(`unknown input '${name}'; ${declared}${hint === undefined ? "" : `; ${hint}`}`);
  }
  const bound: Record<string, JsonValue> = {};
  for (const { name, schema, description, default: fallback } of definitions) {
    const value = Object.hasOwn(given, name) ? given[name] : fallback;
    if (value === undefined) {
      const about = description === undefined ? "" : ` (${description})`;
      throw new ConfigurationError(`missing required input '${name}'${about}; give it with --input ${name}=…`);
    }
    checkValue(schema as JsonSchema, value, `inputs.${name}`);
    setOwn(bound, name, value);
  }
  return bound;
}

/**
 * The inputs of a command line: `KEY=VALUE`, the last one of a key counts.
 *
 * @throws ConfigurationError for one that has no key
 */
export function parseInputs(definitions: readonly InputDefinition[], words: readonly string[]): Inputs {
  const given: Record<string, JsonValue> = {};
  for (const word of words) {
    const at = word.indexOf("=");
    if (at < 1) throw new ConfigurationError(`--input '${word}' must be KEY=VALUE`);
    const name = word.slice(0, at);
    const schema = definitions.find((definition) => definition.name === name)?.schema;
    setOwn(given, name, typed(word.slice(at + 1), schema?.["type"] === "string"));
  }
  return given;
}

function typed(text: string, verbatim: boolean): JsonValue {
  if (verbatim) return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/**
 * The initial value of a text, by `input_schema`.
 *
 * @throws ConfigurationError for a text that must be JSON and is none
 */
export async function valueOfText(definition: WorkflowDefinition, text: string): Promise<JsonValue> {
  const schema = await inputSchemaOf(definition);
  if (schema === undefined) return text;
  const type = typeof schema === "object" ? schema["type"] : undefined;
  if (type === "string") return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (typeof type !== "string") return text;
    throw new ConfigurationError(`the initial input must be JSON, because input_schema wants the type ${type}`, {
      cause: error,
    });
  }
}

/** Checks an initial value against `input_schema`. */
export async function checkInitialValue(definition: WorkflowDefinition, value: JsonValue): Promise<void> {
  const schema = await inputSchemaOf(definition);
  if (schema === undefined) return;
  try {
    checkValue(schema, value, "input");
  } catch (error) {
    throw new ContextError("the initial input", error);
  }
}

async function inputSchemaOf(definition: WorkflowDefinition): Promise<JsonSchema | undefined> {
  const { inputSchema } = definition;
  return inputSchema === undefined ? undefined : await loadSchema(inputSchema, definition);
}
