import assert from "node:assert/strict";
import { ModelError } from "../../lib/base/errors.ts";
import { createAgent } from "../../lib/harness/agent.ts";
import { createHarness } from "../../lib/harness/harness.ts";
import { runTurn } from "../../lib/harness/turn.ts";
import type { ModelRequest, ModelStreamEvent } from "../../lib/model/provider.ts";
import { anthropicRequest, createAnthropicModelProvider } from "../../lib/model/providers/anthropic.ts";
import { createLocalSandboxProvider } from "../../lib/sandbox/providers/local.ts";
import { defineHarnessTool } from "../../lib/tool/define.ts";
import type { HarnessTool } from "../../lib/tool/tool.ts";

const USAGE = { input_tokens: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 5 };
const BLOCKS = [
  { type: "thinking", thinking: "hm", signature: "sig" },
  { type: "text", text: "Let me look." },
  { type: "tool_use", id: "c1", name: "find", input: { a: 1 } },
];

/** A server on this machine shaped like Anthropic's: answers in order, with JSON or with events. */
function serve(answers: readonly ({ json: unknown; status?: number } | { events: readonly unknown[] })[]) {
  const requests: { path: string; headers: Headers; body: Record<string, unknown> }[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    requests.push({ path: new URL(request.url).pathname, headers: request.headers, body: await request.json() });
    const answer = answers[requests.length - 1]!;
    if ("json" in answer) return Response.json(answer.json, { status: answer.status ?? 200 });
    const text = answer.events.map((event) =>
      `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`
    );
    return new Response(text.join(""), { headers: { "content-type": "text/event-stream" } });
  });
  const provider = createAnthropicModelProvider({
    apiKey: "sk-ant-key",
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
  });
  return { provider, requests, server };
}

const REQUEST: ModelRequest = { model: "claude", prompt: "go", maxOutputTokens: 100 };

function eventsOf(blocks: readonly Record<string, unknown>[], stop: string): unknown[] {
  return [
    { type: "message_start", message: { usage: { ...USAGE, output_tokens: 1 } } },
    { type: "ping" },
    ...blocks.flatMap((block, index) => {
      const piece = (delta: unknown) => ({ type: "content_block_delta", index, delta });
      const start = (content_block: unknown) => ({ type: "content_block_start", index, content_block });
      const stop = { type: "content_block_stop", index };
      if (block["type"] === "text") {
        const text = String(block["text"]);
        const halves = [text.slice(0, 4), text.slice(4)].map((text) => piece({ type: "text_delta", text }));
        return [start({ type: "text", text: "" }), ...halves, stop];
      }
      if (block["type"] === "tool_use") {
        const json = JSON.stringify(block["input"]);
        const halves = [json.slice(0, 3), json.slice(3)].map((part) =>
          piece({ type: "input_json_delta", partial_json: part })
        );
        return [start({ ...block, input: {} }), ...halves, stop];
      }
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        piece({ type: "thinking_delta", thinking: block["thinking"] }),
        piece({ type: "signature_delta", signature: block["signature"] }),
        stop,
      ];
    }),
    { type: "message_delta", delta: { stop_reason: stop }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ];
}

Deno.test("createAnthropicModelProvider: whole and streamed answers come to the same result", async () => {
  const whole = { content: BLOCKS, stop_reason: "tool_use", usage: USAGE };
  const { provider, requests, server } = serve([{ json: whole }, { events: eventsOf(BLOCKS, "tool_use") }]);
  const first = await provider.request(REQUEST);
  const seen: ModelStreamEvent[] = [];
  for await (const event of provider.stream!(REQUEST)) seen.push(event);
  const last = seen.at(-1)!;
  assert(last.type === "result");
  assert.deepEqual(last.result, first);
  assert.equal(first.text, "Let me look.");
  assert.deepEqual(first.content, [
    { type: "reasoning", provider: provider.identity, model: "claude", data: BLOCKS[0], text: "hm" },
    { type: "text", text: "Let me look." },
    { type: "tool-call", id: "c1", name: "find", input: { a: 1 }, arguments: '{"a":1}' },
  ]);
  assert.deepEqual(first.usage, { input: 9, cached: 4, cacheCreated: 2, output: 5 });
  assert.deepEqual(seen.map(({ type }) => type), ["reasoning", "text-delta", "text-delta", "result"]);
  const [{ path, headers }] = requests as [typeof requests[0]];
  assert.equal(path, "/v1/messages");
  assert.equal(headers.get("x-api-key"), "sk-ant-key");
  assert.equal(headers.get("anthropic-version"), "2023-06-01");
  assert.equal(headers.get("authorization"), null);
  assert([...headers.keys()].every((name) => !name.startsWith("x-stainless")));
  await server.shutdown();
});

Deno.test("createAnthropicModelProvider: stop reasons, refusals, errors in a stream, a cut stream, an overloaded server", async () => {
  const text = [{ type: "text", text: "half" }];
  const { provider, requests, server } = serve([
    { json: { content: text, stop_reason: "max_tokens" } },
    { json: { content: text, stop_reason: "model_context_window_exceeded" } },
    { json: { content: [], stop_reason: "refusal" } },
    {
      events: [...eventsOf(text, "end_turn").slice(0, 5), {
        type: "error",
        error: { type: "overloaded_error", message: "Overloaded" },
      }],
    },
    { events: eventsOf(text, "end_turn").slice(0, 5) },
    { json: { type: "error", error: { type: "rate_limit_error", message: "slow" } }, status: 429 },
  ]);
  for (const reason of ["max-tokens", "max-tokens", "refusal"]) {
    assert.equal((await provider.request(REQUEST)).stopReason, reason);
  }
  const streamed = async () => {
    for await (const _ of provider.stream!(REQUEST));
  };
  await assert.rejects(streamed(), (error) => error instanceof ModelError && /Overloaded/.test(error.message));
  await assert.rejects(streamed(), (error) => error instanceof ModelError && /cut off/.test(error.message));
  await assert.rejects(
    provider.request(REQUEST),
    (error) => error instanceof ModelError && error.code === "quota" && error.details["status"] === 429,
  );
  assert.equal(requests.length, 6, "nothing is sent twice");
  await server.shutdown();
});

Deno.test("harness 39: a failed tool is flagged to Anthropic, and its own reasoning goes back", async () => {
  const { provider, requests, server } = serve([
    { events: eventsOf(BLOCKS, "tool_use") },
    { events: eventsOf([{ type: "text", text: "done" }], "end_turn") },
  ]);
  const find = defineHarnessTool({
    name: "find",
    description: "f",
    input: { type: "object" },
    execute: () => ({ content: "not there", isError: true }),
  }) as HarnessTool;
  const agent = createAgent({
    harness: createHarness({ modelProvider: provider, tools: [find], instructions: "S" }),
    model: { name: "claude", maxOutputTokens: 50, reasoning: "high" },
  });
  const lease = await createLocalSandboxProvider().acquire({ directory: Deno.cwd() });
  assert.equal((await runTurn(agent, { lease, prompt: "go" })).text, "done");
  assert.deepEqual(requests[1]!.body, {
    model: "claude",
    max_tokens: 50,
    system: "S",
    messages: [
      { role: "user", content: [{ type: "text", text: "go" }] },
      { role: "assistant", content: BLOCKS },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "not there", is_error: true }] },
    ],
    stream: true,
    cache_control: { type: "ephemeral" },
    thinking: { type: "adaptive" },
    output_config: { effort: "high" },
    tools: [{ name: "find", description: "f", input_schema: { type: "object" } }],
  });
  await server.shutdown();
});

Deno.test("harness 4: Anthropic's models need maxOutputTokens and cannot think minimally; the key is checked at once", () => {
  const modelProvider = createAnthropicModelProvider({ apiKey: "k" });
  const harness = createHarness({ modelProvider });
  assert.throws(() => createAgent({ harness, model: "m" }), /maxOutputTokens/);
  assert.throws(
    () => createAgent({ harness, model: { name: "m", maxOutputTokens: 1, reasoning: "minimal" } }),
    /minimal/,
  );
  assert.equal(createAgent({ harness, model: { name: "m", maxOutputTokens: 1 } }).model.name, "m");
  for (
    const wrong of [{ apiKey: "" }, { apiKey: false as unknown as string }, { apiKey: "k", baseUrl: "x" }, {
      apiKey: "k",
      x: 1,
    }]
  ) {
    assert.throws(() => createAnthropicModelProvider(wrong), { code: "configuration" });
  }
});

Deno.test("anthropicRequest: no thinking, cached system, media, results before text, foreign reasoning left out", () => {
  const foreign = { type: "reasoning" as const, provider: "other", model: "m", data: { secret: 1 } };
  const body = anthropicRequest({
    model: "m",
    system: "S",
    maxOutputTokens: 9,
    reasoning: "none",
    messages: [
      {
        role: "user",
        content: [{ type: "text", text: "a" }, { type: "image", url: "data:image/png;base64,AA" }, {
          type: "image",
          url: "http://i",
        }],
      },
      {
        role: "assistant",
        content: [foreign, { type: "tool-call", id: "c", name: "t", input: "{bad", arguments: "{bad" }],
      },
      { role: "user", content: [{ type: "text", text: "b" }, { type: "tool-result", callId: "c", content: "r" }] },
    ],
  }, { stream: false, identity: "me", cacheSystem: true });
  assert.deepEqual(body["thinking"], { type: "disabled" });
  assert.deepEqual(body["system"], [{ type: "text", text: "S", cache_control: { type: "ephemeral" } }]);
  assert.deepEqual(body["messages"], [
    {
      role: "user",
      content: [
        { type: "text", text: "a" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AA" } },
        { type: "image", source: { type: "url", url: "http://i" } },
      ],
    },
    { role: "assistant", content: [{ type: "tool_use", id: "c", name: "t", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "r" }, { type: "text", text: "b" }] },
  ]);
  assert.throws(
    () => anthropicRequest({ model: "m", prompt: "x" }, { stream: false, identity: "me", cacheSystem: true }),
    { code: "configuration" },
  );
});
