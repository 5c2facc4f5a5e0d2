import assert from "node:assert/strict";
import { ConfigurationError, ModelError } from "../../lib/base/errors.ts";
import { type FallbackEntry, withFallback } from "../../lib/model/layers/fallback.ts";
import { withRetries } from "../../lib/model/layers/retry.ts";
import type { ModelNotice, ModelProvider, ModelResult } from "../../lib/model/provider.ts";
import type { ChatCompletionsOptions } from "../../lib/model/providers/chat_completions.ts";
import { FakeClock } from "./_clock.ts";
import {
  chunk,
  collect,
  HI,
  modelError,
  plain,
  provider,
  rejection,
  slowBody,
  stream,
  streamedText,
  StubServer,
  WAYS,
} from "./_servers.ts";

function entry(baseUrl: string, model: string, options: Partial<ChatCompletionsOptions> = {}): FallbackEntry {
  return { provider: provider(baseUrl, options), model, label: baseUrl };
}

function good({ body }: { body: unknown }): Response {
  return (body as { stream: boolean }).stream ? stream("Hel", "lo") : plain("Hello");
}

function resultOf(answer: unknown): ModelResult {
  if (!Array.isArray(answer)) return answer as ModelResult;
  const last = answer.at(-1);
  assert.equal(last.type, "result");
  assert.equal(streamedText(answer), last.result.text);
  return last.result;
}

function modelsOf(server: StubServer): unknown[] {
  return server.received.map(({ body }) => (body as { model: string }).model);
}

for (const [way, ask] of WAYS) {
  Deno.test(`withFallback: the next entry is asked with its own model, and the switch is told (${way})`, async () => {
    await using first = new StubServer(() => new Response("busy", { status: 503 }));
    await using second = new StubServer(good);
    const notices: ModelNotice[] = [];
    const from = withFallback([
      entry(first.baseUrl, "large"),
      entry(second.baseUrl, "small"),
      entry("http://x.test", "z"),
    ]);
    const result = resultOf(await ask(from, { ...HI, model: "alias", onNotice: (notice) => notices.push(notice) }));
    assert.equal(result.text, "Hello");
    assert.deepEqual(result.served, { endpoint: second.baseUrl, model: "small", source: "live" });
    assert.deepEqual([modelsOf(first), modelsOf(second)], [["large"], ["small"]]);
    assert.deepEqual(notices.map(({ kind }) => kind), ["fallback"]);
    const { message } = notices[0]!;
    assert(message.startsWith(`${first.baseUrl} failed: the model server answered 503 Service Unavailable`), message);
    assert(message.endsWith(`: busy; asking small at ${second.baseUrl} instead`), message);
  });

  Deno.test(`withFallback: a first entry that answers is the only one asked (${way})`, async () => {
    await using first = new StubServer(good);
    await using second = new StubServer(good);
    const notices: ModelNotice[] = [];
    const from = withFallback([entry(first.baseUrl, "large"), entry(second.baseUrl, "small")]);
    await ask(from, { ...HI, onNotice: (notice) => notices.push(notice) });
    assert.deepEqual([first.received.length, second.received.length, notices], [1, 0, []]);
  });

  Deno.test(`withFallback: connect failure, timeout, 408, 429 and 5xx go on (${way})`, async () => {
    await using second = new StubServer(good);
    const backup = entry(second.baseUrl, "small");
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    listener.close();
    const gone = entry(`http://127.0.0.1:${listener.addr.port}/v1`, "large");
    assert.equal(resultOf(await ask(withFallback([gone, backup]))).text, "Hello");

    await using slow = new StubServer(() => new Response(slowBody(" ", { ms: 20 }).body));
    const late = entry(slow.baseUrl, "large", { timeoutMs: 100 });
    assert.equal(resultOf(await ask(withFallback([late, backup]))).text, "Hello");

    const statuses = [408, 429, 500, 502, 599];
    await using refusing = new StubServer((_, count) => new Response("", { status: statuses[count - 1]! }));
    for (const _ of statuses) {
      assert.equal(resultOf(await ask(withFallback([entry(refusing.baseUrl, "large"), backup]))).text, "Hello");
    }
    assert.equal(refusing.received.length, statuses.length);
    assert.equal(second.received.length, 2 + statuses.length);
  });

  Deno.test(`withFallback: any other failure ends the request (${way})`, async () => {
    const answers = [
      ...[400, 401, 403, 404, 409, 422].map((status) => new Response("", { status })),
      new Response("<html>"),
      Response.json({ error: { message: "overloaded", code: 503 } }),
    ];
    await using first = new StubServer((_, count) => answers[count - 1]!);
    await using second = new StubServer(good);
    const notices: ModelNotice[] = [];
    for (const _ of answers) {
      const from = withFallback([entry(first.baseUrl, "large"), entry(second.baseUrl, "small")]);
      await modelError(ask(from, { ...HI, onNotice: (notice) => notices.push(notice) }));
    }
    assert.deepEqual([first.received.length, second.received.length, notices], [answers.length, 0, []]);
  });

  Deno.test(`withFallback: when every entry fails, the last error is reported (${way})`, async () => {
    await using first = new StubServer(() => new Response("", { status: 503 }));
    await using second = new StubServer(() => new Response("mine", { status: 429 }));
    const from = withFallback([entry(first.baseUrl, "large"), entry(second.baseUrl, "small")]);
    const error = await modelError(ask(from));
    assert.deepEqual([error.code, error.details["status"]], ["quota", 429]);
    assert.match(error.message, /: mine$/);
  });

  Deno.test(`withFallback: retries come first, each entry with its own (${way})`, async () => {
    await using first = new StubServer(() => new Response("", { status: 503 }));
    await using second = new StubServer((request, count) =>
      count === 1 ? new Response("", { status: 500 }) : good(request)
    );
    const clock = new FakeClock();
    const retried = (one: FallbackEntry): FallbackEntry => ({ ...one, provider: withRetries(one.provider, { clock }) });
    const notices: string[] = [];
    const from = withFallback([retried(entry(first.baseUrl, "large")), retried(entry(second.baseUrl, "small"))]);
    await ask(from, { ...HI, onNotice: ({ kind }) => notices.push(kind) });
    assert.deepEqual(notices, ["retry", "retry", "retry", "fallback", "retry"]);
    assert.deepEqual([first.received.length, second.received.length], [4, 2]);
    assert.deepEqual(clock.sleeps, [100, 200, 400, 100]);
  });

  Deno.test(`withFallback: an abort ends the request with the reason (${way})`, async () => {
    const controller = new AbortController();
    const reason = { because: "enough" };
    await using first = new StubServer(() => {
      controller.abort(reason);
      return new Response("", { status: 503 });
    });
    await using second = new StubServer(good);
    const from = withFallback([entry(first.baseUrl, "large"), entry(second.baseUrl, "small")]);
    assert.equal(await rejection(ask(from, { ...HI, signal: controller.signal })), reason);
    assert.equal(second.received.length, 0);
  });
}

Deno.test("withFallback, withRetries: a provider that fails instead of stopping does not hide an abort", async () => {
  for (const [, ask] of WAYS) {
    const controller = new AbortController();
    const fail = (): Promise<never> => {
      controller.abort("enough");
      return Promise.reject(new ModelError("busy", { details: { status: 503 } }));
    };
    const rude: ModelProvider = {
      name: "rude",
      request: fail,
      // deno-lint-ignore require-yield
      async *stream() {
        await fail();
      },
    };
    const notices: unknown[] = [];
    const one = { provider: rude, model: "m", label: "rude" };
    for (const from of [withFallback([one, one]), withRetries(rude)]) {
      const request = { ...HI, signal: controller.signal, onNotice: (notice: ModelNotice) => notices.push(notice) };
      assert.equal(await rejection(ask(from, request)), "enough");
    }
    assert.deepEqual(notices, []);
  }
});

Deno.test("withFallback: a stream goes to no other entry once something of it has been passed on", async () => {
  const slow = slowBody(chunk("Hel"), { ms: 60_000 });
  await using first = new StubServer(() =>
    new Response(slow.body, { headers: { "content-type": "text/event-stream" } })
  );
  await using second = new StubServer(good);
  const from = withFallback([entry(first.baseUrl, "large", { timeoutMs: 200 }), entry(second.baseUrl, "small")]);
  let text = "";
  const error = await modelError(collect(from, HI, (event) => {
    if (event.type === "text-delta") text += event.text;
  }));
  assert.deepEqual([error.code, text, second.received.length], ["timeout", "Hel", 0]);
});

Deno.test("withFallback: an entry that cannot stream answers in one piece", async () => {
  const failing: ModelProvider = {
    name: "a",
    identity: "first",
    request: () => Promise.reject(new ModelError("down", { details: { reached: false } })),
  };
  const plainOne: ModelProvider = { name: "b", request: ({ model }) => Promise.resolve({ text: `I am ${model}` }) };
  const streaming = withFallback([
    {
      provider: {
        ...failing,
        // deno-lint-ignore require-yield
        async *stream() {
          await failing.request(HI);
        },
      },
      model: "large",
      label: "a",
    },
    { provider: plainOne, model: "small", label: "b" },
  ]);
  assert.deepEqual(await collect(streaming), [
    { type: "text-delta", text: "I am small" },
    { type: "result", result: { text: "I am small" } },
  ]);
  const whole = withFallback([
    { provider: failing, model: "large", label: "a" },
    { provider: plainOne, model: "small", label: "b" },
  ]);
  assert.deepEqual([whole.name, whole.identity, whole.stream], ["a", "first", undefined]);
});

Deno.test("withFallback: every entry checks the settings under its own model name; no entry is an error", () => {
  const checked: unknown[] = [];
  const checking = (name: string): ModelProvider => ({
    name,
    validate: (model) => checked.push([name, model]),
    request: () => Promise.resolve({ text: "" }),
  });
  const from = withFallback([
    { provider: checking("a"), model: "large", label: "a" },
    { provider: checking("b"), model: "small", label: "b" },
  ]);
  from.validate!({ name: "large", temperature: 1 });
  assert.deepEqual(checked, [["a", { name: "large", temperature: 1 }], ["b", { name: "small", temperature: 1 }]]);
  assert.throws(() => withFallback([]), ConfigurationError);
});
