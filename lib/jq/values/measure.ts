/** How big a value is: in memory, as text, and in depth. */
import { type JsonValue, setOwn } from "../../base/json.ts";
import { JqLimitError } from "../errors.ts";
import { atOnce, UNITS, type Work } from "../machine/work.ts";
import { utf8Length } from "./kinds.ts";

/** What a value may measure. */
export interface Measures {
  readonly depth: number;
  /** As JSON text, in UTF-8. */
  readonly textBytes: number;
  readonly memoryBytes: number;
  /** The names of the limits, for errors. */
  readonly names: { readonly textBytes: string; readonly memoryBytes: string };
  /** What the value is, for errors: `the input`. */
  readonly what: string;
}

/**
 * Refuses a value that is too big. Walks it once, no further than to where that shows.
 *
 * @returns whether it has numbers that JSON cannot say
 */
export function measure(value: JsonValue, limits: Measures): boolean {
  return atOnce(measuring(value, limits));
}

/** `measure` in parts. */
export function* measuring(value: JsonValue, limits: Measures): Work<boolean> {
  let looked = 0;
  let text = 0;
  let memory = 0;
  let odd = false;
  const open: (readonly JsonValue[])[] = [];
  const positions: number[] = [];
  let items: readonly JsonValue[] = [value];
  let at = 0;
  for (;;) {
    if (at >= items.length) {
      const outer = open.pop();
      if (outer === undefined) return odd;
      items = outer;
      at = positions.pop()!;
      continue;
    }
    if (++looked % UNITS === 0) yield;
    const item = items[at++]!;
    if (typeof item === "string") {
      text += item.length + 3;
      memory += 16 + item.length * 2;
      // Only where it could matter: most values are far below.
      if (text * 3 > limits.textBytes) text += utf8Length(item) - item.length;
    } else if (typeof item === "object" && item !== null) {
      let inner: readonly JsonValue[];
      memory += 32;
      text += 3;
      if (Array.isArray(item)) inner = item;
      else {
        inner = Object.values(item);
        for (const key in item) {
          text += key.length + 4;
          memory += 16;
        }
      }
      memory += inner.length * 8;
      open.push(items);
      positions.push(at);
      if (open.length > limits.depth) refuse("depth", `${limits.what} is nested deeper than ${limits.depth}`);
      items = inner;
      at = 0;
    } else {
      if (typeof item === "number") {
        if (!Number.isFinite(item)) odd = true;
        text += item >= 0 && item < 1000 ? 4 : 8;
      } else text += 5;
      memory += 8;
    }
    if (text > limits.textBytes) {
      refuse(limits.names.textBytes, `${limits.what} is longer than ${limits.textBytes} bytes as JSON`);
    }
    if (memory > limits.memoryBytes) {
      refuse(limits.names.memoryBytes, `${limits.what} takes more than ${limits.memoryBytes} bytes of memory`);
    }
  }
}

function refuse(limit: string, message: string): never {
  throw new JqLimitError(limit, message);
}

/** The value as JSON can say it: no NaN, no infinity. */
export function withoutOddNumbers(root: JsonValue): JsonValue {
  const holder: JsonValue[] = [root];
  const open: (JsonValue[] | Record<string, JsonValue>)[] = [holder];
  /** A value may be in many places; so is its copy. */
  const copies = new Map<object, JsonValue[] | Record<string, JsonValue>>();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const key of Object.keys(next)) {
      const value = (next as Record<string, JsonValue>)[key]!;
      if (typeof value === "number" && !Number.isFinite(value)) {
        setOwn(next, key, Number.isNaN(value) ? null : value > 0 ? Number.MAX_VALUE : -Number.MAX_VALUE);
      } else if (typeof value === "object" && value !== null) {
        let copy = copies.get(value);
        if (copy === undefined) {
          copy = Array.isArray(value) ? value.slice() : { ...value as Record<string, JsonValue> };
          copies.set(value, copy);
          open.push(copy);
        }
        setOwn(next, key, copy);
      }
    }
  }
  return holder[0]!;
}
