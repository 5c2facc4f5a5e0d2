/** Values to JSON text, with jq's numbers. */
import type { JsonValue } from "../../base/json.ts";
import { JqLimitError } from "../errors.ts";
import { atOnce, type Work } from "../machine/work.ts";

/** How values are written. */
export interface SerializeOptions {
  /** Levels that are written; what is deeper becomes `<skipped: too deep>`. */
  readonly maxDepth?: number;
  /** Characters after which writing fails with a limit error. */
  readonly maxLength?: number;
  /** Characters after which the rest may be left out. */
  readonly enough?: number;
  /** Spaces for each level, or a tab; 0 is one line. Default: 0. */
  readonly indent?: number | "\t";
}

/** A number as jq prints it: 17 digits, two digits of exponent. JSON has no NaN and no infinity. */
export function numberText(value: number): string {
  if (Number.isInteger(value) && value < 1e15 && value > -1e15) return Object.is(value, -0) ? "-0" : String(value);
  if (Number.isNaN(value)) return "null";
  if (!Number.isFinite(value)) return value > 0 ? "1.7976931348623157e+308" : "-1.7976931348623157e+308";
  const [mantissa, exponentText] = Math.abs(value).toExponential().split("e") as [string, string];
  const sign = value < 0 ? "-" : "";
  const digits = mantissa.replace(".", "");
  const exponent = Number(exponentText);
  const point = exponent + 1;
  if (point <= -4 || point > digits.length + 15) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${mantissa}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits.padEnd(point, "0");
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** A text in quotes. */
export function quoted(text: string): string {
  const quotation = JSON.stringify(text);
  return quotation.includes("\x7f") ? quotation.replaceAll("\x7f", "\\u007f") : quotation;
}

interface Level {
  readonly items: readonly JsonValue[];
  /** Keys of an object; undefined for an array. */
  readonly keys: readonly string[] | undefined;
  next: number;
}

/** The JSON text of a value, however deep it is. */
export function serialize(value: JsonValue, options: SerializeOptions = {}): string {
  return atOnce(serializing(value, options));
}

/** `serialize` in parts. */
export function* serializing(value: JsonValue, options: SerializeOptions = {}): Work<string> {
  if (value === null) return "null";
  const { maxDepth = Infinity, maxLength = Infinity, enough = Infinity, indent = 0 } = options;
  const quotation = enough === Infinity ? quoted : (text: string) => quoted(text.slice(0, enough));
  if (typeof value === "string") {
    return value.length > PART && enough === Infinity ? yield* quoting(value, maxLength) : quotation(value);
  }
  if (typeof value === "number") return numberText(value);
  if (typeof value !== "object") return String(value);
  const levels: Level[] = [open(value)];
  /** Texts of containers, which may be in the value many times. */
  const known = new Map<object, string>();
  /** Finished parts; many small ones joined one by one take several times the memory of their text. */
  const parts: string[] = [];
  let length = 0;
  let text = levels[0]!.keys === undefined ? "[" : "{";
  const lineOf = (level: number) =>
    indent === 0 ? "" : `\n${(indent === "\t" ? indent : " ".repeat(indent)).repeat(level)}`;
  for (let level = levels[0]; level !== undefined; level = levels.at(-1)) {
    if (text.length > PART) {
      length += text.length;
      // Looking at a character makes V8 lay the text out in one piece.
      text.charCodeAt(0);
      parts.push(text);
      text = "";
      if (length > maxLength) refuseLength(maxLength);
      yield;
    }
    if (text.length > enough) break;
    const index = level.next++;
    if (index >= level.items.length) {
      levels.pop();
      if (level.items.length > 0) text += lineOf(levels.length);
      text += level.keys === undefined ? "]" : "}";
      continue;
    }
    const line = lineOf(levels.length);
    text += index > 0 ? `,${line}` : line;
    if (level.keys !== undefined) {
      text += indent === 0 ? `${quotation(level.keys[index]!)}:` : `${quotation(level.keys[index]!)}: `;
    }
    const item = level.items[index]!;
    if (item === null) text += "null";
    else if (typeof item === "string") {
      text += item.length > PART && enough === Infinity ? yield* quoting(item, maxLength) : quotation(item);
    } else if (typeof item === "number") text += numberText(item);
    else if (typeof item !== "object") text += String(item);
    else if (levels.length >= maxDepth) text += "<skipped: too deep>";
    else if (levels.length + PLAIN_DEPTH < maxDepth && (known.has(item) || isPlain(item))) {
      const plain = known.get(item) ?? JSON.stringify(item, null, indent);
      if (plain.length > SHARED_TEXT) known.set(item, plain);
      text += indent === 0 ? plain : plain.replaceAll("\n", line);
    } else {
      const inner = open(item);
      text += inner.keys === undefined ? "[" : "{";
      levels.push(inner);
    }
  }
  parts.push(text);
  return parts.join("");
}

/** A long text in quotes. */
function* quoting(text: string, maxLength: number): Work<string> {
  const parts: string[] = [];
  let length = 0;
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + PART);
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--;
    const part = quoted(text.slice(start, end)).slice(1, -1);
    length += part.length;
    if (length > maxLength) refuseLength(maxLength);
    parts.push(part);
    start = end;
    yield;
  }
  return `"${parts.join("")}"`;
}

function refuseLength(maxLength: number): never {
  throw new JqLimitError("resultBytes", `a value's text would be longer than ${maxLength} characters`);
}

/** How deep and how big a container is at most that is left to JavaScript's own writer. */
const PLAIN_DEPTH = 16;
const PLAIN_PARTS = 256;

/** Characters of a text that is worth keeping. */
const SHARED_TEXT = 500;

/** Whether a container is small and JavaScript writes all in it as jq does. */
function isPlain(root: object): boolean {
  let left = PLAIN_PARTS;
  const visit = (value: JsonValue, depth: number): boolean => {
    if (--left < 0) return false;
    if (typeof value === "number") {
      const size = Math.abs(value);
      return (size >= 1e-4 && size < 1e15) || Object.is(value, 0);
    }
    if (typeof value === "string") return value.length < 1000 && !value.includes("\x7f");
    if (typeof value !== "object" || value === null) return true;
    if (depth >= PLAIN_DEPTH) return false;
    if (Array.isArray(value)) {
      for (const item of value) if (!visit(item, depth + 1)) return false;
      return true;
    }
    for (const key in value) {
      if (key.includes("\x7f") || !visit((value as Record<string, JsonValue>)[key]!, depth + 1)) return false;
    }
    return true;
  };
  return visit(root as JsonValue, 0);
}

/** Characters of a part of a long text. */
const PART = 1 << 16;

function open(value: object): Level {
  if (Array.isArray(value)) return { items: value as readonly JsonValue[], keys: undefined, next: 0 };
  return { items: Object.values(value), keys: Object.keys(value), next: 0 };
}
