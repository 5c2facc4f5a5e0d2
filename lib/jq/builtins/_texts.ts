/** Functions of texts. */
import type { JsonValue } from "../../base/json.ts";
import type { Native } from "../compile/contract.ts";
import { split } from "../values/arithmetic.ts";
import { countCharacters, describe, fail, isArray, utf8Length } from "../values/kinds.ts";
import { parseJson } from "../values/parse.ts";

/** Every place of one text in another, overlapping ones too; in characters. */
export function textIndices(text: string, wanted: string): JsonValue {
  if (wanted === "") return [];
  const found: number[] = [];
  let counted = 0;
  let characters = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    characters += countCharacters(text.slice(counted, at));
    counted = at;
    found.push(characters);
  }
  return found;
}

function pair(input: JsonValue, other: JsonValue, message: string): [string, string] {
  return typeof input === "string" && typeof other === "string" ? [input, other] : fail(message);
}

const START = "startswith() requires string inputs";
const END = "endswith() requires string inputs";

function withoutStart(input: JsonValue, start: JsonValue): string {
  const [text, prefix] = pair(input, start, START);
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

function withoutEnd(input: JsonValue, end: JsonValue): string {
  const [text, suffix] = pair(input, end, END);
  return suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
}

const SPACE_BEFORE = /^[\s\x85]+/;

function trim(input: JsonValue, start: boolean, end: boolean): string {
  if (typeof input !== "string") return fail("trim input must be a string");
  const text = start ? input.replace(SPACE_BEFORE, "") : input;
  if (!end) return text;
  let last = text.length;
  while (last > 0 && /[\s\x85]/.test(text[last - 1]!)) last--;
  return text.slice(0, last);
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function toNumber(input: JsonValue): JsonValue {
  if (typeof input === "number") return input;
  if (typeof input === "string") {
    if (NUMBER.test(input)) return Number(input);
    if (/^[+-]?nan$/i.test(input)) return NaN;
  }
  return fail(`${describe(input)} cannot be parsed as a number`);
}

function implode(input: JsonValue): JsonValue {
  if (!isArray(input)) return fail("implode input must be an array");
  let text = "";
  for (const item of input) {
    if (typeof item !== "number" || Number.isNaN(item)) {
      return fail(`${describe(item)} can't be imploded, unicode codepoint needs to be numeric`);
    }
    const code = Math.trunc(item);
    text += String.fromCodePoint(code < 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0xfffd : code);
  }
  return text;
}

function requireText(input: JsonValue, message: string): string {
  return typeof input === "string" ? input : fail(message);
}

/** By name and number of arguments. */
export const TEXTS: readonly (readonly [key: string, native: Native])[] = [
  ["utf8bytelength/0", (_, input) => {
    return utf8Length(requireText(input, `${describe(input)} only strings have UTF-8 byte length`));
  }],
  ["tonumber/0", (_, input) => toNumber(input)],
  ["fromjson/0", (machine, input) => {
    const text = requireText(input, `${describe(input)} only strings can be parsed`);
    machine.charge(text.length * 4);
    return parseJson(text, machine.maxDepth);
  }],
  ["explode/0", (machine, input) => {
    const text = requireText(input, "explode input must be a string");
    machine.charge(text.length * 8);
    return Array.from(text, (character) => character.codePointAt(0)!);
  }],
  ["implode/0", (_, input) => implode(input)],
  ["startswith/1", (_, input, start) => {
    const [text, prefix] = pair(input, start!, START);
    return text.startsWith(prefix);
  }],
  ["endswith/1", (_, input, end) => {
    const [text, suffix] = pair(input, end!, END);
    return text.endsWith(suffix);
  }],
  ["ltrimstr/1", (_, input, start) => withoutStart(input, start!)],
  ["rtrimstr/1", (_, input, end) => withoutEnd(input, end!)],
  ["trimstr/1", (_, input, edge) => withoutEnd(withoutStart(input, edge!), edge!)],
  ["trim/0", (_, input) => trim(input, true, true)],
  ["ltrim/0", (_, input) => trim(input, true, false)],
  ["rtrim/0", (_, input) => trim(input, false, true)],
  ["ascii_downcase/0", (_, input) => {
    return requireText(input, "explode input must be a string").replace(/[A-Z]+/g, (part) => part.toLowerCase());
  }],
  ["ascii_upcase/0", (_, input) => {
    return requireText(input, "explode input must be a string").replace(/[a-z]+/g, (part) => part.toUpperCase());
  }],
  ["split/1", (machine, input, separator) => {
    const [text, by] = pair(input, separator!, "split input and separator must be strings");
    machine.charge(text.length * 2);
    return split(text, by);
  }],
  ["_strindices/1", (_, input, wanted) => {
    if (typeof input !== "string") return fail(`${describe(input)} cannot be searched, as it is not a string`);
    if (typeof wanted !== "string") return fail(`${describe(wanted!)} is not a string`);
    return textIndices(input, wanted);
  }],
];
