/** Loopback servers for the tests of model providers, and how they are asked. */
import assert from "node:assert/strict";
import { ModelError } from "../../lib/base/errors.ts";
import type { ModelProvider, ModelRequest, ModelStreamEvent } from "../../lib/model/provider.ts";
import {
  type ChatCompletionsOptions,
  createChatCompletionsProvider,
} from "../../lib/model/providers/chat_completions.ts";

/** A request as it came. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/** Answers requests with a function, and remembers them. */
export class StubServer implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(answer: (request: Received, count: number) => Response | Promise<Response>) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      const received: Received = {
        method: request.method,
        path: new URL(request.url).pathname,
        headers: Object.fromEntries(request.headers),
        body: await request.json(),
      };
      return await answer(received, this.received.push(received));
    });
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** A server below HTTP: what it writes is all there is. */
export class RawServer implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #running: Promise<void>;
  connections = 0;

  /** `serve` gets each connection once its request has come; the connection is closed behind it. */
  constructor(serve: (connection: Deno.Conn) => Promise<void>) {
    this.#running = this.#accept(serve);
  }

  async #accept(serve: (connection: Deno.Conn) => Promise<void>): Promise<void> {
    const open: Promise<void>[] = [];
    try {
      for await (const connection of this.#listener) {
        this.connections++;
        open.push((async () => {
          try {
            await readRequest(connection);
            await serve(connection);
          } finally {
            connection.close();
          }
        })());
      }
    } finally {
      await Promise.all(open);
    }
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#running;
  }
}

async function readRequest(connection: Deno.Conn): Promise<void> {
  let text = "";
  const decoder = new TextDecoder();
  for (const buffer = new Uint8Array(65536);;) {
    const count = await connection.read(buffer);
    if (count === null) return;
    text += decoder.decode(buffer.subarray(0, count), { stream: true });
    const [head, body] = text.split("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(head!)?.[1] ?? 0);
    if (body !== undefined && new TextEncoder().encode(body).length >= length) return;
  }
}

/** Writes text to a connection. */
export async function write(connection: Deno.Conn, text: string): Promise<void> {
  const writer = connection.writable.getWriter();
  await writer.write(new TextEncoder().encode(text));
  writer.releaseLock();
}

/** Resolves when the other side has closed a connection. */
export async function gone(connection: Deno.Conn): Promise<void> {
  try {
    while (await connection.read(new Uint8Array(1024)) !== null);
  } catch {
    // Reset: gone, too.
  }
}

/** An answer in one piece. */
export function plain(text: string): Response {
  return Response.json({ choices: [{ message: { role: "assistant", content: text }, finish_reason: "stop" }] });
}

/** A chunk of a stream that holds a text. */
export function chunk(text: string): string {
  return `data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\n\n`;
}

/** The chunk and the mark that end a stream. */
export const END = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** A stream of these texts, each written when the one before it was. */
export function stream(...texts: string[]): Response {
  const all = [...texts.map(chunk), END].map((text) => new TextEncoder().encode(text));
  return new Response(
    new ReadableStream({
      pull(controller) {
        const next = all.shift();
        if (next === undefined) controller.close();
        else controller.enqueue(next);
      },
    }),
    { headers: { "content-type": "text/event-stream" } },
  );
}

/** A body that writes `text` every `ms` milliseconds, `times` times, and tells when its reader has gone. */
export function slowBody(
  text: string,
  { ms, times = Infinity, end = "" }: { ms: number; times?: number; end?: string },
): { body: ReadableStream<Uint8Array>; cancelled: Promise<void> } {
  const encoder = new TextEncoder();
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let written = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) =>
      new Promise((next) => {
        timer = setTimeout(() => {
          if (written++ < times) controller.enqueue(encoder.encode(text));
          else {
            if (end !== "") controller.enqueue(encoder.encode(end));
            controller.close();
          }
          next();
        }, written === 0 ? 0 : ms);
      }),
    cancel() {
      clearTimeout(timer);
      resolve();
    },
  }, { highWaterMark: 0 });
  return { body, cancelled };
}

/** A provider with generous bounds. */
export function provider(baseUrl: string, options: Partial<ChatCompletionsOptions> = {}): ModelProvider {
  return createChatCompletionsProvider({
    baseUrl,
    apiKey: "sk-test-0123456789",
    timeoutMs: 30_000,
    timeoutCovers: "exchange",
    maxResponseBytes: 1 << 20,
    storeFalse: false,
    ...options,
  });
}

/** A request that says `hi`. */
export const HI: ModelRequest = { model: "m", prompt: "hi" };

/** All events of a streamed answer; `until` sees each as it comes. */
export async function collect(
  from: ModelProvider,
  request: ModelRequest = HI,
  until: (event: ModelStreamEvent) => void = () => {},
): Promise<ModelStreamEvent[]> {
  const events: ModelStreamEvent[] = [];
  for await (const event of from.stream!(request)) {
    events.push(event);
    until(event);
  }
  return events;
}

/** The text of the deltas. */
export function streamedText(events: readonly ModelStreamEvent[]): string {
  return events.map((event) => event.type === "text-delta" ? event.text : "").join("");
}

/** Both ways to ask. */
export const WAYS: readonly [name: string, ask: (from: ModelProvider, request?: ModelRequest) => Promise<unknown>][] = [
  ["plain", (from, request = HI) => from.request(request)],
  ["streamed", (from, request = HI) => collect(from, request)],
];

/** What a promise rejects with. */
export async function rejection(work: Promise<unknown>): Promise<unknown> {
  let result: unknown;
  try {
    result = await work;
  } catch (error) {
    return error;
  }
  throw new Error(`expected a rejection, got ${JSON.stringify(result)}`);
}

/** The ModelError that a promise rejects with. */
export async function modelError(work: Promise<unknown>): Promise<ModelError> {
  const error = await rejection(work);
  assert(error instanceof ModelError, `expected a ModelError, got ${error}`);
  return error;
}
