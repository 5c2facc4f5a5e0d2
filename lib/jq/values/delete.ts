/** `delpaths`: what is removed is told by the value as it was, however many paths there are. */
import { type JsonValue, setOwn } from "../../base/json.ts";
import type { Performer } from "./arithmetic.ts";
import { compare, equal, sorting } from "./compare.ts";
import type { Growth } from "./paths.ts";
import { indexValue, sliceBounds, sliceOf } from "./index.ts";
import { fail, isArray, isObject, kindOf } from "./kinds.ts";

type Path = readonly JsonValue[];

/** Removes what is at each of the paths. */
export function deletePaths(root: JsonValue, paths: JsonValue, machine: Growth & Performer): JsonValue {
  const { maxDepth } = machine;
  if (!isArray(paths)) return fail("Paths must be specified as an array");
  for (const path of paths) {
    if (!isArray(path)) return fail("Path must be specified as an array");
    if (path.length >= maxDepth) fail("Path too deep");
  }
  const sorted = machine.perform(sorting(paths as readonly Path[], (a, b) => compare(a, b, maxDepth)));
  machine.charge(64 * sorted.length);
  if (sorted.length === 0) return root;
  return sorted[0]!.length === 0 ? null : deleteSorted(root, sorted, 0, maxDepth);
}

/** Paths with the same first keys are next to each other, shorter ones first. */
function deleteSorted(value: JsonValue, paths: readonly Path[], level: number, maxDepth: number): JsonValue {
  if (value === null) return null;
  const gone: JsonValue[] = [];
  let result: JsonValue = value;
  for (let start = 0; start < paths.length;) {
    const key = paths[start]![level]!;
    let end = start + 1;
    while (end < paths.length && equal(paths[end]![level]!, key, maxDepth)) end++;
    // A shorter path takes away what longer ones would change.
    if (paths[start]!.length === level + 1) gone.push(key);
    else {
      const child = indexValue(value, key, maxDepth);
      const changed = deleteSorted(child, paths.slice(start, end), level + 1, maxDepth);
      if (changed !== child) result = replaced(result, key, changed);
    }
    start = end;
  }
  return gone.length === 0 ? result : withoutKeys(result, gone);
}

/** A copy with another child; only for keys that were read before. */
function replaced(value: JsonValue, key: JsonValue, child: JsonValue): JsonValue {
  if (isArray(value)) {
    if (typeof key === "number") return value.with(Math.floor(key), child);
    const slice = key as Readonly<Record<string, JsonValue>>;
    const [start, end] = sliceBounds(value.length, ...sliceOf(slice));
    return [...value.slice(0, start), ...child as Path, ...value.slice(end)];
  }
  const copy = { ...value as Record<string, JsonValue> };
  setOwn(copy, key as string, child);
  return copy;
}

function withoutKeys(value: JsonValue, keys: readonly JsonValue[]): JsonValue {
  if (isObject(value)) {
    const copy = { ...value };
    for (const key of keys) {
      if (typeof key !== "string") return fail(`Cannot delete ${kindOf(key)} field of object`);
      delete copy[key];
    }
    return copy;
  }
  if (!isArray(value)) return fail(`Cannot delete fields from ${kindOf(value)}`);
  const gone = new Set<number>();
  for (const key of keys) {
    if (typeof key === "number") {
      const index = Math.floor(key);
      gone.add(index < 0 ? index + value.length : index);
    } else if (isObject(key)) {
      const [start, end] = sliceBounds(value.length, ...sliceOf(key));
      for (let index = start; index < end; index++) gone.add(index);
    } else return fail(`Cannot delete ${kindOf(key)} element of array`);
  }
  return value.filter((_, index) => !gone.has(index));
}
