/** A provider for any server that speaks Chat Completions (`POST {base_url}/chat/completions`). */
import { ConfigurationError } from "../../base/errors.ts";
import { withVariables } from "../../base/environment.ts";
import { DUMMY_API_KEY, PRODUCT_NAME, VERSION } from "../../base/product.ts";
import { throwIfAborted } from "../../base/signals.ts";
import { argumentsObjectText, messageText, type ModelContentBlock, type ModelMessage, toolCalls } from "../message.ts";
import {
  type ModelProvider,
  type ModelRequest,
  type ModelResult,
  type ModelStreamEvent,
  requestMessages,
} from "../provider.ts";
import { AnswerAssembler, type AnswerDelta, MalformedAnswer } from "./answer_assembler.ts";
import { ReportedError, serverErrorOf } from "./_server_error.ts";
import { ModelExchange, type SendRequest } from "./http.ts";

/** Where and how to ask. */
export interface ChatCompletionsOptions {
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
  /** Whether to ask the service not to store the exchange. */
  readonly storeFalse: boolean;
  /** Whether reasoning goes back with the tool calls that it led to. Default: false. */
  readonly returnsReasoning?: boolean;
  /** What sends the requests. Default: the runtime's `fetch`. */
  readonly send?: SendRequest;
}

type WireMessage = Record<string, unknown>;

/**
 * The wire form of a conversation; the tool results of a message come before its text. `reasoningOf` gives the fields
 * with which an assistant's reasoning goes back; by default none does.
 */
export function wireMessages(
  system: string | undefined,
  messages: readonly ModelMessage[],
  reasoningOf: (message: ModelMessage) => WireMessage = () => ({}),
): WireMessage[] {
  const wire: WireMessage[] = system === undefined ? [] : [{ role: "system", content: system }];
  for (const message of messages) {
    if (message.role === "assistant") {
      wire.push({ ...assistantMessage(message), ...(toolCalls(message).length > 0 ? reasoningOf(message) : {}) });
      continue;
    }
    for (const block of message.content) {
      if (block.type === "tool-result") wire.push({ role: "tool", tool_call_id: block.callId, content: block.content });
    }
    const rest = message.content.filter((block) => block.type !== "tool-result");
    if (rest.length > 0) wire.push({ role: "user", content: userContent(rest) });
  }
  return wire;
}

function assistantMessage(message: ModelMessage): WireMessage {
  const text = messageText(message);
  const calls = toolCalls(message);
  if (calls.length === 0) return { role: "assistant", content: text };
  return {
    role: "assistant",
    content: text === "" ? null : text,
    tool_calls: calls.map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: argumentsObjectText(call) },
    })),
  };
}

function userContent(blocks: readonly ModelContentBlock[]): string | WireMessage[] {
  if (blocks.every((block) => block.type === "text")) return messageText({ content: blocks });
  return blocks.map((block) => {
    if (block.type === "image") return { type: "image_url", image_url: { url: block.url } };
    if (block.type === "file") {
      const data = `data:${block.mediaType};base64,${block.data}`;
      return { type: "file", file: { filename: block.name, file_data: data } };
    }
    return { type: "text", text: block.type === "text" ? block.text : "" };
  });
}

/** The wire form of a request. */
export function wireRequest(
  request: ModelRequest,
  options: { stream: boolean; storeFalse: boolean; reasoningOf?: (message: ModelMessage) => WireMessage },
): WireMessage {
  const { reasoning, temperature, topP, maxOutputTokens, responseFormat, tools } = request;
  const wantUsage = options.stream && request.wantUsage !== false;
  return {
    model: request.model,
    messages: wireMessages(request.system, requestMessages(request), options.reasoningOf),
    stream: options.stream,
    ...(wantUsage ? { stream_options: { include_usage: true } } : {}),
    ...(options.storeFalse ? { store: false } : {}),
    ...(reasoning === undefined ? {} : { reasoning_effort: reasoning }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(maxOutputTokens === undefined ? {} : { max_completion_tokens: maxOutputTokens }),
    ...(responseFormat === undefined ? {} : {
      response_format: {
        type: "json_schema",
        json_schema: {
          name: responseFormat.name,
          schema: responseFormat.schema,
          strict: responseFormat.strict ?? true,
        },
      },
    }),
    ...(tools === undefined || tools.length === 0 ? {} : {
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: "function",
        function: { name, ...(description === undefined ? {} : { description }), parameters: inputSchema },
      })),
    }),
  };
}

/** Makes the provider. Options are taken as they are: whoever reads them from a user has checked them. */
export function createChatCompletionsProvider(options: ChatCompletionsOptions): ModelProvider {
  return Object.freeze(new ChatCompletionsProvider(options));
}

class ChatCompletionsProvider implements ModelProvider {
  readonly name = "openai";
  readonly identity: string;
  readonly #options: ChatCompletionsOptions;

  constructor(options: ChatCompletionsOptions) {
    this.#options = options;
    this.identity = `openai:chat-completions:${options.baseUrl}`;
  }

  async request(request: ModelRequest): Promise<ModelResult> {
    const { exchange, ask, explain } = await this.#prepare(request, false);
    try {
      const response = await ask().asResponse();
      const assembler = new AnswerAssembler();
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
    const assembler = new AnswerAssembler();
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
    const { baseUrl, apiKey, timeoutMs, timeoutCovers, maxResponseBytes, storeFalse, send } = this.#options;
    const key = typeof apiKey === "function" ? await apiKey(request.signal) : apiKey;
    const exchange = new ModelExchange({
      timeoutMs,
      timeoutCovers: stream && timeoutCovers === "silence-when-streaming" ? "silence" : "exchange",
      maxBytes: maxResponseBytes,
      signal: request.signal,
      headers: wireHeaders(key),
      secrets: key === false || key === DUMMY_API_KEY ? [] : [key],
      ...(send === undefined ? {} : { send }),
    });
    const { APIError, OpenAI } = await import("../../deps/openai.ts");
    // The exchange sends headers of its own, so that neither this key nor anything of the environment gets out; with
    // headers in the environment that are none, the client could not even be made.
    const client = withVariables({ OPENAI_CUSTOM_HEADERS: undefined }, () =>
      new OpenAI({
        apiKey: "unused",
        adminAPIKey: null,
        baseURL: baseUrl,
        maxRetries: 0,
        logLevel: "off",
        organization: null,
        project: null,
        timeout: 2 ** 31 - 1,
        fetch: exchange.fetch,
      }));
    // The body is ours, so that what is sent is what `wireRequest` says; the client's type knows only its own models.
    const reasoningOf = (message: ModelMessage) => this.#reasoning(message, request.model);
    const form = { stream, storeFalse, ...(this.#options.returnsReasoning ? { reasoningOf } : {}) };
    const body = wireRequest(request, form) as unknown as Parameters<
      typeof client.chat.completions.create
    >[0];
    return {
      exchange,
      ask: () => client.chat.completions.create(body),
      explain: (error: unknown, telling: "beginning" | "end"): unknown => {
        if (request.signal?.aborted || exchange.failure !== undefined) return exchange.explain(error);
        if (error instanceof MalformedAnswer) return exchange.malformed(error.message, telling);
        if (error instanceof ReportedError) return exchange.reported(error.reported);
        // The client throws these two while it reads a stream.
        if (error instanceof APIError) return exchange.reported(serverErrorOf(error.error ?? error.message));
        if (error instanceof SyntaxError) {
          const what = exchange.endedWithinLine ? "its stream was cut off within a chunk" : "a chunk is not JSON";
          return exchange.malformed(what, telling);
        }
        return exchange.explain(error);
      },
    };
  }

  /** The fields in which this server and model gave their reasoning, as they gave them. */
  #reasoning(message: ModelMessage, model: string): WireMessage {
    const own = message.content.filter((block) => block.type === "reasoning")
      .filter((block) => block.provider === this.identity && block.model === model);
    return Object.assign({}, ...own.map(({ data }) => data));
  }

  #served(result: ModelResult, request: ModelRequest): ModelResult {
    return { ...result, served: { endpoint: this.#options.baseUrl, model: request.model, source: "live" } };
  }
}

function wireHeaders(key: string | false): Headers {
  const headers = new Headers({
    "accept": "application/json",
    "content-type": "application/json",
    "user-agent": `${PRODUCT_NAME}/${VERSION}`,
  });
  if (key === false) return headers;
  try {
    headers.set("authorization", `Bearer ${key}`);
  } catch {
    // The runtime's message would show the key.
    throw new ConfigurationError(
      "the API key cannot be sent: it holds a line break or another character that HTTP headers do not allow",
    );
  }
  return headers;
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

function cutStream(assembler: AnswerAssembler, exchange: ModelExchange): MalformedAnswer {
  if (assembler.started) return new MalformedAnswer("its stream was cut off before its end");
  const what = notJson(exchange.head);
  return new MalformedAnswer(what === "it is not JSON" ? "it is no event stream" : what);
}

function* eventsOf({ text, reasoning }: AnswerDelta): Generator<ModelStreamEvent> {
  if (reasoning !== "") yield { type: "reasoning", text: reasoning };
  if (text !== "") yield { type: "text-delta", text };
}
