/** Random jq programs and inputs, of the language that jq 1.7 and ours have in common. */
import type { Random } from "../_support/random.ts";

/** Keys of inputs, and of what programs look for. */
const KEYS = ["a", "b", "c"];

/** A random JSON value. */
export function randomValue(random: Random, depth = 3): unknown {
  const kind = random.below(depth > 0 ? 9 : 6);
  if (kind === 0) return null;
  if (kind === 1) return random.below(2) === 0;
  if (kind <= 3) return random.pick([0, 1, 2, 3, -1, 10, 1.5, -2.5]);
  if (kind <= 5) return random.pick(["", "a", "b", "ab", "xyz", "aXbX", "1", "é😀", "a b", "A,b"]);
  const items = Array.from({ length: random.below(4) }, () => randomValue(random, depth - 1));
  if (kind === 6) return items;
  return Object.fromEntries(items.map((item, index) => [KEYS[index]!, item]));
}

/** A random program. */
export class Programs {
  readonly #random: Random;
  /** Variables, functions and labels that can be used here. */
  #variables: string[] = [];
  #functions: string[] = [];
  #labels: string[] = [];
  #fresh = 0;

  /** Chooses with this. */
  constructor(random: Random) {
    this.#random = random;
  }

  /** A whole program. */
  program(): string {
    return this.#pipe(3);
  }

  #pipe(depth: number): string {
    const random = this.#random;
    const stages = Array.from({ length: 1 + random.below(3) }, () => this.#term(depth));
    return stages.join(" | ");
  }

  #term(depth: number): string {
    const random = this.#random;
    if (depth <= 0) return this.#leaf();
    const inner = () => this.#term(depth - 1);
    const whole = () => this.#pipe(depth - 1);
    switch (random.below(24)) {
      case 0:
      case 1:
      case 2:
        return this.#leaf();
      case 3:
        return `(${inner()}, ${inner()})`;
      case 4:
      case 5:
        return `(${inner()} ${random.pick(["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="])} ${inner()})`;
      case 6:
        return `(${inner()} ${random.pick(["and", "or", "//"])} ${inner()})`;
      case 7:
        return random.pick([
          () => `[${whole()}]`,
          () => `{a: (${inner()}), (${random.pick(['"b"', ".a", '"x","y"'])}): (${inner()})}`,
        ])();
      case 8:
        return `(if ${inner()} then ${whole()} ${
          random.pick([() => "", () => `else ${whole()}`, () => `elif ${inner()} then ${inner()} else .`])()
        } end)`;
      case 9:
        return `(try (${this.#withoutLabels(whole)}) catch ${random.pick([() => "1", () => '"E"', () => "[1]"])()})`;
      case 10:
        return `${this.#withoutLabels(() => this.#path(depth))}?`;
      case 11:
        return this.#bind(inner(), () => this.#pipe(depth - 1));
      case 12:
        return this.#withoutLabels(() => this.#destructure(depth));
      case 13:
        return this.#fold(depth);
      case 14:
      case 15:
        return `(${this.#path(depth - 1)} ${random.pick(["=", "|=", "+=", "-=", "*=", "//="])} ${inner()})`;
      case 16:
        return this.#define(depth);
      case 17:
        return this.#label(depth);
      case 18:
        return `"${random.pick(["x", ""])}\\(${inner()})-\\(${inner()})"`;
      case 19:
      case 20:
        return this.#withoutLabels(() => this.#withFilter(depth));
      case 21:
        return `${random.pick(["path", "del", '[paths(type == "number")] |= ', "pick"]).replace(/^\[.*/, "path")}(${
          this.#path(depth - 1)
        })`;
      default:
        return this.#path(depth);
    }
  }

  /** jq 1.7 takes `break` for an error to catch, which 1.6 and 1.8 do not. */
  #withoutLabels(make: () => string): string {
    const labels = this.#labels;
    this.#labels = [];
    const text = make();
    this.#labels = labels;
    return text;
  }

  #leaf(): string {
    const random = this.#random;
    const names = [...this.#variables, ...this.#functions, ...this.#labels.map((label) => `break ${label}`)];
    if (names.length > 0 && random.below(3) === 0) return random.pick(names);
    return random.pick([
      ".",
      ".",
      ".a",
      ".b",
      ".[0]",
      ".[-1]",
      ".[]",
      ".[1:]",
      ".[:1]",
      "..",
      "1",
      "0",
      "2.5",
      '"a"',
      '"ab"',
      "null",
      "true",
      "false",
      "[]",
      "{}",
      "[1,2]",
      '{"a":1}',
      "empty",
      'error("x")',
      "length",
      "keys",
      "type",
      "not",
      "add",
      "sort",
      "unique",
      "(arrays | reverse)",
      "tostring",
      "tojson",
      "tonumber",
      "first",
      "last",
      "min",
      "max",
      "flatten",
      "floor",
      "any",
      "all",
      "explode",
      "ascii_downcase",
      "utf8bytelength",
      "transpose",
      "to_entries",
      "paths",
      "tostream",
      "values",
      "scalars",
      "iterables",
      "numbers",
      "strings",
      "@json",
      "@text",
      "@csv",
      "@html",
      "@uri",
      "@sh",
      "@base64",
      'split(",")',
      'split("")',
      'join("-")',
      'startswith("a")',
      'endswith("b")',
      'test("[ab]")',
      '[match("[aX]"; "g").offset]',
      '[scan("[a-z]")]',
      'sub("a"; "b")',
      'gsub("(?<l>[a-z])"; "<\\(.l)>")',
      'capture("(?<l>[a-z])")',
      'splits("X")',
      'index("b")',
      "indices(1)",
      'contains("a")',
      'inside("abc")',
      'has("a")',
      "has(0)",
      "range(3)",
      "range(0; 4; 2)",
      "limit(2; .[])",
      "first(.[])",
      "isempty(.[])",
      "$__loc__.line",
      'error("y")',
      "(nan | isnan)",
      "(infinite > 0)",
      'getpath(["a", "b"])',
      "ascii_upcase",
      "(arrays | sort | bsearch(1))",
      "combinations",
      "(objects | with_entries(.value |= tostring))",
      "(to_entries? | map(.key |= tostring) | from_entries)",
      "implode",
      'splits("a"; null)',
      "todate",
      "@tsv",
    ]);
  }

  #path(depth: number): string {
    const random = this.#random;
    const step = () =>
      random.pick([
        ".a",
        ".b",
        ".[0]",
        ".[]",
        ".[1:]",
        ".[:-1]",
        "..",
        ".[-1]",
        ".",
        "first(.[])",
        "select(. != null)",
        "if (.a?) then .b else .[]? end",
        "(.a, .b)",
        "(.a // .b)",
        'getpath(["a"])',
        "(.[]?)",
        "recurse",
        "limit(1; .[])",
        "empty",
        ...(depth > 0 ? [`.[${this.#leaf()}]`] : []),
      ]);
    return `(${Array.from({ length: 1 + random.below(3) }, step).join(" | ")})`;
  }

  #name(prefix: string): string {
    return `${prefix}${this.#fresh++}`;
  }

  #bind(source: string, body: () => string): string {
    const name = `$${this.#name("v")}`;
    this.#variables.push(name);
    const text = `((${source}) as ${name} | ${body()})`;
    this.#variables.pop();
    return text;
  }

  #destructure(depth: number): string {
    const [one, two] = [`$${this.#name("v")}`, `$${this.#name("v")}`];
    const source = this.#term(depth - 1);
    const pattern = this.#random.pick([
      `[${one}, ${two}]`,
      `{a: ${one}, b: ${two}}`,
      `{a: [${one}], "b": ${two}}`,
      `[${one}] ?// ${two}`,
      `{a: ${one}} ?// [${one}, ${two}]`,
      `{"a": ${one}, ("b"): [${two}]}`,
    ]);
    this.#variables.push(one);
    if (pattern.includes(two)) this.#variables.push(two);
    const body = this.#pipe(depth - 1);
    this.#variables.length -= pattern.includes(two) ? 2 : 1;
    const text = `((${source}) as ${pattern} | ${body})`;
    // In jq an error behind all of it makes it go on with the next pattern, unless its outputs were collected.
    return pattern.includes("?//") ? `([${text}] | .[])` : text;
  }

  #fold(depth: number): string {
    const name = `$${this.#name("v")}`;
    const source = this.#random.pick([".[]?", "range(4)", "(1, 2, 3)", "paths", "empty", ".[]"]);
    const start = this.#random.pick(["0", "null", ".", "[]", "{}"]);
    this.#variables.push(name);
    const update = this.#random.pick([
      () => `. + ${name}`,
      () => `. + [${name}]`,
      () => `[., ${name}]`,
      () => `.[${name} | tostring] = .a`,
      () => `.a += 1 | .b = [.a]`,
      () => `.a[1] |= . + 1`,
      () => `.c = . | .a = ${name}`,
      () => `(.a, .b) = ${name}`,
      () => this.#term(depth - 1),
    ])();
    const extract = this.#random.pick([() => "", () => `; [., ${name}]`, () => `; ${this.#term(depth - 1)}`]);
    const kind = this.#random.pick(["reduce", "foreach"]);
    // In jq 1.7 a fold is no operand, and a sum needs brackets.
    const text = `(${kind} ${source} as ${name} (${start}; ${update}${kind === "foreach" ? extract() : ""}))`;
    this.#variables.pop();
    return text;
  }

  #define(depth: number): string {
    const name = this.#name("f");
    const parameter = this.#name("p");
    if (this.#random.below(2) === 0) {
      const value = `$${parameter}`;
      this.#variables.push(value);
      const body = this.#pipe(depth - 1);
      this.#variables.pop();
      return `(def ${name}(${value}): ${body}; ${name}(${this.#term(depth - 1)}))`;
    }
    this.#functions.push(parameter);
    const body = this.#pipe(depth - 1);
    this.#functions.pop();
    const call = `${name}(${this.#term(depth - 1)})`;
    this.#functions.push(call);
    const rest = this.#term(depth - 1);
    this.#functions.pop();
    return `(def ${name}(${parameter}): ${body}; ${call}, ${rest})`;
  }

  #label(depth: number): string {
    const name = `$${this.#name("l")}`;
    this.#labels.push(name);
    const body = this.#pipe(depth - 1);
    this.#labels.pop();
    return `(label ${name} | ${body})`;
  }

  #withFilter(depth: number): string {
    const filter = this.#term(depth - 1);
    const text = this.#random.pick([
      `map(F)`,
      `map_values(F)`,
      `select(F)`,
      `sort_by(F)`,
      `group_by(F)`,
      `unique_by(F)`,
      `min_by(F)`,
      `max_by(F)`,
      `any(F)`,
      `all(F)`,
      `any(.[]; F)`,
      `first(F)`,
      `[limit(2; F)]`,
      `isempty(F)`,
      `[.[]? | F]`,
      `walk(F)`,
      `objects | with_entries(.value |= F)`,
      `[while(type == "number" and . < 5; . + 1)] | map(F)`,
      `[recurse(if type == "array" then .[] else empty end) | F]`,
      `until(type != "number" or . > 3; . + 1) | F`,
      `IN(F)`,
      `INDEX(F)`,
      `[paths(F)]`,
      `((F) as [$x] | $x)`,
      `to_entries | map(F)`,
      `(reduce (F) as $x (0; . + 1))`,
      `[foreach (F) as $x (0; . + 1; [$x, .])]`,
      `(F)? // "none"`,
      `[splits("a"), (F)]`,
    ]);
    return text.replaceAll("F", filter);
  }
}
