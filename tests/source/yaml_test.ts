import assert from "node:assert/strict";
import { type Diagnostic, formatDiagnostic } from "../../lib/base/diagnostic.ts";
import { LIMITS } from "../../lib/base/limits.ts";
import { nodeToJson, type SourceNode } from "../../lib/source/node.ts";
import { placeInText } from "../../lib/source/text_place.ts";
import { readYaml } from "../../lib/source/yaml.ts";

function valueOf(text: string): unknown {
  const { root, diagnostics } = readYaml(text, "f.yml");
  assert.deepEqual(diagnostics.map(formatDiagnostic), []);
  return root === undefined ? undefined : nodeToJson(root);
}

/** The faults as `line:column id`. */
function faultsOf(text: string): string[] {
  return readYaml(text, "f.yml").diagnostics.map((d) => `${d.place.line}:${d.place.column} ${d.id}`);
}

function onlyFault(text: string): Diagnostic {
  const { diagnostics } = readYaml(text, "f.yml");
  assert.equal(diagnostics.length, 1, diagnostics.map(formatDiagnostic).join("\n"));
  return diagnostics[0]!;
}

Deno.test("readYaml: the core schema of YAML 1.2", () => {
  const text = [
    "text: plain",
    "quoted: '1'",
    "empty:",
    "tilde: ~",
    "yes: yes",
    "on: [off, no]",
    "bool: [true, False]",
    "integers: [0, -7, 0x1F, 0o17, 9007199254740992, -9007199254740992]",
    "floats: [1.5, -0.5, 1e3]",
    "date: 2024-01-01",
    "flow: { a: 1, b }",
    "tagged: [!!str 1, !!int 3, !!float 1.5, !!bool true, !!null null, !!seq [], !!map {}]",
  ].join("\n");
  assert.deepEqual(valueOf(text), {
    text: "plain",
    quoted: "1",
    empty: null,
    tilde: null,
    yes: "yes",
    on: ["off", "no"],
    bool: [true, false],
    integers: [0, -7, 31, 15, 2 ** 53, -(2 ** 53)],
    floats: [1.5, -0.5, 1000],
    date: "2024-01-01",
    flow: { a: 1, b: null },
    tagged: ["1", 3, 1.5, true, null, [], {}],
  });
});

Deno.test("readYaml: a version directive does not bring back YAML 1.1", () => {
  assert.deepEqual(valueOf("%YAML 1.1\n---\na: yes\nb: 1_000\n"), { a: "yes", b: "1_000" });
});

Deno.test("readYaml: an empty or comments-only document has no root and no faults", () => {
  for (const text of ["", "\n\n", "# nothing\n", "---\n", "\ufeff", "\ufeff# x\r\n"]) {
    assert.deepEqual(readYaml(text, "f.yml"), { root: undefined, diagnostics: [] }, JSON.stringify(text));
  }
});

Deno.test("readYaml: a written null is a value", () => {
  assert.equal(readYaml("null\n", "f.yml").root?.kind, "scalar");
  assert.equal(valueOf("~"), null);
});

Deno.test("readYaml: a byte order mark and CRLF change neither values nor places", () => {
  const plain = readYaml("a: 1\nb: |\n  x\n  y\nc: [z]\n", "f.yml");
  const marked = readYaml("\ufeffa: 1\r\nb: |\r\n  x\r\n  y\r\nc: [z]\r\n", "f.yml");
  assert.deepEqual(marked, plain);
});

Deno.test("readYaml: places count UTF-16 code units from 1, of keys and of values", () => {
  const { root } = readYaml("é😀: 1\nlist:\n  - 日本: { 'k': v }\n", "f.yml");
  assert.ok(root?.kind === "map");
  const [first, list] = root.entries;
  assert.deepEqual(first?.value.place, { file: "f.yml", line: 1, column: 6 });
  assert.deepEqual(list?.keyPlace, { file: "f.yml", line: 2, column: 1 });
  assert.ok(list?.value.kind === "list" && list.value.items[0]?.kind === "map");
  const inner = list.value.items[0].entries[0]!;
  assert.deepEqual(inner.keyPlace, { file: "f.yml", line: 3, column: 5 });
  assert.deepEqual(inner.value.place, { file: "f.yml", line: 3, column: 9 });
});

Deno.test("readYaml: keys that are numbers or booleans become their source text", () => {
  assert.deepEqual(valueOf("1.0: a\n0x10: b\ntrue: c\n'2': d\n"), { "1.0": "a", "0x10": "b", true: "c", "2": "d" });
});

Deno.test("readYaml: `__proto__` is a key like any other", () => {
  const value = valueOf('{"__proto__": 1, "constructor": 2}') as object;
  assert.deepEqual(Object.getOwnPropertyNames(value), ["__proto__", "constructor"]);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

Deno.test("readYaml: an alias stands for the last value with its name", () => {
  assert.deepEqual(valueOf("a: &x 1\nb: *x\nc: &x [2]\nd: [*x, *x]\n"), { a: 1, b: 1, c: [2], d: [[2], [2]] });
  assert.deepEqual(valueOf("a: &x {k: &x 1, l: *x}\nb: *x\n"), { a: { k: 1, l: 1 }, b: 1 });
  assert.deepEqual(valueOf("&k key: *k\n"), { key: "key" });
});

const FAULTS: readonly [name: string, text: string, faults: string[]][] = [
  ["a syntax fault", "a: [1, 2\nb: 3\n", ["2:1 yaml-syntax"]],
  ["a tab as indentation", "a:\n\t- b\n", ["2:1 yaml-syntax"]],
  ["a missing quote", "a: 'x\n", ["2:1 yaml-syntax"]],
  ["an unknown directive", "%FOO bar\n---\na\n", ["1:1 yaml-syntax"]],
  ["a duplicate key", "a: 1\nb:\n  c: 1\n  c: 2\na: 2\n", ["4:3 duplicate-key", "5:1 duplicate-key"]],
  ["a duplicate key in other words", "1: a\n'1': b\n", ["2:1 duplicate-key"]],
  ["a local tag", "a: !foo 1\n", ["1:4 yaml-tag"]],
  ["a local tag on a map", "a: !foo {b: 1}\n", ["1:4 yaml-tag"]],
  ["a binary", "a: !!binary aGk=\n", ["1:4 yaml-tag"]],
  ["a set", "a: !!set {b}\n", ["1:4 yaml-tag"]],
  ["an ordered map", "a: !!omap [b: 1]\n", ["1:4 yaml-tag"]],
  ["the tag without a name", "a: ! 12\n", ["1:6 yaml-tag"]],
  ["a tag that does not fit", "a: !!int x\nb: !!seq {}\nc: !!str []\n", [
    "1:4 yaml-tag",
    "2:4 yaml-tag",
    "3:4 yaml-tag",
  ]],
  ["a null key", "~: 1\n", ["1:1 yaml-key"]],
  ["an empty key", ": 1\n", ["1:1 yaml-key"]],
  ["a list as a key", "[a]: 1\n", ["1:1 yaml-key"]],
  ["an explicit map as a key", "? {a: 1}\n: 2\n", ["1:3 yaml-key"]],
  ["an alias as a key", "a: &x b\n*x : 1\n", ["2:1 yaml-key"]],
  ["an unknown alias", "a: *x\nb: &x 1\n", ["1:4 yaml-alias"]],
  ["an alias to what it is part of", "a: &x [*x]\n", ["1:8 yaml-alias"]],
  ["a merge key", "b: &x {c: 1}\na:\n  <<: *x\n", ["3:3 yaml-merge"]],
  ["an integer that is too large", "a: 9007199254740993\nb: -9007199254740993\n", [
    "1:4 yaml-integer",
    "2:4 yaml-integer",
  ]],
  ["numbers that JSON cannot say", "a: [.inf, -.inf, .nan, 1e999]\n", [
    "1:5 yaml-number",
    "1:11 yaml-number",
    "1:18 yaml-number",
    "1:24 yaml-number",
  ]],
  ["a second document", "a: 1\n---\nb: 2\n", ["2:1 yaml-documents"]],
  ["faults of several kinds", "a: !x 1\nb: *y\na: .nan\nc: {[1]: 2}\n", [
    "1:4 yaml-tag",
    "2:4 yaml-alias",
    "3:1 duplicate-key",
    "3:4 yaml-number",
    "4:5 yaml-key",
  ]],
];

for (const [name, text, faults] of FAULTS) {
  Deno.test(`readYaml: ${name} is a fault with its place`, () => assert.deepEqual(faultsOf(text), faults));
}

Deno.test("readYaml: a quoted merge key is a plain key", () => assert.deepEqual(valueOf('"<<": 1\n'), { "<<": 1 }));

Deno.test("readYaml: a merge key says to write the keys out", () => {
  assert.match(
    formatDiagnostic(onlyFault("<<: {a: 1}\n")),
    /^f\.yml:1:1: merge keys .*\(write the keys out\) \[yaml-merge\]$/,
  );
});

const UNQUOTED: readonly [text: string, place: string, hint: string][] = [
  ["prompt: {{ input }}\n", "1:9", 'quote the template: `prompt: "{{ input }}"`'],
  ["prompt: {{ input }} and more\n", "1:9", 'quote the template: `prompt: "{{ input }} and more"`'],
  ['prompt: {{ lookup input "a" }}\n', "1:9", "quote the template: `prompt: '{{ lookup input \"a\" }}'`"],
  ["a: 1\nsteps:\n  - prompt: {{ a }} {{ b }}\n    id: x\n", "3:13", 'quote the template: `prompt: "{{ a }} {{ b }}"`'],
  ["- {{ input }}\n", "1:3", 'quote the template: `"{{ input }}"`'],
  ["run: [echo, {{ input }}]\n", "1:13", 'quote the template, as in `prompt: "{{ input }}"`'],
  [
    "prompt: {{#if a}}x{{/if}}\n",
    "1:9",
    "quote the template, or write it as a block text below `prompt: |`",
  ],
];

for (const [text, place, hint] of UNQUOTED) {
  Deno.test(`readYaml: an unquoted template is one fault with the way out: ${JSON.stringify(text)}`, () => {
    const fault = onlyFault(text);
    assert.equal(`${fault.place.line}:${fault.place.column}`, place);
    assert.equal(fault.hint, hint);
  });
}

Deno.test("readYaml: every unquoted template of a file is reported, and other faults beside them", () => {
  const text = "a: {{ x }}\nb: {{ y }}\nc: 1\nc: 2\n";
  assert.deepEqual(faultsOf(text), ["1:4 yaml-key", "2:4 yaml-key", "4:1 duplicate-key"]);
});

Deno.test("readYaml: messages are one line each and start lower-case", () => {
  const texts = [
    "a: [1\n b: 2",
    "a: b: c",
    'a: "\\q"',
    "a: @x",
    "x: 'a' b",
    "key: v\n- i",
    "a: |\n x\n\ty",
    "{",
    "!!str !!str a",
  ];
  for (const text of texts) {
    const { diagnostics } = readYaml(text, "f.yml");
    assert.ok(diagnostics.length > 0, text);
    for (const { message } of diagnostics) assert.match(message, /^[^A-Z\n][^\n]*$/);
  }
});

Deno.test("readYaml: a root is kept for further checks beside duplicate keys and large numbers, else not", () => {
  const { root } = readYaml("a: 1\na: 2\nb: 9007199254740993\nc: .inf\n", "f.yml");
  assert.ok(root?.kind === "map");
  assert.deepEqual(root.entries.map((entry) => entry.key), ["a", "b", "c"]);
  assert.equal(root.entries[0]?.value.kind === "scalar" && root.entries[0].value.value, 1);
  for (const text of ["a: !x 1", "a: *x", "<<: {}", "~: 1", "a: [", "a: 1\n---\nb: 1"]) {
    assert.equal(readYaml(text, "f.yml").root, undefined, text);
  }
});

Deno.test("readYaml: as many aliases as the limit allows, and no more", () => {
  const file = (count: number) => `a: &x 1\nb: [${Array(count).fill("*x").join(", ")}]\n`;
  assert.deepEqual(faultsOf(file(LIMITS.yamlAliases)), []);
  const fault = onlyFault(file(LIMITS.yamlAliases + 5));
  assert.equal(fault.id, "yaml-alias");
  assert.match(fault.message, /at most 100 aliases/);
});

Deno.test("readYaml: an alias bomb is refused before it is expanded", () => {
  const levels = Array.from({ length: 11 }, (_, i) => `l${i}: &l${i} [${Array(9).fill(i === 0 ? "x" : `*l${i - 1}`)}]`);
  const fault = onlyFault(`${levels.join("\n")}\n`);
  assert.equal(fault.id, "yaml-alias");
  assert.match(fault.message, /more than 100000 values/);
});

Deno.test("readYaml: a long text behind many aliases is a bomb, too", () => {
  const text = `a: &t ${"x".repeat(1_000_000)}\nb: &u [${Array(20).fill("*t")}]\nc: [${Array(20).fill("*u")}]\n`;
  assert.equal(onlyFault(text).id, "yaml-alias");
});

Deno.test("readYaml: deep nesting is a fault, not a stack overflow", () => {
  const deep: string[] = ["[".repeat(50_000), "- ".repeat(50_000), "{a: ".repeat(20_000), "? ".repeat(20_000)];
  deep.push(`${"[".repeat(300)}${"]".repeat(300)}`);
  deep.push(Array.from({ length: 2_000 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"));
  for (const text of deep) {
    const fault = onlyFault(text);
    assert.equal(fault.id, "yaml-depth", text.slice(0, 20));
    assert.match(fault.message, /more than 200 levels/);
  }
  assert.deepEqual(faultsOf(`${"[".repeat(200)}${"]".repeat(200)}`), []);
});

Deno.test("readYaml: at most 100 faults, in file order, also of one long line", () => {
  const many = readYaml("&a ".repeat(20_000), "f.yml").diagnostics;
  assert.equal(many.length, 100);
  const columns = many.map((fault) => fault.place.column ?? 0);
  assert.deepEqual(columns, columns.toSorted((a, b) => a - b));
});

Deno.test("readYaml: the content of a text maps its lines to the file's", () => {
  const lines = [
    "plain: ab{{ x }}",
    "quoted: 'ab'",
    "block: |",
    "    first",
    "      second",
    "kept: |2-",
    "",
    "    é x",
    "folded: >",
    "  one",
    "  two",
    'escaped: "a\\tb"',
    "two: a",
    "  b",
  ];
  const { root, diagnostics } = readYaml(lines.join("\r\n"), "f.yml");
  assert.deepEqual(diagnostics, []);
  const place = (key: string, line: number, column: number) => {
    assert.ok(root?.kind === "map");
    const node: SourceNode | undefined = root.entries.find((entry) => entry.key === key)?.value;
    assert.ok(node?.kind === "scalar" && typeof node.value === "string");
    const found = placeInText(node.place, node.value, { line, column });
    return found === undefined ? undefined : `${found.line}:${found.column}`;
  };
  assert.equal(place("plain", 1, 3), "1:10");
  assert.equal(place("quoted", 1, 1), "2:10");
  assert.equal(place("block", 1, 1), "4:5");
  assert.equal(place("block", 2, 3), "5:7");
  assert.equal(place("kept", 2, 3), "8:5");
  assert.equal(place("folded", 1, 1), undefined);
  assert.equal(place("escaped", 1, 1), undefined);
  assert.equal(place("two", 1, 1), undefined);
});

Deno.test("readYaml: an integer that starts with a zero is refused, not read as something else", () => {
  for (const [text, read] of [["a: 010", 10], ["a: -07", -7], ["a: 0123456", 123456]] as const) {
    const { diagnostics } = readYaml(text, "f.yml");
    assert.equal(diagnostics[0]?.id, "yaml-integer");
    assert(diagnostics[0]!.message.endsWith(`would be read as ${read}`), diagnostics[0]!.message);
  }
  for (const text of ["a: 0", "a: -0", "a: 10", "a: 0x10", "a: 0o17", "a: 0.5", 'a: "010"', "a: 00:10"]) {
    assert.deepEqual(readYaml(text, "f.yml").diagnostics, [], text);
  }
});
