import assert from "node:assert/strict";
import { ModelError } from "../../lib/base/errors.ts";
import type { ModelRequest, ModelResult, ModelStreamEvent } from "../../lib/model/provider.ts";
import { createOpenAIModelProvider } from "../../lib/model/providers/openai.ts";
import { createResponsesProvider, responsesRequest } from "../../lib/model/providers/responses.ts";

const ITEMS = [
  {
    type: "reasoning",
    id: "r1",
    summary: [{ type: "summary_text", text: "hm" }, { type: "summary_text", text: "so" }],
  },
  {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: "Let me " }, { type: "output_text", text: "look." }],
  },
  { type: "function_call", call_id: "c1", name: "find", arguments: '{"a":1}' },
  { type: "web_search_call", id: "w" },
];
const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 15,
};

/** A server on this machine that answers with JSON or with events, and keeps the bodies. */
function serve(answer: { json?: unknown; events?: readonly unknown[]; status?: number }) {
  const bodies: Record<string, unknown>[] = [];
  const headers: Headers[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    assert.equal(new URL(request.url).pathname, "/v1/responses");
    headers.push(request.headers);
    bodies.push(await request.json());
    if (answer.events === undefined) return Response.json(answer.json, { status: answer.status ?? 200 });
    const text = answer.events.map((event) =>
      `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`
    );
    return new Response(text.join(""), { headers: { "content-type": "text/event-stream" } });
  });
  const provider = createResponsesProvider({
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    apiKey: "k",
    timeoutMs: 10_000,
    timeoutCovers: "exchange",
    maxResponseBytes: 1_000_000,
    replaysReasoning: true,
  });
  return { provider, bodies, headers, server };
}

const REQUEST: ModelRequest = { model: "m", prompt: "go" };

function check({ text, content, usage, stopReason }: ModelResult): void {
  assert.equal(text, "Let me look.");
  assert.deepEqual(content!.map(({ type }) => type), ["reasoning", "text", "tool-call"]);
  assert(content![0]!.type === "reasoning" && content![0]!.text === "hm\n\nso");
  assert.deepEqual(content![2], { type: "tool-call", id: "c1", name: "find", input: { a: 1 }, arguments: '{"a":1}' });
  assert.deepEqual(usage, { input: 10, cached: 4, output: 5, reasoning: 2 });
  assert.equal(stopReason, undefined);
}

Deno.test("createResponsesProvider: a whole answer, and its key as a bearer", async () => {
  const { provider, headers, server } = serve({ json: { status: "completed", output: ITEMS, usage: USAGE } });
  check(await provider.request(REQUEST));
  assert.equal(headers[0]!.get("authorization"), "Bearer k");
  await server.shutdown();
});

for (const complete of [true, false]) {
  Deno.test(`createResponsesProvider: a stream whose last event ${complete ? "repeats" : "leaves out"} the items`, async () => {
    const events = [
      { type: "response.created", response: { status: "in_progress" } },
      { type: "response.output_item.added", output_index: 0, item: { type: "reasoning", id: "r1", summary: [] } },
      { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "hm" },
      { type: "response.output_item.done", output_index: 0, item: ITEMS[0] },
      { type: "response.output_item.added", output_index: 1, item: { type: "message", content: [] } },
      { type: "response.output_text.delta", output_index: 1, delta: "Let me " },
      { type: "response.output_text.delta", output_index: 1, delta: "look." },
      {
        type: "response.output_item.added",
        output_index: 2,
        item: { type: "function_call", call_id: "c1", name: "find", arguments: "" },
      },
      { type: "response.function_call_arguments.delta", output_index: 2, delta: '{"a"' },
      { type: "response.function_call_arguments.delta", output_index: 2, delta: ":1}" },
      { type: "response.unheard_of" },
      {
        type: "response.completed",
        response: { status: "completed", usage: USAGE, ...(complete ? { output: ITEMS } : {}) },
      },
    ];
    const { provider, bodies, server } = serve({ events });
    const seen: ModelStreamEvent[] = [];
    for await (const event of provider.stream!(REQUEST)) seen.push(event);
    const last = seen.at(-1)!;
    assert(last.type === "result");
    if (complete) check(last.result);
    else {
      assert.equal(last.result.text, "Let me look.");
      assert.deepEqual(last.result.content!.map(({ type }) => type).toSorted(), ["reasoning", "text", "tool-call"]);
    }
    assert.deepEqual(seen.filter(({ type }) => type === "text-delta").length, 2);
    assert.equal(bodies[0]!["stream"], true);
    await server.shutdown();
  });
}

Deno.test("createResponsesProvider: incomplete, failed and refused answers, and a stream that is cut", async () => {
  const ended = async (json: unknown) => {
    const { provider, server } = serve({ json });
    const result = await provider.request(REQUEST).catch((error) => error);
    await server.shutdown();
    return result;
  };
  const output = [ITEMS[1]];
  const cut = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, output };
  assert.equal((await ended(cut)).stopReason, "max-tokens");
  const filtered = { status: "incomplete", incomplete_details: { reason: "content_filter" }, output };
  assert.equal((await ended(filtered)).stopReason, "refusal");
  const refused = { status: "completed", output: [{ type: "message", content: [{ type: "refusal", refusal: "no" }] }] };
  assert.deepEqual([(await ended(refused)).stopReason, (await ended(refused)).text], ["refusal", "no"]);
  const failed = await ended({ status: "failed", error: { message: "it broke", code: "server_error" }, output: [] });
  assert(failed instanceof ModelError && /it broke/.test(failed.message));
  assert((await ended({ choices: [] })) instanceof ModelError);
  const { provider, server } = serve({
    events: [{ type: "response.output_text.delta", output_index: 0, delta: "half" }],
  });
  const seen: string[] = [];
  await assert.rejects(async () => {
    for await (const event of provider.stream!(REQUEST)) if (event.type === "text-delta") seen.push(event.text);
  }, (error) => error instanceof ModelError && /cut off/.test(error.message));
  assert.deepEqual(seen, ["half"]);
  await server.shutdown();
});

Deno.test("responsesRequest: every concept under this API's names, the history whole, own reasoning replayed", () => {
  const reasoning = { type: "reasoning" as const, provider: "me", model: "m", data: { type: "reasoning", id: "r" } };
  const body = responsesRequest({
    model: "m",
    system: "S",
    messages: [
      { role: "user", content: [{ type: "text", text: "look" }, { type: "image", url: "http://i" }] },
      {
        role: "assistant",
        content: [reasoning, { ...reasoning, model: "other" }, { type: "text", text: "ok" }, {
          type: "tool-call",
          id: "c",
          name: "t",
          input: {},
          arguments: "",
        }],
      },
      { role: "user", content: [{ type: "tool-result", callId: "c", content: "r" }, { type: "text", text: "and?" }] },
    ],
    tools: [{ name: "t", inputSchema: { type: "object", properties: {} } }],
    reasoning: "low",
    temperature: 0.5,
    topP: 0.9,
    maxOutputTokens: 7,
    responseFormat: { name: "out", schema: { type: "object" } },
  }, { stream: false, replaysFor: "me" });
  assert.deepEqual(body, {
    model: "m",
    instructions: "S",
    input: [
      { role: "user", content: [{ type: "input_text", text: "look" }, { type: "input_image", image_url: "http://i" }] },
      { type: "reasoning", id: "r" },
      { role: "assistant", content: "ok" },
      { type: "function_call", call_id: "c", name: "t", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "r" },
      { role: "user", content: "and?" },
    ],
    stream: false,
    store: false,
    include: ["reasoning.encrypted_content"],
    reasoning: { effort: "low" },
    temperature: 0.5,
    top_p: 0.9,
    max_output_tokens: 7,
    text: { format: { type: "json_schema", name: "out", schema: { type: "object" }, strict: true } },
    tools: [{ type: "function", name: "t", parameters: { type: "object", properties: {} }, strict: false }],
  });
});

Deno.test("createOpenAIModelProvider: checks its options when it is made; both APIs", async () => {
  const good = { baseUrl: "http://localhost:1/v1", apiKey: false as const };
  for (
    const wrong of [
      { ...good, baseUrl: "localhost:1" },
      { ...good, baseUrl: "http://u:p@h/v1" },
      { ...good, baseUrl: "http://h/v1?x" },
      { ...good, apiKey: "" },
      { ...good, apiKey: "a\nb" },
      { ...good, api: "soap" as "responses" },
      { ...good, timeoutMs: 0 },
      { ...good, extra: 1 },
    ]
  ) assert.throws(() => createOpenAIModelProvider(wrong), { code: "configuration" });
  const { server, bodies, headers } = serve({ json: { status: "completed", output: ITEMS } });
  const provider = createOpenAIModelProvider({
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1/`,
    apiKey: () => Promise.resolve("fresh"),
    api: "responses",
  });
  await provider.request(REQUEST);
  assert.equal(headers[0]!.get("authorization"), "Bearer fresh");
  assert.equal(bodies[0]!["store"], false);
  await server.shutdown();
});
