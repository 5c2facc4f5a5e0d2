import assert from "node:assert/strict";
import { withSchemas } from "../../lib/model/layers/schemas.ts";
import type { ModelNotice, ModelRequest } from "../../lib/model/provider.ts";
import { createScriptedModelProvider } from "../../lib/model/providers/scripted.ts";
import { profileOf } from "../../lib/model/providers/profile.ts";

const shared = {
  type: "object",
  properties: { a: { $ref: "#/$defs/x" } },
  $defs: { x: { type: "string", format: "email" } },
};

async function send(baseUrl: string, request: Partial<ModelRequest>, times = 1) {
  const inner = createScriptedModelProvider(Array.from({ length: times }, () => "ok"));
  const provider = withSchemas(inner, profileOf(baseUrl).schemas);
  const notices: ModelNotice[] = [];
  for (let i = 0; i < times; i++) {
    const asked = { model: "m", prompt: "p", onNotice: (notice: ModelNotice) => void notices.push(notice), ...request };
    if (i % 2 === 0) await provider.request(asked);
    else for await (const _ of provider.stream!(asked));
  }
  return { sent: inner.requests, notices };
}

Deno.test("withSchemas: references are gone for every server, in requests and streams; a plain schema is untouched", async () => {
  const plain = { type: "object", properties: {} };
  const tools = [{ name: "t", inputSchema: shared }, { name: "u", inputSchema: plain }];
  const { sent, notices } = await send("http://localhost:1234/v1", { tools }, 2);
  for (const { tools } of sent) {
    assert.deepEqual(tools![0]!.inputSchema, {
      type: "object",
      properties: { a: { type: "string", format: "email" } },
    });
    assert.equal(tools![1]!.inputSchema, plain);
  }
  assert.deepEqual(notices, []);
});

Deno.test("withSchemas: what Gemini refuses is told in the description, once, as a detail", async () => {
  const inputSchema = {
    type: "object",
    properties: { n: { type: "integer", exclusiveMinimum: 0, description: "How many" } },
  };
  const base = "https://generativelanguage.googleapis.com/v1beta/openai";
  const { sent, notices } = await send(base, { tools: [{ name: "t", inputSchema }] }, 3);
  assert.deepEqual(sent[2]!.tools![0]!.inputSchema["properties"], {
    n: { type: "integer", description: "How many (exclusiveMinimum: 0)" },
  });
  assert.deepEqual(notices.map(({ kind }) => kind), ["detail"]);
  assert.match(notices[0]!.message, /^t: n says exclusiveMinimum: 0/);
});

Deno.test("withSchemas: strict only where a server that checks would not refuse it, and said when not", async () => {
  const open = { name: "out", schema: { type: "object", properties: { a: { type: "string" } } } };
  const closed = { name: "out", schema: { ...open.schema, required: ["a"], additionalProperties: false } };
  const local = await send("http://localhost:1234/v1", { responseFormat: open });
  assert.equal(local.sent[0]!.responseFormat!.strict, undefined);
  const strict = await send("https://api.openai.com/v1", { responseFormat: closed });
  assert.equal(strict.sent[0]!.responseFormat!.strict, undefined);
  assert.deepEqual(strict.notices, []);
  const loose = await send("https://api.openai.com/v1", { responseFormat: open });
  assert.equal(loose.sent[0]!.responseFormat!.strict, false);
  assert.deepEqual(loose.notices.map(({ kind }) => kind), ["notice"]);
  assert.match(loose.notices[0]!.message, /additionalProperties: false/);
});

Deno.test("profileOf: by host and what ends with it behind a dot, never by a part of a name", () => {
  assert.equal(profileOf("https://eu.openai.azure.com/x").schemas.checksStrict, true);
  assert.equal(profileOf("https://notapi.openai.com.evil.test/v1").schemas.checksStrict, false);
  assert.equal(profileOf("https://xapi.openai.com/v1").schemas.checksStrict, false);
  assert.equal(profileOf("https://api.deepseek.com/v1").returnsReasoning, true);
  assert.equal(profileOf("http://localhost:1234/v1").returnsReasoning, false);
  assert.equal(profileOf("no url").returnsReasoning, false);
});
