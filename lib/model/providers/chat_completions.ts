/** A provider for any server that speaks Chat Completions (`POST {base_url}/chat/completions`). */
import { DUMMY_API_KEY } from "../../base/product.ts";
import { argumentsObjectText, messageText, type ModelContentBlock, type ModelMessage, toolCalls } from "../message.ts";
import {
  type ModelProvider,
  type ModelRequest,
  type ModelResult,
  type ModelStreamEvent,
  requestMessages,
} from "../provider.ts";
import { AnswerAssembler, MalformedAnswer } from "./answer_assembler.ts";
import { ModelExchange } from "./http.ts";

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
  readonly maxResponseBytes: number;
  /** Whether to ask the service not to store the exchange. */
  readonly storeFalse: boolean;
}

type WireMessage = Record<string, unknown>;

/** The wire form of a conversation; the tool results of a message come before its text. */
export function wireMessages(system: string | undefined, messages: readonly ModelMessage[]): WireMessage[] {
  const wire: WireMessage[] = system === undefined ? [] : [{ role: "system", content: system }];
  for (const message of messages) {
    if (message.role === "assistant") {
      wire.push(assistantMessage(message));
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
export function wireRequest(request: ModelRequest, options: { stream: boolean; storeFalse: boolean }): WireMessage {
  const { reasoning, temperature, topP, maxOutputTokens, responseFormat, tools } = request;
  const wantUsage = options.stream && request.wantUsage !== false;
  return {
    model: request.model,
    messages: wireMessages(request.system, requestMessages(request)),
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
        json_schema: { name: responseFormat.name, schema: responseFormat.schema, strict: true },
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
    const { exchange, create } = await this.#prepare(request, false);
    try {
      const answer: unknown = await create();
      const assembler = new AnswerAssembler();
      assembler.add(answer);
      return this.#served(assembler.result(this.identity, request.model), request);
    } catch (error) {
      throw this.#failure(exchange, error, request);
    }
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelStreamEvent> {
    const { exchange, create } = await this.#prepare(request, true);
    const assembler = new AnswerAssembler();
    try {
      const chunks = await create() as AsyncIterable<unknown>;
      for await (const chunk of chunks) {
        const { text, reasoning } = assembler.add(chunk);
        if (reasoning !== "") yield { type: "reasoning", text: reasoning };
        if (text !== "") yield { type: "text-delta", text };
      }
      // The client ends the loop without a word when the stream is aborted or cut.
      if (request.signal?.aborted) throw request.signal.reason;
      if (exchange.failure !== undefined) throw exchange.failure;
      if (!assembler.finished && !exchange.sawDone) throw exchange.malformed("the stream was cut off before its end");
      yield { type: "result", result: this.#served(assembler.result(this.identity, request.model), request) };
    } catch (error) {
      throw this.#failure(exchange, error, request);
    }
  }

  async #prepare(
    request: ModelRequest,
    stream: boolean,
  ): Promise<{ exchange: ModelExchange; create(): Promise<unknown> }> {
    const { baseUrl, apiKey, timeoutMs, timeoutCovers, maxResponseBytes, storeFalse } = this.#options;
    const key = typeof apiKey === "function" ? await apiKey(request.signal) : apiKey;
    const exchange = new ModelExchange({
      timeoutMs,
      timeoutCovers: stream && timeoutCovers === "silence-when-streaming" ? "silence" : "exchange",
      maxBytes: maxResponseBytes,
      signal: request.signal,
      secrets: key === false || key === DUMMY_API_KEY ? [] : [key],
    });
    const { OpenAI } = await import("../../deps/openai.ts");
    const client = new OpenAI({
      apiKey: key === false ? "none" : key,
      baseURL: baseUrl,
      maxRetries: 0,
      logLevel: "off",
      organization: null,
      project: null,
      timeout: 2 ** 31 - 1,
      fetch: exchange.fetch,
      ...(key === false ? { defaultHeaders: { Authorization: null } } : {}),
    });
    // The body is ours, so that what is sent is what `wireRequest` says; the client's type knows only its own models.
    const body = wireRequest(request, { stream, storeFalse }) as unknown as Parameters<
      typeof client.chat.completions.create
    >[0];
    const signal = request.signal === undefined ? {} : { signal: request.signal };
    return { exchange, create: async () => await client.chat.completions.create(body, signal) };
  }

  #served(result: ModelResult, request: ModelRequest): ModelResult {
    return { ...result, served: { endpoint: this.#options.baseUrl, model: request.model, source: "live" } };
  }

  #failure(exchange: ModelExchange, error: unknown, request: ModelRequest): unknown {
    const usable = error instanceof MalformedAnswer && exchange.failure === undefined && !request.signal?.aborted;
    return usable ? exchange.malformed(error.message) : exchange.explain(error);
  }
}
