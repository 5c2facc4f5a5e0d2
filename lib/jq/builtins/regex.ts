/** Regular expressions. In linear time with RE2; patterns that it lacks go to JavaScript's, with bounds. */
import type { JsonValue } from "../../base/json.ts";
import { RE2JS } from "../../deps/re2js.ts";
import type { Native } from "../compile/contract.ts";
import type { Machine } from "../machine/machine.ts";
import { JqLimitError } from "../errors.ts";
import { forJavaScript, mostCharacters } from "./_backtracking.ts";
import { countCharacters, describe, fail, isArray } from "../values/kinds.ts";

/** Characters of a text times steps of a pattern: up to some 200 ms, in which nothing else can run. */
const MOST_WORK = 4_000_000;

/** What `(?=…)`, `(?<!…)`, `\1` and `\k<a>` have in common: RE2 lacks them. */
const BEYOND_RE2 = /\(\?(?:[=!]|<[=!])|\\[1-9]|\\k</;

/** A match; offsets in UTF-16 units, -1 for a group that took no part. */
interface Found {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly { readonly start: number; readonly end: number }[];
}

interface Pattern {
  readonly names: readonly (string | null)[];
  /** Whether it is in a text, where that can be told faster than by looking for the place. */
  readonly test?: (text: string) => boolean;
  /** Looks in a text, from an offset on. */
  finder(text: string): (from: number) => Found | undefined;
}

const PATTERNS = new Map<string, Pattern>();

/** How many compiled patterns are kept. */
const KEPT = 100;

interface Flags {
  readonly global: boolean;
  readonly skipEmpty: boolean;
  readonly compile: string;
}

function readFlags(flags: JsonValue): Flags {
  if (flags === null) return { global: false, skipEmpty: false, compile: "" };
  if (typeof flags !== "string") return fail(`${describe(flags)} is not a string`);
  for (const flag of flags) if (!"gimnpslx".includes(flag)) fail(`${flags} is not a valid modifier string`);
  return {
    global: flags.includes("g"),
    skipEmpty: flags.includes("n"),
    // In jq only `p` makes a point match a line's end; `s` is about `^` and `$`, which never match there anyway.
    compile: ["i", "x", "l", "p"].filter((flag) => flags.includes(flag)).join(""),
  };
}

function compilePattern(source: string, flags: string): Pattern {
  const key = `${flags}/${source}`;
  let pattern = PATTERNS.get(key);
  if (pattern === undefined) {
    const plain = flags.includes("x") ? withoutSpace(source) : source;
    try {
      pattern = LITERAL.test(plain) && !flags.includes("i")
        ? literal(plain)
        : BEYOND_RE2.test(plain)
        ? fallback(plain, flags)
        : linear(plain, flags);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return fail(`${source} (at offset 0) is not a valid regex: ${error.message.replace(/^[^:]*: /, "")}`);
    }
    if (PATTERNS.size >= KEPT) PATTERNS.delete(PATTERNS.keys().next().value!);
    PATTERNS.set(key, pattern);
  }
  return pattern;
}

/** A pattern of the `x` flag without its space and comments. */
function withoutSpace(source: string): string {
  return source.replace(/\\[^]|\[(?:\\[^]|[^\]\\])*\]|\s+|#[^\n]*/g, (part) => /^(?:\s|#)/.test(part) ? "" : part);
}

/** A pattern that is only what it says, such as `, `. */
const LITERAL = /^[^\\^$.|?*+()[\]{}]+$/;

/** A plain text: found as fast as any, however long the other one is. */
function literal(source: string): Pattern {
  return {
    names: [],
    test: (text) => text.includes(source),
    finder: (text) => (from) => {
      const start = text.indexOf(source, from);
      return start < 0 ? undefined : { start, end: start + source.length, groups: [] };
    },
  };
}

function requireWork(work: number, text: string, source: string): void {
  if (work <= MOST_WORK) return;
  throw new JqLimitError("regex", `a text of ${text.length} characters is too long for the pattern ${source}`);
}

/** The group that takes a line break behind `$`, which is not part of the match. */
const BREAK = "lait_break";

/** What parts a name from how many groups before have it. */
const AGAIN = "_lait_again_";

function linear(source: string, flags: string): Pattern {
  let mode = 0;
  if (flags.includes("i")) mode |= RE2JS.CASE_INSENSITIVE;
  if (flags.includes("p")) mode |= RE2JS.DOTALL;
  if (flags.includes("l")) mode |= RE2JS.LONGEST_MATCH;
  const compiled = RE2JS.compile(translate(source), mode);
  const namesOf = Object.entries(compiled.namedGroups());
  const breaks = namesOf.filter(([name]) => name.startsWith(BREAK)).map(([, index]) => Number(index));
  const groups = Array.from({ length: compiled.groupCount() }, (_, index) => index + 1)
    .filter((index) => !breaks.includes(index));
  const names = groups.map((group) =>
    namesOf.find(([, index]) => Number(index) === group)?.[0].split(AGAIN)[0] ?? null
  );
  return {
    names,
    test(text) {
      requireWork(text.length * compiled.programSize() / 4, text, source);
      return compiled.test(text);
    },
    finder(text) {
      requireWork(text.length * compiled.programSize(), text, source);
      const matcher = compiled.matcher(text);
      return (from) => {
        if (!matcher.find(from)) return undefined;
        const cut = breaks.map((group) => matcher.start(group)).find((start) => start >= 0) ?? Infinity;
        const range = (group: number) => ({
          start: Math.min(matcher.start(group), cut),
          end: Math.min(matcher.end(group), cut),
        });
        return { ...range(0), groups: groups.map(range) };
      };
    },
  };
}

/** Oniguruma's classes are those of Unicode. */
const CLASSES: Readonly<Record<string, string>> = {
  "\\d": "\\p{Nd}",
  "\\w": "\\p{L}\\p{M}\\p{N}\\p{Pc}",
  "\\s": "\\s\\x0b\\x{85}\\p{Z}",
  "[:alpha:]": "\\p{L}\\p{M}",
  "[:digit:]": "\\p{Nd}",
  "[:alnum:]": "\\p{L}\\p{M}\\p{Nd}",
  "[:upper:]": "\\p{Lu}",
  "[:lower:]": "\\p{Ll}",
  "[:space:]": "\\s\\x0b\\x{85}\\p{Z}",
};

/** Escapes that RE2 does not know; other letters stand for themselves in Oniguruma. */
const ESCAPES: Readonly<Record<string, string>> = {
  "\\e": "\\x1b",
  "\\R": "(?:\\r\\n|[\\n\\x0b\\f\\r\\x{85}\\x{2028}\\x{2029}])",
};

const PLAIN_LETTER = /^\\[hHuUiIjJlLmMoOqTyYVF]$/;

function translate(source: string): string {
  let ends = 0;
  const seen = new Map<string, number>();
  return source.replace(
    /\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\\[^]|\$|\(\?#[^)]*\)|\(\?<([A-Za-z_]\w*)>/g,
    (part, name?: string) => {
      if (part.startsWith("(?#")) return "";
      if (name !== undefined) {
        // A name may be used again: as in jq, the last group that has it counts.
        const times = (seen.get(name) ?? 0) + 1;
        seen.set(name, times);
        return times === 1 ? part : `(?P<${name}${AGAIN}${times}>`;
      }
      // As in jq, the end may be before a last line break.
      if (part === "$" || part === "\\Z") return `(?:\\z|(?P<${BREAK}${ends++}>\\n)\\z)`;
      if (part.startsWith("[")) return part.replace(/\\[dws]|\\\\|\[:\w+:\]/g, (one) => CLASSES[one] ?? one);
      const letter = part[1]!;
      const lower = `\\${letter.toLowerCase()}`;
      if (Object.hasOwn(ESCAPES, part)) return ESCAPES[part]!;
      if (PLAIN_LETTER.test(part)) return letter;
      if (!Object.hasOwn(CLASSES, lower)) return part;
      return `[${letter === letter.toLowerCase() ? "" : "^"}${CLASSES[lower]}]`;
    },
  );
}

function fallback(source: string, flags: string): Pattern {
  const most = mostCharacters(source);
  const compiled = new RegExp(
    forJavaScript(source),
    `dgu${flags.includes("i") ? "i" : ""}${flags.includes("p") ? "s" : ""}`,
  );
  const count = new RegExp(`${forJavaScript(source)}|`, "u").exec("")!.length - 1;
  const names: (string | null)[] = new Array(count).fill(null);
  // Groups are numbered by their opening brackets; what a name's own number is only shows in the source.
  let index = 0;
  for (const [part, name] of source.matchAll(/\\[^]|\[(?:\\[^]|[^\]\\])*\]|\((?!\?)|\(\?<([A-Za-z_]\w*)>/g)) {
    if (part.startsWith("(")) names[index++] = name ?? null;
  }
  return {
    names,
    finder(text) {
      if (text.length > most) {
        throw new JqLimitError(
          "regex",
          `look-around and back-references, as in ${source}, cannot be used on more than ${most} characters`,
        );
      }
      return (from) => {
        compiled.lastIndex = from;
        const match = compiled.exec(text);
        if (match === null) return undefined;
        const ranges = match.indices!;
        return {
          start: match.index,
          end: match.index + match[0].length,
          groups: names.map((_, at) => {
            const range = ranges[at + 1];
            return range === undefined ? { start: -1, end: -1 } : { start: range[0], end: range[1] };
          }),
        };
      };
    },
  };
}

/** The arguments of `match` and of those like it: a pattern, or an array of pattern and flags. */
function readPattern(pattern: JsonValue, flags: JsonValue): { pattern: Pattern; flags: Flags } {
  let [source, given] = [pattern, flags];
  if (isArray(pattern)) [source, given] = [pattern[0] ?? null, pattern[1] ?? flags];
  if (typeof source !== "string") {
    return fail(
      `${describe(source)} cannot be matched, as it is not a string`,
    );
  }
  const read = readFlags(given);
  return { pattern: compilePattern(source, read.compile), flags: read };
}

function* matches(text: string, pattern: Pattern, flags: Flags): Generator<Found, undefined> {
  const find = pattern.finder(text);
  for (let from = 0; from <= text.length;) {
    const found = find(from);
    if (found === undefined) return;
    const empty = found.end === found.start;
    if (!empty || !flags.skipEmpty) yield found;
    if (!flags.global) return;
    from = empty ? found.end + (text.codePointAt(found.end)! > 0xffff ? 2 : 1) : found.end;
  }
}

function requireText(input: JsonValue): string {
  return typeof input === "string" ? input : fail(`${describe(input)} cannot be matched, as it is not a string`);
}

/** Turns offsets, which hardly ever fall, into characters. */
function counter(text: string): (offset: number) => number {
  let at = 0;
  let count = 0;
  return (offset) => {
    if (offset < at) return count - countCharacters(text.slice(offset, at));
    count += countCharacters(text.slice(at, offset));
    at = offset;
    return count;
  };
}

/** What `match` gives, one at a time. */
function* matchObjects(input: JsonValue, re: JsonValue, flags: JsonValue): Generator<JsonValue, undefined> {
  const text = requireText(input);
  const { pattern, flags: read } = readPattern(re, flags);
  const offsetOf = counter(text);
  for (const { start, end, groups } of matches(text, pattern, read)) {
    const string = text.slice(start, end);
    const offset = offsetOf(start);
    const captures = groups.map((group, index) => {
      const name = pattern.names[index] ?? null;
      if (group.start < 0) return { offset: -1, length: 0, string: null, name };
      const part = text.slice(group.start, group.end);
      const before = countCharacters(text.slice(start, Math.max(start, group.start)));
      return { offset: offset + before, length: countCharacters(part), string: part, name };
    });
    yield { offset, length: countCharacters(string), string, captures };
  }
}

function named(names: readonly (string | null)[], groups: Found["groups"], text: string): JsonValue {
  const entries = names.flatMap((name, index): [string, string | null][] => {
    const { start, end } = groups[index]!;
    return name === null ? [] : [[name, start < 0 ? null : text.slice(start, end)]];
  });
  return Object.fromEntries(entries);
}

function test(machine: Machine, input: JsonValue, re: JsonValue, flags: JsonValue): JsonValue {
  const text = requireText(input);
  const { pattern, flags: read } = readPattern(re, flags);
  machine.toil(text.length);
  if (pattern.test !== undefined && !read.skipEmpty) return pattern.test(text);
  return !matches(text, pattern, { ...read, global: false }).next().done;
}

/** The text between matches, and each match's captures by name; the last has no match behind it. */
function* pieces(
  input: JsonValue,
  re: JsonValue,
  flags: JsonValue,
  always: Partial<Flags>,
): Generator<JsonValue, undefined> {
  const text = requireText(input);
  const { pattern, flags: read } = readPattern(re, flags);
  let from = 0;
  for (const { start, end, groups } of matches(text, pattern, { ...read, ...always })) {
    yield { gap: text.slice(from, start), captures: named(pattern.names, groups, text) };
    from = end;
  }
  yield { gap: text.slice(from), captures: null };
}

/** Functions with an output for each match, made when it is asked for: there may be many, and each may take long. */
export const MATCHERS: ReadonlyMap<string, (input: JsonValue, re: JsonValue, flags: JsonValue) => Iterator<JsonValue>> =
  new Map([
    ["_match/2", matchObjects],
    ["_pieces/2", (input, re, flags) => pieces(input, re, flags, {})],
    ["_split/2", (input, re, flags) => pieces(input, re, flags, { global: true })],
  ]);

/** By name and number of arguments. */
export const REGEX: readonly (readonly [key: string, native: Native])[] = [
  ["test/2", (machine, input, re, flags) => test(machine, input, re!, flags!)],
  ["_named/0", (_, input) => {
    const { captures } = input as { captures: { name: string | null; string: string | null }[] };
    return Object.fromEntries(captures.flatMap(({ name, string }) => name === null ? [] : [[name, string]]));
  }],
];
