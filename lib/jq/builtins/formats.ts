/** `@text`, `@json`, `@csv` and their like. */
import type { JsonValue } from "../../base/json.ts";
import type { Machine } from "../machine/machine.ts";
import { UNITS, type Work } from "../machine/work.ts";
import { requireLength } from "../values/arithmetic.ts";
import { describe, fail, isArray } from "../values/kinds.ts";
import type { Growth } from "../values/paths.ts";
import { numberText, serializing } from "../values/text.ts";

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
  const text = machine.perform(
    serializing(value, { maxDepth: machine.maxDepth, maxLength: machine.limits.resultBytes }),
  );
  machine.charge(text.length * 2);
  return text;
}

/** A text as it is, anything else as JSON. */
export function plainText(value: JsonValue, machine: Machine): string {
  return typeof value === "string" ? value : jsonText(value, machine);
}

/** Characters that are converted in one go; a multiple of what groups of base64 and base32 stand for. */
const PIECE = 15 * 4096;

/** Converts a text piece by piece. A pair of surrogates is never parted. */
export function convert(machine: Machine, text: string, change: (piece: string) => string): string {
  if (text.length > PIECE) return machine.perform(converting(text, change, machine));
  const result = change(text);
  machine.charge(result.length * 2);
  return result;
}

function* converting(text: string, change: (piece: string) => string, growth: Growth): Work<string> {
  const parts: string[] = [];
  let length = 0;
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + PIECE);
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--;
    const part = change(text.slice(start, end));
    requireLength(length += part.length);
    growth.charge(part.length * 2);
    parts.push(part);
    start = end;
    yield;
  }
  return parts.join("");
}

/** Converts the UTF-8 bytes of a text piece by piece. */
function encoded(machine: Machine, text: string, change: (bytes: Uint8Array) => string): string {
  machine.charge(text.length);
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= PIECE) return change(bytes);
  return machine.perform(encoding(bytes, change, machine));
}

function* encoding(bytes: Uint8Array, change: (bytes: Uint8Array) => string, growth: Growth): Work<string> {
  const parts: string[] = [];
  let length = 0;
  for (let start = 0; start < bytes.length; start += PIECE) {
    const part = change(bytes.subarray(start, start + PIECE));
    requireLength(length += part.length);
    growth.charge(part.length * 2);
    parts.push(part);
    yield;
  }
  return parts.join("");
}

/** A value in a format. */
export function applyFormat(format: string, value: JsonValue, machine: Machine): string {
  switch (format) {
    case "text":
      return plainText(value, machine);
    case "json":
      return jsonText(value, machine);
    case "csv":
      return row(
        machine,
        value,
        "csv",
        ",",
        (text) => `"${convert(machine, text, (part) => part.replaceAll('"', '""'))}"`,
      );
    case "tsv":
      return row(
        machine,
        value,
        "tsv",
        "\t",
        (text) => convert(machine, text, (part) => part.replace(/[\t\n\r\\]/g, (character) => TSV[character]!)),
      );
    case "html":
      return convert(
        machine,
        plainText(value, machine),
        (part) => part.replace(/[<>&'"]/g, (character) => HTML[character]!),
      );
    case "uri":
      return convert(machine, plainText(value, machine), percentEncode);
    case "urid":
      return percentDecode(machine, plainText(value, machine));
    case "sh":
      return joined(machine, isArray(value) ? value : [value], " ", (item) => shellWord(machine, item));
    case "base64":
      return encoded(machine, plainText(value, machine), base64);
    case "base64d":
      return base64Decode(machine, plainText(value, machine));
    case "base32":
      return encoded(machine, plainText(value, machine), base32);
    default:
      return base32Decode(machine, plainText(value, machine));
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

/** Items as text with something between them. */
function joined(machine: Machine, items: readonly JsonValue[], separator: string, textOf: (item: JsonValue) => string) {
  // Each item may be a long step of its own, and steps cannot be within steps: so only these are one.
  const parts = items.map(textOf);
  const length = parts.reduce((sum, part) => sum + part.length + separator.length, 0);
  requireLength(length);
  machine.charge(length * 2);
  return parts.join(separator);
}

function row(
  machine: Machine,
  value: JsonValue,
  format: string,
  separator: string,
  escape: (text: string) => string,
): string {
  if (!isArray(value)) return fail(`${describe(value)} cannot be ${format}-formatted, only array`);
  return joined(machine, value, separator, (item) => {
    if (item === null) return "";
    if (typeof item === "number") return Number.isNaN(item) ? "" : numberText(item);
    if (typeof item === "string") return escape(item);
    return typeof item === "boolean" ? String(item) : fail(`${describe(item)} is not valid in a csv row`);
  });
}

function shellWord(machine: Machine, value: JsonValue): string {
  if (typeof value === "string") return `'${convert(machine, value, (part) => part.replaceAll("'", "'\\''"))}'`;
  if (typeof value === "object" && value !== null) return fail(`${describe(value)} can not be escaped for shell`);
  return typeof value === "number" ? numberText(value) : String(value);
}

function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function percentDecode(machine: Machine, text: string): string {
  machine.charge(text.length * 2);
  return machine.perform(decodingPercents(text));
}

function* decodingPercents(text: string): Work<string> {
  const source = new TextEncoder().encode(text);
  const bytes = new Uint8Array(source.length);
  let length = 0;
  for (let index = 0; index < source.length; index++) {
    if (index % (UNITS * 8) === 0) yield;
    if (source[index] === 0x25) {
      const digits = String.fromCharCode(source[index + 1] ?? 0, source[index + 2] ?? 0);
      if (!/^[0-9a-fA-F]{2}$/.test(digits)) fail(`${describe(text)} is not a valid uri encoding`);
      bytes[length++] = parseInt(digits, 16);
      index += 2;
    } else bytes[length++] = source[index]!;
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, length));
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
function* decoding(text: string, letters: string, bits: number): Work<Uint8Array<ArrayBuffer> | undefined> {
  const bytes = new Uint8Array(Math.ceil(text.length * bits / 8));
  let length = 0;
  let buffer = 0;
  let held = 0;
  const fill = text.indexOf("=");
  const end = fill < 0 ? text.length : fill;
  for (let index = 0; index < end; index++) {
    if (index % (UNITS * 8) === UNITS) yield;
    const value = letters.indexOf(text[index]!);
    if (value < 0) return undefined;
    buffer = (buffer << bits) | value;
    held += bits;
    if (held >= 8) {
      held -= 8;
      bytes[length++] = (buffer >> held) & 255;
      buffer &= (1 << held) - 1;
    }
  }
  return bytes.subarray(0, length);
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += 8192) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 8192));
  }
  return btoa(binary);
}

const base32 = (bytes: Uint8Array): string => encode(bytes, BASE32, 5, 8);

function base64Decode(machine: Machine, text: string): string {
  machine.charge(text.length * 2);
  const bytes = machine.perform(decoding(text, BASE64, 6));
  if (bytes === undefined) return fail(`${describe(text)} is not valid base64 data`);
  const fill = text.indexOf("=");
  if ((fill < 0 ? text.length : fill) % 4 === 1) return fail(`${describe(text)} trailing base64 byte found`);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function base32Decode(machine: Machine, text: string): string {
  machine.charge(text.length * 2);
  const bytes = machine.perform(decoding(text, BASE32, 5));
  if (bytes === undefined) return fail(`${describe(text)} is not valid base32 data`);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
