/** JSON text to values: the native parser, and our own for what jq reads besides (`nan`) and for its messages. */
import { type JsonValue, setOwn } from "../../base/json.ts";
import { atOnce, UNITS, type Work } from "../machine/work.ts";
import { fail } from "./kinds.ts";

/** Parses one value. Fails with jq's message, which quotes the text. */
export function parseJson(text: string, maxDepth: number): JsonValue {
  return atOnce(parsing(text, maxDepth));
}

/** Characters that the native parser, which cannot pause, is given: some fifty milliseconds. */
const NATIVE = 4 * 1024 * 1024;

/** `parseJson` in parts. */
export function* parsing(text: string, maxDepth: number): Work<JsonValue> {
  const source = text.startsWith("\ufeff") ? text.slice(1) : text;
  if (source.length <= NATIVE) {
    if (source.length >= maxDepth && nestsDeeper(source, maxDepth)) {
      fail(`Exceeds depth limit for parsing at line 1, column ${maxDepth} (while parsing '${text}')`);
    }
    try {
      return JSON.parse(source) as JsonValue;
    } catch {
      // It may still be what jq reads.
    }
  }
  const values: JsonValue[] = [];
  try {
    for (const value of parseJsonParts(source, maxDepth)) {
      if (value === undefined) yield;
      else values.push(value);
    }
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    fail(`${error.message} (while parsing '${text}')`);
  }
  if (values.length === 0) fail(`Expected JSON value (while parsing '${text}')`);
  if (values.length > 1) fail(`Unexpected extra JSON values (while parsing '${text}')`);
  return values[0]!;
}

function nestsDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === 0x22) {
      for (index++; index < text.length && text.charCodeAt(index) !== 0x22; index++) {
        if (text.charCodeAt(index) === 0x5c) index++;
      }
    } else if (unit === 0x5b || unit === 0x7b) {
      // One less than values may have: as in jq, where what was parsed can be wrapped once and printed.
      if (++depth >= maxDepth) return true;
    } else if (unit === 0x5d || unit === 0x7d) depth--;
  }
  return false;
}

/** What is wrong with a JSON text. */
export class JsonFault extends Error {}

interface Open {
  readonly value: JsonValue[] | Record<string, JsonValue>;
  /** The key whose value is read. */
  key: string | undefined;
}

// deno-lint-ignore no-control-regex
const SPACES = /[ \t\r\n\x1e]*/y;
const TEXT = /"(?:[^"\\]|\\[^])*"/y;
const WORD = /[^\s"'[\]{},:]+/y;
const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const WORDS = new Map<string, JsonValue>([
  ["null", null],
  ["true", true],
  ["false", false],
  ["nan", NaN],
  ["-nan", NaN],
  ["NaN", NaN],
  ["-NaN", NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
]);

/** Every value of a text that holds several, one behind another. */
export function* parseJsonValues(text: string, maxDepth: number): Generator<JsonValue> {
  for (const value of parseJsonParts(text, maxDepth)) if (value !== undefined) yield value;
}

/** The same, with undefined every now and then. `before` is where the text starts, for faults. */
export function* parseJsonParts(
  text: string,
  maxDepth: number,
  before: { readonly line: number; readonly column: number } = { line: 1, column: 0 },
): Generator<JsonValue | undefined> {
  const stack: Open[] = [];
  let at = 0;
  const place = (offset: number) => {
    const read = text.slice(0, offset);
    const lines = read.split("\n").length;
    const column = offset - read.lastIndexOf("\n") - 1 + (lines === 1 ? before.column : 0);
    return `line ${before.line + lines - 1}, column ${column}`;
  };
  const fault = (message: string, offset: number): never => {
    throw new JsonFault(`${message} at ${place(offset)}`);
  };
  /** Whether a value may come now, not a comma, a colon or an end. */
  let ready = true;
  for (let round = 1;; round++) {
    if (round % UNITS === 0) yield undefined;
    SPACES.lastIndex = at;
    SPACES.test(text);
    at = SPACES.lastIndex;
    const top = stack.at(-1);
    if (at >= text.length) {
      if (stack.length > 0) throw new JsonFault(`Unfinished JSON term at EOF at ${place(at)}`);
      return;
    }
    const mark = text[at]!;
    let value: JsonValue | undefined;
    if (mark === "[" || mark === "{") {
      if (!ready) fault("Expected separator between values", at + 1);
      if (stack.length + 1 >= maxDepth) fault("Exceeds depth limit for parsing", at + 1);
      stack.push({ value: mark === "[" ? [] : {}, key: undefined });
      at++;
      continue;
    } else if (mark === "]" || mark === "}") {
      if (top === undefined || Array.isArray(top.value) !== (mark === "]")) fault(`Unmatched '${mark}'`, at + 1);
      const empty = Array.isArray(top!.value) ? top!.value.length === 0 : Object.keys(top!.value).length === 0;
      if (ready && !(empty && top!.key === undefined)) {
        fault(mark === "]" ? "Expected another array element" : "Objects must consist of key:value pairs", at + 1);
      }
      stack.pop();
      at++;
      value = top!.value;
      ready = true;
    } else if (mark === "," || mark === ":") {
      if (ready || top === undefined || mark === ":") fault(`Unexpected '${mark}'`, at + 1);
      ready = true;
      at++;
      continue;
    } else if (mark === '"') {
      TEXT.lastIndex = at;
      const literal = TEXT.exec(text)?.[0];
      if (literal === undefined) throw new JsonFault(`Unfinished string at EOF at ${place(text.length)}`);
      at += literal.length;
      try {
        // Control characters may stand in a text, as in jq.
        value = JSON.parse(
          // deno-lint-ignore no-control-regex
          literal.replace(/[\x00-\x1f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
        ) as string;
      } catch {
        fault("Invalid escape", at);
      }
    } else {
      WORD.lastIndex = at;
      const word = WORD.exec(text)?.[0] ?? mark;
      const end = at + word.length;
      if (mark === "'") {
        const quoteEnd = /[\s"[\]{},:]/g;
        quoteEnd.lastIndex = at;
        fault(`Invalid string literal; expected ", but got '`, (quoteEnd.exec(text)?.index ?? end - 1) + 1);
      }
      value = WORDS.has(word) ? WORDS.get(word)! : NUMBER.test(word) ? Number(word) : undefined;
      if (value === undefined) {
        const what = /^(?:t|f|nu)/.test(word) ? "Invalid literal" : "Invalid numeric literal";
        if (end >= text.length) throw new JsonFault(`${what} at EOF at ${place(end)}`);
        fault(what, end + 1);
      }
      at = end;
    }
    if (!ready) fault("Expected separator between values", at);
    const parent = stack.at(-1);
    if (parent === undefined) yield value!;
    else if (Array.isArray(parent.value)) {
      parent.value.push(value!);
      ready = false;
    } else if (parent.key === undefined) {
      if (typeof value !== "string") fault("Object keys must be strings", at);
      SPACES.lastIndex = at;
      SPACES.test(text);
      at = SPACES.lastIndex;
      if (text[at] !== ":") {
        if (at >= text.length) throw new JsonFault(`Unfinished JSON term at EOF at ${place(at)}`);
        fault("Objects must consist of key:value pairs", at + 1);
      }
      at++;
      parent.key = value as string;
    } else {
      setOwn(parent.value, parent.key, value!);
      parent.key = undefined;
      ready = false;
    }
  }
}
