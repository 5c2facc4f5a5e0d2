/** A provider for servers that speak the Responses API (`POST {base_url}/responses`). Nothing is stored there. */
import { argumentsObjectText, messageText, type ModelContentBlock, type ModelMessage, toolCalls } from "../message.ts";
import { type ModelProvider, type ModelRequest, requestMessages } from "../provider.ts";
import { bearer, connectOpenAi } from "./_openai_client.ts";
import { type WireOptions, WireProvider } from "./_wire_provider.ts";
import { ResponsesAssembler } from "./responses_assembler.ts";

/** Where and how to ask. */
export interface ResponsesOptions extends WireOptions {
  /** Whether reasoning items are asked for in full and go back in later rounds. */
  readonly replaysReasoning: boolean;
}

type Item = Record<string, unknown>;

/** Makes the provider. Options are taken as they are: whoever reads them from a user has checked them. */
export function createResponsesProvider(options: ResponsesOptions): ModelProvider {
  return Object.freeze(
    new WireProvider(options, {
      provider: "openai",
      name: "responses",
      body: (request, { stream, identity }) =>
        responsesRequest(request, { stream, ...(options.replaysReasoning ? { replaysFor: identity } : {}) }),
      headers: bearer,
      connect: (baseUrl, fetch) =>
        connectOpenAi(
          baseUrl,
          fetch,
          (client, body) => client.responses.create(body as unknown as Parameters<typeof client.responses.create>[0]),
        ),
      assembler: () => new ResponsesAssembler(),
    }),
  );
}

/**
 * The wire form of a request. With `replaysFor`, reasoning that this identity and model made goes back, and is asked for
 * in a form that can.
 */
export function responsesRequest(
  request: ModelRequest,
  { stream, replaysFor }: { readonly stream: boolean; readonly replaysFor?: string },
): Item {
  const { reasoning, temperature, topP, maxOutputTokens, responseFormat, tools, system } = request;
  const isOwn = (block: ModelContentBlock) =>
    block.type === "reasoning" && block.provider === replaysFor && block.model === request.model;
  return {
    model: request.model,
    ...(system === undefined ? {} : { instructions: system }),
    input: requestMessages(request).flatMap((message) => inputItems(message, isOwn)),
    stream,
    store: false,
    ...(replaysFor === undefined ? {} : { include: ["reasoning.encrypted_content"] }),
    ...(reasoning === undefined ? {} : { reasoning: { effort: reasoning } }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(responseFormat === undefined ? {} : {
      text: {
        format: {
          type: "json_schema",
          name: responseFormat.name,
          schema: responseFormat.schema,
          strict: responseFormat.strict ?? true,
        },
      },
    }),
    ...(tools === undefined || tools.length === 0 ? {} : {
      // This API takes tools as strict unless told otherwise, and then refuses any optional argument.
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: "function",
        name,
        ...(description === undefined ? {} : { description }),
        parameters: inputSchema,
        strict: false,
      })),
    }),
  };
}

function inputItems(message: ModelMessage, isOwn: (block: ModelContentBlock) => boolean): Item[] {
  if (message.role === "assistant") return assistantItems(message, isOwn);
  const items: Item[] = [];
  for (const block of message.content) {
    if (block.type !== "tool-result") continue;
    items.push({ type: "function_call_output", call_id: block.callId, output: block.content });
  }
  const rest = message.content.filter((block) => block.type !== "tool-result");
  if (rest.length > 0) items.push({ role: "user", content: userContent(rest) });
  return items;
}

function assistantItems(message: ModelMessage, isOwn: (block: ModelContentBlock) => boolean): Item[] {
  const reasoning = message.content.filter(isOwn)
    .map((block) => block.type === "reasoning" ? block.data as Item : {});
  const text = messageText(message);
  return [
    ...reasoning,
    ...(text === "" ? [] : [{ role: "assistant", content: text }]),
    ...toolCalls(message).map((call) => ({
      type: "function_call",
      call_id: call.id,
      name: call.name,
      arguments: argumentsObjectText(call),
    })),
  ];
}

function userContent(blocks: readonly ModelContentBlock[]): string | Item[] {
  if (blocks.every((block) => block.type === "text")) return messageText({ content: blocks });
  return blocks.map((block) => {
    if (block.type === "image") return { type: "input_image", image_url: block.url };
    if (block.type === "file") {
      const data = `data:${block.mediaType};base64,${block.data}`;
      return { type: "input_file", filename: block.name, file_data: data };
    }
    return { type: "input_text", text: block.type === "text" ? block.text : "" };
  });
}
