import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { compileSchema } from "../../lib/schema/schema.ts";

const A = { type: "object", required: ["x"], properties: { kind: { const: "a" }, x: { type: "number" } } };
const B = { type: "object", required: ["y"], properties: { kind: { const: "b" }, y: { type: "number" } } };
const tagged = { anyOf: [{ $ref: "#/$defs/A" }, { $ref: "#/$defs/B" }, { type: "null" }], $defs: { A, B } };

const cases: [what: string, schema: object, value: unknown, issues: string[]][] = [
  // type
  ["one type", { type: "string" }, 1, ["input must be of type string (got integer)"]],
  ["several types", { type: ["string", "null"] }, 1.5, ["input must be of type string or null (got number)"]],
  ["no value at all", { type: "object" }, undefined, ["input must be of type object (got undefined)"]],
  [
    "a wrong type hides what follows from it",
    { properties: { a: { type: "string", enum: ["x"], allOf: [{ required: ["q"] }] } } },
    { a: {} },
    ["input.a must be of type string (got object)"],
  ],
  [
    "a wrong type hides what is below it",
    { properties: { a: { type: "array", properties: { b: { type: "string" } } } } },
    { a: { b: 1 } },
    ["input.a must be of type array (got object)"],
  ],
  [
    "a wrong type hides nothing beside it",
    { properties: { a: { type: "string" }, ab: { type: "string", minLength: 2 } }, required: ["c"] },
    { a: 1, ab: "" },
    [
      "input is missing required field(s): c",
      "input.a must be of type string (got integer)",
      "input.ab must NOT have fewer than 2 characters",
    ],
  ],
  // enum, const
  ["enum", { enum: ["a", 1, null] }, "b", ['input must be one of "a", 1, null']],
  [
    "a long enum",
    { enum: Array.from({ length: 31 }, (_, i) => i) },
    "b",
    [`input must be one of ${Array.from({ length: 30 }, (_, i) => i).join(", ")}, … (31 in all)`],
  ],
  ["const", { const: { a: 1 } }, 2, ['input must be equal to constant {"a":1}']],
  // fields
  [
    "all missing keys of an object in one issue",
    { required: ["a", "b"], allOf: [{ required: ["b", "c"] }], properties: { d: { required: ["e"] } } },
    { d: {} },
    ["input is missing required field(s): b, c, a", "input.d is missing required field(s): e"],
  ],
  [
    "an unknown field, and the accepted ones",
    { properties: { a: true, b: true }, additionalProperties: false },
    { c: 1 },
    ["input has an unknown field `c` (accepted: a, b)"],
  ],
  [
    "several unknown fields",
    { properties: { a: true }, additionalProperties: false },
    { c: 1, d: 1 },
    ["input has unknown fields `c`, `d` (accepted: a)"],
  ],
  [
    "too many accepted fields to list",
    {
      properties: Object.fromEntries(Array.from({ length: 13 }, (_, i) => [`p${i}`, {}])),
      additionalProperties: false,
    },
    { c: 1 },
    ["input has an unknown field `c`"],
  ],
  [
    "unevaluatedProperties",
    { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
    { a: 1, c: 1 },
    ["input has an unknown field `c`"],
  ],
  ["a field that may not be there", { properties: { a: false } }, { a: 1 }, ["input.a is not allowed"]],
  ["a bad key", { propertyNames: { pattern: "^a" } }, { b: 1 }, [
    'input has the key `b`, which must match pattern "^a"',
  ]],
  ["a key out of a list", { propertyNames: { enum: ["a"] } }, { b: 1 }, [
    'input has the key `b`, which must be one of "a"',
  ]],
  ["a key of the wrong type hides nothing", { propertyNames: { type: "null" }, minProperties: 2 }, { b: 1 }, [
    "input has the key `b`, which must be of type null (got string)",
    "input must NOT have fewer than 2 properties",
  ]],
  ["a key that fits no `then`", { propertyNames: { if: true, then: { oneOf: [{ maxLength: 2 }, true] } } }, { b: 1 }, [
    "input has the key `b`, which is not allowed",
  ]],
  ["no keys", { propertyNames: false }, { b: 1 }, ["input has the key `b`, which is not allowed"]],
  ["a key that fits no alternative", { propertyNames: { anyOf: [{ const: "a" }, { const: "c" }] } }, { b: 1 }, [
    "input has the key `b`, which is not allowed",
  ]],
  // Ajv's words
  ["other keywords", { minimum: 3 }, 2, ["input must be >= 3"]],
  ["contains: not what each item lacks", { contains: { type: "string" } }, [1, 2], [
    "input must contain at least 1 valid item(s)",
  ]],
  ["then: not that `if` failed", { if: { type: "string" }, then: { minLength: 5 } }, "abc", [
    "input must NOT have fewer than 5 characters",
  ]],
  // alternatives
  ["alternatives by type", { anyOf: [{ type: "string" }, { type: "null" }] }, 1, [
    "input must be of type string or null (got integer)",
  ]],
  ["alternatives by value", { oneOf: [{ const: "a" }, { enum: ["b", "c"] }] }, 1, [
    'input must be one of "a", "b", "c"',
  ]],
  ["alternatives by value and type", { anyOf: [{ enum: ["a", "b"] }, { type: "null" }] }, 1, [
    'input must be one of "a", "b" or of type null (got integer)',
  ]],
  ["the one alternative of the right type", { anyOf: [{ type: "null" }, A] }, {}, [
    "input is missing required field(s): x",
  ]],
  ["the alternative whose tag is right", tagged, { kind: "b" }, ["input is missing required field(s): y"]],
  ["no alternative has this tag", tagged, { kind: "c", x: "" }, ['input.kind must be one of "a", "b"']],
  ["the nearest alternative", { anyOf: [{ required: ["a", "b"], minProperties: 3 }, { required: ["c"] }] }, {}, [
    "input fits none of its 2 alternatives (nearest: input is missing required field(s): c)",
  ]],
  ["too many alternatives fit", { oneOf: [{ type: "integer" }, { type: "string" }, { minimum: 2 }] }, 3, [
    "input must fit exactly one of its 3 alternatives (fits numbers 1 and 3)",
  ]],
  [
    "what stands beside alternatives is not taken for theirs",
    {
      allOf: [{ $ref: "#/$defs/R" }],
      anyOf: [{ $ref: "#/$defs/R" }, { maxProperties: 0 }],
      $defs: { R: { required: ["r"] } },
    },
    { a: 1 },
    [
      "input is missing required field(s): r",
      "input fits none of its 2 alternatives (nearest: input is missing required field(s): r)",
    ],
  ],
  [
    "alternatives inside alternatives",
    { anyOf: [{ type: "null" }, { type: "array", items: { anyOf: [{ type: "string" }, { type: "boolean" }] } }] },
    ["a", 1],
    ["input[1] must be of type string or boolean (got integer)"],
  ],
];

for (const [what, schema, value, issues] of cases) {
  Deno.test(`check: ${what}`, () => {
    deepStrictEqual(compileSchema(schema).check(value).map((issue) => issue.message).sort(), [...issues].sort());
  });
}

Deno.test("check: an issue has path, message and keyword", () => {
  deepStrictEqual(compileSchema({ required: ["a"] }, { name: "output" }).check({}), [
    { path: "output", message: "output is missing required field(s): a", keyword: "required" },
  ]);
});

Deno.test("check: paths name keys and indexes as JavaScript would", () => {
  const wrong = { type: "null" };
  const places: [schema: object, value: unknown, path: string][] = [
    [
      { properties: { items: { items: { properties: { zip: wrong } } } } },
      { items: [{ zip: 1 }] },
      "input.items[0].zip",
    ],
    [{ properties: { "a b": wrong } }, { "a b": 1 }, 'input["a b"]'],
    [{ properties: { "a/b~c": wrong } }, { "a/b~c": 1 }, 'input["a/b~c"]'],
    [{ properties: { "0": wrong } }, { "0": 1 }, 'input["0"]'],
    [{ properties: { "": wrong } }, { "": 1 }, 'input[""]'],
    [{ properties: { größe: wrong, $x: true } }, { größe: 1 }, "input.größe"],
    [{ items: { items: wrong } }, [[], [1]], "input[1][0]"],
  ];
  for (const [schema, value, path] of places) {
    deepStrictEqual(compileSchema(schema).check(value).map((issue) => issue.path), [path]);
  }
});

Deno.test("check: a very long path keeps its two ends", () => {
  let value: unknown = { zip: 1 };
  for (let i = 0; i < 600; i++) value = { a: value };
  const schema = { properties: { a: { $ref: "#" }, zip: { type: "string" } } };
  const [issue] = compileSchema(schema).check(value);
  ok(issue!.path.startsWith("input.a.a.") && issue!.path.endsWith(".a.zip") && issue!.path.includes("…"));
  strictEqual(issue!.path.length, 1_001);
});

Deno.test("check: alternatives within alternatives, 500 deep, are told in one short line", () => {
  const N = {
    anyOf: [{ required: ["c"], properties: { c: { $ref: "#/$defs/N" } } }, { required: ["d"] }, { minProperties: 5 }],
  };
  let value: unknown = {};
  for (let i = 0; i < 500; i++) value = { c: value };
  const issues = compileSchema({ $defs: { N }, $ref: "#/$defs/N" }).check(value);
  strictEqual(issues.length, 1);
  ok(issues[0]!.message.length < 1_000, `${issues[0]!.message.length} characters`);
});
