/** What Ajv does by itself and lait must not: each was met in schemas that people and servers write. */
import { deepStrictEqual, match, ok, strictEqual, throws } from "node:assert/strict";
import { runInNewContext } from "node:vm";
import { setFlagsFromString } from "node:v8";
import { compileWith } from "../../lib/schema/drafts.ts";
import { compileSchema, SchemaError } from "../../lib/schema/schema.ts";

const fits = (schema: unknown, value: unknown) => compileSchema(schema).check(value).length === 0;

// `items: [...]` beside `$schema` tells how a draft was read: 2020-12 refuses it.
for (
  const [dialect, tuple] of [
    ["http://json-schema.org/draft-07/schema#", "items"],
    ["http://json-schema.org/draft-07/schema", "items"],
    ["https://json-schema.org/draft-07/schema#", "items"],
    ["http://json-schema.org/draft-06/schema#", "items"],
    ["https://json-schema.org/draft-06/schema", "items"],
    ["https://json-schema.org/draft/2019-09/schema", "items"],
    ["http://json-schema.org/draft/2019-09/schema#", "items"],
    ["https://json-schema.org/draft/2020-12/schema", "prefixItems"],
    ["http://json-schema.org/draft/2020-12/schema#", "prefixItems"],
  ] as const
) {
  Deno.test(`compileSchema: $schema ${dialect} is read by its own draft`, () => {
    const schema = { $schema: dialect, [tuple]: [{ type: "string" }] };
    ok(fits(schema, ["a", 1]));
    ok(!fits(schema, [1]));
    // Since 2019-09.
    strictEqual(fits({ $schema: dialect, dependentRequired: { a: ["b"] } }, { a: 1 }), /draft-0/.test(dialect));
  });
}

Deno.test("compileSchema: an unknown $schema is an error that lists the accepted ones", () => {
  for (const $schema of ["http://json-schema.org/draft-04/schema#", "https://example.com/mine", 7]) {
    throws(() => compileSchema({ $schema }, { schemaName: "parameters" }), (error: unknown) => {
      ok(error instanceof SchemaError);
      strictEqual(error.path, "parameters.$schema");
      for (const part of ["2020-12", "2019-09", "draft-07", "draft-06"]) ok(error.message.includes(part), part);
      return true;
    });
  }
});

Deno.test("compileSchema: patterns that only read without the Unicode flag are accepted", () => {
  ok(fits({ pattern: "^[\\w-.]+$" }, "a-b.c"));
  ok(!fits({ pattern: "^[\\w-.]+$" }, "a b"));
  ok(fits({ pattern: "^a\\-b$" }, "a-b"));
  ok(fits({ patternProperties: { "^[\\w-.]+$": { type: "string" } } }, { "a-b": "" }));
  ok(fits({ format: "regex" }, "^[\\w-.]+$"));
  ok(!fits({ format: "regex" }, "["));
});

Deno.test("compileSchema: patterns that need the Unicode flag have it", () => {
  ok(fits({ pattern: "^\\p{L}+$" }, "Zoë"));
  ok(!fits({ pattern: "^\\p{L}+$" }, "p{L}"));
  ok(fits({ pattern: "^.$" }, "😀"));
});

Deno.test("compileSchema: a second schema with a known $id gets its own", () => {
  const $id = "https://example.com/thing.json";
  const first = compileSchema({ $id, $defs: { A: { $id: "a.json", type: "string" } }, $ref: "a.json" });
  const second = compileSchema({ $id, $defs: { A: { $id: "a.json", type: "number" } }, $ref: "a.json" });
  deepStrictEqual([first.check("x").length, first.check(1).length], [0, 1]);
  deepStrictEqual([second.check("x").length, second.check(1).length], [1, 0]);
});

Deno.test("compileSchema: a schema may have the $id of a meta-schema, and not one $id twice", () => {
  const $id = "http://json-schema.org/draft-07/schema#";
  const like = { $schema: $id, $id, type: ["object", "boolean"], properties: { not: { $ref: "#" } } };
  strictEqual(
    compileSchema(like).explain({ not: { not: 1 } }),
    "input.not.not must be of type object or boolean (got integer)",
  );
  const twice = { $defs: { A: { $id: "a.json", type: "string" }, B: { $id: "a.json", type: "null" } } };
  throws(
    () => compileSchema(twice),
    /^SchemaError: schema cannot be used: reference "a.json" resolves to more than one/,
  );
});

Deno.test("compileSchema: the names of one schema are unknown in the next", () => {
  compileSchema({ $id: "https://example.com/lender.json", $defs: { A: { $id: "lent.json", type: "string" } } });
  for (const name of ["lender.json", "lent.json"]) {
    throws(() => compileSchema({ $ref: `https://example.com/${name}` }), /leads to another document/);
  }
});

Deno.test("compileSchema: a schema that failed leaves no names behind", () => {
  const $id = "https://example.com/broken.json";
  throws(() => compileSchema({ $id, $ref: "#/$defs/none" }), SchemaError);
  ok(fits({ $id, type: "string" }, "x"));
});

Deno.test("compileSchema: nothing is printed for unknown formats and keywords, and they pass", () => {
  const printed: unknown[] = [];
  const target: Record<string, unknown> = globalThis.console as unknown as Record<string, unknown>;
  const real = { log: target.log, warn: target.warn, error: target.error };
  const record = (...words: unknown[]) => printed.push(words);
  Object.assign(target, { log: record, warn: record, error: record });
  try {
    ok(fits({ format: "phone-of-mars", "x-note": 1, type: ["string", "number"] }, "x"));
  } finally {
    Object.assign(target, real);
  }
  deepStrictEqual(printed, []);
});

Deno.test("compileSchema: known formats are checked", () => {
  strictEqual(compileSchema({ format: "email" }).explain("x"), 'input must match format "email"');
  ok(fits({ format: "date-time" }, "2020-01-02T03:04:05Z"));
});

Deno.test("compileSchema: a draft-07 tuple without $schema is accepted", () => {
  const pair = compileSchema({ items: [{ type: "string" }, { type: "number" }], additionalItems: false });
  strictEqual(pair.explain(["a", 1]), undefined);
  strictEqual(pair.explain([1, 1]), "input[0] must be of type string (got integer)");
  strictEqual(pair.explain(["a", 1, 2]), "input must NOT have more than 2 items");
  ok(fits({ properties: { p: { items: [{ type: "string" }] } } }, { p: ["x", 1] }));
});

Deno.test("compileSchema: a draft-07 anchor in $id without $schema is accepted", () => {
  const schema = { definitions: { A: { $id: "#a", type: "string" } }, $ref: "#a" };
  ok(fits(schema, "x"));
  ok(!fits(schema, 1));
});

Deno.test("compileSchema: a tuple excuses no other fault, inside it or where draft-07 does not look", () => {
  for (
    const [schema, path] of [
      [{ items: [{ type: "strin" }] }, "schema.items[0].type"],
      [{ items: [true], $defs: { A: { type: "strin" } } }, "schema.$defs.A.type"],
      [{ items: [true], minItems: "1" }, "schema.minItems"],
    ] as const
  ) {
    throws(() => compileSchema(schema), (error: unknown) => error instanceof SchemaError && error.path === path, path);
  }
});

Deno.test("compileSchema: with $schema 2020-12 a tuple in items is a fault", () => {
  const schema = { $schema: "https://json-schema.org/draft/2020-12/schema", items: [true] };
  throws(() => compileSchema(schema), /schema\.items must be of type object or boolean \(got array\)/);
});

Deno.test("compileSchema: a $ref to another document is an error that says where", () => {
  for (const $ref of ["https://example.com/a.json", "other.json#/$defs/A", "file:///etc/passwd"]) {
    throws(() => compileSchema({ properties: { zip: { $ref } } }, { schemaName: "parameters" }), (error: unknown) => {
      ok(error instanceof SchemaError);
      strictEqual(error.path, "parameters.properties.zip.$ref");
      ok(error.message.includes(`leads to another document, ${$ref}`), error.message);
      return true;
    });
  }
});

Deno.test("compileSchema: a $ref that leads nowhere is an error that says where", () => {
  throws(
    () => compileSchema({ anyOf: [{ $ref: "#/$defs/A" }] }),
    /^SchemaError: schema\.anyOf\[0\]\.\$ref leads nowhere/,
  );
});

Deno.test("compileSchema: $ref by pointer, by anchor and to the root", () => {
  const tree = {
    $defs: { N: { $anchor: "n", type: "object", properties: { next: { $ref: "#n" } } } },
    $ref: "#/$defs/N",
  };
  strictEqual(
    compileSchema(tree).explain({ next: { next: 1 } }),
    "input.next.next must be of type object (got integer)",
  );
  const root = { type: "object", properties: { a: { anyOf: [{ $ref: "#" }, { type: "null" }] } } };
  ok(fits(root, { a: { a: null } }));
  ok(!fits(root, { a: { a: 1 } }));
});

Deno.test("compileSchema: a key `id` beside keywords means nothing and is allowed", () => {
  ok(fits({ id: "http://example.com/old", type: "string" }, "x"));
});

Deno.test("compileSchema: `nullable` without `type` is allowed", () => {
  ok(fits({ properties: { a: { nullable: true, allOf: [{ type: "string" }] } } }, { a: "x" }));
});

Deno.test("compileSchema: `$async` makes no promise", () => {
  strictEqual(compileSchema({ $async: true, type: "string" }).explain(1), "input must be of type string (got integer)");
});

Deno.test("compileSchema: a deep-frozen schema is compiled and stays as it is", () => {
  const text =
    '{"$schema":"http://json-schema.org/draft-07/schema#","$async":false,"properties":{"a":{"nullable":true}}}';
  const schema: unknown = JSON.parse(text, (_key, value) => Object.freeze(value));
  strictEqual(compileSchema(schema).explain({ a: 1 }), undefined);
  strictEqual(JSON.stringify(schema), text);
});

Deno.test("compileSchema: a schema changed afterwards checks as before", () => {
  const schema = { enum: ["a"], properties: {} };
  const compiled = compileSchema(schema);
  schema.enum.push("b");
  strictEqual(compiled.check("b").length, 1);
});

Deno.test("compileSchema: own __proto__ keys are data", () => {
  const schema: unknown = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"number"}},"required":["__proto__"],"additionalProperties":false}',
  );
  const compiled = compileSchema(schema);
  strictEqual(compiled.explain(JSON.parse('{"__proto__":1}')), undefined);
  strictEqual(
    compiled.explain(JSON.parse('{"__proto__":"x"}')),
    "input.__proto__ must be of type number (got string)",
  );
  strictEqual(compiled.explain({}), "input is missing required field(s): __proto__");
  strictEqual(
    compileSchema({ additionalProperties: false }).explain(JSON.parse('{"__proto__":1}')),
    "input has an unknown field `__proto__`",
  );
});

Deno.test("compileSchema: what every object inherits is no field of it", () => {
  strictEqual(
    compileSchema({ required: ["constructor", "toString"], properties: { valueOf: false } }).explain({}),
    "input is missing required field(s): constructor, toString",
  );
});

Deno.test("compileSchema: NaN and Infinity are no numbers", () => {
  strictEqual(compileSchema({ type: "number" }).explain(NaN), "input must be of type number (got NaN)");
  strictEqual(compileSchema({ type: "integer" }).explain(Infinity), "input must be of type integer (got Infinity)");
  ok(fits({ type: "integer" }, 3.0));
});

Deno.test("compileSchema: multipleOf allows for binary fractions", () => {
  ok(fits({ multipleOf: 0.01 }, 19.99));
  ok(!fits({ multipleOf: 0.01 }, 19.995));
});

Deno.test("compileSchema: text length is counted in code points", () => {
  ok(fits({ maxLength: 2 }, "😀😀"));
});

function nested(depth: number, key: string, innermost: unknown): unknown {
  let value = innermost;
  for (let i = 0; i < depth; i++) value = { [key]: value };
  return value;
}

Deno.test("check: a value nested 10 000 deep gives an issue or passes, and the schema works on", () => {
  const flat = compileSchema({ type: "object" });
  strictEqual(flat.explain(nested(10_000, "a", 1)), undefined);
  for (
    const N of [
      { type: "object", properties: { a: { $ref: "#/$defs/N" } } },
      { anyOf: [{ type: "object", properties: { a: { $ref: "#/$defs/N" } } }, { type: "null" }] },
    ]
  ) {
    const deep = compileSchema({ $defs: { N }, $ref: "#/$defs/N" }, { name: "args" });
    for (const depth of [10_000, 200_000]) {
      const issues = deep.check(nested(depth, "a", 1));
      strictEqual(issues.length, 1);
      match(issues[0]!.message, /^args/);
    }
    strictEqual(deep.check({ a: { a: 1 } }).length, 1);
  }
  const constant = compileSchema({ const: nested(50, "a", 1) });
  strictEqual(constant.check(nested(100_000, "a", 1)).length, 1);
});

Deno.test("check: a value that holds itself gives an issue", () => {
  const value: Record<string, unknown> = {};
  value.a = value;
  const schema = { properties: { a: { $ref: "#" } } };
  strictEqual(compileSchema(schema).explain(value), "input is nested too deeply to be checked");
});

Deno.test("compileSchema: a schema nested too deeply, or in itself, is an error", () => {
  const circle: Record<string, unknown> = {};
  circle.not = circle;
  for (const schema of [nested(2_000, "not", {}), nested(100_000, "not", {}), circle]) {
    throws(() => compileSchema(schema), (error: unknown) => {
      ok(error instanceof SchemaError);
      match(error.message, /^schema is nested too deeply/);
      return true;
    });
  }
  ok(fits({ type: "string" }, "x"));
});

Deno.test("compileWith: 2 000 schemas are not all kept", async () => {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  ok(typeof collect === "function");
  const kept: WeakRef<object>[] = [];
  for (let i = 0; i < 2_000; i++) {
    const schema = { $id: `https://example.com/${i}.json`, $defs: { A: { $id: `inner-${i}.json`, const: i } } };
    const validate = compileWith("2020-12", schema);
    strictEqual(validate(i), true);
    kept.push(new WeakRef(schema));
  }
  // A WeakRef holds its object until the current job has ended.
  await new Promise((resolve) => setTimeout(resolve, 0));
  collect();
  const alive = kept.filter((ref) => ref.deref() !== undefined).length;
  ok(alive <= 500, `${alive} schemas are still there`);
});

Deno.test("check: the value checked is not kept", async () => {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  ok(typeof collect === "function");
  const N = { required: ["b"], properties: { c: { $ref: "#/$defs/N" } } };
  for (const schema of [{ required: ["b"] }, { properties: { c: { $ref: "#/$defs/N" } }, $defs: { N } }]) {
    const compiled = compileSchema(schema);
    const check = () => {
      const value = { c: { b: 1, c: {} }, b: undefined };
      strictEqual(compiled.check(value).length, 1);
      return [new WeakRef(value), new WeakRef(value.c.c)];
    };
    const refs = check();
    await new Promise((resolve) => setTimeout(resolve, 0));
    collect();
    deepStrictEqual(refs.map((ref) => ref.deref()), [undefined, undefined]);
    // The functions are still there, and could have kept it.
    ok(compiled.schema);
  }
});
