/** Equality and order of values. Deep values are walked with a stack of our own. */
import type { JsonValue } from "../../base/json.ts";
import { atOnce, UNITS, type Work } from "../machine/work.ts";
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

/** Containers looked at in a comparison before it remembers which it has seen: most are small. */
const FORGETFUL = 500;

/**
 * Pairs of containers that a comparison has met. It ends at the first difference: so a pair that comes again, as parts
 * of a value may be in it many times, has none.
 */
class Met {
  readonly #pairs = new Map<object, Set<object>>();
  #count = 0;

  /** Whether the pair was here before. */
  again(left: object, right: object): boolean {
    if (++this.#count < FORGETFUL) return false;
    let partners = this.#pairs.get(left);
    if (partners === undefined) this.#pairs.set(left, partners = new Set());
    else if (partners.has(right)) return true;
    partners.add(right);
    return false;
  }
}

interface Pair {
  readonly left: readonly JsonValue[];
  readonly right: readonly JsonValue[];
  next: number;
}

/** Negative, zero or positive, in jq's order of all values. NaN is less than any number, also than itself. */
export function compare(a: JsonValue, b: JsonValue, maxDepth: number): number {
  const result = compareFlat(a, b);
  if (result !== undefined) return result;
  if (isArray(a) && a.length === 1 && isArray(b) && b.length === 1) {
    // The keys of `sort_by` and its like.
    const single = compareFlat(a[0]!, b[0]!);
    if (single !== undefined) return single;
  }
  return atOnce(comparing(a, b, maxDepth));
}

/** `compare` in parts. */
export function* comparing(a: JsonValue, b: JsonValue, maxDepth: number): Work<number> {
  let result = compareFlat(a, b);
  if (result !== undefined) return result;
  let round = 0;
  const stack: Pair[] = [];
  const met = new Met();
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
      if (++round % UNITS === 0) yield;
      const index = top.next++;
      if (index >= top.left.length || index >= top.right.length) {
        if (top.left.length !== top.right.length) return top.left.length - top.right.length;
        stack.pop();
        continue;
      }
      [left, right] = [top.left[index]!, top.right[index]!];
      result = compareFlat(left, right);
      if (result === undefined && !met.again(left as object, right as object)) break;
      if (result !== undefined && result !== 0) return result;
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
  if (isArray(a) && isArray(b)) {
    if (a.length !== b.length) return false;
    const [left, right] = [a[0]!, b[0]!];
    if (a.length === 1 && (typeof left !== "object" || left === null)) return left === right;
  }
  return atOnce(equating(a, b, maxDepth));
}

/** `equal` in parts. */
export function* equating(a: JsonValue, b: JsonValue, maxDepth: number): Work<boolean> {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  let round = 0;
  const stack: Pair[] = [];
  const met = new Met();
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
      if (++round % UNITS === 0) yield;
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
      if (met.again(l, r)) continue;
      [left, right] = [l, r];
      break;
    }
  }
}

/** A question that `contains` is about: is each part of one value in one of the candidates of the other? */
interface Question {
  readonly asked: readonly { readonly wanted: JsonValue; readonly candidates: readonly JsonValue[] }[];
  part: number;
  candidate: number;
  /** What it is about, to remember the answer. */
  readonly about: readonly [object, object];
}

function ask(left: JsonValue, right: JsonValue, maxDepth: number): Question | boolean {
  if (isObject(left) && isObject(right)) {
    const asked = Object.keys(right).map((key) => {
      const value = ownValue(left, key);
      return { wanted: right[key]!, candidates: value === undefined ? [] : [value] };
    });
    return { asked, part: 0, candidate: 0, about: [left, right] };
  }
  if (isArray(left) && isArray(right)) {
    const asked = right.map((wanted) => ({ wanted, candidates: left }));
    return { asked, part: 0, candidate: 0, about: [left, right] };
  }
  return typeof left === "string" && typeof right === "string" ? left.includes(right) : equal(left, right, maxDepth);
}

/** Whether `a` contains `b`, as `contains` says it. */
export function* containing(a: JsonValue, b: JsonValue, maxDepth: number): Work<boolean> {
  const known = new Map<object, Map<object, boolean>>();
  const stack: Question[] = [];
  let answer = ask(a, b, maxDepth);
  for (let round = 1;; round++) {
    if (round % UNITS === 0) yield;
    if (typeof answer !== "boolean") {
      stack.push(answer);
      if (stack.length > maxDepth) fail("Containment check too deep");
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
    if (part !== undefined && top.candidate < part.candidates.length) {
      const candidate = part.candidates[top.candidate]!;
      answer = round < FORGETFUL
        ? ask(candidate, part.wanted, maxDepth)
        : known.get(candidate as object)?.get(part.wanted as object) ?? ask(candidate, part.wanted, maxDepth);
      continue;
    }
    answer = part === undefined;
    stack.pop();
    if (round > FORGETFUL) remember(known, top.about, answer);
    if (stack.length === 0) return answer;
  }
}

function remember(known: Map<object, Map<object, boolean>>, [a, b]: readonly [object, object], answer: boolean): void {
  const answers = known.get(a) ?? new Map<object, boolean>();
  known.set(a, answers.set(b, answer));
}

/** The items in their order; of equal ones the first stays first. */
export function* sorting<T>(items: readonly T[], order: (a: T, b: T) => number): Work<T[]> {
  const run = UNITS / 4;
  let runs: T[][] = [];
  for (let start = 0; start < items.length; start += run) {
    runs.push(items.slice(start, start + run).sort(order));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(index + 1 < runs.length ? yield* merge(runs[index]!, runs[index + 1]!, order) : runs[index]!);
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(a: readonly T[], b: readonly T[], order: (a: T, b: T) => number): Work<T[]> {
  const result: T[] = [];
  let [left, right] = [0, 0];
  while (left < a.length && right < b.length) {
    result.push(order(a[left]!, b[right]!) <= 0 ? a[left++]! : b[right++]!);
    if (result.length % UNITS === 0) yield;
  }
  for (; left < a.length; left++) result.push(a[left]!);
  for (; right < b.length; right++) result.push(b[right]!);
  return result;
}
