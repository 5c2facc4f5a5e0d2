/** What a set of values holds on to, in estimated bytes. */

import { UNITS, type Work } from "./work.ts";

/** Estimates for what V8 takes: an array with its elements' store, an element, an object, a property. */
export const SIZES = { array: 48, item: 32, object: 56, property: 48 } as const;

/**
 * Counts everything that can be reached, containers once, and stops counting above `most`. A text counts wherever it
 * is referred to, as two equal ones cannot be told from the same one. Containers in `without` do not count.
 */
export function memoryOf(roots: readonly unknown[], most: number, without?: ReadonlySet<object>): Work<number> {
  return walking(roots, most, new Set(), without);
}

/** Every container that can be reached. */
export function* containersIn(roots: readonly unknown[]): Work<ReadonlySet<object>> {
  const seen = new Set<object>();
  yield* walking(roots, Infinity, seen);
  return seen;
}

/** Items of a container that counts wherever it is referred to, as remembering it takes as much memory. */
const LEAF_ITEMS = 2;

/** The bytes of a small container without others in it; 0 for anything else. */
function sizeOfLeaf(value: object): number {
  const isArray = Array.isArray(value);
  if (isArray && value.length > LEAF_ITEMS) return 0;
  let bytes: number = isArray ? SIZES.array : SIZES.object;
  let items = 0;
  for (const key in value) {
    const item: unknown = (value as Record<string, unknown>)[key];
    if (++items > LEAF_ITEMS || (typeof item === "object" && item !== null)) return 0;
    bytes += isArray ? SIZES.item : SIZES.property + key.length * 2;
    if (typeof item === "string") bytes += item.length * 2;
  }
  return bytes;
}

function* walking(
  roots: readonly unknown[],
  most: number,
  seen: Set<object>,
  without?: ReadonlySet<object>,
): Work<number> {
  const open: object[] = [roots as object];
  let bytes = 0;
  let looked = 0;
  const visit = (value: unknown): void => {
    if (typeof value === "string") bytes += value.length * 2;
    else if (typeof value === "object" && value !== null) {
      const size = sizeOfLeaf(value);
      if (size > 0) {
        if (without?.has(value) !== true) bytes += size;
        return;
      }
      if (seen.has(value) || without?.has(value) === true) return;
      seen.add(value);
      open.push(value);
    }
  };
  for (let next = open.pop(); next !== undefined && bytes <= most; next = open.pop()) {
    if (++looked % UNITS === 0) yield;
    if (Array.isArray(next)) {
      bytes += SIZES.array + next.length * SIZES.item;
      for (let index = 0; index < next.length && bytes <= most; index++) {
        const item: unknown = next[index];
        // Numbers, most often.
        if (typeof item !== "object" && typeof item !== "string") continue;
        visit(item);
        if (++looked % UNITS === 0) yield;
      }
    } else {
      bytes += SIZES.object;
      for (const key in next) {
        bytes += SIZES.property + key.length * 2;
        if (++looked % UNITS === 0) yield;
        // A frame knows its machine, and the machine knows everything.
        if (key !== "machine" && key !== "routine" && key !== "source") visit((next as Record<string, unknown>)[key]);
      }
    }
  }
  return bytes;
}
