/** Values to JSON text, with jq's numbers. */
import type { JsonValue } from "../../base/json.ts";
import { JqLimitError } from "../errors.ts";

/** How values are written. */
export interface SerializeOptions {
  /** Levels that are written; what is deeper becomes `<skipped: too deep>`. */
  readonly maxDepth?: number;
  /** Characters after which writing fails with a limit error. */
  readonly maxLength?: number;
  /** Spaces for each level; 0 is one line. Default: 0. */
  readonly indent?: number;
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
  if (value === null) return "null";
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return numberText(value);
  if (typeof value !== "object") return String(value);
  const { maxDepth = Infinity, maxLength = Infinity, indent = 0 } = options;
  const levels: Level[] = [open(value)];
  /** Finished parts; many small ones joined one by one take several times the memory of their text. */
  const parts: string[] = [];
  let length = 0;
  let text = levels[0]!.keys === undefined ? "[" : "{";
  const breakLine = () => indent === 0 ? "" : `\n${" ".repeat(indent * levels.length)}`;
  for (let level = levels[0]; level !== undefined; level = levels.at(-1)) {
    if (text.length > PART) {
      length += text.length;
      // Looking at a character makes V8 lay the text out in one piece.
      text.charCodeAt(0);
      parts.push(text);
      text = "";
      if (length > maxLength) {
        throw new JqLimitError("resultBytes", `a value's text would be longer than ${maxLength} characters`);
      }
    }
    const index = level.next++;
    if (index >= level.items.length) {
      levels.pop();
      if (level.items.length > 0) text += breakLine();
      text += level.keys === undefined ? "]" : "}";
      continue;
    }
    text += index > 0 ? `,${breakLine()}` : breakLine();
    if (level.keys !== undefined) {
      text += indent === 0 ? `${quoted(level.keys[index]!)}:` : `${quoted(level.keys[index]!)}: `;
    }
    const item = level.items[index]!;
    if (item === null) text += "null";
    else if (typeof item === "string") text += quoted(item);
    else if (typeof item === "number") text += numberText(item);
    else if (typeof item !== "object") text += String(item);
    else if (levels.length >= maxDepth) text += "<skipped: too deep>";
    else {
      const inner = open(item);
      text += inner.keys === undefined ? "[" : "{";
      levels.push(inner);
    }
  }
  parts.push(text);
  return parts.join("");
}

/** Characters of a part of a long text. */
const PART = 1 << 16;

function open(value: object): Level {
  if (Array.isArray(value)) return { items: value as readonly JsonValue[], keys: undefined, next: 0 };
  return { items: Object.values(value), keys: Object.keys(value), next: 0 };
}
