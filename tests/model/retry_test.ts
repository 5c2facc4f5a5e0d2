import assert from "node:assert/strict";
import { ModelError } from "../../lib/base/errors.ts";
import { LIMITS } from "../../lib/base/limits.ts";
import { withRetries } from "../../lib/model/layers/retry.ts";
import type { ModelNotice, ModelProvider, ModelRequest, ModelResult } from "../../lib/model/provider.ts";
import { createScriptedModelProvider } from "../../lib/model/providers/scripted.ts";
import { FakeClock } from "./_clock.ts";
import {
  chunk,
  collect,
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

/** An address where nobody listens. */
function nobody(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  return `http://127.0.0.1:${listener.addr.port}/v1`;
}

function good({ body }: { body: unknown }): Response {
  return (body as { stream: boolean }).stream ? stream("Hel", "lo") : plain("Hello");
}

function answerOf(result: unknown): string {
  return Array.isArray(result) ? streamedText(result) : (result as ModelResult).text;
}

/** A request that remembers what it was told. */
function noted(signal?: AbortSignal): { request: ModelRequest; notices: ModelNotice[] } {
  const notices: ModelNotice[] = [];
  const request = { ...HI, onNotice: (notice: ModelNotice) => notices.push(notice) };
  return { request: signal === undefined ? request : { ...request, signal }, notices };
}

for (const [way, ask] of WAYS) {
  Deno.test(`withRetries: 429 and 5xx are tried again after 100, 200 and 400 ms, and each retry is told (${way})`, async () => {
    const statuses = [503, 429, 500];
    await using server = new StubServer((request, count) => {
      const status = statuses[count - 1];
      return status === undefined ? good(request) : new Response(`no. ${count}`, { status });
    });
    const clock = new FakeClock();
    const { request, notices } = noted();
    const from = withRetries(provider(server.baseUrl), { clock });
    assert.equal(answerOf(await ask(from, request)), "Hello");
    assert.equal(server.received.length, 4);
    assert.deepEqual(clock.sleeps, [100, 200, 400]);
    assert.deepEqual(notices.map(({ kind, attempt }) => [kind, attempt]), [["retry", 2], ["retry", 3], ["retry", 4]]);
    assert.match(notices[0]!.message, /^trying again in 0\.1 s \(attempt 2 of 4\): .*answered 503 .*: no\. 1$/);
    assert.match(notices[2]!.message, /^trying again in 0\.4 s \(attempt 4 of 4\): .*answered 500 /);
    assert.deepEqual(server.received.map(({ body }) => body), Array(4).fill(server.received[0]!.body));
  });

  Deno.test(`withRetries: after the last retry the error is the server's last one (${way})`, async () => {
    await using server = new StubServer((_, count) => new Response(`no. ${count}`, { status: 500 }));
    const clock = new FakeClock();
    const { request, notices } = noted();
    const error = await modelError(ask(withRetries(provider(server.baseUrl), { clock, retries: 2 }), request));
    assert.match(error.message, /: no\. 3$/);
    assert.equal(error.details["status"], 500);
    assert.deepEqual([server.received.length, notices.length], [3, 2]);
    const once = await modelError(ask(withRetries(provider(server.baseUrl), { clock, retries: 0 }), request));
    assert.match(once.message, /: no\. 4$/);
  });

  Deno.test(`withRetries: the wait grows to 8 s (${way})`, async () => {
    await using server = new StubServer((request, count) =>
      count <= 9 ? new Response("", { status: 502 }) : good(request)
    );
    const clock = new FakeClock();
    await ask(withRetries(provider(server.baseUrl), { clock, retries: 9 }));
    assert.deepEqual(clock.sleeps, [100, 200, 400, 800, 1_600, 3_200, 6_400, 8_000, 8_000]);
  });

  Deno.test(`withRetries: it waits as long as the server says, up to its limit (${way})`, async () => {
    const asked = ["60", "0.05", "61"];
    await using server = new StubServer((_, count) =>
      new Response("slow down", { status: 429, headers: { "retry-after": asked[count - 1]! } })
    );
    const clock = new FakeClock();
    const { request, notices } = noted();
    const error = await modelError(ask(withRetries(provider(server.baseUrl), { clock }), request));
    assert.deepEqual(clock.sleeps, [60_000, 50]);
    assert.equal(server.received.length, 3);
    assert.equal(notices.length, 2);
    assert.equal(error.code, "quota");
    assert.deepEqual([error.details["status"], error.details["retryAfterMs"]], [429, 61_000]);
    // The clock stood at midnight, and 60.05 s have passed.
    assert.match(
      error.message,
      /: slow down; it asks to come back in 61 s \(2026-01-01T00:02:01\.050Z\), and lait waits 60 s at most$/,
    );
    assert.equal(LIMITS.retryAfterMs, 60_000);
  });

  Deno.test(`withRetries: a connection that was refused is tried again (${way})`, async () => {
    const clock = new FakeClock();
    const { request, notices } = noted();
    const error = await modelError(ask(withRetries(provider(nobody()), { clock }), request));
    assert.match(error.message, /Connection refused/);
    assert.deepEqual(clock.sleeps, [100, 200, 400]);
    assert.match(notices[0]!.message, /cannot reach the model server/);
  });

  Deno.test(`withRetries: a server that comes up in time answers (${way})`, async () => {
    const baseUrl = nobody();
    const clock = new FakeClock();
    let server: Deno.HttpServer | undefined;
    clock.onSleep = () => {
      const { port } = new URL(baseUrl);
      server ??= Deno.serve({ hostname: "127.0.0.1", port: Number(port), onListen() {} }, async (request) => {
        return good({ body: await request.json() });
      });
    };
    assert.equal(answerOf(await ask(withRetries(provider(baseUrl), { clock }))), "Hello");
    assert.deepEqual(clock.sleeps, [100]);
    await server!.shutdown();
  });

  Deno.test(`withRetries: a used-up quota, other 4xx and redirects are not tried again (${way})`, async () => {
    const refusals = [
      Response.json({ error: { message: "no credit", code: "insufficient_quota" } }, { status: 429 }),
      Response.json({ error: { message: "no credit", type: "insufficient_quota" } }, { status: 429 }),
      ...[400, 401, 403, 404, 408, 409, 413, 422].map((status) => new Response("no", { status })),
      new Response(null, { status: 307, headers: { location: "/" } }),
    ];
    await using server = new StubServer((_, count) => refusals[count - 1]!);
    const clock = new FakeClock();
    for (const [index, { status }] of refusals.entries()) {
      const error = await modelError(ask(withRetries(provider(server.baseUrl), { clock })));
      assert.deepEqual([error.details["status"], server.received.length], [status, index + 1]);
    }
    assert.deepEqual(clock.sleeps, []);
  });

  Deno.test(`withRetries: what may have reached the server is not sent again (${way})`, async () => {
    const clock = new FakeClock();
    const { request, notices } = noted();
    await using closing = new RawServer(() => Promise.resolve());
    await using cutting = new RawServer((connection) =>
      write(connection, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{")
    );
    for (const { baseUrl } of [closing, cutting]) {
      const error = await modelError(ask(withRetries(provider(baseUrl), { clock }), request));
      assert.match(error.message, /^lost the connection/);
    }
    await using malformed = new StubServer((_, count) =>
      count === 1 ? new Response("<html>") : Response.json({ error: { message: "oops", code: 503 } })
    );
    await modelError(ask(withRetries(provider(malformed.baseUrl), { clock }), request));
    await modelError(ask(withRetries(provider(malformed.baseUrl), { clock }), request));
    await using slow = new StubServer(() => new Response(slowBody(" ", { ms: 20 }).body));
    const timeout = await modelError(ask(withRetries(provider(slow.baseUrl, { timeoutMs: 100 }), { clock }), request));
    assert.equal(timeout.code, "timeout");
    assert.deepEqual([closing.connections, cutting.connections, malformed.received.length, slow.received.length], [
      1,
      1,
      2,
      1,
    ]);
    assert.deepEqual([clock.sleeps, notices], [[], []]);
  });

  Deno.test(`withRetries: an abort during the wait rejects with the reason, and nothing more is sent (${way})`, async () => {
    await using server = new StubServer(() => new Response("", { status: 503 }));
    const controller = new AbortController();
    const reason = { because: "enough" };
    const { request } = noted(controller.signal);
    // The machine's clock: the wait is a real one.
    const asking = ask(withRetries(provider(server.baseUrl)), {
      ...request,
      onNotice: () => setTimeout(() => controller.abort(reason), 10),
    });
    assert.equal(await rejection(asking), reason);
    assert.equal(server.received.length, 1);
  });

  Deno.test(`withRetries: what is no model error comes through as it is (${way})`, async () => {
    const failure = new TypeError("a bug");
    const from: ModelProvider = {
      name: "p",
      request: () => Promise.reject(failure),
      // deno-lint-ignore require-yield
      async *stream() {
        await Promise.resolve();
        throw failure;
      },
    };
    assert.equal(await rejection(ask(withRetries(from, { clock: new FakeClock() }))), failure);
  });
}

Deno.test("withRetries: a stream is not sent again once something of it has been passed on", async () => {
  await using server = new StubServer(() =>
    new Response(`${chunk("Hel")}data: {"error":{"message":"overloaded","code":503}}\n\n`, {
      headers: { "content-type": "text/event-stream" },
    })
  );
  let text = "";
  const from = withRetries(provider(server.baseUrl), { clock: new FakeClock() });
  await modelError(collect(from, HI, (event) => {
    if (event.type === "text-delta") text += event.text;
  }));
  assert.deepEqual([text, server.received.length], ["Hel", 1]);

  // A provider of somebody else may fail with a status in mid-stream.
  let asked = 0;
  const odd: ModelProvider = {
    name: "odd",
    request: () => Promise.reject(new Error("not used")),
    async *stream() {
      asked++;
      yield await Promise.resolve({ type: "reasoning" as const, text: "hm" });
      throw new ModelError("late", { details: { status: 503 } });
    },
  };
  const late = await modelError(collect(withRetries(odd, { clock: new FakeClock() })));
  assert.deepEqual([late.message, asked], ["late", 1]);
});

Deno.test("withRetries: the layer is the provider in everything else", () => {
  const inner = createScriptedModelProvider([]);
  const layer = withRetries(inner);
  assert.deepEqual([layer.name, layer.identity, typeof layer.stream], ["scripted", "scripted", "function"]);
  assert.equal(layer.validate, undefined);
  const checked: unknown[] = [];
  const plainOne = withRetries({
    name: "p",
    validate: (model) => checked.push(model),
    request: () => Promise.resolve({ text: "" }),
  });
  assert.equal(plainOne.stream, undefined);
  assert.equal("identity" in plainOne, false);
  plainOne.validate!({ name: "m" });
  assert.deepEqual(checked, [{ name: "m" }]);
});
