/** `@text`, `@json`, `@csv` and their like. */
import type { JsonValue } from "../../base/json.ts";
import type { Machine } from "../machine/machine.ts";
import { describe, fail, isArray } from "../values/kinds.ts";
import { numberText, serialize } from "../values/text.ts";

/** The names of the formats. */
export const FORMATS: readonly string[] = [
  "text",
  "json",
  "csv",
  "tsv",
  "html",
  "uri",
  "urid",
  "sh",
  "base64",
  "base64d",
  "base32",
  "base32d",
];

/** The JSON text of a value, charged to the machine. */
export function jsonText(value: JsonValue, machine: Machine): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return numberText(value);
  const text = serialize(value, { maxDepth: machine.maxDepth, maxLength: machine.limits.resultBytes });
  machine.charge(text.length * 2);
  return text;
}

/** A text as it is, anything else as JSON. */
export function plainText(value: JsonValue, machine: Machine): string {
  return typeof value === "string" ? value : jsonText(value, machine);
}

/** A value in a format. */
export function applyFormat(format: string, value: JsonValue, machine: Machine): string {
  switch (format) {
    case "text":
      return plainText(value, machine);
    case "json":
      return jsonText(value, machine);
    case "csv":
      return row(value, "csv", ",", (text) => `"${text.replaceAll('"', '""')}"`);
    case "tsv":
      return row(value, "tsv", "\t", (text) => text.replace(/[\t\n\r\\]/g, (character) => TSV[character]!));
    case "html":
      return plainText(value, machine).replace(/[<>&'"]/g, (character) => HTML[character]!);
    case "uri":
      return percentEncode(plainText(value, machine));
    case "urid":
      return percentDecode(plainText(value, machine));
    case "sh":
      return (isArray(value) ? value : [value]).map((item) => shellWord(item)).join(" ");
    case "base64":
      return base64(new TextEncoder().encode(plainText(value, machine)));
    case "base64d":
      return base64Decode(plainText(value, machine));
    case "base32":
      return base32(new TextEncoder().encode(plainText(value, machine)));
    default:
      return base32Decode(plainText(value, machine));
  }
}

const TSV: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\" };
const HTML: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
  "'": "&apos;",
  '"': "&quot;",
};

function row(value: JsonValue, format: string, separator: string, escape: (text: string) => string): string {
  if (!isArray(value)) return fail(`${describe(value)} cannot be ${format}-formatted, only array`);
  return value.map((item) => {
    if (item === null) return "";
    if (typeof item === "number") return Number.isNaN(item) ? "" : numberText(item);
    if (typeof item === "string") return escape(item);
    return typeof item === "boolean" ? String(item) : fail(`${describe(item)} is not valid in a csv row`);
  }).join(separator);
}

function shellWord(value: JsonValue): string {
  if (typeof value === "string") return `'${value.replaceAll("'", "'\\''")}'`;
  if (typeof value === "object" && value !== null) return fail(`${describe(value)} can not be escaped for shell`);
  return typeof value === "number" ? numberText(value) : String(value);
}

function percentEncode(text: string): string {
  let result = "";
  for (const byte of new TextEncoder().encode(text)) {
    const character = String.fromCharCode(byte);
    result += /[A-Za-z0-9\-_.~]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return result;
}

function percentDecode(text: string): string {
  const bytes: number[] = [];
  const source = new TextEncoder().encode(text);
  for (let index = 0; index < source.length; index++) {
    if (source[index] !== 0x25) {
      bytes.push(source[index]!);
      continue;
    }
    const digits = String.fromCharCode(source[index + 1] ?? 0, source[index + 2] ?? 0);
    if (!/^[0-9a-fA-F]{2}$/.test(digits)) fail(`${describe(text)} is not a valid uri encoding`);
    bytes.push(parseInt(digits, 16));
    index += 2;
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Groups of `bits` bits as letters, filled up to whole groups of bytes. */
function encode(bytes: Uint8Array, letters: string, bits: number, group: number): string {
  let result = "";
  let buffer = 0;
  let held = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    held += 8;
    while (held >= bits) {
      held -= bits;
      result += letters[(buffer >> held) & (letters.length - 1)];
    }
    buffer &= (1 << held) - 1;
  }
  if (held > 0) result += letters[(buffer << (bits - held)) & (letters.length - 1)];
  return result.padEnd(Math.ceil(result.length / group) * group, "=");
}

/** The bytes that letters stand for; undefined when one of them stands for nothing. */
function decode(text: string, letters: string, bits: number): Uint8Array<ArrayBuffer> | undefined {
  const bytes: number[] = [];
  let buffer = 0;
  let held = 0;
  for (const letter of text.replace(/=+$/, "")) {
    const value = letters.indexOf(letter);
    if (value < 0) return undefined;
    buffer = (buffer << bits) | value;
    held += bits;
    if (held >= 8) {
      held -= 8;
      bytes.push((buffer >> held) & 255);
      buffer &= (1 << held) - 1;
    }
  }
  return new Uint8Array(bytes);
}

const base64 = (bytes: Uint8Array): string => encode(bytes, BASE64, 6, 4);
const base32 = (bytes: Uint8Array): string => encode(bytes, BASE32, 5, 8);

function base64Decode(text: string): string {
  const bytes = decode(text, BASE64, 6);
  if (bytes === undefined || (bytes.length === 0 && /[^=]/.test(text))) {
    return fail(`${describe(text)} is not valid base64 data`);
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function base32Decode(text: string): string {
  const bytes = decode(text, BASE32, 5);
  if (bytes === undefined) return fail(`${describe(text)} is not valid base32 data`);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
