import assert from "node:assert/strict";
import { answerSchemaFor, strictFault, toolSchemaFor } from "../../lib/schema/provider_schema.ts";
import type { JsonObject } from "../../lib/base/json.ts";

const PLAIN = { refused: [], checksStrict: false };

Deno.test("toolSchemaFor: a schema without anything to change is the same object", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string", format: "email" } },
    additionalProperties: false,
  };
  assert.equal(toolSchemaFor(schema, PLAIN).schema, schema);
});

Deno.test("toolSchemaFor: the root is always an object with properties, and $schema is dropped", () => {
  const expected = { type: "object", properties: {} };
  assert.deepEqual(toolSchemaFor({}, PLAIN).schema, expected);
  assert.deepEqual(toolSchemaFor({ type: "object" }, PLAIN).schema, expected);
  const draft = { $schema: "https://json-schema.org/draft/2020-12/schema", ...expected };
  assert.deepEqual(toolSchemaFor(draft, PLAIN).schema, expected);
});

Deno.test("toolSchemaFor: local references are replaced, with what stands beside them", () => {
  const { schema, notes } = toolSchemaFor({
    type: "object",
    properties: {
      from: { $ref: "#/$defs/place", description: "where it starts" },
      to: { $ref: "#/definitions/a~1b" },
      more: { type: "array", items: { $ref: "#/$defs/place" } },
    },
    $defs: { place: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } },
    definitions: { "a/b": { type: "string" } },
  }, PLAIN);
  const place = { type: "object", properties: { x: { type: "number" } }, required: ["x"] };
  assert.deepEqual(schema, {
    type: "object",
    properties: {
      from: { ...place, description: "where it starts" },
      to: { type: "string" },
      more: { type: "array", items: place },
    },
  });
  assert.deepEqual(notes, []);
});

Deno.test("toolSchemaFor: a reference beside properties and required adds up", () => {
  const { schema } = answerSchemaFor({
    $ref: "#/$defs/a",
    properties: { y: { type: "number" } },
    required: ["y"],
    $defs: { a: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } },
  }, PLAIN);
  assert.deepEqual(schema, {
    type: "object",
    properties: { x: { type: "number" }, y: { type: "number" } },
    required: ["x", "y"],
  });
});

Deno.test("toolSchemaFor: a schema that holds itself ends, and says so", () => {
  const tree: JsonObject = {
    type: "object",
    properties: { children: { type: "array", items: { $ref: "#" } }, node: { $ref: "#/properties/node" } },
  };
  const { schema, notes } = toolSchemaFor(tree, PLAIN);
  assert.equal(JSON.stringify(schema).includes("$ref"), false);
  assert(notes.some((note) => /children.*refers to itself/.test(note)), notes.join());
});

Deno.test("toolSchemaFor: references that multiply are cut off", () => {
  const $defs: Record<string, JsonObject> = { d0: { type: "string" } };
  for (let i = 1; i < 40; i++) {
    $defs[`d${i}`] = {
      type: "object",
      properties: { a: { $ref: `#/$defs/d${i - 1}` }, b: { $ref: `#/$defs/d${i - 1}` } },
    };
  }
  const { notes } = toolSchemaFor({ $ref: "#/$defs/d39", $defs }, PLAIN);
  assert(notes.some((note) => /too large/.test(note)));
});

Deno.test("toolSchemaFor: a reference to nowhere, or to another document, allows anything and is told", () => {
  const { schema, notes } = toolSchemaFor({
    type: "object",
    properties: { a: { $ref: "#/nope" }, b: { $ref: "other.json" } },
  }, PLAIN);
  assert.deepEqual(schema["properties"], { a: {}, b: {} });
  assert.equal(notes.length, 2);
});

Deno.test("toolSchemaFor: what a provider refuses stands in the description", () => {
  const { schema, notes } = toolSchemaFor({
    type: "object",
    properties: { mail: { type: "string", format: "email", minLength: 3, description: "Whom to write" } },
  }, { refused: ["format", "minLength"], checksStrict: false });
  assert.deepEqual(schema["properties"], {
    mail: { type: "string", description: 'Whom to write (format: "email"; minLength: 3)' },
  });
  assert.match(notes[0]!, /^mail says format/);
});

Deno.test("toolSchemaFor: a property called like a keyword stays a property", () => {
  const schema = {
    type: "object",
    properties: { $ref: { type: "string" }, format: { type: "string" }, $defs: { type: "string" } },
  };
  assert.deepEqual(toolSchemaFor(schema, { refused: ["format"], checksStrict: false }).schema, schema);
});

Deno.test("strictFault: names what keeps a schema from being strict", () => {
  const closed = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  assert.equal(strictFault(closed), undefined);
  assert.match(strictFault({ ...closed, required: [] })!, /`a`/);
  assert.match(strictFault({ ...closed, additionalProperties: true })!, /additionalProperties/);
  const nested = { ...closed, properties: { a: { type: "array", items: { type: "object" } } } };
  assert.match(strictFault(nested)!, /^a\.items does not say/);
});
