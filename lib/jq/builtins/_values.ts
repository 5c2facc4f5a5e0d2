/** Functions of values of any kind, of arrays and of objects. */
import { type JsonObject, type JsonValue, setOwn } from "../../base/json.ts";
import type { Native } from "../compile/contract.ts";
import type { Machine } from "../machine/machine.ts";
import { UNITS, type Work } from "../machine/work.ts";
import { add, split } from "../values/arithmetic.ts";
import { compare, compareTexts, containing, equal, sorting } from "../values/compare.ts";
import { cannotIndex, findingItems, indexValue, valuesOf } from "../values/index.ts";
import {
  countCharacters,
  describe,
  fail,
  isArray,
  isObject,
  isTrue,
  kindOf,
  ownValue,
  Raised,
} from "../values/kinds.ts";
import { deletePaths } from "../values/delete.ts";
import { getPath, Owned, setPath } from "../values/paths.ts";
import { flattening } from "../values/walk.ts";
import { numberText } from "../values/text.ts";
import { jsonText, plainText } from "./formats.ts";
import { findingText } from "./_texts.ts";

type Items = readonly JsonValue[];

function length(value: JsonValue): JsonValue {
  if (value === null) return 0;
  if (typeof value === "string") return countCharacters(value);
  if (typeof value === "number") return Math.abs(value);
  if (typeof value === "boolean") return fail(`${describe(value)} has no length`);
  return isArray(value) ? value.length : Object.keys(value).length;
}

function keys(machine: Machine, value: JsonValue, sorted: boolean): JsonValue {
  if (isArray(value)) {
    machine.charge(value.length * 8);
    return value.map((_, index) => index);
  }
  if (!isObject(value)) return fail(`${describe(value)} has no keys`);
  const found = Object.keys(value);
  machine.charge(found.length * 8);
  return sorted ? machine.perform(sorting(found, compareTexts)) : found;
}

function has(value: JsonValue, key: JsonValue): JsonValue {
  if (isObject(value) && typeof key === "string") return Object.hasOwn(value, key);
  if (isArray(value) && typeof key === "number") return key >= 0 && Math.floor(key) < value.length;
  if (value === null && (typeof key === "string" || typeof key === "number")) return false;
  return fail(`Cannot check whether ${kindOf(value)} has a ${kindOf(key)} key`);
}

/** The sum of all values; arrays and texts are put together in one go. */
function sum(machine: Machine, input: JsonValue): JsonValue {
  const items = valuesOf(input);
  if (items.length > 1 && items.every((item) => typeof item === "string")) {
    machine.charge(items.reduce((size: number, item) => size + item.length * 2, 0));
    return items.join("");
  }
  if (items.length > 1 && items.every((item) => isArray(item))) {
    machine.charge(items.reduce((size: number, item) => size + (item as Items).length * 16, 0));
    return items.flat() as JsonValue;
  }
  if (items.length > 1 && items.every((item) => isObject(item))) return machine.perform(joiningObjects(machine, items));
  return items.reduce((total: JsonValue, item) => add(total, item, machine), null);
}

function* joiningObjects(machine: Machine, items: readonly JsonObject[]): Work<JsonValue> {
  const result = {};
  let count = 0;
  for (const item of items) {
    for (const key of Object.keys(item)) {
      setOwn(result, key, item[key]);
      if (++count % UNITS !== 0) continue;
      machine.charge(UNITS * 24);
      yield;
    }
  }
  return result;
}

function* joining(machine: Machine, items: Items, separator: JsonValue): Work<JsonValue> {
  if (items.length === 0) return "";
  let text: JsonValue = "";
  for (const [index, item] of items.entries()) {
    if (index > 0) text = add(text, separator, machine);
    const part = item === null ? "" : typeof item === "number" || typeof item === "boolean" ? String(item) : item;
    text = add(text, typeof item === "number" ? numberText(item) : part, machine);
    if (index % UNITS === UNITS - 1) yield;
  }
  return text;
}

function requireArray(value: JsonValue, what: string): Items {
  return isArray(value) ? value : fail(`${describe(value)} cannot be ${what}, as it is not an array`);
}

/** Indices in the order of their keys. */
function ordering(machine: Machine, keysOf: Items): Work<number[]> {
  const depth = machine.maxDepth;
  machine.charge(keysOf.length * 16);
  return sorting(keysOf.map((_, index) => index), (a, b) => compare(keysOf[a]!, keysOf[b]!, depth));
}

/** The items in groups of equal keys. */
function* grouping(machine: Machine, items: Items, keysOf: Items): Work<JsonValue[][]> {
  const found: JsonValue[][] = [];
  let last: JsonValue | undefined;
  let round = 0;
  for (const index of yield* ordering(machine, keysOf)) {
    const key = keysOf[index]!;
    if (last !== undefined && equal(last, key, machine.maxDepth)) found.at(-1)!.push(items[index]!);
    else {
      machine.charge(56);
      found.push([items[index]!]);
    }
    last = key;
    if (++round % UNITS === 0) yield;
  }
  return found;
}

function groups(machine: Machine, items: Items, keysOf: Items): JsonValue[][] {
  return machine.perform(grouping(machine, items, keysOf));
}

/** The least or the greatest item; of equal ones `min` takes the first, `max` the last. */
function extreme(machine: Machine, items: Items, keysOf: Items, sign: 1 | -1): JsonValue {
  let best = -1;
  for (let index = 0; index < items.length; index++) {
    const better = best < 0 ? -1 : compare(keysOf[index]!, keysOf[best]!, machine.maxDepth) * sign;
    if (better < 0 || (better === 0 && sign === -1)) best = index;
  }
  return best < 0 ? null : items[best]!;
}

function* fromEntries(machine: Machine, input: JsonValue): Work<JsonValue> {
  const result = {};
  let count = 0;
  for (const entry of valuesOf(input)) {
    if (!isObject(entry)) return fail(`Cannot index ${kindOf(entry)} with string ("key")`);
    let key: JsonValue = null;
    for (const name of ["key", "k", "name", "Name", "K", "Key"]) {
      key = ownValue(entry, name) ?? null;
      if (key !== null && (key !== false || name === "key")) break;
    }
    if (typeof key === "number" || typeof key === "boolean") key = plainText(key, machine);
    else if (key === null) key = "null";
    else if (typeof key !== "string") return fail(`Cannot use ${describe(key)} as object key`);
    const name = ["value", "v", "Value", "V"].find((one) => Object.hasOwn(entry, one));
    machine.charge(48);
    setOwn(result, key, name === undefined ? null : entry[name]);
    if (++count % UNITS === 0) yield;
  }
  return result;
}

function toEntries(machine: Machine, input: JsonValue): JsonValue {
  const found = keys(machine, input, false) as Items;
  machine.charge(100 * found.length);
  if (isArray(input)) return input.map((value, key) => ({ key, value }));
  return machine.perform(entering(input as JsonObject, found as readonly string[]));
}

function* entering(object: JsonObject, found: readonly string[]): Work<JsonValue> {
  const entries: JsonValue[] = [];
  for (const key of found) {
    if (entries.push({ key, value: object[key]! }) % UNITS === 0) yield;
  }
  return entries;
}

function transpose(machine: Machine, input: JsonValue): JsonValue {
  const rows = valuesOf(input);
  const width = rows.reduce((most: number, row) => Math.max(most, length(row) as number), 0);
  if (width === 0) return [];
  if (!isArray(input)) return fail(`Cannot index ${kindOf(input)} with number (0)`);
  machine.charge(width * (rows.length + 2) * 24);
  return Array.from({ length: width }, (_, column) => rows.map((row) => indexValue(row, column, machine.maxDepth)));
}

function bsearch(machine: Machine, input: JsonValue, target: JsonValue): JsonValue {
  if (!isArray(input)) return fail(`${describe(input)} cannot be searched from`);
  let low = 0;
  let high = input.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const result = compare(input[middle]!, target, machine.maxDepth);
    if (result === 0) return middle;
    if (result < 0) low = middle + 1;
    else high = middle;
  }
  return -1 - low;
}

function indices(machine: Machine, input: JsonValue, wanted: JsonValue): JsonValue {
  if (input === null) return null;
  if (typeof input === "string" && typeof wanted === "string") {
    return machine.perform(findingText(input, wanted, machine));
  }
  if (!isArray(input)) return indexValue(input, wanted, machine.maxDepth);
  return machine.perform(findingItems(input, isArray(wanted) ? wanted : [wanted], machine.maxDepth));
}

function edge(machine: Machine, input: JsonValue, wanted: JsonValue, at: 0 | -1): JsonValue {
  const found = indices(machine, input, wanted);
  return isArray(found) ? found.at(at) ?? null : indexValue(found, at, machine.maxDepth);
}

function requireDepth(depth: JsonValue): number {
  if (typeof depth !== "number") return fail("flatten depth must be a number");
  return depth < 0 ? fail("flatten depth must not be negative") : depth;
}

/** By name and number of arguments. */
export const VALUES: readonly (readonly [key: string, native: Native])[] = [
  ["not/0", (_, input) => !isTrue(input)],
  ["length/0", (machine, input) => {
    if (typeof input === "string") machine.toil(input.length / 4);
    return length(input);
  }],
  ["type/0", (_, input) => kindOf(input)],
  ["error/0", (_, input) => {
    throw new Raised(input);
  }],
  ["error/1", (_, __, value) => {
    throw new Raised(value!);
  }],
  ["keys/0", (machine, input) => keys(machine, input, true)],
  ["keys_unsorted/0", (machine, input) => keys(machine, input, false)],
  ["has/1", (_, input, key) => has(input, key!)],
  ["contains/1", (machine, input, part) => {
    if (kindOf(input) === kindOf(part!)) return machine.perform(containing(input, part!, machine.maxDepth));
    return fail(`${describe(input)} and ${describe(part!)} cannot have their containment checked`);
  }],
  ["add/0", sum],
  ["join/1", (machine, input, separator) => machine.perform(joining(machine, valuesOf(input), separator!))],
  ["flatten/0", (machine, input) => machine.perform(flattening(valuesOf(input), Infinity, machine))],
  ["flatten/1", (machine, input, depth) => {
    return machine.perform(flattening(valuesOf(input), requireDepth(depth!), machine));
  }],
  ["reverse/0", (machine, input) => {
    if (typeof input === "string") return (split(input, "", machine) as string[]).reverse().join("");
    if (input === null) return [];
    if (!isArray(input)) {
      const count = length(input) as number;
      return count === 0 ? [] : fail(cannotIndex(input, count - 1));
    }
    const items = input;
    machine.charge(items.length * 8);
    return items.toReversed();
  }],
  ["sort/0", (machine, input) => {
    const items = requireArray(input, "sorted");
    machine.charge(items.length * 8);
    return machine.perform(sorting(items, (a, b) => compare(a, b, machine.maxDepth)));
  }],
  ["_sort_by/1", (machine, input, by) => {
    const items = requireArray(input, "sorted");
    return machine.perform(ordering(machine, by as Items)).map((index) => items[index]!);
  }],
  ["_group_by/1", (machine, input, by) => groups(machine, requireArray(input, "grouped"), by as Items)],
  [
    "_unique_by/1",
    (machine, input, by) => groups(machine, requireArray(input, "grouped"), by as Items).map((group) => group[0]!),
  ],
  ["unique/0", (machine, input) => {
    const items = requireArray(input, "sorted");
    return groups(machine, items, items).map((group) => group[0]!);
  }],
  ["min/0", (machine, input) => extreme(machine, requireArray(input, "iterated over"), input as Items, 1)],
  ["max/0", (machine, input) => extreme(machine, requireArray(input, "iterated over"), input as Items, -1)],
  ["_min_by/1", (machine, input, by) => extreme(machine, requireArray(input, "iterated over"), by as Items, 1)],
  ["_max_by/1", (machine, input, by) => extreme(machine, requireArray(input, "iterated over"), by as Items, -1)],
  ["to_entries/0", toEntries],
  ["from_entries/0", (machine, input) => machine.perform(fromEntries(machine, input))],
  ["transpose/0", transpose],
  ["bsearch/1", (machine, input, target) => bsearch(machine, input, target!)],
  ["indices/1", (machine, input, wanted) => indices(machine, input, wanted!)],
  ["index/1", (machine, input, wanted) => edge(machine, input, wanted!, 0)],
  ["rindex/1", (machine, input, wanted) => edge(machine, input, wanted!, -1)],
  ["getpath/1", (machine, input, path) => {
    return isArray(path!) ? getPath(input, path, machine.maxDepth) : fail("Path must be specified as an array");
  }],
  ["setpath/2", (machine, input, path, value) => {
    if (!isArray(path!)) return fail("Path must be specified as an array");
    return setPath(input, path, value!, new Owned(), machine);
  }],
  ["delpaths/1", (machine, input, paths) => deletePaths(input, paths!, machine)],
  ["tojson/0", (machine, input) => jsonText(input, machine)],
  ["tostring/0", (machine, input) => plainText(input, machine)],
  ["toarray/0", (_, input) => isArray(input) ? input : [input]],
  ["toboolean/0", (_, input) => {
    if (typeof input === "boolean") return input;
    if (input === "true" || input === "false") return input === "true";
    return fail(`${describe(input)} cannot be parsed as a boolean`);
  }],
];
