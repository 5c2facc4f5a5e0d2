/** The sentences that say what is wrong with a value, without the path before them. */
import { jsonTypeOf } from "../base/json.ts";
import { shorten } from "../base/text.ts";
import type { ErrorObject } from "../deps/ajv.ts";

/** What a value was expected to be, where that can be put together with other alternatives. */
export interface Expected {
  readonly types: readonly string[];
  readonly values: readonly unknown[];
}

/** An issue before its sentence is made. */
export interface Finding {
  /** The JSON pointer to the value. */
  readonly pointer: string;
  readonly keyword: string;
  /** The sentence behind the path. */
  readonly text: string;
  readonly expected?: Expected;
  /** The key that is wrong, when it is the key and not the value. */
  readonly badKey?: string;
}

// Longer lists of choices are cut: the sentence goes to a model or a terminal.
const SHOWN_VALUES = 30;
const SHOWN_PROPERTIES = 12;
const SHOWN_VALUE_CHARACTERS = 200;

/** The finding for one error; `names` are the fields that it and its like of the same object name. */
export function describe(error: ErrorObject, names: readonly string[]): Finding {
  const { instancePath: pointer, keyword, params, data, parentSchema } = error;
  switch (keyword) {
    case "type":
      return expectation(pointer, { types: [params.type].flat(), values: [] }, keyword, data);
    case "enum":
      return expectation(pointer, { types: [], values: params.allowedValues }, keyword, data);
    case "const": {
      const values = [params.allowedValue];
      return {
        pointer,
        keyword,
        text: `must be equal to constant ${valueList(values)}`,
        expected: { types: [], values },
      };
    }
    case "required":
      return { pointer, keyword, text: `is missing required field(s): ${names.join(", ")}` };
    case "additionalProperties":
    case "unevaluatedProperties":
      return { pointer, keyword, text: unknownFields(names, keyword, parentSchema) };
    case "false schema":
      return { pointer, keyword, text: "is not allowed" };
    case "propertyNames":
      return badKey(pointer, keyword, params.propertyName, "is not allowed");
    default:
      return { pointer, keyword, text: error.message ?? `does not meet \`${keyword}\`` };
  }
}

/** The finding that a key itself is wrong; `text` goes behind `which`. */
export function badKey(pointer: string, keyword: string, name: string, text: string): Finding {
  return { pointer, keyword, text: `has the key \`${name}\`, which ${text}`, badKey: name };
}

function unknownFields(names: readonly string[], keyword: string, parentSchema: unknown): string {
  const shown = listOf(names, (name) => `\`${name}\``);
  const text = names.length === 1 ? `has an unknown field ${shown}` : `has unknown fields ${shown}`;
  // Where `unevaluatedProperties` stands, other schemas know more names.
  const properties = (parentSchema as { properties?: object } | undefined)?.properties;
  if (keyword !== "additionalProperties" || properties === undefined) return text;
  const known = Object.keys(properties);
  return known.length === 0 || known.length > SHOWN_PROPERTIES ? text : `${text} (accepted: ${known.join(", ")})`;
}

/** The finding that a value is not what was expected; its keyword tells what kind of choice there was. */
export function expectation(pointer: string, expected: Expected, keyword: string, data: unknown): Finding {
  const { types, values } = expected;
  const parts: string[] = [];
  if (values.length > 0) parts.push(`one of ${valueList(values)}`);
  if (types.length > 0) parts.push(`of type ${types.join(" or ")} (got ${typeName(data)})`);
  const kind = values.length === 0 ? "type" : types.length === 0 ? "enum" : keyword;
  return { pointer, keyword: kind, text: `must be ${parts.join(" or ")}`, expected };
}

function valueList(values: readonly unknown[]): string {
  return listOf(values, (value) => shorten(JSON.stringify(value) ?? "null", SHOWN_VALUE_CHARACTERS));
}

function listOf<T>(values: readonly T[], show: (value: T) => string): string {
  const shown = values.slice(0, SHOWN_VALUES).map(show).join(", ");
  return values.length > SHOWN_VALUES ? `${shown}, … (${values.length} in all)` : shown;
}

function typeName(data: unknown): string {
  return typeof data === "number" && !Number.isFinite(data) ? String(data) : jsonTypeOf(data);
}
