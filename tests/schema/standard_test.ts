import { deepStrictEqual, match, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { ConfigurationError } from "../../lib/base/errors.ts";
import { SchemaError } from "../../lib/schema/schema.ts";
import { isStandardSchema, toolInputSchema } from "../../lib/schema/standard.ts";
import * as deps from "../deps.ts";

const { z, type } = deps;
const zodInput = z.object({ city: z.object({ zip: z.string().transform((text) => text.length) }) });
const valibotInput = deps.object({
  city: deps.object({ zip: deps.pipe(deps.string(), deps.transform((text) => text.length)) }),
});
const arktypeInput = type({ city: { zip: "string" } });

/** A Standard Schema made by hand. */
function handmade(input: (options: { target: string }) => unknown, validate: (value: unknown) => unknown) {
  return { "~standard": { version: 1, vendor: "handmade", validate, jsonSchema: { input, output: input } } };
}

Deno.test("isStandardSchema: Zod, Valibot with its converter and ArkType are, though ArkType's are functions", () => {
  strictEqual(typeof arktypeInput, "function");
  ok(isStandardSchema(zodInput));
  ok(isStandardSchema(arktypeInput));
  ok(isStandardSchema(deps.toStandardJsonSchema(valibotInput)));
});

Deno.test("isStandardSchema: nothing else is", () => {
  const half = { "~standard": { validate: () => ({ value: 1 }), jsonSchema: {} } };
  for (const value of [null, undefined, 1, "x", {}, () => 1, { "~standard": null }, half, valibotInput]) {
    strictEqual(isStandardSchema(value), false);
  }
});

Deno.test("toolInputSchema: Zod's schema, its issues and its transformed output", async () => {
  const { schema, validate } = toolInputSchema(zodInput);
  ok(typeof schema === "object");
  strictEqual(schema.type, "object");
  strictEqual("$schema" in schema, false);
  deepStrictEqual(await validate({ city: { zip: "12345" } }), { value: { city: { zip: 5 } } });
  deepStrictEqual(await validate({ city: { zip: 1 } }), {
    issues: "city.zip: Invalid input: expected string, received number",
  });
});

Deno.test("toolInputSchema: Valibot's schema, its issues and its output", async () => {
  const plain = deps.object({ list: deps.object({ zip: deps.string() }), n: deps.number() });
  const { schema, validate } = toolInputSchema(deps.toStandardJsonSchema(plain));
  ok(typeof schema === "object" && !("$schema" in schema));
  deepStrictEqual(schema.required, ["list", "n"]);
  deepStrictEqual(await validate({ list: { zip: "1" }, n: 1 }), { value: { list: { zip: "1" }, n: 1 } });
  deepStrictEqual(await validate({ list: { zip: 1 }, n: "x" }), {
    issues: 'list.zip: Invalid type: Expected string but received 1; n: Invalid type: Expected number but received "x"',
  });
});

Deno.test("toolInputSchema: ArkType's schema and its issues", async () => {
  const { schema, validate } = toolInputSchema(arktypeInput);
  ok(typeof schema === "object" && !("$schema" in schema));
  deepStrictEqual(schema.required, ["city"]);
  deepStrictEqual(await validate({ city: { zip: "1" } }), { value: { city: { zip: "1" } } });
  deepStrictEqual(await validate({ city: { zip: 1 } }), {
    issues: "city.zip: city.zip must be a string (was a number)",
  });
});

Deno.test("toolInputSchema: a validator without a converter is an error that says what is missing", () => {
  throws(() => toolInputSchema(valibotInput), (error: unknown) => {
    ok(error instanceof ConfigurationError);
    match(error.message, /valibot validator .* no `~standard\.jsonSchema\.input`/);
    match(error.message, /Zod.*toStandardJsonSchema.*@valibot\/to-json-schema/);
    return true;
  });
});

Deno.test("toolInputSchema: what cannot be written as JSON Schema is an error with the converter's reason", () => {
  throws(() => toolInputSchema(z.object({ day: z.date() })), {
    name: "ConfigurationError",
    message: "inputSchema (zod) cannot be written as JSON Schema: Date cannot be represented in JSON Schema",
  });
  throws(() => toolInputSchema(handmade(() => "x", (value) => ({ value }))), /must be written as a JSON Schema object/);
});

Deno.test("toolInputSchema: the converter is called once, for draft 2020-12", async () => {
  const targets: string[] = [];
  const input = toolInputSchema(handmade(
    ({ target }) => {
      targets.push(target);
      return { $schema: "x", type: "object" };
    },
    (value) => ({ value }),
  ));
  deepStrictEqual(input.schema, { type: "object" });
  await input.validate({});
  deepStrictEqual(targets, ["draft-2020-12"]);
});

Deno.test("toolInputSchema: issues without a path, with key objects, symbols and indexes", async () => {
  const issues = [{ message: "one" }, { message: "two", path: [] }, {
    message: "three",
    path: [{ key: "list" }, 0, Symbol("s")],
  }];
  const { validate } = toolInputSchema(handmade(() => ({ type: "object" }), () => Promise.resolve({ issues })));
  deepStrictEqual(await validate({}), { issues: "one; two; list.0.Symbol(s): three" });
});

Deno.test("toolInputSchema: a validator that throws is not taken for an issue, unless the stack ended", async () => {
  const failing = toolInputSchema(handmade(() => ({ type: "object" }), () => {
    throw new TypeError("broken");
  }));
  await rejects(failing.validate({}), /broken/);
  const tree: deps.z.ZodType = z.object({ a: z.lazy(() => tree).optional() });
  let value: unknown = {};
  for (let i = 0; i < 100_000; i++) value = { a: value };
  const result = await toolInputSchema(tree).validate(value);
  deepStrictEqual(result, { issues: "the arguments are nested too deeply to be checked" });
});

Deno.test("toolInputSchema: both kinds must have type object at the root", () => {
  for (
    const [input, got] of [
      [{ type: "string" }, '"string"'],
      [{ type: ["object"] }, '["object"]'],
      [{ properties: {} }, "no type"],
      [z.string(), '"string"'],
    ] as const
  ) {
    throws(() => toolInputSchema(input), (error: unknown) => {
      ok(error instanceof ConfigurationError);
      ok(error.message.endsWith(`must have \`type: "object"\` at its root (got ${got})`), error.message);
      return true;
    });
  }
});

Deno.test("toolInputSchema: what is no schema is an error", () => {
  for (const [input, got] of [[undefined, "nothing"], [null, "null"], [[], "array"], [true, "boolean"]] as const) {
    throws(() => toolInputSchema(input), {
      name: "ConfigurationError",
      message: `inputSchema must be a JSON Schema or a Standard Schema (got ${got})`,
    });
  }
});

Deno.test("toolInputSchema: plain JSON Schema is copied, frozen and checked", async () => {
  const given = { type: "object", required: ["a"], properties: { a: { type: "string", pattern: "^x" } } };
  const { schema, validate } = toolInputSchema(given);
  deepStrictEqual(schema, given);
  ok(Object.isFrozen(schema) && Object.isFrozen((schema as typeof given).properties.a));
  ok(!Object.isFrozen(given));
  given.properties.a.type = "number";
  given.required.push("b");
  const value = { a: "x" };
  const result = await validate(value);
  ok("value" in result);
  strictEqual(result.value, value);
  deepStrictEqual(await validate({ a: 1, b: 1 }), { issues: "input.a must be of type string (got integer)" });
});

Deno.test("toolInputSchema: an invalid plain schema is a SchemaError with the place", () => {
  throws(() => toolInputSchema({ type: "object", properties: { a: { type: "strin" } } }), (error: unknown) => {
    ok(error instanceof SchemaError);
    strictEqual(error.path, "inputSchema.properties.a.type");
    return true;
  });
});
