/** `getpath`, `setpath`, `delpaths`: reading and changing values along paths. Values that others hold never change. */
import { type JsonValue, setOwn } from "../../base/json.ts";
import { cannotIndex, indexValue, sliceBounds, sliceOf } from "./index.ts";
import { fail, isArray, isObject } from "./kinds.ts";

/** A container that is being made, so that it may change. */
type Draft = JsonValue[] | Record<string, JsonValue>;

/**
 * Containers that only the value under construction refers to, so that they can change in place. A copy made of one
 * that is not owned shares its children, which therefore are not owned either.
 */
export class Owned {
  readonly #owned = new Set<object>();
  /** Whether a container may have changed since this was last set to false. */
  changed = false;

  /** The container itself when it is owned, else a copy that is. */
  draft(value: JsonValue, growth: Growth): Draft {
    if (this.#owned.has(value as object)) {
      this.changed = true;
      return value as Draft;
    }
    growth.charge(sizeOf(value as readonly JsonValue[]));
    const copy: Draft = isArray(value) ? value.slice() : { ...value as Record<string, JsonValue> };
    if (this.#owned.size > 0) {
      for (const child of isArray(value) ? value : Object.values(value as object)) this.release(child);
    }
    this.#owned.add(copy);
    return copy;
  }

  /** Takes in a container that was made just now and that nobody else has seen. */
  adopt(value: Draft): Draft {
    this.#owned.add(value);
    return value;
  }

  /** Somebody else may refer to this value from now on. */
  release(value: JsonValue): void {
    if (typeof value === "object" && value !== null) this.#owned.delete(value);
  }

  /** Somebody else may refer to anything in it from now on. */
  clear(): void {
    if (this.#owned.size > 0) this.#owned.clear();
  }
}

/** Bytes of a copy: its own, not those of what is in it. */
export function sizeOf(value: object): number {
  return isArray(value as JsonValue) ? 48 + (value as JsonValue[]).length * 8 : 56 + Object.keys(value).length * 24;
}

/** The most items that an array may have, as in jq. */
const MOST_ITEMS = 536_870_911;

/** What an array may grow by at once, given the memory that may be used. */
export interface Growth {
  readonly maxDepth: number;
  /** Told how many bytes are about to be used; throws when they are too many. */
  charge(bytes: number): void;
}

/** The value at a path, or null. */
export function getPath(value: JsonValue, path: readonly JsonValue[], maxDepth: number): JsonValue {
  if (path.length >= maxDepth) fail("Path too deep");
  let result = value;
  for (const key of path) {
    if (result === null) return null;
    result = indexValue(result, key, maxDepth);
  }
  return result;
}

/** Sets what is at a path. */
export function setPath(
  root: JsonValue,
  path: readonly JsonValue[],
  value: JsonValue,
  owned: Owned,
  growth: Growth,
): JsonValue {
  if (path.length >= growth.maxDepth) fail("Path too deep");
  if (path.length === 0) return value;
  // Down to the parent of what is set, then up again putting each child into its parent.
  const parents: JsonValue[] = [];
  let current = root;
  for (let index = 0; index < path.length - 1; index++) {
    parents.push(current);
    current = readForUpdate(current, path[index]!, growth.maxDepth);
  }
  let result = putChild(current, path[path.length - 1]!, value, owned, growth);
  for (let index = parents.length - 1; index >= 0; index--) {
    result = putChild(parents[index]!, path[index]!, result, owned, growth);
  }
  return result;
}

function readForUpdate(value: JsonValue, key: JsonValue, maxDepth: number): JsonValue {
  if (isArray(key) && isArray(value)) fail("Cannot update field at array index of array");
  return indexValue(value, key, maxDepth);
}

/** `parent[key] = child`; the parent may be null, which becomes what the key asks for. */
export function putChild(
  parent: JsonValue,
  key: JsonValue,
  child: JsonValue,
  owned: Owned,
  growth: Growth,
): JsonValue {
  if (typeof key === "string" && (parent === null || isObject(parent))) {
    if (parent === null) growth.charge(64);
    const draft = parent === null ? owned.adopt({}) : owned.draft(parent, growth);
    setOwn(draft, key, child);
    return draft as JsonValue;
  }
  if (typeof key === "number" && (parent === null || isArray(parent))) {
    return putItem(parent, key, child, owned, growth);
  }
  if (isObject(key) && (parent === null || isArray(parent) || typeof parent === "string")) {
    if (typeof parent === "string") return fail("Cannot update string slices");
    return putSlice(parent ?? [], key, child, owned, growth);
  }
  if (isArray(key) && isArray(parent)) return fail("Cannot update field at array index of array");
  return fail(cannotIndex(parent, key));
}

function putItem(
  parent: readonly JsonValue[] | null,
  key: number,
  child: JsonValue,
  owned: Owned,
  growth: Growth,
): JsonValue {
  if (Number.isNaN(key)) fail("Cannot set array element at NaN index");
  const length = parent?.length ?? 0;
  let index = Math.trunc(key);
  if (index < 0) index += length;
  if (index < 0) fail("Out of bounds negative array index");
  if (index >= MOST_ITEMS) fail("Array index too large");
  if (index >= length) growth.charge((index + 1 - length) * 16);
  const draft = (parent === null ? owned.adopt([]) : owned.draft(parent, growth)) as JsonValue[];
  for (let at = length; at < index; at++) draft.push(null);
  draft[index] = child;
  return draft;
}

function putSlice(
  parent: readonly JsonValue[],
  key: Readonly<Record<string, JsonValue>>,
  child: JsonValue,
  owned: Owned,
  growth: Growth,
): JsonValue {
  const [start, end] = sliceBounds(parent.length, ...sliceOf(key));
  if (!isArray(child)) return fail("A slice of an array can only be assigned another array");
  growth.charge((parent.length + child.length) * 8);
  return owned.adopt([...parent.slice(0, start), ...child, ...parent.slice(end)]) as JsonValue;
}
