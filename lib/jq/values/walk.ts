/** Values within values. */
import type { JsonValue } from "../../base/json.ts";
import { isArray } from "./kinds.ts";
import type { Growth } from "./paths.ts";

/** A value and everything in it, each before what is in it. */
export function descendants(root: JsonValue, growth: Growth): readonly JsonValue[] {
  if (typeof root !== "object" || root === null) return [root];
  const found: JsonValue[] = [];
  const open: JsonValue[] = [root];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    found.push(next);
    if (typeof next !== "object" || next === null) continue;
    const items = isArray(next) ? next : Object.values(next);
    growth.charge(items.length * 8);
    for (let index = items.length - 1; index >= 0; index--) open.push(items[index]!);
  }
  return found;
}

/** The items of an array with those of the arrays in it, to a depth. */
export function flatten(items: readonly JsonValue[], depth: number, growth: Growth): JsonValue[] {
  const found: JsonValue[] = [];
  const open: { readonly items: readonly JsonValue[]; next: number }[] = [{ items, next: 0 }];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
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
