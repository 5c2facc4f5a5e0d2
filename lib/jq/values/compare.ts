/** Equality and order of values. Deep values are walked with a stack of our own. */
import type { JsonValue } from "../../base/json.ts";
import { fail, isArray, isObject, kindOf, ownValue } from "./kinds.ts";

const ORDER = { null: 0, boolean: 1, number: 3, string: 4, array: 5, object: 6 };

function rank(value: JsonValue): number {
  return value === true ? 2 : ORDER[kindOf(value)];
}

/** Texts by code points, which is not the order of UTF-16 units. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    if (left >= 0xd800 && right >= 0xd800) {
      // Surrogates stand for what comes behind every other character.
      const [l, r] = [left < 0xe000 ? left + 0x10000 : left, right < 0xe000 ? right + 0x10000 : right];
      return l - r;
    }
    return left - right;
  }
  return a.length - b.length;
}

/** The keys of an object in their order. */
export function sortedKeys(object: object): string[] {
  return Object.keys(object).sort(compareTexts);
}

interface Pair {
  readonly left: readonly JsonValue[];
  readonly right: readonly JsonValue[];
  next: number;
}

/** Negative, zero or positive, in jq's order of all values. NaN is less than any number, also than itself. */
export function compare(a: JsonValue, b: JsonValue, maxDepth: number): number {
  let result = compareFlat(a, b);
  if (result !== undefined) return result;
  const stack: Pair[] = [];
  let [left, right] = [a, b];
  for (;;) {
    if (isArray(left)) stack.push({ left, right: right as readonly JsonValue[], next: 0 });
    else {
      const leftKeys = sortedKeys(left as object);
      const rightKeys = sortedKeys(right as object);
      for (let index = 0; index < leftKeys.length && index < rightKeys.length; index++) {
        const order = compareTexts(leftKeys[index]!, rightKeys[index]!);
        if (order !== 0) return order;
      }
      if (leftKeys.length !== rightKeys.length) return leftKeys.length - rightKeys.length;
      const [l, r] = [left as Record<string, JsonValue>, right as Record<string, JsonValue>];
      stack.push({ left: leftKeys.map((key) => l[key]!), right: leftKeys.map((key) => r[key]!), next: 0 });
    }
    if (stack.length > maxDepth) fail("Comparison too deep");
    for (;;) {
      const top = stack.at(-1);
      if (top === undefined) return 0;
      const index = top.next++;
      if (index >= top.left.length || index >= top.right.length) {
        if (top.left.length !== top.right.length) return top.left.length - top.right.length;
        stack.pop();
        continue;
      }
      [left, right] = [top.left[index]!, top.right[index]!];
      result = compareFlat(left, right);
      if (result === undefined) break;
      if (result !== 0) return result;
    }
  }
}

/** The order where it can be told without looking into containers; else undefined. */
function compareFlat(a: JsonValue, b: JsonValue): number | undefined {
  if (typeof a === "number" && typeof b === "number") return a < b ? -1 : a === b ? 0 : Number.isNaN(a) ? -1 : 1;
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  const order = rank(a) - rank(b);
  if (order !== 0) return order;
  return typeof a === "object" && a !== null ? undefined : 0;
}

/** Whether two values are the same. */
export function equal(a: JsonValue, b: JsonValue, maxDepth: number): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const stack: Pair[] = [];
  let [left, right] = [a, b];
  for (;;) {
    const arrays = isArray(left);
    if (arrays !== isArray(right)) return false;
    if (arrays) {
      if (left.length !== right.length) return false;
      stack.push({ left: left as readonly JsonValue[], right: right as readonly JsonValue[], next: 0 });
    } else {
      const keys = Object.keys(left);
      if (keys.length !== Object.keys(right).length) return false;
      const others: JsonValue[] = [];
      for (const key of keys) {
        if (!Object.hasOwn(right, key)) return false;
        others.push((right as Record<string, JsonValue>)[key]!);
      }
      stack.push({ left: Object.values(left), right: others, next: 0 });
    }
    if (stack.length > maxDepth) fail("Equality check too deep");
    for (;;) {
      const top = stack.at(-1);
      if (top === undefined) return true;
      const index = top.next++;
      if (index >= top.left.length) {
        stack.pop();
        continue;
      }
      const [l, r] = [top.left[index]!, top.right[index]!];
      if (typeof l !== "object" || typeof r !== "object" || l === null || r === null) {
        if (l !== r) return false;
        continue;
      }
      [left, right] = [l, r];
      break;
    }
  }
}

/** Whether `a` contains `b`, as `contains` says it. */
export function contains(a: JsonValue, b: JsonValue, maxDepth: number, depth = 1): boolean {
  // Its own depth is that of `b`, and each level asks about all pairs: recursion, with what is deep left to `deep`.
  if (depth > maxDepth) fail("Containment check too deep");
  if (depth > 200) return containsDeep(a, b, maxDepth, depth);
  if (isObject(a) && isObject(b)) {
    for (const key of Object.keys(b)) {
      const value = ownValue(a, key);
      if (value === undefined || !contains(value, b[key]!, maxDepth, depth + 1)) return false;
    }
    return true;
  }
  if (isArray(a) && isArray(b)) {
    return b.every((wanted) => a.some((item) => contains(item, wanted, maxDepth, depth + 1)));
  }
  if (typeof a === "string" && typeof b === "string") return a.includes(b);
  return equal(a, b, maxDepth);
}

/** The same with an explicit stack: a frame asks whether each part of `b` is in one of the candidates of `a`. */
function containsDeep(a: JsonValue, b: JsonValue, maxDepth: number, depth: number): boolean {
  interface Question {
    readonly asked: readonly { readonly wanted: JsonValue; readonly candidates: readonly JsonValue[] }[];
    part: number;
    candidate: number;
  }
  const ask = (left: JsonValue, right: JsonValue): Question | boolean => {
    if (isObject(left) && isObject(right)) {
      const asked = Object.keys(right).map((key) => {
        const value = ownValue(left, key);
        return { wanted: right[key]!, candidates: value === undefined ? [] : [value] };
      });
      return { asked, part: 0, candidate: 0 };
    }
    if (isArray(left) && isArray(right)) {
      return { asked: right.map((wanted) => ({ wanted, candidates: left })), part: 0, candidate: 0 };
    }
    return typeof left === "string" && typeof right === "string" ? left.includes(right) : equal(left, right, maxDepth);
  };
  let answer = ask(a, b);
  const stack: Question[] = [];
  for (;;) {
    if (typeof answer !== "boolean") {
      stack.push(answer);
      if (stack.length + depth > maxDepth) fail("Containment check too deep");
    } else {
      const top = stack.at(-1);
      if (top === undefined) return answer;
      if (answer) {
        top.part++;
        top.candidate = 0;
      } else top.candidate++;
    }
    const top: Question = stack.at(-1)!;
    const part = top.asked[top.part];
    if (part === undefined || top.candidate >= part.candidates.length) {
      answer = part === undefined;
      stack.pop();
    } else answer = ask(part.candidates[top.candidate]!, part.wanted);
    // An answer for the frame above is given in the next round.
    if (typeof answer === "boolean" && stack.length === 0) return answer;
  }
}
