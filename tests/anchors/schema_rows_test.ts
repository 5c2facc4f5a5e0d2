/** What hurts users of the peers, section B: JSON Schema. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../lib/base/json.ts";
import { strictFault, toolSchemaFor } from "../../lib/schema/provider_schema.ts";
import { Workspace } from "../cli/_lait.ts";
import { ModelServer } from "../cli/_server.ts";
import { at, call, calling } from "./_calling.ts";

const PROFILE = { refused: [], checksStrict: false };
const echo = (parameters: JsonObject) => ({ command: ["printf", "%s", "{{ json input }}"], parameters });

/** A tree of nodes, each with a name and a link to the place where it stands. */
const TREE: JsonObject = {
  type: "object",
  properties: { root: { $ref: "#/$defs/node" }, at: { $ref: "#/definitions/place~1name" } },
  required: ["root"],
  $defs: {
    node: {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
      required: ["name"],
    },
  },
  definitions: { "place/name": { type: "string", minLength: 1 } },
};

Deno.test("B1: a tool whose schema has $defs and $ref is offered, and arguments are checked through the references", async () => {
  await using work = await Workspace.create();
  const good = { root: { name: "a", children: [{ name: "b", children: [] }] }, at: "x" };
  const { code, results, bodies } = await calling(work, { tree: echo(TREE) }, [
    call("tree", good),
    call("tree", { root: { name: "a", children: [{ children: [] }] } }),
    call("tree", { root: { name: "a" }, at: "" }),
  ]);
  assert.equal(code, 0);
  assert.deepEqual(bodies[0]!.tools!.map((tool) => tool.function.name), ["tool__tree"]);
  assert.deepEqual(JSON.parse(results[0]!), good);
  assert.match(results[1]!, /^tool arguments failed validation: input\.root\.children\[0\] is missing .*name/);
  assert.match(results[2]!, /^tool arguments failed validation: input\.at /);
});

Deno.test("B1: for a provider that takes no references local ones are written out, and a circle ends with a note", () => {
  const { schema, notes } = toolSchemaFor(TREE, PROFILE);
  assert.doesNotMatch(JSON.stringify(schema), /\$ref|\$defs|definitions/);
  const { root, at: place } = schema["properties"] as Record<string, JsonObject>;
  assert.deepEqual(place, { type: "string", minLength: 1 });
  const { children } = root!["properties"] as Record<string, JsonObject>;
  assert.deepEqual(children, { type: "array", items: {} });
  assert.equal(notes.length, 1);
  assert.match(notes[0]!, /^root\.children\.items refers to itself/);
});

Deno.test("B2: keywords beside $ref count together with it, when checking and when written out", async () => {
  const parameters: JsonObject = {
    type: "object",
    properties: {
      from: { $ref: "#/$defs/place", description: "where it starts", required: ["zip"], properties: { zip: {} } },
    },
    $defs: { place: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
  };
  await using work = await Workspace.create();
  const { results } = await calling(work, { go: echo(parameters) }, [
    call("go", { from: { city: "Nara" } }),
    call("go", { from: { zip: 1 } }),
    call("go", { from: { city: "Nara", zip: 1 } }),
  ]);
  assert.match(results[0]!, /^tool arguments failed validation: .*zip/);
  assert.match(results[1]!, /^tool arguments failed validation: .*city/);
  assert.equal(results[2], '{"from":{"city":"Nara","zip":1}}');
  assert.deepEqual((toolSchemaFor(parameters, PROFILE).schema["properties"] as JsonObject)["from"], {
    type: "object",
    properties: { city: { type: "string" }, zip: {} },
    required: ["city", "zip"],
    description: "where it starts",
  });
});

Deno.test("B4: a tool without parameters is offered as an object with no properties", async () => {
  await using work = await Workspace.create();
  const { code, bodies } = await calling(work, { now: { command: ["date"] } }, [call("now", {})]);
  assert.equal(code, 0);
  assert.deepEqual(bodies[0]!.tools![0]!.function.parameters, { type: "object", properties: {} });
});

Deno.test("B4: made ready for a provider, a schema has type object and properties, and no $schema", () => {
  const empty = { type: "object", properties: {} };
  const dialect = { $schema: "http://json-schema.org/draft-07/schema#", $id: "https://x.test/s" };
  for (const schema of [{}, { type: "object" }, { properties: {} }, { ...dialect }, { ...dialect, type: "object" }]) {
    assert.deepEqual(toolSchemaFor(schema, PROFILE).schema, empty, JSON.stringify(schema));
  }
  const described = { type: "object", description: "none", additionalProperties: false };
  assert.deepEqual(toolSchemaFor(described, PROFILE).schema, { ...described, properties: {} });
});

const STRICT: JsonObject = {
  type: "object",
  properties: { day: { type: "string" }, note: { type: ["string", "null"] } },
  required: ["day", "note"],
  additionalProperties: false,
};

Deno.test("B5: what keeps a schema from being strict is named; optional as nullable and required is strict", () => {
  assert.equal(strictFault(STRICT), undefined);
  assert.match(strictFault({ ...STRICT, required: ["day"] })!, /does not require `note`/);
  assert.match(
    strictFault({ type: "array", items: { ...STRICT, additionalProperties: true } })!,
    /^items .*additional/,
  );
});

Deno.test("B5: tools are never marked strict; an answer's schema is, as it stands, and a refusal of it is told [cli-config 7.4]", async () => {
  const loose: JsonObject = { type: "object", properties: { day: { type: "string", format: "date" } } };
  const refusal = { error: { message: "Invalid schema: 'additionalProperties' is required to be false" } };
  await using server = new ModelServer([
    { calls: [call("now")] },
    "draft",
    { status: 400, body: JSON.stringify(refusal) },
  ]);
  await using work = await Workspace.create({
    "lait.config.yml": 'tools: { now: { command: ["date"] } }',
    "s.json": JSON.stringify(loose),
  });
  const args = [...at(server), "--tool", "now", "--json-schema", "s.json", "hi"];
  const { code, stdout, stderr } = await work.run(args);
  assert.deepEqual([code, stdout], [4, ""]);
  assert.match(stderr, /^lait: .*400.*Invalid schema: 'additionalProperties' is required to be false\n$/);
  const [first, , last] = server.requests.map(({ body }) => body);
  assert.doesNotMatch(JSON.stringify(first!.tools), /strict/);
  assert.deepEqual(last!["response_format"], {
    type: "json_schema",
    json_schema: { name: "structured_output", schema: loose, strict: true },
  });
});

Deno.test("B7: names that meet once they are qualified, or are too long, are exit 1 before any request; none is cut", async () => {
  const long = "a".repeat(58);
  const command = ["true"];
  const cases: [tools: Record<string, unknown>, said: RegExp][] = [
    [{ "a.b": { command }, "a_b": { command } }, /tools\.a\.b and tools\.a_b .*`tool__a_b`/],
    [
      { [`${long}1`]: { command }, [`${long}2`]: { command } },
      new RegExp(`tool__${long}1.* 65 characters, at most 64`),
    ],
  ];
  for (const [tools, said] of cases) {
    await using work = await Workspace.create();
    const { code, stdout, stderr, bodies } = await calling(work, tools, []);
    assert.deepEqual([code, stdout, bodies.length], [1, "", 0]);
    assert.match(stderr, said);
  }
  await using work = await Workspace.create();
  const { bodies } = await calling(work, { [`${long}`]: { command } }, [call(long)]);
  assert.deepEqual(bodies[0]!.tools!.map((tool) => tool.function.name.length), [64]);
});

Deno.test("B10: a --json-schema that is no schema is exit 1 before any request, never free text [cli-config 7.4]", async () => {
  const bad: Record<string, [text: string, said: RegExp]> = {
    "cut.json": ['{"type":', /cut\.json is not JSON/],
    "type.json": ['{"type":"objekt"}', /type\.json: .*type/],
    "deep.json": ['{"properties":{"a":{"minLength":"3"}}}', /deep\.json: schema\.properties\.a\.minLength/],
    "ref.json": ['{"properties":{"a":{"$ref":"#/$defs/nope"}}}', /ref\.json: .*#\/\$defs\/nope/],
    "other.json": ['{"$ref":"https://example.test/s.json"}', /other\.json: .*example\.test/],
    "draft.json": ['{"$schema":"https://example.test/draft"}', /draft\.json: .*\$schema/],
    "list.json": ["[]", /list\.json: the schema must be an object/],
  };
  const files = Object.fromEntries(Object.entries(bad).map(([name, [text]]) => [name, text]));
  await using server = new ModelServer(() => "free text");
  await using work = await Workspace.create(files);
  await Promise.all(
    Object.entries(bad).map(async ([name, [, said]]) => {
      const { code, stdout, stderr } = await work.run([...at(server), "--json-schema", name, "hi"]);
      assert.deepEqual([code, stdout], [1, ""], stderr);
      assert.match(stderr, said);
    }),
  );
  assert.equal(server.requests.length, 0);
});
