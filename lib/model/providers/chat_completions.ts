/** A provider for any server that speaks Chat Completions (`POST {base_url}/chat/completions`). */
import { argumentsObjectText, messageText, type ModelContentBlock, type ModelMessage, toolCalls } from "../message.ts";
import { type ModelProvider, type ModelRequest, requestMessages } from "../provider.ts";
import { AnswerAssembler } from "./answer_assembler.ts";
import { bearer, connectOpenAi } from "./_openai_client.ts";
import { type WireOptions, WireProvider } from "./_wire_provider.ts";

/** Where and how to ask. */
export interface ChatCompletionsOptions extends WireOptions {
  /** Whether to ask the service not to store the exchange. */
  readonly storeFalse: boolean;
  /** Whether reasoning goes back with the tool calls that it led to. Default: false. */
  readonly returnsReasoning?: boolean;
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
  const { storeFalse, returnsReasoning = false } = options;
  return Object.freeze(
    new WireProvider(options, {
      provider: "openai",
      name: "chat-completions",
      body: (request, { stream, identity }) => {
        const reasoningOf = (message: ModelMessage) => ownReasoning(message, identity, request.model);
        return wireRequest(request, { stream, storeFalse, ...(returnsReasoning ? { reasoningOf } : {}) });
      },
      headers: bearer,
      connect: (baseUrl, fetch) =>
        connectOpenAi(
          baseUrl,
          fetch,
          (client, body) =>
            client.chat.completions.create(
              body as unknown as Parameters<typeof client.chat.completions.create>[0],
            ),
        ),
      assembler: () => new AnswerAssembler(),
    }),
  );
}

/** The fields in which this server and model gave their reasoning, as they gave them. */
function ownReasoning(message: ModelMessage, identity: string, model: string): WireMessage {
  const own = message.content.filter((block) => block.type === "reasoning")
    .filter((block) => block.provider === identity && block.model === model);
  return Object.assign({}, ...own.map(({ data }) => data));
}
