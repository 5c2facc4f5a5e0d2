/** Where in a value something stands, as people read it: `input.items[0].zip`. */
import { headOf, tailOf } from "../base/text.ts";

/** One step into a value: a number is an index of an array, a string a key of an object. */
export type PathSegment = string | number;

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$_]*$/u;

// A path is read by people and models: of a value nested thousands deep, its two ends say enough.
const LONGEST = 1_000;

/** The text of a path: `label`, then `.key`, `["a key"]` or `[0]`; a text over 1000 characters loses its middle. */
export function formatPath(label: string, segments: readonly PathSegment[]): string {
  let text = label;
  for (const segment of segments) {
    if (typeof segment === "number") text += `[${segment}]`;
    else text += IDENTIFIER.test(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
  }
  return text.length <= LONGEST ? text : `${headOf(text, LONGEST / 2)}…${tailOf(text, LONGEST / 2)}`;
}

/** The segments of a JSON pointer (`/items/0`) into `root`, which tells an array's index from an object's key `0`. */
export function pointerSegments(pointer: string, root: unknown): PathSegment[] {
  const segments: PathSegment[] = [];
  let current = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    segments.push(Array.isArray(current) ? Number(key) : key);
    current = typeof current === "object" && current !== null && Object.hasOwn(current, key)
      ? (current as Readonly<Record<string, unknown>>)[key]
      : undefined;
  }
  return segments;
}
