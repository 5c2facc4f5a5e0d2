/** The schemas inside a schema: which keywords hold schemas, and which hold data that only looks like one. */
import { isJsonObject, type JsonValue } from "../base/json.ts";
import type { PathSegment } from "./paths.ts";

/** An object schema and where it stands. */
export interface SubSchema {
  readonly schema: { [keyword: string]: JsonValue };
  readonly trail: Trail | undefined;
}

/** The way to a schema, last step first: a schema nested 10 000 deep must not cost 10 000 long paths. */
interface Trail {
  readonly segment: PathSegment;
  readonly before: Trail | undefined;
}

/** The steps from the root to a schema, then those in `more`. */
export function pathOf(sub: SubSchema, ...more: PathSegment[]): PathSegment[] {
  const path: PathSegment[] = [];
  for (let trail = sub.trail; trail !== undefined; trail = trail.before) path.push(trail.segment);
  return [...path.reverse(), ...more];
}

/** Keywords of all accepted drafts whose value is a schema. */
const ONE: ReadonlySet<string> = new Set([
  "additionalItems",
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

/** Keywords whose value is a list of schemas (`items` is one in a draft-07 tuple). */
const MANY: ReadonlySet<string> = new Set(["allOf", "anyOf", "items", "oneOf", "prefixItems"]);

/** Keywords whose value maps names to schemas (`dependencies` may also hold lists of names). */
const NAMED: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** Every object schema in `root`, itself first and each before those inside it. Iterative: depth costs no stack. */
export function subschemas(root: JsonValue): SubSchema[] {
  const found: SubSchema[] = [];
  const open: { value: JsonValue | undefined; trail: Trail | undefined }[] = [{ value: root, trail: undefined }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: schema, trail } = next;
    if (!isJsonObject(schema)) continue;
    found.push({ schema, trail });
    for (const key of Object.keys(schema)) {
      const value = schema[key];
      const here = { segment: key, before: trail };
      if (ONE.has(key)) open.push({ value, trail: here });
      if (MANY.has(key) && Array.isArray(value)) {
        value.forEach((item, index) => open.push({ value: item, trail: { segment: index, before: here } }));
      }
      if (NAMED.has(key) && isJsonObject(value)) {
        for (const [name, inner] of Object.entries(value)) {
          open.push({ value: inner, trail: { segment: name, before: here } });
        }
      }
    }
  }
  return found;
}
