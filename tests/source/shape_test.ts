import assert from "node:assert/strict";
import { type Diagnostic, formatDiagnostic, formatPlace } from "../../lib/base/diagnostic.ts";
import type { JsonValue } from "../../lib/base/json.ts";
import {
  boolean,
  type Infer,
  integer,
  integerIn,
  json,
  keyPlaceOf,
  list,
  map,
  named,
  number,
  numberIn,
  oneOf,
  placeOf,
  readShape,
  record,
  type Shape,
  stringList,
  text,
  union,
} from "../../lib/source/shape.ts";
import { parseTemplate } from "../../lib/source/template/template.ts";
import { readYaml } from "../../lib/source/yaml.ts";

const model = record({
  provider: {
    shape: union(
      record({
        base_url: { shape: text, required: true, description: "URL" },
        api_key: { shape: text, description: "key" },
        api_key_cmd: { shape: union(text, stringList), description: "command" },
      }),
      record({ script: { shape: text, required: true, description: "file" } }),
    ),
    required: true,
    description: "where it is",
  },
  model_id: { shape: text, description: "id" },
});

const config = record({
  default: {
    shape: record({
      temperature: { shape: numberIn({ minimum: 0, maximum: 2 }), description: "randomness" },
      max_tokens: { shape: integerIn({ minimum: 1 }), description: "most tokens" },
      reasoning_effort: { shape: oneOf(["none", "minimal", "low", "medium", "high"]), description: "effort" },
      render: { shape: boolean, description: "Markdown" },
      mcp: { shape: stringList, description: "servers" },
    }),
    description: "defaults",
  },
  models: { shape: map(list(model, { minimumItems: 1 })), description: "models" },
  tools: {
    shape: map(record({
      command: { shape: stringList, required: true, description: "argv" },
      parameters: { shape: json, description: "schema" },
    })),
    description: "tools",
  },
  system: { shape: text, description: "text" },
});

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
const inferred: [
  Equal<Infer<typeof text>, string>,
  Equal<Infer<typeof stringList>, readonly string[]>,
  Equal<Infer<typeof json>, JsonValue>,
  Equal<
    NonNullable<Infer<typeof config>["default"]>["reasoning_effort"],
    "none" | "minimal" | "low" | "medium" | "high" | undefined
  >,
  Equal<
    NonNullable<Infer<typeof config>["tools"]>,
    Readonly<Record<string, { readonly command: readonly string[]; readonly parameters?: JsonValue }>>
  >,
  Equal<
    Infer<typeof model>["provider"],
    | { readonly base_url: string; readonly api_key?: string; readonly api_key_cmd?: string | readonly string[] }
    | { readonly script: string }
  >,
] = [true, true, true, true, true, true];

function read<S extends Shape>(shape: S, source: string): { value: Infer<S> | undefined; faults: string[] } {
  const { root, diagnostics } = readYaml(source, "f.yml");
  assert.deepEqual(diagnostics, []);
  assert.ok(root !== undefined);
  const faults: Diagnostic[] = [];
  const value = readShape(shape, root, faults);
  return { value, faults: faults.map(formatDiagnostic) };
}

function good<S extends Shape>(shape: S, source: string): Infer<S> {
  const { value, faults } = read(shape, source);
  assert.deepEqual(faults, []);
  return value as Infer<S>;
}

Deno.test("record: Infer gives required and optional keys", () => {
  assert.ok(inferred.every((same) => same));
});

Deno.test("readShape: a value that fits is given as it stands", () => {
  const source = `
default: { temperature: 0.5, max_tokens: 10, reasoning_effort: low, render: true, mcp: [a] }
models:
  draft:
    - provider: { base_url: u, api_key_cmd: [printf, k] }
      model_id: m
    - provider: { script: s.yml }
tools:
  t: { command: [rg, "{{ input }}"], parameters: { type: object, additionalProperties: null } }
system: |
  two
  lines
`;
  assert.deepEqual(good(config, source), {
    default: { temperature: 0.5, max_tokens: 10, reasoning_effort: "low", render: true, mcp: ["a"] },
    models: {
      draft: [
        { provider: { base_url: "u", api_key_cmd: ["printf", "k"] }, model_id: "m" },
        { provider: { script: "s.yml" } },
      ],
    },
    tools: { t: { command: ["rg", "{{ input }}"], parameters: { type: "object", additionalProperties: null } } },
    system: "two\nlines\n",
  });
});

Deno.test("readShape: an absent key is absent, not undefined", () => {
  assert.deepEqual(Object.keys(good(config, "system: x")), ["system"]);
});

Deno.test("readShape: ranges and least items are not checked here [D35]", () => {
  good(config, "default: { temperature: 9, max_tokens: -1 }\nmodels: { a: [] }");
});

const FAULTS: readonly [name: string, source: string, faults: string[]][] = [
  ["an unknown key at the top, with the nearest", "sytem: x", [
    "f.yml:1:1: unknown key `sytem` (accepted: default, models, tools, system) (did you mean `system`?) [unknown-key]",
  ]],
  ["an unknown key further down", "default: { temprature: 1 }", [
    "f.yml:1:12: unknown key `default.temprature` (accepted: temperature, max_tokens, reasoning_effort, render, mcp) (did you mean `temperature`?) [unknown-key]",
  ]],
  ["a key that every object inherits", "constructor: 1", [
    "f.yml:1:1: unknown key `constructor` (accepted: default, models, tools, system) [unknown-key]",
  ]],
  ["a missing key, at the map", "tools:\n  t: {}", ["f.yml:2:6: `tools.t` must have the key `command` [missing-key]"]],
  ["text for a number", "default: { temperature: warm }", [
    "f.yml:1:25: `default.temperature` must be a number (got string) [wrong-type]",
  ]],
  ["a quoted number", "default: { temperature: '0.5' }", [
    "f.yml:1:25: `default.temperature` must be a number (got string) (remove the quotes) [wrong-type]",
  ]],
  ["a fraction for an integer", "default: { max_tokens: 1.5 }", [
    "f.yml:1:24: `default.max_tokens` must be an integer (got 1.5) [wrong-type]",
  ]],
  ["a number for a text, in a list of a map", "models: { a-b: [{ provider: { script: x }, model_id: 4 }] }", [
    "f.yml:1:54: `models.a-b[0].model_id` must be a string (got number) (put it in quotes) [wrong-type]",
  ]],
  ["a boolean for a text", "system: true", [
    'f.yml:1:9: `system` must be a string (got boolean) (put it in quotes: `"true"`) [wrong-type]',
  ]],
  ["the booleans of YAML 1.1", "default: { render: yes }", [
    "f.yml:1:20: `default.render` must be true or false (got string) (YAML 1.2 knows `true` and `false` only) [wrong-type]",
  ]],
  ["a text for a list", "tools: { t: { command: ls } }", [
    "f.yml:1:24: `tools.t.command` must be a list of strings (got string) [wrong-type]",
  ]],
  ["a map for a text", "system: {}", ["f.yml:1:9: `system` must be a string (got map) [wrong-type]"]],
  ["a list for a map", "default: []", ["f.yml:1:10: `default` must be a map (got list) [wrong-type]"]],
  ["a key with nothing behind it", "default:\nsystem: x", [
    "f.yml:1:9: `default` must be a map (got null) (remove the key or give it a value) [wrong-type]",
  ]],
  ["a list item with nothing behind it", "default:\n  mcp:\n    -\n    - a", [
    "f.yml:3:6: `default.mcp[0]` must be a string (got null) (remove the item or give it a value) [wrong-type]",
  ]],
  ["a text that is not among the accepted", "default: { reasoning_effort: hihg }", [
    "f.yml:1:30: `default.reasoning_effort` must be one of none, minimal, low, medium, high (got `hihg`) (did you mean `high`?) [invalid-value]",
  ]],
  ["a number that is not among the accepted", "default: { reasoning_effort: 3 }", [
    "f.yml:1:30: `default.reasoning_effort` must be one of none, minimal, low, medium, high (got 3) [invalid-value]",
  ]],
  ["a file that is no map", "- a", ["f.yml:1:1: the file must be a map (got list) [wrong-type]"]],
  ["a key that is no plain word", "tools: { 'my tool': { command: 1 } }", [
    'f.yml:1:32: `tools["my tool"].command` must be a list of strings (got number) [wrong-type]',
  ]],
  ["neither alternative of a union", "models: { a: [{ provider: { base_url: u, api_key_cmd: 3 } }] }", [
    "f.yml:1:55: `models.a[0].provider.api_key_cmd` must be a string or a list of strings (got number) (put it in quotes) [wrong-type]",
  ]],
  ["an item of the alternative that was chosen", "models: { a: [{ provider: { base_url: u, api_key_cmd: [1] } }] }", [
    "f.yml:1:56: `models.a[0].provider.api_key_cmd[0]` must be a string (got number) (put it in quotes) [wrong-type]",
  ]],
  ["a record that could be either", "models: { a: [{ provider: {} }] }", [
    "f.yml:1:27: `models.a[0].provider` must have `base_url`, or `script` [missing-key]",
  ]],
  ["a record of the alternative that its keys tell", "models: { a: [{ provider: { script: x, api_kye: y } }] }", [
    "f.yml:1:40: unknown key `models.a[0].provider.api_kye` (accepted: script) [unknown-key]",
  ]],
  ["a scalar where only records fit", "models: { a: [{ provider: x }] }", [
    "f.yml:1:27: `models.a[0].provider` must be a map (got string) [wrong-type]",
  ]],
];

for (const [name, source, faults] of FAULTS) {
  Deno.test(`readShape: refuses ${name}`, () => {
    assert.deepEqual(read(config, source), { value: undefined, faults });
  });
}

Deno.test("readShape: the place of a fault is a plain place", () => {
  const faults: Diagnostic[] = [];
  readShape(integer, readYaml("'x'", "f.yml").root!, faults);
  assert.deepEqual(faults[0]?.place, { file: "f.yml", line: 1, column: 1 });
});

Deno.test("placeOf: the place of a text is a template's origin", () => {
  const value = good(config, "system: |\n  a\n  {{ x }}\n");
  const template = parseTemplate(value.system ?? "", placeOf(value, "system"));
  assert.throws(() => template.render({}), { message: '"x" is not defined (f.yml:3:6)' });
});

Deno.test("readShape: all faults are collected, none hides another", () => {
  const { faults } = read(
    config,
    "default: { temperature: x, render: 1, foo: 2 }\nsystem: [a]\ntools: { a: {}, b: 3 }\nbar: 1",
  );
  const ids = faults.map((fault) => fault.replace(/^f\.yml:(\S+): .*\[(.*)\]$/, "$1 $2"));
  assert.deepEqual(ids, [
    "1:25 wrong-type",
    "1:36 wrong-type",
    "1:39 unknown-key",
    "2:9 wrong-type",
    "3:13 missing-key",
    "3:20 wrong-type",
    "4:1 unknown-key",
  ]);
});

Deno.test("readShape: a null document is an empty map where a map is wanted", () => {
  assert.deepEqual(good(config, "null"), {});
  assert.deepEqual(good(map(text), "~"), {});
  assert.equal(good(json, "null"), null);
  assert.deepEqual(read(text, "null").faults, ["f.yml:1:1: the file must be a string (got null) [wrong-type]"]);
});

Deno.test("readShape: a number that is whole counts as an integer however it is written", () => {
  assert.equal(good(integer, "1.0"), 1);
  assert.equal(good(number, "1"), 1);
});

Deno.test("readShape: values are deeply frozen, JSON too", () => {
  const value = good(config, "default: { mcp: [a] }\ntools: { t: { command: [x], parameters: { a: [{}] } } }");
  const frozen = (part: unknown): boolean =>
    typeof part !== "object" || part === null || (Object.isFrozen(part) && Object.values(part).every(frozen));
  assert.ok(frozen(value));
});

Deno.test("readShape: `__proto__` stays a key in maps and JSON and changes no prototype", () => {
  const maps = good(map(json), '{"__proto__": {"__proto__": 1, "x": 2}}');
  assert.deepEqual(Object.keys(maps), ["__proto__"]);
  assert.equal(Object.getPrototypeOf(maps), Object.prototype);
  const inner = Object.getOwnPropertyDescriptor(maps, "__proto__")?.value as object;
  assert.deepEqual(Object.keys(inner), ["__proto__", "x"]);
  assert.equal(Object.getPrototypeOf(inner), Object.prototype);
  assert.equal(JSON.stringify(maps), '{"__proto__":{"__proto__":1,"x":2}}');
});

Deno.test("readShape: `__proto__` is an unknown key of a record", () => {
  assert.deepEqual(read(config, "__proto__: {}").faults.length, 1);
});

Deno.test("placeOf: tells where a value was read, by identity", () => {
  const value = good(config, "tools:\n  rg:\n    command: [a,\n      b]\n    parameters: { k: [1, { z: 2 }] }\n");
  const tool = value.tools?.rg;
  assert.ok(tool !== undefined);
  const at = (place: ReturnType<typeof placeOf>) => place === undefined ? undefined : formatPlace(place);
  assert.equal(at(placeOf(tool)), "f.yml:3:5");
  assert.equal(at(placeOf(tool, "command")), "f.yml:3:14");
  assert.equal(at(placeOf(tool, "command", 1)), "f.yml:4:7");
  assert.equal(at(placeOf(tool.command, 1)), "f.yml:4:7");
  assert.equal(at(placeOf(value, "tools", "rg", "parameters", "k", 1, "z")), "f.yml:5:31");
  assert.equal(at(placeOf(value, "tools", "nope", "command")), undefined);
  assert.equal(at(placeOf(tool, "description")), undefined);
  assert.equal(at(placeOf({ ...tool })), undefined);
  assert.equal(at(placeOf({})), undefined);
  assert.equal(at(keyPlaceOf(tool, "command")), "f.yml:3:5");
  assert.equal(keyPlaceOf(tool.command, "0"), undefined);
});

Deno.test("placeOf: what it goes by is seen by nobody", () => {
  const value = good(config, "default: { mcp: [a] }");
  assert.deepEqual(value, { default: { mcp: ["a"] } });
  assert.deepEqual(Reflect.ownKeys({ ...value }), ["default"]);
  assert.equal(JSON.stringify(value), '{"default":{"mcp":["a"]}}');
  assert.deepEqual(structuredClone(value), { default: { mcp: ["a"] } });
});

Deno.test("named: a shape can hold itself", () => {
  interface Tree {
    readonly name: string;
    readonly children?: readonly Tree[];
  }
  const tree: Shape<Tree> = named("tree", () =>
    record({
      name: { shape: text, required: true, description: "name" },
      children: { shape: list(tree), description: "children" },
    }));
  assert.deepEqual(good(tree, "name: a\nchildren: [{ name: b, children: [{ name: c }] }]"), {
    name: "a",
    children: [{ name: "b", children: [{ name: "c" }] }],
  });
  assert.deepEqual(read(tree, "name: a\nchildren: [{ name: b, children: [{ nam: c }] }]").faults.length, 2);
});

Deno.test("shapes are plain frozen data", () => {
  const shape = record({
    a: { shape: union(list(text), oneOf(["x"])), required: true, description: "d", default: [] },
  });
  assert.equal(
    JSON.stringify(shape),
    '{"kind":"record","fields":{"a":{"shape":{"kind":"union","options":[{"kind":"list","items":{"kind":"text"}},' +
      '{"kind":"enum","values":["x"]}]},"required":true,"description":"d","default":[]}}}',
  );
  assert.ok(Object.isFrozen(shape) && shape.kind === "record");
  const { fields } = shape;
  assert.ok(Object.isFrozen(fields) && Object.isFrozen(fields.a) && Object.isFrozen(fields.a?.shape));
});
