/**
 * Shapes: what a file may hold, as plain frozen data. From one description a file is checked, its values get their
 * types, and its JSON Schema can be printed. `readShape` (below, `./_shape_read.ts`) does the checking.
 *
 * Shapes say what is checked when a file is read: keys, types, enums. Ranges are only recorded here; they are checked
 * when a value is used, so that a broken entry that nobody uses stops nothing.
 */
import type { JsonValue } from "../base/json.ts";

export { keyPlaceOf, placeOf } from "./_places.ts";
export { readShape } from "./_shape_read.ts";

declare const TYPE: unique symbol;

/** The description of a value, without the type that it stands for. */
export type ShapeData =
  | TextShape
  | NumberShape
  | BooleanShape
  | JsonShape
  | EnumShape
  | ListShape
  | MapShape
  | RecordShape
  | UnionShape
  | NamedShape;

/** The description of a value of type `T`. */
export type Shape<T = unknown> = ShapeData & { readonly [TYPE]?: T };

/** The type of the values that a shape describes. */
export type Infer<S> = S extends { readonly [TYPE]?: infer T } ? T : never;

/** A text. */
export interface TextShape {
  readonly kind: "text";
}

/** A number; with `integer`, a whole one. The range is for documents and later checks. */
export interface NumberShape extends Range {
  readonly kind: "number";
  readonly integer: boolean;
}

/** The range that a number is to be in, both ends included. */
export interface Range {
  readonly minimum?: number;
  readonly maximum?: number;
}

/** `true` or `false`. */
export interface BooleanShape {
  readonly kind: "boolean";
}

/** Any JSON value. */
export interface JsonShape {
  readonly kind: "json";
}

/** One of some texts. */
export interface EnumShape {
  readonly kind: "enum";
  readonly values: readonly string[];
}

/** A list. `minimumItems` is for documents and later checks. */
export interface ListShape {
  readonly kind: "list";
  readonly items: Shape;
  readonly minimumItems?: number;
}

/** A map with any keys and values of one shape. */
export interface MapShape {
  readonly kind: "map";
  readonly values: Shape;
}

/** A map with known keys. */
export interface RecordShape {
  readonly kind: "record";
  readonly fields: Fields;
}

/** One of several shapes: told apart by the kind of the value, and records by their keys. */
export interface UnionShape {
  readonly kind: "union";
  readonly options: readonly Shape[];
}

/** A shape with a name, looked up when it is needed, so that a shape can hold itself. */
export interface NamedShape {
  readonly kind: "named";
  readonly name: string;
  readonly resolve: () => Shape;
}

/** A key of a record. */
export interface Field<S extends Shape = Shape> {
  /** What its value may be. */
  readonly shape: S;
  /** Set when the key must be there. */
  readonly required?: true;
  /** One line about it, for people. */
  readonly description: string;
  /** What holds without it; for documents only. */
  readonly default?: JsonValue;
}

/** The keys of a record, in the order in which messages name them. */
export type Fields = Readonly<Record<string, Field>>;

/** The type of the records with these fields: required keys, and optional ones. */
export type InferFields<F extends Fields> =
  & { readonly [K in keyof F as F[K] extends { readonly required: true } ? K : never]: Infer<F[K]["shape"]> }
  & { readonly [K in keyof F as F[K] extends { readonly required: true } ? never : K]?: Infer<F[K]["shape"]> };

/** A type with its parts written out, so that editors show it whole. */
type Flat<T> = { [K in keyof T]: T[K] };

/** A text. */
export const text: Shape<string> = Object.freeze({ kind: "text" });

/** A number. */
export const number: Shape<number> = Object.freeze({ kind: "number", integer: false });

/** A whole number. */
export const integer: Shape<number> = Object.freeze({ kind: "number", integer: true });

/** `true` or `false`. */
export const boolean: Shape<boolean> = Object.freeze({ kind: "boolean" });

/** Any JSON value. */
export const json: Shape<JsonValue> = Object.freeze({ kind: "json" });

/** A list of texts. */
export const stringList: Shape<readonly string[]> = list(text);

/** A number that is to be in a range; `readShape` does not check the range. */
export function numberIn(range: Range): Shape<number> {
  return Object.freeze({ kind: "number", integer: false, ...range });
}

/** A whole number that is to be in a range; `readShape` does not check the range. */
export function integerIn(range: Range): Shape<number> {
  return Object.freeze({ kind: "number", integer: true, ...range });
}

/**
 * What is wrong with the numbers of a record whose types were checked, by key and in the order of the fields:
 * `must be from 0 to 2 (got 3)`. A number that is not there is in its range.
 */
export function rangeProblems(
  fields: Fields,
  values: Readonly<Record<string, unknown>>,
): [key: string, problem: string][] {
  return Object.entries(fields).flatMap(([key, { shape }]): [string, string][] => {
    const value = values[key];
    if (shape.kind !== "number" || typeof value !== "number") return [];
    const { minimum = -Infinity, maximum = Infinity } = shape;
    if (value >= minimum && value <= maximum) return [];
    const range = maximum === Infinity ? `at least ${minimum}` : `from ${minimum} to ${maximum}`;
    return [[key, `must be ${range} (got ${value})`]];
  });
}

/** One of the given texts. */
export function oneOf<const V extends readonly string[]>(values: V): Shape<V[number]> {
  return Object.freeze({ kind: "enum", values: Object.freeze([...values]) });
}

/** A list of values of one shape; `readShape` does not check `minimumItems`. */
export function list<S extends Shape>(
  items: S,
  options: { readonly minimumItems?: number } = {},
): Shape<readonly Infer<S>[]> {
  return Object.freeze({ kind: "list", items, ...options });
}

/** A map from any texts to values of one shape. Ask `Object.hasOwn` before you look up a key that came from outside. */
export function map<S extends Shape>(values: S): Shape<Readonly<Record<string, Infer<S>>>> {
  return Object.freeze({ kind: "map", values });
}

/**
 * A map with known keys.
 *
 * @example
 * ```ts
 * import { type Infer, record, text } from "./shape.ts";
 * const prompt = record({
 *   template: { shape: text, required: true, description: "The prompt's text" },
 *   model: { shape: text, description: "Alias or id of a model" },
 * });
 * const value: Infer<typeof prompt> = { template: "{{ input }}" };
 * console.assert(value.model === undefined);
 * ```
 */
export function record<const F extends Fields>(fields: F): Shape<Flat<InferFields<F>>> {
  for (const field of Object.values(fields)) Object.freeze(field);
  return Object.freeze({ kind: "record", fields: Object.freeze({ ...fields }) });
}

/** One of several shapes. Two records are told apart by their keys. */
export function union<const S extends readonly Shape[]>(...options: S): Shape<Infer<S[number]>> {
  return Object.freeze({ kind: "union", options: Object.freeze([...options]) });
}

/** A shape that may hold itself: `resolve` is called when it is needed. `name` names it in a JSON Schema. */
export function named<T>(name: string, resolve: () => Shape<T>): Shape<T> {
  return Object.freeze({ kind: "named", name, resolve });
}
