/** The helpers that templates know. There are no others, and none can be added. */
import { isJsonObject, jsonTypeOf, textForm } from "../../base/json.ts";

/** A helper: a function of values that are all defined. */
export interface Helper {
  /** How many arguments it takes. */
  readonly minimum: number;
  readonly maximum: number;
  /** Whether it gives true or false, so that it may be used as a block: `{{#eq a b}}…{{/eq}}`. */
  readonly condition: boolean;
  /** Gives the result. Throws {@link HelperFault} for values that it cannot work with. */
  run(values: readonly unknown[]): unknown;
}

/** A helper was given values that it cannot work with. */
export class HelperFault extends Error {}

/** The names of the blocks that are no helpers. */
export const BLOCKS: readonly string[] = ["if", "unless", "each", "with"];

/** The helpers by name. `lookup` is here for its arguments; the renderer runs it, because it names a path. */
export const HELPERS: Readonly<Record<string, Helper>> = Object.freeze({
  json: helper(1, 1, ([value]) => JSON.stringify(value)),
  text: helper(1, 1, ([value]) => textForm(value)),
  lookup: helper(2, 2, () => undefined),
  len: helper(1, 1, ([value]) => lengthOf(value)),
  eq: condition(2, 2, ([a, b]) => isEqual(a, b)),
  ne: condition(2, 2, ([a, b]) => !isEqual(a, b)),
  gt: condition(2, 2, ([a, b]) => compare(a, b) > 0),
  gte: condition(2, 2, ([a, b]) => compare(a, b) >= 0),
  lt: condition(2, 2, ([a, b]) => compare(a, b) < 0),
  lte: condition(2, 2, ([a, b]) => compare(a, b) <= 0),
  and: condition(1, Infinity, (values) => values.every(isTruthy)),
  or: condition(1, Infinity, (values) => values.some(isTruthy)),
  not: condition(1, 1, ([value]) => !isTruthy(value)),
});

/** The helper of that name. */
export function helperNamed(name: string): Helper | undefined {
  return Object.hasOwn(HELPERS, name) ? HELPERS[name] : undefined;
}

/** What `#if` goes by: false, null, undefined, "", 0, NaN and an empty list are false, all else is true. */
export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function helper(minimum: number, maximum: number, run: Helper["run"]): Helper {
  return Object.freeze({ minimum, maximum, condition: false, run });
}

function condition(minimum: number, maximum: number, run: (values: readonly unknown[]) => boolean): Helper {
  return Object.freeze({ minimum, maximum, condition: true, run });
}

/** Characters (code points) of a text, items of a list, keys of an object; null has none. */
function lengthOf(value: unknown): number {
  if (value === null) return 0;
  if (typeof value === "string") return [...value].length;
  if (Array.isArray(value)) return value.length;
  if (isJsonObject(value)) return Object.keys(value).length;
  throw new HelperFault(`\`len\` takes a string, array or object (got ${jsonTypeOf(value)})`);
}

/** Whether two JSON values are the same; the order of keys does not matter. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}

/**
 * Negative, zero or positive; NaN, with which every comparison is false, for values that have no order. A number and a
 * text that is one are compared as numbers, because variables from the command line are always texts.
 */
function compare(a: unknown, b: unknown): number {
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (typeof a !== "number" && typeof b !== "number") return NaN;
  const [left, right] = [toNumber(a), toNumber(b)];
  return left < right ? -1 : left > right ? 1 : left === right ? 0 : NaN;
}

function toNumber(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value) ? Number(value) : NaN;
}
