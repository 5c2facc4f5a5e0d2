/** JSON values and their text forms. */

/** A value that JSON can say. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. Keys that look like array indexes come first, in ascending order: JavaScript orders them so. */
export interface JsonObject {
  /** Any keys. */
  readonly [key: string]: JsonValue;
}

/** Whether a value is an object that JSON could have made: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets a key as plain data, also `__proto__`, which an assignment would take for the prototype. */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    (target as Record<string, unknown>)[key] = value;
  }
}

/** The text form: a string as it is, anything else as compact JSON. */
export function textForm(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The JSON name of a value's type, for messages: `null`, `boolean`, `integer`, `number`, `string`, `array`, `object`. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}
