/** Values within values. */
import type { JsonValue } from "../../base/json.ts";
import { UNITS, type Work } from "../machine/work.ts";
import { isArray } from "./kinds.ts";
import type { Growth } from "./paths.ts";

/** A value and everything in it, each before what is in it; undefined when that is more than so many. */
export function fewDescendants(root: JsonValue, most: number): readonly JsonValue[] | undefined {
  if (typeof root !== "object" || root === null) return [root];
  const found: JsonValue[] = [];
  for (const one of descendants(root)) if (found.push(one) > most) return undefined;
  return found;
}

/** A value and everything in it, one at a time. */
export function* descendants(root: JsonValue): Generator<JsonValue, undefined> {
  const open: { readonly items: readonly JsonValue[]; next: number }[] = [{ items: [root], next: 0 }];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (top.next >= top.items.length) {
      open.pop();
      continue;
    }
    const item = top.items[top.next++]!;
    yield item;
    if (typeof item !== "object" || item === null) continue;
    open.push({ items: isArray(item) ? item : Object.values(item), next: 0 });
  }
}

/** The items of an array with those of the arrays in it, to a depth. */
export function* flattening(items: readonly JsonValue[], depth: number, growth: Growth): Work<JsonValue[]> {
  const found: JsonValue[] = [];
  const open: { readonly items: readonly JsonValue[]; next: number }[] = [{ items, next: 0 }];
  let round = 0;
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (++round % UNITS === 0) yield;
    if (top.next >= top.items.length) {
      open.pop();
      continue;
    }
    const item = top.items[top.next++]!;
    if (isArray(item) && open.length <= depth) open.push({ items: item, next: 0 });
    else {
      growth.charge(8);
      found.push(item);
    }
  }
  return found;
}
