/**
 * JSON Schema as providers take it: without references, with a root that is an object, and without what a provider
 * refuses, which is told in words instead.
 */
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";

/** What a provider takes. */
export interface SchemaProfile {
  /** Keywords that make it refuse a request. */
  readonly refused: readonly string[];
  /** Whether it refuses a strict schema that does not qualify (see {@link strictFault}). */
  readonly checksStrict: boolean;
}

/** A schema that was made ready, and what was changed that could matter, for people. */
export interface ProviderSchema {
  readonly schema: JsonObject;
  readonly notes: readonly string[];
}

/** Says nothing to a model, and some servers refuse it. */
const DROPPED = new Set(["$schema", "$id", "$comment", "$anchor", "$defs", "definitions"]);
const SCHEMA_MAPS = new Set(["properties", "patternProperties", "dependentSchemas"]);
const SCHEMA_LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SCHEMAS = new Set([
  "items",
  "additionalProperties",
  "additionalItems",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

/**
 * The schema of a tool's arguments: local references are replaced by what they refer to (a reference to itself by
 * anything), the root is an object with `properties`. The same object comes back when there is nothing to change.
 */
export function toolSchemaFor(schema: JsonObject, profile: SchemaProfile): ProviderSchema {
  const { schema: inlined, notes } = answerSchemaFor(schema, profile);
  const complete = inlined["type"] === "object" && isJsonObject(inlined["properties"]);
  if (complete) return { schema: inlined, notes };
  const properties = isJsonObject(inlined["properties"]) ? inlined["properties"] : {};
  return { schema: { ...inlined, type: "object", properties }, notes };
}

/** The schema of an answer; like that of a tool's arguments, but its root may be anything. */
export function answerSchemaFor(schema: JsonObject, profile: SchemaProfile): ProviderSchema {
  const walk = new Inlining(schema, profile);
  const result = walk.schema(schema, "", []);
  const same = JSON.stringify(result) === JSON.stringify(schema);
  return { schema: same ? schema : result as JsonObject, notes: walk.notes };
}

/**
 * Why a schema cannot be sent as strict to a provider that checks: each object must list all its properties as required
 * and allow no others. Undefined when it can.
 */
export function strictFault(schema: JsonValue, path = ""): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  const where = path === "" ? "the schema" : path;
  if (isJsonObject(schema["properties"]) || schema["type"] === "object") {
    if (schema["additionalProperties"] !== false) return `${where} does not say additionalProperties: false`;
    const required = Array.isArray(schema["required"]) ? schema["required"] : [];
    const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
    const optional = Object.keys(properties).find((name) => !required.includes(name));
    if (optional !== undefined) return `${where} does not require \`${optional}\``;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const inner = innerSchemas(keyword, value);
    for (const [step, child] of inner) {
      const fault = strictFault(child, path === "" ? step : `${path}.${step}`);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

/** The schemas below a keyword, each with the step that leads to it. */
function innerSchemas(keyword: string, value: JsonValue): [string, JsonValue][] {
  if (SCHEMA_MAPS.has(keyword) && isJsonObject(value)) return Object.entries(value);
  if (SCHEMA_LISTS.has(keyword) && Array.isArray(value)) {
    return value.map((item: JsonValue, index) => [`${keyword}[${index}]`, item]);
  }
  return SCHEMAS.has(keyword) ? [[keyword, value]] : [];
}

class Inlining {
  readonly #root: JsonObject;
  readonly #refused: ReadonlySet<string>;
  readonly notes: string[] = [];
  #nodes = 0;

  constructor(root: JsonObject, profile: SchemaProfile) {
    this.#root = root;
    this.#refused = new Set(profile.refused);
  }

  schema(value: JsonValue, path: string, open: readonly string[]): JsonValue {
    if (!isJsonObject(value)) return Array.isArray(value) ? value.map((item) => this.schema(item, path, open)) : value;
    this.#nodes += 1;
    if (this.#nodes > LIMITS.providerSchemaNodes) {
      this.#note(path, "is too large once its references are replaced; what follows allows anything");
      return {};
    }
    if (typeof value["$ref"] === "string") return this.#reference(value, value["$ref"], path, open);
    const result = {};
    const told: string[] = [];
    for (const [keyword, inner] of Object.entries(value)) {
      if (DROPPED.has(keyword)) continue;
      if (this.#refused.has(keyword)) {
        told.push(`${keyword}: ${JSON.stringify(inner)}`);
        continue;
      }
      setOwn(result, keyword, this.#keyword(keyword, inner, path, open));
    }
    if (told.length === 0) return result as JsonObject;
    this.#note(path, `says ${told.join(", ")} in its description, because the provider refuses the keyword`);
    const description = value["description"];
    const words = [typeof description === "string" ? description : "", `(${told.join("; ")})`];
    return { ...result, description: words.filter((word) => word !== "").join(" ") };
  }

  #keyword(keyword: string, inner: JsonValue, path: string, open: readonly string[]): JsonValue {
    if (SCHEMAS.has(keyword) || SCHEMA_LISTS.has(keyword)) return this.schema(inner, join(path, keyword), open);
    if (!SCHEMA_MAPS.has(keyword) || !isJsonObject(inner)) return inner;
    const map = {};
    for (const [name, child] of Object.entries(inner)) setOwn(map, name, this.schema(child, join(path, name), open));
    return map as JsonObject;
  }

  #reference(value: JsonObject, reference: string, path: string, open: readonly string[]): JsonValue {
    const { $ref: _, ...siblings } = value;
    if (open.includes(reference)) {
      this.#note(path, `refers to itself (${reference}); below that anything is allowed`);
      return this.schema(siblings, path, open);
    }
    const target = resolvePointer(this.#root, reference);
    if (target === undefined) {
      this.#note(path, `refers to ${reference}, which is not in the schema; anything is allowed there`);
      return this.schema(siblings, path, open);
    }
    const inlined = this.schema(target, path, [...open, reference]);
    if (Object.keys(siblings).length === 0 || !isJsonObject(inlined)) return inlined;
    return merged(inlined, this.schema(siblings, path, open) as JsonObject);
  }

  #note(path: string, what: string): void {
    this.notes.push(`${path === "" ? "the schema" : path} ${what}`);
  }
}

/** What a reference says together with the keywords beside it. */
function merged(target: JsonObject, siblings: JsonObject): JsonObject {
  const result: Record<string, JsonValue> = { ...target, ...siblings };
  const properties = [target["properties"], siblings["properties"]];
  if (properties.every(isJsonObject)) result["properties"] = { ...properties[0], ...properties[1] };
  const required = [target["required"], siblings["required"]];
  if (required.every(Array.isArray)) result["required"] = [...new Set(required.flat())];
  return result;
}

function join(path: string, step: string): string {
  return path === "" ? step : `${path}.${step}`;
}

/** What a local reference (`#`, `#/$defs/x`) points to; undefined when there is no such thing. */
function resolvePointer(root: JsonObject, reference: string): JsonValue | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let value: JsonValue | undefined = root;
  for (const step of reference.slice(2).split("/")) {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(value)) value = value[Number(key)];
    else value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}
