/** `.a`, `.[0]`, `.[1:2]`, `.[]`: reading parts of values. */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { atOnce, UNITS, type Work } from "../machine/work.ts";
import { equal } from "./compare.ts";
import { countCharacters, describe, fail, isArray, isObject, kindOf, offsetOfCharacter, ownValue } from "./kinds.ts";

/** `value[key]`. */
export function indexValue(value: JsonValue, key: JsonValue, maxDepth: number): JsonValue {
  if (typeof key === "string") return indexKey(value, key);
  if (isArray(value)) {
    if (typeof key === "number") {
      if (Number.isNaN(key)) return null;
      const index = Math.trunc(key);
      return value[index < 0 ? index + value.length : index] ?? null;
    }
    if (isArray(key)) return atOnce(findingItems(value, key, maxDepth));
  }
  if (value === null && isObject(key)) return null;
  if (isObject(key) && (isArray(value) || typeof value === "string")) {
    return sliceValue(value, ...sliceOf(key));
  }
  if (value === null && typeof key === "number") return null;
  return fail(cannotIndex(value, key));
}

/** `value.key`. */
export function indexKey(value: JsonValue, key: string): JsonValue {
  if (typeof value === "object") {
    if (value === null) return null;
    if (!Array.isArray(value)) {
      const found = (value as Record<string, JsonValue>)[key];
      if (found === undefined || typeof found === "function") return null;
      return key === "__proto__" && !Object.hasOwn(value, key) ? null : found;
    }
  }
  return fail(cannotIndex(value, key));
}

/** What is said about a key that a value cannot have. */
export function cannotIndex(value: JsonValue, key: JsonValue): string {
  if (isArray(value) && isObject(key)) return NO_INDICES;
  if (key === null || typeof key === "boolean" || typeof key === "object") {
    return `Cannot index ${kindOf(value)} with ${kindOf(key)}`;
  }
  return `Cannot index ${kindOf(value)} with ${describe(key)}`;
}

/** Every index at which an array has these items in a row. */
export function* findingItems(
  items: readonly JsonValue[],
  wanted: readonly JsonValue[],
  maxDepth: number,
): Work<JsonValue> {
  const found: number[] = [];
  if (wanted.length === 0) return found;
  let compared = 0;
  for (let start = 0; start + wanted.length <= items.length; start++) {
    let same = 0;
    while (same < wanted.length && equal(items[start + same]!, wanted[same]!, maxDepth)) {
      if (++compared % UNITS === 0) yield;
      same++;
    }
    if (same === wanted.length) found.push(start);
    if (++compared % UNITS === 0) yield;
  }
  return found;
}

/** The ends of a slice that is told by an object; both must be there. */
export function sliceOf(key: JsonObject): [from: JsonValue, to: JsonValue] {
  const [from, to] = [ownValue(key, "start"), ownValue(key, "end")];
  return from === undefined || to === undefined ? fail(NO_INDICES) : [from, to];
}

const NO_INDICES = "Array/string slice indices must be integers";

/** First and last index of a slice of something this long. */
export function sliceBounds(length: number, from: JsonValue, to: JsonValue): [start: number, end: number] {
  if ((from !== null && typeof from !== "number") || (to !== null && typeof to !== "number")) {
    fail(NO_INDICES);
  }
  const clamp = (value: number) => Math.max(0, Math.min(length, value < 0 ? value + length : value));
  const start = from === null || Number.isNaN(from) ? 0 : Math.floor(clamp(from));
  const end = to === null || Number.isNaN(to) ? length : Math.ceil(clamp(to));
  return [start, Math.max(start, end)];
}

/** `value[from:to]`. */
export function sliceValue(value: JsonValue, from: JsonValue, to: JsonValue): JsonValue {
  if (value === null) return null;
  if (isArray(value)) {
    const [start, end] = sliceBounds(value.length, from, to);
    return value.slice(start, end);
  }
  if (typeof value !== "string") return fail(`Cannot index ${kindOf(value)} with object`);
  const count = countCharacters(value);
  const [start, end] = sliceBounds(count, from, to);
  if (count === value.length) return value.slice(start, end);
  const first = offsetOfCharacter(value, start);
  return value.slice(first, first + offsetOfCharacter(value.slice(first), end - start));
}

/** The values of an array or object. */
export function valuesOf(value: JsonValue): readonly JsonValue[] {
  if (isArray(value)) return value;
  if (isObject(value)) return Object.values(value);
  return fail(`Cannot iterate over ${describe(value)}`);
}
