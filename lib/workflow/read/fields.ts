/** Reading the fields of one map of a workflow file: types, templates, expressions; every fault has its place. */
import type { Diagnostic, Place } from "../../base/diagnostic.ts";
import { isJsonObject, type JsonObject, jsonTypeOf, type JsonValue } from "../../base/json.ts";
import { didYouMean } from "../../base/nearest.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { type MapEntry, type MapNode, nodeToJson, type SourceNode } from "../../source/node.ts";
import { readShape, type Shape } from "../../source/shape.ts";
import type { Template } from "../../source/template/template.ts";
import type { TextPlace } from "../../source/text_place.ts";
import type { Expression, Retry, SchemaSource, Step } from "../definition.ts";
import { compileExpression, compileTemplate } from "./expressions.ts";

/** What names may be: ids, inputs, schemas, agents, branches. */
export const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** The faults of a file. Those of its structure are no faults of YAML or of types. */
export class Faults {
  readonly all: Diagnostic[] = [];
  /** Whether one is about how the file is written. */
  typed = false;

  /** Adds a fault of how the file is written: a wrong type, an unknown key of the file. */
  type(place: Place, message: string, hint?: string): void {
    this.typed = true;
    this.add("workflow-type", place, message, hint);
  }

  /** Adds a fault of what the file says. */
  add(id: string, place: Place, message: string, hint?: string): void {
    // A field may be looked at twice.
    if (this.all.some((known) => known.message === message && known.place === place)) return;
    this.all.push({ id, severity: "error", place, message, ...(hint === undefined ? {} : { hint }) });
  }

  /** Adds what another reader found. */
  addAll(diagnostics: readonly Diagnostic[]): void {
    this.all.push(...diagnostics);
  }
}

/** What all readers of one file share. */
export interface FileReading {
  readonly faults: Faults;
  /** The names of `schemas:`. */
  readonly schemas: Map<string, SchemaSource>;
  /** Reads a list of steps. */
  readonly steps: (node: SourceNode, where: string) => readonly Step[];
}

/** The fields of one map. */
export class FieldReader {
  /** Where the map stands, for messages. */
  readonly where: string;
  readonly #node: MapNode;
  readonly #reading: FileReading;

  /** Reads a map. */
  constructor(node: MapNode, where: string, reading: FileReading) {
    this.#node = node;
    this.where = where;
    this.#reading = reading;
  }

  /** Where the map begins. */
  get place(): Place {
    return this.#node.place;
  }

  /** What all readers of the file share. */
  get reading(): FileReading {
    return this.#reading;
  }

  /** The entry of a key. */
  entry(key: string): MapEntry | undefined {
    return this.#node.entries.find((entry) => entry.key === key);
  }

  /** Whether a key is there. */
  has(key: string): boolean {
    return this.entry(key) !== undefined;
  }

  /** Adds a fault at a key, of what the file says. */
  fault(key: string, id: string, message: string, hint?: string): void {
    this.#reading.faults.add(id, this.placeOf(key), `${this.where}: ${message}`, hint);
  }

  /** Where a key's value stands. */
  placeOf(key: string): Place {
    return this.entry(key)?.value.place ?? this.place;
  }

  #wrong(key: string, expected: string, hint?: string): undefined {
    const { value } = this.entry(key)!;
    const got = value.kind === "scalar" ? JSON.stringify(value.value) : value.kind === "list" ? "a list" : "a map";
    this.#reading.faults.type(
      value.place,
      `${this.where}: \`${key}\` must be ${expected} (got ${got})`,
      hint ?? quoteHint(value, expected),
    );
    return undefined;
  }

  #scalar(key: string): string | number | boolean | null | undefined {
    const value = this.entry(key)?.value;
    return value?.kind === "scalar" ? value.value : undefined;
  }

  /** A text; undefined when it is missing or none. */
  text(key: string): string | undefined {
    if (!this.has(key)) return undefined;
    const value = this.#scalar(key);
    return typeof value === "string" ? value : this.#wrong(key, "a text");
  }

  /** A text that is not blank. */
  filled(key: string): string | undefined {
    const value = this.text(key);
    if (value === undefined || value.trim() !== "") return value;
    this.fault(key, "blank", `\`${key}\` is blank`);
    return undefined;
  }

  /** A boolean. */
  boolean(key: string): boolean | undefined {
    if (!this.has(key)) return undefined;
    const value = this.#scalar(key);
    return typeof value === "boolean" ? value : this.#wrong(key, "true or false");
  }

  /** A whole number of at least `minimum`. */
  integer(key: string, minimum: number): number | undefined {
    if (!this.has(key)) return undefined;
    const value = this.#scalar(key);
    if (typeof value !== "number" || !Number.isInteger(value)) return this.#wrong(key, "a whole number");
    if (value >= minimum) return value;
    this.fault(key, "range", `\`${key}\` must be at least ${minimum} (got ${value})`);
    return undefined;
  }

  /** A number of at least 0. */
  number(key: string): number | undefined {
    if (!this.has(key)) return undefined;
    const value = this.#scalar(key);
    if (typeof value !== "number") return this.#wrong(key, "a number");
    if (value >= 0 && Number.isFinite(value)) return value;
    this.fault(key, "range", `\`${key}\` must be at least 0 (got ${value})`);
    return undefined;
  }

  /** A list of texts, with the place of each. */
  texts(key: string): readonly { readonly text: string; readonly place: TextPlace }[] | undefined {
    const value = this.entry(key)?.value;
    if (value === undefined) return undefined;
    if (value.kind !== "list") return this.#wrong(key, "a list of texts", listHint(value));
    const found: { text: string; place: TextPlace }[] = [];
    for (const item of value.items) {
      if (item.kind === "scalar" && typeof item.value === "string") found.push({ text: item.value, place: item.place });
      else {
        this.#reading.faults.type(
          item.place,
          `${this.where}: \`${key}\` must be a list of texts`,
          quoteHint(item, "a text"),
        );
      }
    }
    return found;
  }

  /** A template. */
  template(key: string): Template | undefined {
    const source = this.text(key);
    return source === undefined ? undefined : this.parse(source, this.placeOf(key));
  }

  /** A template of this text. */
  parse(source: string, place: TextPlace): Template | undefined {
    const template = compileTemplate(source, place);
    if (!Array.isArray(template)) return template as Template;
    this.#reading.faults.addAll(template);
    return undefined;
  }

  /** A list of templates. */
  templates(key: string): readonly Template[] {
    return (this.texts(key) ?? []).flatMap(({ text, place }) => this.parse(text, place) ?? []);
  }

  /** A jq expression. */
  expression(key: string): Expression | undefined {
    const source = this.text(key);
    if (source === undefined) return undefined;
    const compiled = compileExpression(source, this.placeOf(key), key);
    if ("program" in compiled) return compiled;
    this.#reading.faults.add(compiled.id, compiled.place, `${this.where}: ${compiled.message}`, compiled.hint);
    return undefined;
  }

  /** A map. */
  map(key: string): MapNode | undefined {
    const value = this.entry(key)?.value;
    if (value === undefined) return undefined;
    return value.kind === "map" ? value : this.#wrong(key, "a map");
  }

  /** A reader of a map below. */
  below(key: string): FieldReader | undefined {
    const node = this.map(key);
    return node && new FieldReader(node, `${this.where}.${key}`, this.#reading);
  }

  /** A list of steps; it must be there and hold one. */
  steps(key: string): readonly Step[] {
    const value = this.entry(key)?.value;
    if (value !== undefined) return this.#reading.steps(value, `${this.where}.${key}`);
    this.#reading.faults.type(this.place, `${this.where}: \`${key}\` is missing: it must be a list of steps`);
    return [];
  }

  /** Any value, as JSON. */
  json(key: string): JsonValue | undefined {
    const value = this.entry(key)?.value;
    return value === undefined ? undefined : nodeToJson(value);
  }

  /** Some of the keys, read by a shape; faults are told. */
  shaped<T>(shape: Shape<T>, keys: readonly string[]): T | undefined {
    const node: MapNode = { ...this.#node, entries: this.#node.entries.filter(({ key }) => keys.includes(key)) };
    const faults: Diagnostic[] = [];
    const value = readShape(shape, node, faults);
    if (faults.length > 0) this.#reading.faults.typed = true;
    this.#reading.faults.addAll(faults);
    return value;
  }

  /** `retry:`. */
  retry(key = "retry"): Retry | undefined {
    const reader = this.below(key);
    if (reader === undefined) return undefined;
    reader.onlyKeys(["max_attempts", "delay_seconds", "backoff"]);
    if (!reader.has("max_attempts")) this.fault(key, "retry", "`retry` needs `max_attempts`");
    const maxAttempts = reader.integer("max_attempts", 1) ?? 1;
    return {
      maxAttempts,
      delaySeconds: reader.integer("delay_seconds", 0) ?? 0,
      backoff: reader.number("backoff") ?? 1,
    };
  }

  /** Refuses keys that are not among these; `structural` when that is no fault of how the file is written. */
  onlyKeys(keys: readonly string[], describe = (key: string) => `unknown key \`${key}\``, structural = false): void {
    for (const { key, keyPlace } of this.#node.entries) {
      if (keys.includes(key)) continue;
      const message = `${this.where}: ${describe(key)}`;
      const hint = didYouMean(key, keys);
      if (structural) this.#reading.faults.add("unknown-key", keyPlace, message, hint);
      else this.#reading.faults.type(keyPlace, message, hint);
    }
  }

  /** The keys in file order. */
  get keys(): readonly string[] {
    return this.#node.entries.map(({ key }) => key);
  }

  /** A schema, or the name of one. */
  schema(key: string, options: { readonly names: boolean }): SchemaSource | undefined {
    const entry = this.entry(key);
    if (entry === undefined) return undefined;
    const value = nodeToJson(entry.value);
    if (typeof value === "string" && options.names) {
      const found = this.#reading.schemas.get(value);
      if (found !== undefined) return { ...found, name: value };
      const hint = didYouMean(value, [...this.#reading.schemas.keys()]);
      this.fault(
        key,
        "schema",
        `\`${key}\` names the schema '${value}', which is not defined under \`schemas:\``,
        hint,
      );
      return undefined;
    }
    return schemaSource(value, (message) => this.#wrong(key, message));
  }
}

/** A schema as it is written: `{ file: PATH }`, or the schema itself. */
export function schemaSource(value: JsonValue, wrong: (expected: string) => undefined): SchemaSource | undefined {
  if (typeof value === "boolean") return { kind: "inline", schema: value };
  if (!isJsonObject(value)) {
    return wrong(`a schema: a map, true or false, or { file: PATH } (not ${jsonTypeOf(value)})`);
  }
  if (Object.keys(value).length === 1 && Object.hasOwn(value, "file")) {
    const { file } = value as { file: JsonValue };
    return typeof file === "string" && file !== ""
      ? { kind: "file", path: file }
      : wrong("{ file: PATH } with a path that is not empty");
  }
  return { kind: "inline", schema: value as JsonSchema & JsonObject };
}

/** How to write one text, or several words, as a list. */
function listHint(value: SourceNode): string | undefined {
  if (value.kind !== "scalar" || typeof value.value !== "string") return undefined;
  const words = value.value.trim().split(/\s+/);
  const plain = words.every((word) => /^[\w./=-]+$/.test(word));
  return `write it as a list: [${plain ? words.join(", ") : JSON.stringify(value.value)}]`;
}

function quoteHint(value: SourceNode, expected: string): string | undefined {
  if (!expected.startsWith("a text") || value.kind !== "scalar" || typeof value.value === "string") return undefined;
  return value.value === null ? undefined : `quote it: "${String(value.value)}"`;
}
