/** What a file says, with the place of every value: what the readers of formats make, and what shapes check. */
import type { Place } from "../base/diagnostic.ts";
import { type JsonValue, setOwn } from "../base/json.ts";
import type { TextPlace } from "./text_place.ts";

/** A value of a file and where it stands. */
export type SourceNode = ScalarNode | ListNode | MapNode;

/** A text, number, boolean or null. */
export interface ScalarNode {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
  readonly place: TextPlace;
}

/** A list. */
export interface ListNode {
  readonly kind: "list";
  readonly items: readonly SourceNode[];
  readonly place: Place;
}

/** A map; its keys are unique texts, in file order. */
export interface MapNode {
  readonly kind: "map";
  readonly entries: readonly MapEntry[];
  readonly place: Place;
}

/** One key of a map with its value. */
export interface MapEntry {
  readonly key: string;
  readonly keyPlace: Place;
  readonly value: SourceNode;
}

/** The plain JSON value of a node. */
export function nodeToJson(node: SourceNode): JsonValue {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(nodeToJson);
  const object = {};
  for (const entry of node.entries) setOwn(object, entry.key, nodeToJson(entry.value));
  return object;
}
