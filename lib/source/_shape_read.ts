/** Checking source nodes against shapes, and making typed values of them. */
import type { Diagnostic, Place } from "../base/diagnostic.ts";
import { setOwn } from "../base/json.ts";
import { didYouMean } from "../base/nearest.ts";
import { shorten } from "../base/text.ts";
import type { MapNode, SourceNode } from "./node.ts";
import { remember } from "./_places.ts";
import type { TextPlace } from "./text_place.ts";
import type { EnumShape, Infer, RecordShape, Shape, UnionShape } from "./shape.ts";

/**
 * Checks a node and gives its value, deeply frozen; {@link placeOf} tells where each part of it was read. Every fault
 * is added to `diagnostics` (`unknown-key`, `missing-key`, `wrong-type`, `invalid-value`), and with any fault the
 * result is undefined. A null document counts as an empty map where a map is wanted.
 */
export function readShape<S extends Shape>(
  shape: S,
  node: SourceNode,
  diagnostics: Diagnostic[],
): Infer<S> | undefined {
  const reader = new Reader();
  const isNull = node.kind === "scalar" && node.value === null;
  const root: SourceNode = isNull && acceptsMap(shape) ? { kind: "map", entries: [], place: node.place } : node;
  const value = reader.read(shape, root, "");
  diagnostics.push(...reader.faults);
  // The one place where a checked value gets its static type.
  return reader.faults.length === 0 ? value as Infer<S> : undefined;
}

class Reader {
  readonly faults: Diagnostic[] = [];

  /** The value of a node. Of no use when there are faults. `path` is empty for the whole file. */
  read(shape: Shape, node: SourceNode, path: string): unknown {
    switch (shape.kind) {
      case "named":
        return this.read(shape.resolve(), node, path);
      case "union":
        return this.#union(shape, node, path);
      case "json":
        return jsonValue(node);
      case "record":
        return node.kind === "map" ? this.#record(shape, node, path) : this.#wrongType(shape, node, path);
      case "map": {
        if (node.kind !== "map") return this.#wrongType(shape, node, path);
        const value = {};
        for (const entry of node.entries) {
          setOwn(value, entry.key, this.read(shape.values, entry.value, joinKey(path, entry.key)));
        }
        return finished(value, node);
      }
      case "list": {
        if (node.kind !== "list") return this.#wrongType(shape, node, path);
        return finished(node.items.map((item, index) => this.read(shape.items, item, `${path}[${index}]`)), node);
      }
      case "enum":
        return this.#enum(shape, node, path);
      default: {
        if (node.kind !== "scalar" || typeof node.value !== scalarType(shape.kind)) {
          return this.#wrongType(shape, node, path);
        }
        if (shape.kind === "number" && shape.integer && !Number.isInteger(node.value)) {
          return this.#wrongType(shape, node, path);
        }
        return node.value;
      }
    }
  }

  #record(shape: RecordShape, node: MapNode, path: string): unknown {
    const value = {};
    const keys = Object.keys(shape.fields);
    for (const entry of node.entries) {
      const field = Object.hasOwn(shape.fields, entry.key) ? shape.fields[entry.key] : undefined;
      if (field !== undefined) {
        setOwn(value, entry.key, this.read(field.shape, entry.value, joinKey(path, entry.key)));
        continue;
      }
      const name = shorten(joinKey(path, entry.key), 120);
      const message = `unknown key \`${name}\` (accepted: ${keys.join(", ")})`;
      this.#fault("unknown-key", entry.keyPlace, message, didYouMean(entry.key, keys));
    }
    for (const [key, field] of Object.entries(shape.fields)) {
      if (field.required !== true || node.entries.some((entry) => entry.key === key)) continue;
      this.#fault("missing-key", node.place, `${subject(path)} must have the key \`${key}\``);
    }
    return finished(value, node);
  }

  #enum(shape: EnumShape, node: SourceNode, path: string): unknown {
    if (node.kind !== "scalar" || node.value === null) return this.#wrongType(shape, node, path);
    const { value } = node;
    if (typeof value === "string" && shape.values.includes(value)) return value;
    const got = typeof value === "string" ? `\`${shorten(value, 60)}\`` : String(value);
    const message = `${subject(path)} must be one of ${shape.values.join(", ")} (got ${got})`;
    this.#fault("invalid-value", node.place, message, didYouMean(String(value), shape.values));
    return undefined;
  }

  #union(shape: UnionShape, node: SourceNode, path: string): unknown {
    const fitting = options(shape).filter((option) => accepts(option, node));
    const [first, ...others] = fitting;
    if (first === undefined) return this.#wrongType(shape, node, path);
    const records = fitting.filter((option) => option.kind === "record");
    if (others.length === 0 || node.kind !== "map" || records.length < fitting.length) {
      return this.read(first, node, path);
    }
    if (node.entries.length === 0) {
      // With no key at all, what is missing is the choice itself.
      const choice = records.map(requiredKeys).filter((keys) => keys !== "");
      this.#fault("missing-key", node.place, `${subject(path)} must have ${choice.join(", or ")}`);
      return undefined;
    }
    const known = (record: RecordShape) =>
      node.entries.filter((entry) => Object.hasOwn(record.fields, entry.key)).length;
    return this.read(records.reduce((best, record) => known(record) > known(best) ? record : best), node, path);
  }

  #wrongType(shape: Shape, node: SourceNode, path: string): undefined {
    const isNull = node.kind === "scalar" && node.value === null;
    const hint = isNull && path !== ""
      ? `remove the ${path.endsWith("]") ? "item" : "key"} or give it a value`
      : typeHint(shape, node);
    this.#fault(
      "wrong-type",
      node.place,
      `${subject(path)} must be ${wanted(shape)} (got ${found(shape, node)})`,
      hint,
    );
    return undefined;
  }

  #fault(id: string, at: Place, message: string, hint?: string): void {
    // Without what a text's place says about its content: that is not for those who read diagnostics.
    const { content: _, ...place }: TextPlace = at;
    this.faults.push({ id, severity: "error", place, message, ...(hint === undefined ? {} : { hint }) });
  }
}

function requiredKeys(shape: RecordShape): string {
  const keys = Object.keys(shape.fields).filter((key) => shape.fields[key]?.required === true);
  return keys.map((key) => `\`${key}\``).join(" and ");
}

/** The JSON value of a node, frozen and with its places. */
function jsonValue(node: SourceNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return finished(node.items.map(jsonValue), node);
  const value = {};
  for (const entry of node.entries) setOwn(value, entry.key, jsonValue(entry.value));
  return finished(value, node);
}

function finished<T extends object>(value: T, node: SourceNode): Readonly<T> {
  remember(value, node);
  return Object.freeze(value);
}

/** How a message names the value at a path. */
function subject(path: string): string {
  return path === "" ? "the file" : `\`${shorten(path, 120)}\``;
}

function joinKey(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

function scalarType(kind: "text" | "number" | "boolean"): string {
  return kind === "text" ? "string" : kind;
}

/** What a shape wants, with its article. */
function wanted(shape: Shape): string {
  switch (shape.kind) {
    case "text":
      return "a string";
    case "number":
      return shape.integer ? "an integer" : "a number";
    case "boolean":
      return "true or false";
    case "enum":
      return `one of ${shape.values.join(", ")}`;
    case "list":
      return wantsText(shape.items) ? "a list of strings" : "a list";
    case "map":
    case "record":
      return "a map";
    case "json":
      return "a value";
    case "named":
      return wanted(shape.resolve());
    case "union":
      return [...new Set(options(shape).map(wanted))].join(" or ");
  }
}

function wantsText(shape: Shape): boolean {
  return shape.kind === "text";
}

/** The kind of a node; of a number where an integer is wanted, the number itself. */
function found(shape: Shape, node: SourceNode): string {
  if (node.kind !== "scalar") return node.kind;
  if (node.value === null) return "null";
  if (typeof node.value === "number" && shape.kind === "number") return String(node.value);
  return typeof node.value;
}

/** What to do about a scalar of the wrong type. */
function typeHint(shape: Shape, node: SourceNode): string | undefined {
  if (node.kind !== "scalar" || node.value === null) return undefined;
  const { value } = node;
  const kinds = (shape.kind === "union" ? options(shape) : [shape]).map((option) => option.kind);
  if (typeof value === "number") return kinds.includes("text") ? "put it in quotes" : undefined;
  if (typeof value === "boolean") return kinds.includes("text") ? `put it in quotes: \`"${value}"\`` : undefined;
  if (kinds.includes("number") && value.trim() !== "" && Number.isFinite(Number(value))) return "remove the quotes";
  if (!kinds.includes("boolean")) return undefined;
  if (value === "true" || value === "false") return "remove the quotes";
  return /^(yes|no|on|off)$/i.test(value) ? "YAML 1.2 knows `true` and `false` only" : undefined;
}

/** The shapes that a union chooses from, inner unions opened. */
function options(shape: UnionShape): Shape[] {
  return shape.options.flatMap((option) => {
    const inner = option.kind === "named" ? option.resolve() : option;
    return inner.kind === "union" ? options(inner) : [inner];
  });
}

/** Whether a shape takes values of a node's kind at all. */
function accepts(shape: Shape, node: SourceNode): boolean {
  switch (shape.kind) {
    case "json":
      return true;
    case "named":
      return accepts(shape.resolve(), node);
    case "union":
      return options(shape).some((option) => accepts(option, node));
    case "list":
      return node.kind === "list";
    case "map":
    case "record":
      return node.kind === "map";
    case "enum":
      return node.kind === "scalar" && typeof node.value === "string";
    default:
      return node.kind === "scalar" && typeof node.value === scalarType(shape.kind);
  }
}

function acceptsMap(shape: Shape): boolean {
  return shape.kind !== "json" &&
    accepts(shape, { kind: "map", entries: [], place: { file: "" } });
}
