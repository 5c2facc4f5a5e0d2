/** What a set of values holds on to, in estimated bytes. */

/** Texts of at least this many characters are counted once, however often they are referred to. */
const LONG_TEXT = 256;

/** Counts everything that can be reached, and stops counting above `most`. Machines themselves do not count. */
export function memoryOf(roots: readonly unknown[], most: number): number {
  const seen = new Set<unknown>();
  const open: unknown[] = [roots];
  let bytes = 0;
  for (let next = open.pop(); next !== undefined && bytes <= most; next = open.pop()) {
    if (Array.isArray(next)) {
      bytes += 16 + next.length * 8;
      for (let index = 0; index < next.length; index++) bytes += visit(next[index], seen, open);
    } else if (next instanceof Map) {
      bytes += 32 + next.size * 32;
      for (const [key, value] of next) bytes += visit(key, seen, open) + visit(value, seen, open);
    } else {
      bytes += 32;
      for (const key in next as Record<string, unknown>) {
        bytes += 16;
        // A frame knows its machine, and the machine knows everything.
        if (key !== "machine" && key !== "routine") {
          bytes += visit((next as Record<string, unknown>)[key], seen, open);
        }
      }
    }
  }
  return bytes;
}

function visit(value: unknown, seen: Set<unknown>, open: unknown[]): number {
  if (typeof value === "string") {
    if (value.length < LONG_TEXT) return value.length;
    if (seen.has(value)) return 0;
    seen.add(value);
    return value.length * 2;
  }
  if (typeof value !== "object" || value === null || seen.has(value)) return 0;
  seen.add(value);
  open.push(value);
  return 0;
}
