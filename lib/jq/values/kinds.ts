/** Kinds of values, reading them, and what errors say about them. */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { numberText, serialize } from "./text.ts";

/** The types of jq. */
export type Kind = "null" | "boolean" | "number" | "string" | "array" | "object";

/** The type of a value. */
export function kindOf(value: JsonValue): Kind {
  if (value === null) return "null";
  if (typeof value === "object") return Array.isArray(value) ? "array" : "object";
  return typeof value as Kind;
}

/** Whether a value is an array; the built-in check does not narrow read-only arrays. */
export function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Whether a value is an object. */
export function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Only `false` and `null` are false. */
export function isTrue(value: JsonValue): boolean {
  return value !== null && value !== false;
}

/** What is thrown inside the engine: cheap, as it carries no stack. */
export class Raised {
  /** Carries what `catch` is given. */
  constructor(readonly value: JsonValue) {}
}

/** Fails as jq does, with a text. */
export function fail(message: string): never {
  throw new Raised(message);
}

/** Bytes of a value that errors quote, its end included. */
const QUOTED = 29;

/** `type (value)`, cut short. */
export function describe(value: JsonValue): string {
  return `${kindOf(value)} (${quote(value)})`;
}

/** A value's text, cut short. */
export function quote(value: JsonValue): string {
  const text = typeof value === "number" ? numberText(value) : serialize(value, { maxDepth: 40, enough: 40 });
  if (utf8Length(text) <= QUOTED) return text;
  const end = typeof value === "string" ? '..."' : isArray(value) ? "...]" : isObject(value) ? "...}" : "...";
  let result = "";
  let length = end.length;
  for (const character of text) {
    length += utf8Length(character);
    if (length > QUOTED) break;
    result += character;
  }
  return result + end;
}

/** Bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) length += 1;
    else if (unit >= 0xd800 && unit <= 0xdbff && isLow(text.charCodeAt(index + 1))) {
      length += 2;
      index++;
    } else length += 2;
  }
  return length;
}

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Characters (code points) of a text. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff && isLow(text.charCodeAt(index + 1))) {
      count--;
      index++;
    }
  }
  return count;
}

/** Where the character of this index starts, in UTF-16 units; the length when there is none. */
export function offsetOfCharacter(text: string, index: number): number {
  let offset = 0;
  for (let left = index; left > 0 && offset < text.length; left--) {
    const unit = text.charCodeAt(offset);
    offset += unit >= 0xd800 && unit <= 0xdbff && isLow(text.charCodeAt(offset + 1)) ? 2 : 1;
  }
  return offset;
}

/** An object's own value for a key; undefined when it has none. */
export function ownValue(object: JsonObject, key: string): JsonValue | undefined {
  const value = object[key];
  // What objects inherit are functions, apart from `__proto__`.
  if (value === undefined || typeof value === "function") return undefined;
  return key === "__proto__" && !Object.hasOwn(object, key) ? undefined : value;
}
