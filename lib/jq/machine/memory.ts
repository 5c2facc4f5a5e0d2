/** What a set of values holds on to, in estimated bytes. */

/** Estimates for what V8 takes: an array with its elements' store, an element, an object, a property. */
export const SIZES = { array: 48, item: 32, object: 56, property: 48 } as const;

/**
 * Counts everything that can be reached, containers once, and stops counting above `most`. A text counts wherever it
 * is referred to, as two equal ones cannot be told from the same one. Containers in `without` do not count.
 */
export function memoryOf(roots: readonly unknown[], most: number, without?: ReadonlySet<object>): number {
  return walk(roots, most, new Set(), without);
}

/** Every container that can be reached. */
export function containersIn(roots: readonly unknown[]): ReadonlySet<object> {
  const seen = new Set<object>();
  walk(roots, Infinity, seen);
  return seen;
}

function walk(roots: readonly unknown[], most: number, seen: Set<object>, without?: ReadonlySet<object>): number {
  const open: object[] = [roots as object];
  let bytes = 0;
  const visit = (value: unknown): void => {
    if (typeof value === "string") bytes += value.length * 2;
    else if (typeof value === "object" && value !== null && !seen.has(value) && without?.has(value) !== true) {
      seen.add(value);
      open.push(value);
    }
  };
  for (let next = open.pop(); next !== undefined && bytes <= most; next = open.pop()) {
    if (Array.isArray(next)) {
      bytes += SIZES.array + next.length * SIZES.item;
      for (let index = 0; index < next.length && bytes <= most; index++) {
        const item: unknown = next[index];
        // Numbers, most often.
        if (typeof item === "object" || typeof item === "string") visit(item);
      }
    } else {
      bytes += SIZES.object;
      for (const key in next) {
        bytes += SIZES.property + key.length * 2;
        // A frame knows its machine, and the machine knows everything.
        if (key !== "machine" && key !== "routine" && key !== "source") visit((next as Record<string, unknown>)[key]);
      }
    }
  }
  return bytes;
}
