/** A provider that asks a server over HTTP, whatever API it speaks: the exchange, the answer, what can go wrong. */
import { ConfigurationError } from "../../base/errors.ts";
import { DUMMY_API_KEY, PRODUCT_NAME, VERSION } from "../../base/product.ts";
import { throwIfAborted } from "../../base/signals.ts";
import type { ModelProvider, ModelRequest, ModelResult, ModelStreamEvent } from "../provider.ts";
import { type AnswerDelta, MalformedAnswer } from "./answer_assembler.ts";
import { ModelExchange, type SendRequest } from "./http.ts";
import { ReportedError, serverErrorOf } from "./_server_error.ts";

/** Where and how to ask. */
export interface WireOptions {
  /** The API's root, without a slash at its end. */
  readonly baseUrl: string;
  /** The bearer token; `false` sends none. A function is called before each request. */
  readonly apiKey: string | false | ((signal: AbortSignal | undefined) => Promise<string | false>);
  /** Milliseconds; see `timeoutCovers`. */
  readonly timeoutMs: number;
  /** What the time limit covers: always the whole exchange, or, while streaming, only the silence between chunks. */
  readonly timeoutCovers: "exchange" | "silence-when-streaming";
  /** Bytes that an answer may have, decompressed. */
  readonly maxResponseBytes: number;
  /** What sends the requests. Default: the runtime's `fetch`. */
  readonly send?: SendRequest;
}

/** Collects one answer of an API, whole or in chunks. */
export interface WireAssembler {
  /** Whether anything of the answer has come. */
  readonly started: boolean;
  /** Whether the server said that the answer has ended. */
  readonly finished: boolean;
  /** Adds a whole answer. */
  addWhole(answer: unknown): AnswerDelta;
  /** Adds a chunk of a stream. */
  addChunk(chunk: unknown): AnswerDelta;
  /** The whole answer. */
  result(identity: string, model: string): ModelResult;
}

/** What a call of the client gives: the answer, or the response that holds it. */
export interface ClientCall {
  asResponse(): Promise<Response>;
  withResponse(): Promise<{ data: unknown; response: Response }>;
}

/** A client library, as far as it is used. */
export interface WireClient {
  /** Sends a body. */
  send(body: Record<string, unknown>): ClientCall;
  /** What a server said in the middle of a stream, when that is what the client threw; else undefined. */
  reportedBy(error: unknown): unknown;
}

/** One of the APIs. */
export interface WireApi {
  /** What the provider is called in messages. */
  readonly provider: string;
  /** The API's name, part of the provider's identity. */
  readonly name: string;
  /** The headers that carry a key, and those that the API wants. */
  headers(key: string | false): Record<string, string>;
  /** The request's body; `identity` is the provider's. */
  body(request: ModelRequest, form: { readonly stream: boolean; readonly identity: string }): Record<string, unknown>;
  /** Makes the client. */
  connect(baseUrl: string, fetch: ModelExchange["fetch"]): Promise<WireClient>;
  /** Makes an assembler. */
  assembler(): WireAssembler;
}

/** See the module. */
export class WireProvider implements ModelProvider {
  readonly name: string;
  readonly identity: string;
  readonly #options: WireOptions;
  readonly #api: WireApi;

  constructor(options: WireOptions, api: WireApi) {
    this.#options = options;
    this.#api = api;
    this.name = api.provider;
    this.identity = `${api.provider}:${api.name}:${options.baseUrl}`;
  }

  async request(request: ModelRequest): Promise<ModelResult> {
    const { exchange, ask, explain } = await this.#prepare(request, false);
    try {
      const response = await ask().asResponse();
      const assembler = this.#api.assembler();
      assembler.addWhole(await readJson(response));
      return this.#served(assembler.result(this.identity, request.model), request);
    } catch (error) {
      throw explain(error, "beginning");
    } finally {
      exchange.close();
    }
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelStreamEvent> {
    const { exchange, ask, explain } = await this.#prepare(request, true);
    const assembler = this.#api.assembler();
    let telling: "beginning" | "end" = "beginning";
    try {
      const { data, response } = await ask().withResponse();
      if (isJson(response)) {
        // A server that does not stream answers whole.
        yield* eventsOf(assembler.addWhole(await readJson(response)));
      } else {
        if (response.body === null) throw new MalformedAnswer("it is empty");
        for await (const chunk of data as unknown as AsyncIterable<unknown>) {
          throwIfAborted(request.signal);
          telling = "end";
          yield* eventsOf(assembler.addChunk(chunk));
        }
        // The client ends the loop without a word when the stream is cut.
        if (exchange.failure !== undefined) throw exchange.failure;
        if (!assembler.finished && !exchange.sawDone) throw cutStream(assembler, exchange);
      }
      throwIfAborted(request.signal);
      yield { type: "result", result: this.#served(assembler.result(this.identity, request.model), request) };
    } catch (error) {
      throw explain(error, telling);
    } finally {
      exchange.close();
    }
  }

  async #prepare(request: ModelRequest, stream: boolean) {
    throwIfAborted(request.signal);
    const { baseUrl, apiKey, timeoutMs, timeoutCovers, maxResponseBytes, send } = this.#options;
    const key = typeof apiKey === "function" ? await apiKey(request.signal) : apiKey;
    const exchange = new ModelExchange({
      timeoutMs,
      timeoutCovers: stream && timeoutCovers === "silence-when-streaming" ? "silence" : "exchange",
      maxBytes: maxResponseBytes,
      signal: request.signal,
      headers: wireHeaders(this.#api.headers(key)),
      secrets: key === false || key === DUMMY_API_KEY ? [] : [key],
      ...(send === undefined ? {} : { send }),
    });
    const client = await this.#api.connect(baseUrl, exchange.fetch);
    const body = this.#api.body(request, { stream, identity: this.identity });
    return {
      exchange,
      ask: () => client.send(body),
      explain: (error: unknown, telling: "beginning" | "end"): unknown => {
        if (request.signal?.aborted || exchange.failure !== undefined) return exchange.explain(error);
        if (error instanceof MalformedAnswer) return exchange.malformed(error.message, telling);
        if (error instanceof ReportedError) return exchange.reported(error.reported);
        // The client throws these two while it reads a stream.
        const reported = client.reportedBy(error);
        if (reported !== undefined) return exchange.reported(serverErrorOf(reported));
        if (error instanceof SyntaxError) {
          const what = exchange.endedWithinLine ? "its stream was cut off within a chunk" : "a chunk is not JSON";
          return exchange.malformed(what, telling);
        }
        return exchange.explain(error);
      },
    };
  }

  #served(result: ModelResult, request: ModelRequest): ModelResult {
    return { ...result, served: { endpoint: this.#options.baseUrl, model: request.model, source: "live" } };
  }
}

/** The exchange sends these and no others, so that nothing of the client or the environment gets out. */
function wireHeaders(own: Readonly<Record<string, string>>): Headers {
  try {
    return new Headers({
      "accept": "application/json",
      "content-type": "application/json",
      "user-agent": `${PRODUCT_NAME}/${VERSION}`,
      ...own,
    });
  } catch {
    // The runtime's message would show the key.
    throw new ConfigurationError(
      "the API key cannot be sent: it holds a line break or another character that HTTP headers do not allow",
    );
  }
}

function isJson(response: Response): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(response.headers.get("content-type") ?? "");
}

/** The body as JSON, whatever its content type says. */
async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new MalformedAnswer(notJson(text));
  }
}

function notJson(text: string): string {
  if (text.trim() === "") return "it is empty";
  if (!/^\s*</.test(text)) return "it is not JSON";
  return "it is a web page and not JSON; check base_url, which usually ends in /v1";
}

function cutStream(assembler: WireAssembler, exchange: ModelExchange): MalformedAnswer {
  if (assembler.started) return new MalformedAnswer("its stream was cut off before its end");
  const what = notJson(exchange.head);
  return new MalformedAnswer(what === "it is not JSON" ? "it is no event stream" : what);
}

function* eventsOf({ text, reasoning }: AnswerDelta): Generator<ModelStreamEvent> {
  if (reasoning !== "") yield { type: "reasoning", text: reasoning };
  if (text !== "") yield { type: "text-delta", text };
}
