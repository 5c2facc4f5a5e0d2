/** `+ - * / %` and what they say about values that they do not take. */
import { type JsonValue, setOwn } from "../../base/json.ts";
import { JqLimitError } from "../errors.ts";
import { UNITS, type Work } from "../machine/work.ts";
import { equal } from "./compare.ts";
import { describe, fail, isArray, isObject, ownValue } from "./kinds.ts";
import { type Growth, sizeOf } from "./paths.ts";

/** The longest text that can be made; engines have a limit of their own somewhat above. */
export const MOST_CHARACTERS = 64 * 1024 * 1024;

const refuse = (a: JsonValue, b: JsonValue, what: string): never =>
  fail(`${describe(a)} and ${describe(b)} cannot be ${what}`);

/** `a + b`. */
export function add(a: JsonValue, b: JsonValue, growth: Growth): JsonValue {
  if (typeof a === "number" && typeof b === "number") return a + b;
  if (a === null) return b;
  if (b === null) return a;
  if (typeof a === "string" && typeof b === "string") {
    growth.charge(b.length * 2);
    requireLength(a.length + b.length);
    return a + b;
  }
  if (isArray(a) && isArray(b)) {
    if (a.length === 0) return b;
    if (b.length === 0) return a;
    growth.charge((a.length + b.length) * 16 + 48);
    return a.concat(b);
  }
  if (isObject(a) && isObject(b)) {
    growth.charge(sizeOf(a) + sizeOf(b));
    return { ...a, ...b };
  }
  return refuse(a, b, "added");
}

/** Refuses to make a text that is longer than texts may be. */
export function requireLength(characters: number): void {
  if (characters <= MOST_CHARACTERS) return;
  throw new JqLimitError("workingBytes", `a text would be longer than ${MOST_CHARACTERS} characters`);
}

/** `a - b`. */
export function subtract(a: JsonValue, b: JsonValue, machine: Growth & Performer): JsonValue {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (!isArray(a) || !isArray(b)) return refuse(a, b, "subtracted");
  machine.charge(a.length * 8);
  return machine.perform(without(a, b, machine.maxDepth));
}

/** Does long steps: see `Machine`. */
export interface Performer {
  perform<T>(work: Work<T>): T;
}

function* without(a: readonly JsonValue[], b: readonly JsonValue[], maxDepth: number): Work<JsonValue> {
  const flat = new Set(b.filter((item) => typeof item !== "object" || item === null));
  const deep = b.filter((item) => typeof item === "object" && item !== null);
  const left: JsonValue[] = [];
  let compared = 0;
  for (const item of a) {
    if (typeof item !== "object" || item === null) {
      if (!flat.has(item) || Number.isNaN(item)) left.push(item);
      if (++compared % UNITS === 0) yield;
      continue;
    }
    let found = false;
    for (let index = 0; index < deep.length && !found; index++) {
      found = equal(item, deep[index]!, maxDepth);
      if (++compared % UNITS === 0) yield;
    }
    if (!found) left.push(item);
  }
  return left;
}

/** `a * b`. */
export function multiply(a: JsonValue, b: JsonValue, growth: Growth): JsonValue {
  if (typeof a === "number" && typeof b === "number") return a * b;
  if (typeof a === "string" && typeof b === "number") return repeat(a, b, growth);
  if (typeof a === "number" && typeof b === "string") return repeat(b, a, growth);
  if (isObject(a) && isObject(b)) return merge(a, b, growth);
  return refuse(a, b, "multiplied");
}

function repeat(text: string, times: number, growth: Growth): JsonValue {
  if (Number.isNaN(times) || times < 0) return null;
  const count = Math.floor(times);
  if (text === "" || count === 0) return "";
  if (text.length * count >= 2 ** 31 - 1) fail("Repeat string result too long");
  requireLength(text.length * count);
  growth.charge(text.length * count * 2);
  return text.repeat(count);
}

type Draft = Record<string, JsonValue>;

/** Objects merged at every level. */
function merge(a: Readonly<Draft>, b: Readonly<Draft>, growth: Growth): JsonValue {
  growth.charge(sizeOf(a));
  const root: Draft = { ...a };
  const open: [into: Draft, from: Readonly<Draft>, depth: number][] = [[root, b, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [into, from, depth] = next;
    if (depth > growth.maxDepth) fail("Object merge too deep");
    for (const key of Object.keys(from)) {
      const value = from[key]!;
      const before = ownValue(into, key);
      if (before !== undefined && isObject(before) && isObject(value)) {
        growth.charge(sizeOf(before));
        const copy = { ...before };
        setOwn(into, key, copy);
        open.push([copy, value, depth + 1]);
      } else setOwn(into, key, value);
    }
  }
  return root;
}

/** `a / b`. */
export function divide(a: JsonValue, b: JsonValue, machine: Growth & Performer): JsonValue {
  if (typeof a === "number" && typeof b === "number") {
    if (b === 0) refuse(a, b, "divided because the divisor is zero");
    return a / b;
  }
  if (typeof a === "string" && typeof b === "string") return split(a, b, machine);
  return refuse(a, b, "divided");
}

/** The parts of a text between separators. */
export function split(text: string, separator: string, machine: Growth & Performer): JsonValue {
  if (text === "") return [];
  machine.charge(text.length * 2);
  return machine.perform(separator === "" ? characters(text, machine) : splitting(text, separator, machine));
}

function* characters(text: string, growth: Growth): Work<JsonValue> {
  const found: string[] = [];
  for (const character of text) {
    found.push(character);
    if (found.length % UNITS === 0) {
      growth.charge(UNITS * 8);
      yield;
    }
  }
  return found;
}

function* splitting(text: string, separator: string, growth: Growth): Work<JsonValue> {
  const found: string[] = [];
  let start = 0;
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, start)) {
    found.push(text.slice(start, at));
    start = at + separator.length;
    if (found.length % UNITS === 0) {
      growth.charge(UNITS * 40);
      yield;
    }
  }
  found.push(text.slice(start));
  return found;
}

/** `a % b`: of whole numbers, with the sign of `a`. */
export function remainder(a: JsonValue, b: JsonValue): JsonValue {
  if (typeof a !== "number" || typeof b !== "number") return refuse(a, b, "divided (remainder)");
  if (Number.isNaN(a) || Number.isNaN(b)) return NaN;
  if (Math.abs(a) < 2 ** 53 && Math.abs(b) < 2 ** 53) {
    const size = Math.abs(Math.trunc(b));
    if (size === 0) refuse(a, b, "divided (remainder) because the divisor is zero");
    return Math.trunc(a) % size + 0;
  }
  const [left, right] = [toInteger(a), toInteger(b)];
  if (right === 0n) refuse(a, b, "divided (remainder) because the divisor is zero");
  const size = right < 0n ? -right : right;
  return Number(left % size);
}

const LARGEST = 2n ** 63n - 1n;

/** A double as jq makes a 64-bit integer of it. */
function toInteger(value: number): bigint {
  if (value >= 2 ** 63) return LARGEST;
  if (value <= -(2 ** 63)) return -LARGEST - 1n;
  return BigInt(Math.trunc(value));
}

/** `-a`. */
export function negate(value: JsonValue): JsonValue {
  if (typeof value !== "number") return fail(`${describe(value)} cannot be negated`);
  return -value;
}
