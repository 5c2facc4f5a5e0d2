/** What servers really send: each file of `fixtures/streams`, whole, in two pieces cut anywhere, and byte by byte. */
import assert from "node:assert/strict";
import { ModelError } from "../../lib/base/errors.ts";
import { isJsonObject } from "../../lib/base/json.ts";
import { messageText, reasoningText, toolCalls } from "../../lib/model/message.ts";
import type { ModelProvider, ModelResult } from "../../lib/model/provider.ts";
import { createChatCompletionsProvider } from "../../lib/model/providers/chat_completions.ts";
import type { SendRequest } from "../../lib/model/providers/http.ts";
import { nodeToJson } from "../../lib/source/node.ts";
import { readYaml } from "../../lib/source/yaml.ts";
import { Random } from "../_support/random.ts";

/** One file. */
interface Case {
  readonly name: string;
  readonly shows: string;
  /** Default: `stream`. */
  readonly kind?: "stream" | "plain";
  /** Default: 200. */
  readonly status?: number;
  /** Default: that of an event stream, or JSON. */
  readonly content_type?: string;
  /** What the lines of `body` end with. Default: LF. */
  readonly line_ending?: "crlf" | "cr";
  readonly byte_order_mark?: boolean;
  readonly body: string;
  readonly expected: Answer | Failure;
}

interface Answer {
  readonly text: string;
  /** What the text deltas come to, where it is not the text. */
  readonly streamed?: string;
  readonly reasoning?: string;
  readonly calls?: readonly { id: string; name: string; arguments: unknown }[];
  readonly stop?: string;
  readonly usage?: Readonly<Record<string, unknown>>;
}

interface Failure {
  readonly error: {
    readonly code: string;
    readonly says: readonly string[];
    readonly details?: Readonly<Record<string, unknown>>;
  };
  /** The text deltas that came before it. */
  readonly yielded?: string;
}

const FOLDER = new URL("../../fixtures/streams/", import.meta.url);

function readCases(): Case[] {
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) => name.endsWith(".yml")).sort();
  return files.map((file) => {
    const { root, diagnostics } = readYaml(Deno.readTextFileSync(new URL(file, FOLDER)), file);
    assert.deepEqual(diagnostics, []);
    const one = nodeToJson(root!) as unknown as Case;
    assert.equal(one.name, file.replace(/\.yml$/, "").replaceAll("_", " "));
    return one;
  });
}

const cases = readCases();

function bytesOf({ body, line_ending, byte_order_mark }: Case): Uint8Array {
  const ending = line_ending === "crlf" ? "\r\n" : line_ending === "cr" ? "\r" : "\n";
  return new TextEncoder().encode((byte_order_mark ? "\ufeff" : "") + body.replaceAll("\n", ending));
}

/** The answer of a server that writes these pieces; `pause` runs before each but the first. */
function respond(one: Case, pieces: readonly Uint8Array[], pause: () => Promise<void> | void = () => {}): Response {
  const type = one.content_type ?? (one.kind === "plain" ? "application/json" : "text/event-stream");
  const options = { status: one.status ?? 200, headers: { "content-type": type } };
  if (options.status === 204) return new Response(null, options);
  let index = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (index >= pieces.length) return controller.close();
      if (index > 0) await pause();
      controller.enqueue(pieces[index++]!);
    },
  }, { highWaterMark: 0 });
  return new Response(body, options);
}

function inTwo(bytes: Uint8Array, at: number): Uint8Array[] {
  return [bytes.slice(0, at), bytes.slice(at)];
}

function provider(baseUrl: string, send?: SendRequest): ModelProvider {
  return createChatCompletionsProvider({
    baseUrl,
    apiKey: "lm-studio",
    timeoutMs: 20_000,
    timeoutCovers: "exchange",
    maxResponseBytes: 1 << 20,
    storeFalse: false,
    ...(send === undefined ? {} : { send }),
  });
}

interface Seen {
  readonly streamed: string;
  readonly streamedReasoning: string;
  readonly result?: ModelResult;
  readonly error?: unknown;
}

async function ask(from: ModelProvider, kind: Case["kind"]): Promise<Seen> {
  const request = { model: "m", prompt: "hi" };
  let [streamed, streamedReasoning] = ["", ""];
  try {
    if (kind === "plain") return { streamed, streamedReasoning, result: await from.request(request) };
    let result: ModelResult | undefined;
    for await (const event of from.stream!(request)) {
      assert.equal(result, undefined, "an event came after the result");
      if (event.type === "text-delta") streamed += event.text;
      else if (event.type === "reasoning") streamedReasoning += event.text;
      else result = event.result;
    }
    assert(result !== undefined, "the stream ended without a result");
    return { streamed, streamedReasoning, result };
  } catch (error) {
    return { streamed, streamedReasoning, error };
  }
}

function check(one: Case, seen: Seen, baseUrl: string): void {
  const { expected } = one;
  if ("error" in expected) {
    const { error } = seen;
    assert(error instanceof ModelError, `expected a ModelError, got ${error ?? JSON.stringify(seen.result)}`);
    assert.equal(error.code, expected.error.code, error.message);
    for (const part of [...expected.error.says, `POST ${baseUrl}/chat/completions`]) {
      assert(error.message.includes(part), `expected ${JSON.stringify(part)} in: ${error.message}`);
    }
    assert.equal(error.details["url"], `${baseUrl}/chat/completions`);
    for (const [name, value] of Object.entries(expected.error.details ?? {})) assert.equal(error.details[name], value);
    assert.equal(seen.streamed, expected.yielded ?? "");
    return;
  }
  if (seen.error !== undefined) throw seen.error;
  const { text, content = [], stopReason, usage, served } = seen.result!;
  assert.deepEqual({
    text,
    reasoning: reasoningText({ content }),
    calls: toolCalls({ content }).map(({ id, name, input }) => ({ id, name, arguments: input })),
    stop: stopReason,
    usage,
  }, {
    text: expected.text,
    reasoning: expected.reasoning,
    calls: expected.calls ?? [],
    stop: expected.stop,
    usage: expected.usage,
  });
  assert.equal(messageText({ content }), text);
  assert(toolCalls({ content }).every((call) => typeof call.arguments === "string"));
  assert.deepEqual(served, { endpoint: baseUrl, model: "m", source: "live" });
  if (one.kind === "plain") return;
  assert.equal(seen.streamed, expected.streamed ?? text);
  assert.equal(seen.streamedReasoning, expected.reasoning ?? "");
}

/** Every position; of a long body those around each line's end, and 300 others. */
function positions(bytes: Uint8Array, random: Random): number[] {
  if (bytes.length <= 1_500) return Array.from({ length: bytes.length + 1 }, (_, index) => index);
  const chosen = new Set(Array.from({ length: 300 }, () => random.below(bytes.length)));
  bytes.forEach((byte, index) => {
    if (byte === 10 || byte === 13) [index, index + 1].forEach((at) => chosen.add(at));
  });
  return [...chosen];
}

Deno.test("fixtures/streams: each case says what it shows and what is expected", () => {
  assert(cases.length >= 100);
  for (const { name, shows, body, expected } of cases) {
    assert.equal(typeof body, "string", name);
    assert(shows.endsWith("."), name);
    assert(isJsonObject(expected) && ("error" in expected || "text" in expected), name);
  }
});

for (const one of cases) {
  Deno.test(`createChatCompletionsProvider: ${one.name}, in pieces cut anywhere`, async () => {
    const bytes = bytesOf(one);
    const splits = positions(bytes, new Random(bytes.length)).map((at) => inTwo(bytes, at));
    splits.push([...bytes].map((byte) => Uint8Array.of(byte)), [bytes]);
    for (const pieces of splits) {
      const seen = await ask(provider("http://test/v1", () => Promise.resolve(respond(one, pieces))), one.kind);
      try {
        check(one, seen, "http://test/v1");
      } catch (error) {
        const decoder = new TextDecoder();
        const shown = pieces.length === 2 ? pieces.map((piece) => decoder.decode(piece)) : `${pieces.length} pieces`;
        throw new Error(`in pieces: ${JSON.stringify(shown)}`, { cause: error });
      }
    }
  });
}

/** What must not depend on where the bytes were cut. */
function gist({ streamed, streamedReasoning, result, error }: Seen): unknown {
  if (error === undefined) return { streamed, streamedReasoning, ...result };
  assert(error instanceof ModelError, Deno.inspect(error));
  return { streamed, streamedReasoning, code: error.code, what: /^.*?\(POST/s.exec(error.message)?.[0] };
}

Deno.test("createChatCompletionsProvider: damaged bodies end in an answer or a ModelError, wherever they are cut", async () => {
  const random = new Random(20_260_101);
  const noise = [
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    ":",
    "data: ",
    "data:",
    "[DONE]",
    "{",
    "}",
    '"',
    ",",
    "\\",
    "null",
    "\ufeff",
    "é",
    "𝄞",
  ];
  const ends = { answers: 0, errors: 0 };
  for (let round = 0; round < 3_000; round++) {
    const one = random.pick(cases);
    const body = random.mutate(one.body, noise);
    const bytes = new TextEncoder().encode(body);
    const damaged = { ...one, body };
    const cuts = [random.below(bytes.length + 1), random.below(bytes.length + 1)].sort((a, b) => a - b);
    const thirds = [bytes.slice(0, cuts[0]), bytes.slice(cuts[0], cuts[1]), bytes.slice(cuts[1])];
    const seen = [];
    for (const pieces of [[bytes], thirds]) {
      seen.push(gist(await ask(provider("http://test/v1", () => Promise.resolve(respond(damaged, pieces))), one.kind)));
    }
    assert.deepEqual(seen[1], seen[0], JSON.stringify({ body, cuts }));
    ends["code" in (seen[0] as object) ? "errors" : "answers"]++;
  }
  assert(ends.answers > 500 && ends.errors > 500, JSON.stringify(ends));
});

Deno.test("createChatCompletionsProvider: every case over HTTP, flushed in pieces", async (t) => {
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const [, index, at] = new URL(request.url).pathname.split("/");
    const one = cases[Number(index)]!;
    const bytes = bytesOf(one);
    const pieces = at === "bytes" ? [...bytes].map((byte) => Uint8Array.of(byte)) : inTwo(bytes, Number(at));
    return respond(one, pieces, pause);
  });
  const random = new Random(1);
  for (const [index, one] of cases.entries()) {
    await t.step(one.name, async () => {
      const { length } = bytesOf(one);
      const places = length <= 20 ? Array.from({ length: length + 1 }, (_, at) => at) : [
        ...Array.from({ length: 20 }, () => random.below(length)),
        ...(index % 20 === 0 ? ["bytes"] : []),
      ];
      for (const at of places) {
        const baseUrl = `http://127.0.0.1:${server.addr.port}/${index}/${at}`;
        check(one, await ask(provider(baseUrl), one.kind), baseUrl);
      }
    });
  }
});
