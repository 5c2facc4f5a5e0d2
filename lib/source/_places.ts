/** Remembering where values were read, without any state outside the values. */
import type { Place } from "../base/diagnostic.ts";
import type { SourceNode } from "./node.ts";
import type { TextPlace } from "./text_place.ts";

/** Holds an object's node. Not enumerable, so that spreading, comparing and printing the object do not see it. */
const NODE: unique symbol = Symbol("lait.node");

/** Attaches the node that an object was read from. */
export function remember(value: object, node: SourceNode): void {
  Object.defineProperty(value, NODE, { value: node });
}

/**
 * Where a value was read: `placeOf(tool)` is the place of the object itself, `placeOf(tool, "command", 0)` that of the
 * first item of its key `command`. Undefined when the object was not read from a file or has no such value. A copy of
 * the object (`{ ...tool }`) has no place. The place of a text also says how its lines lie in the file, which
 * `parseTemplate` takes as its origin.
 */
export function placeOf(value: object, ...path: readonly (string | number)[]): TextPlace | undefined {
  let node = nodeOf(value);
  for (const step of path) node = node === undefined ? undefined : child(node, step);
  return node?.place;
}

/** Where a key of an object was read: the place of the key itself, not of its value. */
export function keyPlaceOf(value: object, key: string): Place | undefined {
  const node = nodeOf(value);
  return node?.kind === "map" ? node.entries.find((entry) => entry.key === key)?.keyPlace : undefined;
}

function nodeOf(value: object): SourceNode | undefined {
  return Object.hasOwn(value, NODE) ? (value as { readonly [NODE]: SourceNode })[NODE] : undefined;
}

function child(node: SourceNode, step: string | number): SourceNode | undefined {
  if (node.kind === "list") return typeof step === "number" ? node.items[step] : undefined;
  return node.kind === "map" ? node.entries.find((entry) => entry.key === step)?.value : undefined;
}
