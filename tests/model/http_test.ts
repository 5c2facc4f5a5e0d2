import assert from "node:assert/strict";
import { ConfigurationError, messageChain } from "../../lib/base/errors.ts";
import { DUMMY_API_KEY, VERSION } from "../../lib/base/product.ts";
import type { ModelRequest } from "../../lib/model/provider.ts";
import { wireRequest } from "../../lib/model/providers/chat_completions.ts";
import { ModelExchange } from "../../lib/model/providers/http.ts";
import { retryAfter } from "../../lib/model/providers/retry_after.ts";
import {
  chunk,
  collect,
  END,
  gone,
  HI,
  modelError,
  plain,
  provider,
  RawServer,
  rejection,
  slowBody,
  stream,
  streamedText,
  StubServer,
  WAYS,
  write,
} from "./_servers.ts";

const KEY = "sk-live-abcDEF0123456789";
const SSE = { headers: { "content-type": "text/event-stream" } };

const FULL: ModelRequest = {
  model: "gpt",
  system: "Be brief.",
  messages: [
    { role: "user", content: [{ type: "text", text: "Read a and b." }] },
    {
      role: "assistant",
      content: [
        { type: "reasoning", provider: "p", model: "gpt", data: {}, text: "hm" },
        { type: "tool-call", id: "c1", name: "read", input: { path: "a" }, arguments: '{"path": "a"}' },
      ],
    },
    { role: "user", content: [{ type: "tool-result", callId: "c1", content: "A" }] },
  ],
  tools: [
    { name: "read", description: "Reads a file.", inputSchema: { type: "object" } },
    { name: "now", inputSchema: { type: "object" } },
  ],
  reasoning: "high",
  temperature: 0.5,
  topP: 0.9,
  maxOutputTokens: 256,
  responseFormat: { name: "out", schema: { type: "object" } },
  cache: true,
};

Deno.test("wireRequest: every field under its wire name, and nothing that was not asked for", () => {
  const options = { stream: false, storeFalse: false };
  assert.deepEqual(wireRequest(HI, options), {
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    stream: false,
  });
  assert.deepEqual(wireRequest({ ...HI, tools: [], wantUsage: true }, options), wireRequest(HI, options));
  assert.deepEqual(wireRequest(FULL, { stream: true, storeFalse: true }), {
    model: "gpt",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Read a and b." },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: '{"path": "a"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "A" },
    ],
    stream: true,
    stream_options: { include_usage: true },
    store: false,
    reasoning_effort: "high",
    temperature: 0.5,
    top_p: 0.9,
    max_completion_tokens: 256,
    response_format: {
      type: "json_schema",
      json_schema: { name: "out", schema: { type: "object" }, strict: true },
    },
    tools: [
      { type: "function", function: { name: "read", description: "Reads a file.", parameters: { type: "object" } } },
      { type: "function", function: { name: "now", parameters: { type: "object" } } },
    ],
  });
  assert.equal("stream_options" in wireRequest({ ...HI, wantUsage: false }, { ...options, stream: true }), false);
});

Deno.test("createChatCompletionsProvider: one POST with the wire request and a fixed list of headers", async () => {
  await using server = new StubServer(({ body }) => (body as { stream: boolean }).stream ? stream("A") : plain("A"));
  for (const streamed of [false, true]) {
    const from = provider(server.baseUrl, { apiKey: KEY, storeFalse: true });
    if (streamed) await collect(from, FULL);
    else await from.request(FULL);
    const { method, path, headers, body } = server.received.at(-1)!;
    assert.deepEqual([method, path], ["POST", "/v1/chat/completions"]);
    assert.deepEqual(body, JSON.parse(JSON.stringify(wireRequest(FULL, { stream: streamed, storeFalse: true }))));
    assert.equal(headers["authorization"], `Bearer ${KEY}`);
    assert.equal(headers["user-agent"], `lait/${VERSION}`);
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers["accept"], "application/json");
    // The runtime's own beside ours.
    const runtime = ["accept-encoding", "accept-language", "content-length", "host"];
    const ours = ["accept", "authorization", "content-type", "user-agent"];
    assert.deepEqual(Object.keys(headers).sort(), [...ours, ...runtime].sort());
  }
  assert.equal(server.received.length, 2);
});

Deno.test("createChatCompletionsProvider: no Authorization without a key; a function is asked before each request", async () => {
  await using server = new StubServer(() => plain("A"));
  await provider(server.baseUrl, { apiKey: false }).request(HI);
  assert.equal("authorization" in server.received[0]!.headers, false);

  const signals: unknown[] = [];
  const { signal } = new AbortController();
  const from = provider(server.baseUrl, {
    apiKey: (given) => Promise.resolve(`key-${signals.push(given)}`),
  });
  await from.request({ ...HI, signal });
  await from.request(HI);
  assert.deepEqual(server.received.slice(1).map(({ headers }) => headers["authorization"]), [
    "Bearer key-1",
    "Bearer key-2",
  ]);
  assert.deepEqual(signals, [signal, undefined]);

  const failure = new Error("the key command failed");
  const failing = provider(server.baseUrl, { apiKey: () => Promise.reject(failure) });
  for (const [, ask] of WAYS) assert.equal(await rejection(ask(failing)), failure);
  assert.equal(server.received.length, 3);
});

Deno.test("createChatCompletionsProvider: a key that no header can hold is refused without being shown", async () => {
  await using server = new StubServer(() => plain("A"));
  for (const key of ["sk-secret\nvalue", "sk-秘密のかぎ"]) {
    for (const [, ask] of WAYS) {
      const error = await rejection(ask(provider(server.baseUrl, { apiKey: key })));
      assert(error instanceof ConfigurationError, String(error));
      assert.match(error.message, /API key cannot be sent/);
      assert.doesNotMatch(messageChain(error), /secret|秘密/);
    }
  }
  assert.equal(server.received.length, 0);
});

Deno.test("createChatCompletionsProvider: the environment of the client library changes nothing, and nothing is printed", async () => {
  await using server = new StubServer(({ body, path }) => {
    if (path.startsWith("/v1/bad")) return new Response("data: oops\n\n", SSE);
    return (body as { stream: boolean }).stream ? stream("A") : plain("A");
  });
  const script = `
    import { createChatCompletionsProvider } from ${
    JSON.stringify(new URL("../../lib/model/providers/chat_completions.ts", import.meta.url).href)
  };
    const options = { apiKey: "sk-mine-0123", timeoutMs: 20000, timeoutCovers: "exchange", maxResponseBytes: 1e6, storeFalse: false };
    const request = { model: "m", prompt: "hi" };
    const good = createChatCompletionsProvider({ ...options, baseUrl: Deno.args[0] });
    await good.request(request);
    for await (const _ of good.stream(request));
    const keyless = createChatCompletionsProvider({ ...options, apiKey: false, baseUrl: Deno.args[0] });
    await keyless.request(request);
    const bad = createChatCompletionsProvider({ ...options, baseUrl: Deno.args[0] + "/bad" });
    try {
      for await (const _ of bad.stream(request));
      Deno.exit(1);
    } catch { /* as it should be */ }
  `;
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, script);
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--no-lock", "--no-check", file, server.baseUrl],
      env: {
        OPENAI_API_KEY: "sk-theirs-0123",
        OPENAI_ADMIN_KEY: "sk-admin-0123",
        OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
        OPENAI_ORG_ID: "org",
        OPENAI_PROJECT_ID: "project",
        OPENAI_CUSTOM_HEADERS: "X-Custom: 1\nAuthorization: Bearer sk-custom\nContent-Type: text/plain\nCookie: a=b",
        OPENAI_LOG: "debug",
      },
    }).output();
    const decoder = new TextDecoder();
    assert.deepEqual([code, decoder.decode(stdout), decoder.decode(stderr)], [0, "", ""]);
  } finally {
    await Deno.remove(file);
  }
  assert.equal(server.received.length, 4);
  for (const { headers } of server.received) {
    assert.deepEqual(Object.keys(headers).filter((name) => /openai|stainless|custom|cookie/.test(name)), []);
    assert.equal(headers["content-type"], "application/json");
  }
  assert.deepEqual(server.received.map(({ headers }) => headers["authorization"]), [
    "Bearer sk-mine-0123",
    "Bearer sk-mine-0123",
    undefined,
    "Bearer sk-mine-0123",
  ]);
});

for (const [way, ask] of WAYS) {
  Deno.test(`createChatCompletionsProvider: 401 names URL, status and what the server said, without the key (${way})`, async () => {
    const bodies = [
      JSON.stringify({ error: { message: `wrong key ${KEY}`, type: "auth", code: "invalid_api_key" } }),
      `<p>${KEY} is wrong</p>`,
      JSON.stringify({ detail: `Incorrect API key provided: ${KEY.slice(0, 8)}********${KEY.slice(-4)}.` }),
      JSON.stringify({ message: `no: ${KEY.slice(0, 7)}...` }),
      // The key stands where the body is cut.
      "x".repeat(1_990) + KEY,
      `${" ".repeat(7_990)}${KEY}${" ".repeat(9_000)}`,
      KEY.repeat(1_000),
    ];
    await using server = new StubServer((_, count) => new Response(bodies[count - 1], { status: 401 }));
    for (const [index] of bodies.entries()) {
      const error = await modelError(ask(provider(server.baseUrl, { apiKey: KEY })));
      assert.equal(error.code, "provider");
      assert.equal(error.details["status"], 401);
      assert.match(error.message, /^the model server answered 401 Unauthorized to POST http/);
      assert(error.message.includes(`${server.baseUrl}/chat/completions: `), error.message);
      assert.match(error.message, /; check the API key$/);
      const shown = messageChain(error) + JSON.stringify(error.details) + Deno.inspect(error);
      for (let length = 4; length <= KEY.length; length++) {
        // `sk-l` and longer beginnings, and the whole.
        assert.equal(shown.includes(KEY.slice(0, length)), false, `${index}: ${shown.slice(0, 300)}`);
      }
      assert.equal(shown.includes(KEY.slice(-4)), false);
      if (index < 4) assert.match(error.message, /\*\*\*/);
    }
    assert.equal(server.received.length, bodies.length);
  });
}

Deno.test("createChatCompletionsProvider: the facts of a refusal are data", async () => {
  await using server = new StubServer(() =>
    Response.json({ error: { message: "no credit", type: "insufficient_quota", code: "quota_exceeded" } }, {
      status: 429,
    })
  );
  const { details, message } = await modelError(provider(server.baseUrl).request(HI));
  assert.match(message, /answered 429 Too Many Requests to POST .*: no credit$/);
  assert.deepEqual(details, {
    status: 429,
    url: `${server.baseUrl}/chat/completions`,
    body: '{"error":{"message":"no credit","type":"insufficient_quota","code":"quota_exceeded"}}',
    errorCode: "quota_exceeded",
    errorType: "insufficient_quota",
  });
});

Deno.test("createChatCompletionsProvider: what a server said is one line, without control characters, and bounded", async () => {
  const bodies = [
    "first\r\nsecond \u001b[31mred\u001b[0m \u202e",
    "y".repeat(100_000),
    JSON.stringify({ error: { message: "z".repeat(5_000) } }),
    "",
  ];
  await using server = new StubServer((_, count) => new Response(bodies[count - 1], { status: 500 }));
  const said: string[] = [];
  for (const [way, ask] of [...WAYS, ...WAYS]) {
    const error = await modelError(ask(provider(server.baseUrl)));
    assert.equal(error.details["status"], 500, way);
    said.push(error.message.split("/chat/completions")[1]!);
  }
  assert.deepEqual(said, [
    ": first second \\u{1b}[31mred\\u{1b}[0m \\u{202e}",
    `: ${"y".repeat(2_000)}…`,
    `: ${"z".repeat(2_000)}…`,
    "",
  ]);
});

Deno.test("createChatCompletionsProvider: an address of something else gets a hint", async () => {
  await using server = new StubServer((_, count) =>
    count === 1
      ? new Response("<h1>Not Found</h1>", { status: 404 })
      : Response.json({ error: { message: "no such model" } }, { status: 404 })
  );
  assert.match((await modelError(provider(server.baseUrl).request(HI))).message, /; check base_url, .* \/v1$/);
  assert.match((await modelError(provider(server.baseUrl).request(HI))).message, /: no such model$/);
});

for (const [way, ask] of WAYS) {
  Deno.test(`createChatCompletionsProvider: 429 has the code quota and says when to come back (${way})`, async () => {
    const waits: [headers: Record<string, string>, check: (ms: unknown) => void][] = [
      [{ "retry-after": "7" }, (ms) => assert.equal(ms, 7_000)],
      [{ "retry-after": "0.5", "retry-after-ms": "250" }, (ms) => assert.equal(ms, 250)],
      [
        { "retry-after": new Date(Date.now() + 3_600_000).toUTCString() },
        (ms) => assert(typeof ms === "number" && ms > 3_000_000 && ms <= 3_600_000, String(ms)),
      ],
      [{ "retry-after": "soon" }, (ms) => assert.equal(ms, undefined)],
      [{}, (ms) => assert.equal(ms, undefined)],
    ];
    await using server = new StubServer((_, count) =>
      new Response("slow down", { status: 429, headers: waits[count - 1]![0] })
    );
    for (const [, check] of waits) {
      const error = await modelError(ask(provider(server.baseUrl)));
      assert.equal(error.code, "quota");
      assert.equal(error.details["status"], 429);
      check(error.details["retryAfterMs"]);
    }
    assert.equal(server.received.length, waits.length, "it must not try again by itself");
  });
}

Deno.test("retryAfter: milliseconds before seconds before a date; what is no time is none", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const cases: [headers: Record<string, string>, ms: number | undefined][] = [
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1_500],
    [{ "retry-after-ms": "soon", "retry-after": "9" }, 9_000],
    [{ "retry-after": " 1.5 " }, 1_500],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "Thu, 01 Jan 2026 00:02:00 GMT" }, 120_000],
    [{ "retry-after": "Wed, 31 Dec 2025 23:00:00 GMT" }, 0],
    [{ "retry-after": "-1" }, undefined],
    [{ "retry-after": "Infinity" }, undefined],
    [{ "retry-after": "1e9" }, undefined],
    [{ "retry-after": "" }, undefined],
    [{}, undefined],
  ];
  for (const [headers, ms] of cases) assert.equal(retryAfter(new Headers(headers), now), ms, JSON.stringify(headers));
});

for (const [way, ask] of WAYS) {
  Deno.test(`createChatCompletionsProvider: a redirect is an error that names its target, and is not followed (${way})`, async () => {
    await using server = new StubServer((_, count) =>
      new Response(null, {
        status: [301, 302, 307, 308][count - 1]!,
        headers: { location: "https://other.test/v1/chat/completions" },
      })
    );
    for (const status of [301, 302, 307, 308]) {
      const error = await modelError(ask(provider(server.baseUrl)));
      assert.equal(error.details["status"], status);
      assert.match(error.message, /redirects .* to https:\/\/other\.test\/v1\/chat\/completions; set base_url/);
    }
    assert.equal(server.received.length, 4);
  });

  Deno.test(`createChatCompletionsProvider: a server that is not there is named with its URL and the reason (${way})`, async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const baseUrl = `http://127.0.0.1:${listener.addr.port}/v1`;
    listener.close();
    const refused = await modelError(ask(provider(baseUrl)));
    assert.match(
      refused.message,
      /^cannot reach the model server at http.*: Connection refused \(os error \d+\); is it running/,
    );
    assert.deepEqual(refused.details, { url: `${baseUrl}/chat/completions`, reached: false });

    const unknown = await modelError(ask(provider("http://no-such-host.invalid/v1")));
    assert.match(
      unknown.message,
      /^cannot reach the model server at http:\/\/no-such-host\.invalid\/v1\/chat.*: dns error: /,
    );
    assert.equal(unknown.details["reached"], false);
    for (const { message } of [refused, unknown]) assert.doesNotMatch(message, /error sending request|client error/);
  });

  Deno.test(`createChatCompletionsProvider: a connection that ends before the answer has reached the server (${way})`, async () => {
    await using server = new RawServer(() => Promise.resolve());
    const error = await modelError(ask(provider(server.baseUrl)));
    assert.match(error.message, /^lost the connection to the model server before it answered \(POST http/);
    assert.equal(error.details["reached"], true);
    assert.equal(server.connections, 1);
  });

  Deno.test(`createChatCompletionsProvider: what does not speak HTTP is reported (${way})`, async () => {
    await using server = new RawServer((connection) => write(connection, "SSH-2.0-OpenSSH_9.6\r\n"));
    const error = await modelError(ask(provider(server.baseUrl)));
    assert.match(error.message, /^lost the connection .*invalid HTTP version/);
  });
}

Deno.test("createChatCompletionsProvider: a connection lost in a body is an error; what came before it stays", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n";
  await using server = new RawServer((connection) => write(connection, head + chunk("Hel") + chunk("lo") + "data: {"));
  let text = "";
  const lost = await modelError(collect(provider(server.baseUrl), HI, (event) => {
    if (event.type === "text-delta") text += event.text;
  }));
  assert.equal(text, "Hello");
  assert.match(lost.message, /^lost the connection to the model server in the middle of its answer \(POST http/);
  assert.equal(lost.details["reached"], true);

  const plainly = await modelError(provider(server.baseUrl).request(HI));
  assert.match(plainly.message, /^lost the connection to the model server in the middle of its answer/);
});

Deno.test("createChatCompletionsProvider: what came before a failure is not lost to a reader that takes its time", async () => {
  const pieces = [chunk("Hel"), chunk("lo")].map((text) => new TextEncoder().encode(text));
  const body = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) controller.error(new TypeError("error reading a body from connection"));
        else controller.enqueue(piece);
      },
    }, { highWaterMark: 0 });
  const from = provider("http://test/v1", { send: () => Promise.resolve(new Response(body(), SSE)) });
  let text = "";
  const error = await modelError((async () => {
    for await (const event of from.stream!(HI)) {
      if (event.type === "text-delta") text += event.text;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })());
  assert.equal(text, "Hello");
  assert.match(error.message, /in the middle of its answer/);
});

async function gzip(bytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const zeros = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(zeros).arrayBuffer());
}

for (const [way, ask] of WAYS) {
  Deno.test(`createChatCompletionsProvider: a body over the limit is an error, also one that is compressed (${way})`, async () => {
    const bomb = await gzip(32 << 20);
    assert(bomb.length < 100_000);
    const limit = 100_000;
    await using server = new StubServer((_, count) =>
      count === 1
        ? new Response(slowBody(chunk("x".repeat(10_000)), { ms: 0 }).body, SSE)
        : new Response(bomb, { headers: { "content-type": "text/event-stream", "content-encoding": "gzip" } })
    );
    for (const _ of [1, 2]) {
      const error = await modelError(ask(provider(server.baseUrl, { maxResponseBytes: limit })));
      assert.equal(error.code, "response");
      assert.match(error.message, /^the model server's answer is larger than 100000 bytes \(POST http/);
    }
  });

  Deno.test(`createChatCompletionsProvider: a body of just the limit is read (${way})`, async () => {
    const text = way === "plain" ? await plain("A").text() : chunk("A") + END;
    await using server = new StubServer(() => new Response(text, way === "plain" ? {} : SSE));
    await ask(provider(server.baseUrl, { maxResponseBytes: text.length }));
    await modelError(ask(provider(server.baseUrl, { maxResponseBytes: text.length - 1 })));
  });

  Deno.test(`createChatCompletionsProvider: the time limit covers headers and body (${way})`, async () => {
    const slow = slowBody(chunk("."), { ms: 20 });
    const { promise: left, resolve } = Promise.withResolvers<void>();
    await using server = new StubServer(() => new Response(slow.body, SSE));
    await using silent = new RawServer((connection) => gone(connection).then(resolve));
    const options = { timeoutMs: 200 };
    const body = await modelError(ask(provider(server.baseUrl, options)));
    assert.equal(body.code, "timeout");
    assert.match(body.message, /^the model server did not finish its answer within 0\.2 s \(POST http/);
    await slow.cancelled;

    const headers = await modelError(ask(provider(silent.baseUrl, options)));
    assert.equal(headers.code, "timeout");
    assert.match(headers.message, /^the model server did not answer within 0\.2 s \(POST http/);
    assert.deepEqual(headers.details, { url: `${silent.baseUrl}/chat/completions`, timeoutMs: 200 });
    await left;
    assert.equal(silent.connections, 1);
  });

  Deno.test(`createChatCompletionsProvider: a refusal whose body never ends is reported as what it is (${way})`, async () => {
    const { body } = slowBody("bad ", { ms: 20 });
    await using server = new StubServer(() => new Response(body, { status: 503 }));
    const error = await modelError(ask(provider(server.baseUrl, { timeoutMs: 200 })));
    assert.equal(error.details["status"], 503);
    assert.match(error.message, /answered 503 .*: bad bad /);
  });
}

Deno.test("createChatCompletionsProvider: the limit of silence starts anew with each chunk", async () => {
  const options = { timeoutMs: 500, timeoutCovers: "silence-when-streaming" as const };
  const patient = slowBody(chunk("."), { ms: 60, times: 15, end: END });
  const silent = new RawServer(async (connection) => {
    await write(connection, `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${chunk("Hel")}`);
    await gone(connection);
  });
  await using _silent = silent;
  await using server = new StubServer(() => new Response(patient.body, SSE));
  // The chunks take longer than the limit, all together.
  assert.equal(streamedText(await collect(provider(server.baseUrl, options))), ".".repeat(15));

  let text = "";
  const error = await modelError(collect(provider(silent.baseUrl, options), HI, (event) => {
    if (event.type === "text-delta") text += event.text;
  }));
  assert.equal(text, "Hel");
  assert.equal(error.code, "timeout");
  assert.match(error.message, /^the model server fell silent in the middle of its answer for 0\.5 s/);
});

Deno.test("createChatCompletionsProvider: a reader that takes its time is not taken for a silent server", async () => {
  await using server = new StubServer(() => stream("Hel", "lo"));
  let text = "";
  const from = provider(server.baseUrl, { timeoutMs: 150, timeoutCovers: "silence-when-streaming" });
  for await (const event of from.stream!(HI)) {
    if (event.type === "text-delta") text += event.text;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  assert.equal(text, "Hello");
});

for (const [way, ask] of WAYS) {
  Deno.test(`createChatCompletionsProvider: an abort before the headers rejects with the reason and closes the connection (${way})`, async () => {
    const controller = new AbortController();
    const reason = { because: "enough" };
    await using server = new RawServer(async (connection) => {
      controller.abort(reason);
      await gone(connection);
    });
    assert.equal(await rejection(ask(provider(server.baseUrl), { ...HI, signal: controller.signal })), reason);
  });

  Deno.test(`createChatCompletionsProvider: an abort in the body rejects with the reason and closes the connection (${way})`, async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    await using server = new RawServer(async (connection) => {
      const type = way === "plain" ? "application/json" : "text/event-stream";
      await write(
        connection,
        `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: 9999\r\n\r\n${chunk("Hel")}`,
      );
      setTimeout(() => controller.abort(reason), 50);
      await gone(connection);
    });
    assert.equal(await rejection(ask(provider(server.baseUrl), { ...HI, signal: controller.signal })), reason);
  });

  Deno.test(`createChatCompletionsProvider: an aborted signal sends nothing (${way})`, async () => {
    await using server = new StubServer(() => plain("A"));
    const reason = new DOMException("enough", "AbortError");
    const asked: unknown[] = [];
    const from = provider(server.baseUrl, {
      apiKey: () => Promise.resolve(`key-${asked.push(1)}`),
    });
    assert.equal(await rejection(ask(from, { ...HI, signal: AbortSignal.abort(reason) })), reason);
    assert.deepEqual([server.received.length, asked.length], [0, 0]);
  });
}

Deno.test("createChatCompletionsProvider: an abort between two events ends the stream with the reason", async () => {
  const controller = new AbortController();
  const reason = "enough";
  const slow = slowBody(chunk("."), { ms: 10 });
  await using server = new StubServer(() => new Response(slow.body, SSE));
  const events: unknown[] = [];
  const from = provider(server.baseUrl);
  const work = collect(from, { ...HI, signal: controller.signal }, (event) => {
    if (events.push(event) === 3) controller.abort(reason);
  });
  assert.equal(await rejection(work), reason);
  assert.equal(events.length, 3);
  await slow.cancelled;
});

Deno.test("createChatCompletionsProvider: an abort holds back what has already come", async () => {
  const controller = new AbortController();
  await using server = new StubServer(() => new Response(chunk("Hel") + chunk("lo") + END, SSE));
  let text = "";
  const work = collect(provider(server.baseUrl), { ...HI, signal: controller.signal }, (event) => {
    if (event.type === "text-delta") text += event.text;
    controller.abort("enough");
  });
  assert.equal(await rejection(work), "enough");
  assert.equal(text, "Hel");
});

Deno.test("ModelExchange: closing it gives up a body that nobody has read, and its time limit", async () => {
  await using server = new RawServer(async (connection) => {
    await write(connection, "HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{");
    await gone(connection);
  });
  const exchange = new ModelExchange({
    timeoutMs: 60_000,
    timeoutCovers: "exchange",
    maxBytes: 1_000,
    signal: undefined,
    headers: new Headers(),
    secrets: [],
  });
  const response = await exchange.fetch(server.baseUrl);
  assert.equal(response.status, 200);
  exchange.close();
});

Deno.test("createChatCompletionsProvider: a consumer that stops early closes the connection", async () => {
  const slow = slowBody(chunk("."), { ms: 10 });
  await using server = new StubServer(() => new Response(slow.body, SSE));
  for await (const event of provider(server.baseUrl).stream!(HI)) {
    assert.equal(event.type, "text-delta");
    break;
  }
  await slow.cancelled;
});

Deno.test("createChatCompletionsProvider: a stream ends at its mark though the connection stays open", async () => {
  await using server = new RawServer(async (connection) => {
    await write(connection, `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${chunk("Hello")}${END}`);
    await gone(connection);
  });
  assert.equal(streamedText(await collect(provider(server.baseUrl))), "Hello");
});

Deno.test("createChatCompletionsProvider: a listener on the caller's signal does not outlive the request", async () => {
  await using server = new StubServer(({ body }) => (body as { stream: boolean }).stream ? stream("A") : plain("A"));
  const { signal } = new AbortController();
  let listeners = 0;
  const [add, remove] = [signal.addEventListener, signal.removeEventListener];
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add.apply(signal, args));
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove.apply(signal, args));
  for (const [, ask] of WAYS) await ask(provider(server.baseUrl), { ...HI, signal });
  assert.equal(listeners, 0);
});

Deno.test("createChatCompletionsProvider: the dummy key is no secret, and a host's name is not taken for one", async () => {
  await using server = new StubServer(() => new Response(`hello ${DUMMY_API_KEY}`, { status: 400 }));
  const { message } = await modelError(provider(server.baseUrl, { apiKey: DUMMY_API_KEY }).request(HI));
  assert(message.endsWith(`: hello ${DUMMY_API_KEY}`), message);
  const host = await modelError(provider("http://ollama.invalid/ollama/v1", { apiKey: "ollama" }).request(HI));
  assert.match(host.message, /at http:\/\/ollama\.invalid\/\*\*\*\/v1/);
});
