/** Functions of texts. */
import type { JsonValue } from "../../base/json.ts";
import type { Native } from "../compile/contract.ts";
import { split } from "../values/arithmetic.ts";
import { UNITS, type Work } from "../machine/work.ts";
import type { Growth } from "../values/paths.ts";
import { convert } from "./formats.ts";
import { countCharacters, describe, fail, isArray, utf8Length } from "../values/kinds.ts";
import { parsing } from "../values/parse.ts";

/** Every place of one text in another, overlapping ones too; in characters. */
export function* findingText(text: string, wanted: string, growth: Growth): Work<JsonValue> {
  const found: number[] = [];
  if (wanted === "") return found;
  let counted = 0;
  let characters = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    characters += countCharacters(text.slice(counted, at));
    counted = at;
    found.push(characters);
    if (found.length % UNITS === 0) {
      growth.charge(UNITS * 8);
      yield;
    }
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

const isSpace = (unit: number): boolean =>
  unit === 0x20 || (unit >= 9 && unit <= 13) || (unit > 0x7f && SPACE.test(String.fromCharCode(unit)));

const SPACE = /[\s\x85]/;

function trim(input: JsonValue, start: boolean, end: boolean): string {
  if (typeof input !== "string") return fail("trim input must be a string");
  let first = 0;
  let last = input.length;
  if (start) { while (first < last && isSpace(input.charCodeAt(first))) first++; }
  if (end) { while (last > first && isSpace(input.charCodeAt(last - 1))) last--; }
  return input.slice(first, last);
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

function* imploding(items: readonly JsonValue[]): Work<JsonValue> {
  const parts: string[] = [];
  let text = "";
  for (const [index, item] of items.entries()) {
    if (typeof item !== "number" || Number.isNaN(item)) {
      return fail(`${describe(item)} can't be imploded, unicode codepoint needs to be numeric`);
    }
    const code = Math.trunc(item);
    text += String.fromCodePoint(code < 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0xfffd : code);
    if (index % UNITS === UNITS - 1) {
      parts.push(text);
      text = "";
      yield;
    }
  }
  return parts.join("") + text;
}

function* exploding(text: string): Work<JsonValue> {
  const found: number[] = [];
  for (const character of text) {
    if (found.push(character.codePointAt(0)!) % UNITS === 0) yield;
  }
  return found;
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
    return machine.perform(parsing(text, machine.maxDepth));
  }],
  ["explode/0", (machine, input) => {
    const text = requireText(input, "explode input must be a string");
    machine.charge(text.length * 8);
    return machine.perform(exploding(text));
  }],
  ["implode/0", (machine, input) => {
    return isArray(input) ? machine.perform(imploding(input)) : fail("implode input must be an array");
  }],
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
  ["ascii_downcase/0", (machine, input) => {
    const text = requireText(input, "explode input must be a string");
    return convert(machine, text, (part) => part.replace(/[A-Z]+/g, (run) => run.toLowerCase()));
  }],
  ["ascii_upcase/0", (machine, input) => {
    const text = requireText(input, "explode input must be a string");
    return convert(machine, text, (part) => part.replace(/[a-z]+/g, (run) => run.toUpperCase()));
  }],
  ["split/1", (machine, input, separator) => {
    const [text, by] = pair(input, separator!, "split input and separator must be strings");
    return split(text, by, machine);
  }],
  ["_strindices/1", (machine, input, wanted) => {
    if (typeof input !== "string") return fail(`${describe(input)} cannot be searched, as it is not a string`);
    if (typeof wanted !== "string") return fail(`${describe(wanted!)} is not a string`);
    return machine.perform(findingText(input, wanted, machine));
  }],
];
