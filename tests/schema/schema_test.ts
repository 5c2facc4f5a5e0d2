import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import { ConfigurationError } from "../../lib/base/errors.ts";
import { compileSchema, SchemaError } from "../../lib/schema/schema.ts";

Deno.test("compileSchema: true takes anything, false nothing", () => {
  deepStrictEqual(compileSchema(true).check({ a: 1 }), []);
  deepStrictEqual(compileSchema(false, { name: "output" }).check(1), [
    { path: "output", message: "output is not allowed", keyword: "false schema" },
  ]);
});

Deno.test("compileSchema: what is no object or boolean is an error", () => {
  for (const [schema, got] of [[null, "null"], [[], "array"], ["{}", "string"], [undefined, "undefined"]] as const) {
    throws(() => compileSchema(schema, { schemaName: "parameters" }), {
      name: "SchemaError",
      code: "configuration",
      path: "parameters",
      message: `parameters must be a JSON Schema, an object or a boolean (got ${got})`,
    });
  }
});

Deno.test("compileSchema: an invalid schema is an error that says what and where", () => {
  const cases: [schema: object, path: string, message: string][] = [
    [
      { properties: { zip: { type: "strin" } } },
      "parameters.properties.zip.type",
      "parameters.properties.zip.type must be one of array, boolean, integer, null, number, object, string, " +
      "or a list of them",
    ],
    [{ required: true }, "parameters.required", "parameters.required must be of type array (got boolean)"],
    [
      { properties: { "a b": { minLength: -1 } } },
      'parameters.properties["a b"].minLength',
      'parameters.properties["a b"].minLength must be >= 0',
    ],
    [
      { type: 3, minItems: "1" },
      "parameters.type",
      "parameters.type must be one of array, boolean, integer, null, number, object, string, or a list of them; " +
      "parameters.minItems must be of type integer (got string)",
    ],
    [
      { anyOf: [true, { properties: { a: { pattern: "(" } } }] },
      "parameters.anyOf[1].properties.a.pattern",
      "parameters.anyOf[1].properties.a.pattern cannot be used: Invalid regular expression: /(/: Unterminated group",
    ],
    [
      // The parts beside it do not compile alone either, for want of `$defs`.
      { properties: { a: { $ref: "#/$defs/D" }, p: { pattern: "(" }, z: { $ref: "#/$defs/D" } }, $defs: { D: {} } },
      "parameters.properties.p.pattern",
      "parameters.properties.p.pattern cannot be used: Invalid regular expression: /(/: Unterminated group",
    ],
    [
      { properties: { a: { enum: [] } } },
      "parameters.properties.a",
      "parameters.properties.a cannot be used: enum must have non-empty array",
    ],
    [
      { properties: { a: { default: /x/ } } },
      "parameters.properties.a.default",
      "parameters.properties.a.default is no JSON value (got RegExp)",
    ],
    [{ maximum: NaN }, "parameters.maximum", "parameters.maximum is no JSON value (got NaN)"],
    [{ not: () => true }, "parameters.not", "parameters.not is no JSON value (got function)"],
  ];
  for (const [schema, path, message] of cases) {
    throws(() => compileSchema(schema, { schemaName: "parameters" }), (error: unknown) => {
      ok(error instanceof SchemaError && error instanceof ConfigurationError);
      deepStrictEqual({ path: error.path, message: error.message }, { path, message });
      strictEqual(error.details.path, path);
      return true;
    });
  }
});

Deno.test("compileSchema: keys whose value is undefined are not there", () => {
  strictEqual(compileSchema({ type: "string", description: undefined }).explain("x"), undefined);
});

Deno.test("compileSchema: the same object is compiled once, under any name", () => {
  let reads = 0;
  const schema = new Proxy({ type: "object", properties: { a: { type: "string" } } }, {
    ownKeys: (target) => {
      reads++;
      return Reflect.ownKeys(target);
    },
  });
  const one = compileSchema(schema);
  ok(reads > 0);
  reads = 0;
  const other = compileSchema(schema, { name: "output" });
  strictEqual(reads, 0);
  strictEqual(one.schema, schema);
  strictEqual(other.schema, schema);
  strictEqual(one.explain({ a: 1 }), "input.a must be of type string (got integer)");
  strictEqual(other.explain({ a: 1 }), "output.a must be of type string (got integer)");
});

Deno.test("explain: joins the sentences, and cuts after 100 of them", () => {
  const list = compileSchema({ items: { type: "string" } });
  strictEqual(
    list.explain([1, true]),
    "input[0] must be of type string (got integer); input[1] must be of type string (got boolean)",
  );
  const many = new Array(150).fill(1);
  strictEqual(list.check(many).length, 150);
  const sentences = list.explain(many)!.split("; ");
  deepStrictEqual([sentences.length, sentences.at(-1)], [101, "and 50 more"]);
});
