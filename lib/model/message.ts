/**
 * The neutral message model: what every provider is asked with and answers in, whatever its wire format.
 */
import { ConfigurationError } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";

/** A piece of text. */
export interface TextBlock {
  /** Marks the block. */
  readonly type: "text";
  /** The text. */
  readonly text: string;
}

/** An image, by URL or as a `data:` URL. User messages only. */
export interface ImageBlock {
  /** Marks the block. */
  readonly type: "image";
  /** Where the image is, or the image itself. */
  readonly url: string;
}

/** A document. User messages only. */
export interface FileBlock {
  /** Marks the block. */
  readonly type: "file";
  /** The name that the model is told. */
  readonly name: string;
  /** The media type, such as `application/pdf`. */
  readonly mediaType: string;
  /** The content, base64. */
  readonly data: string;
}

/** The model asks for a tool. Assistant messages only. */
export interface ToolCallBlock {
  /** Marks the block. */
  readonly type: "tool-call";
  /** Unique in the conversation; the result names it. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** The arguments as a value; a text when the model sent something that is no JSON. */
  readonly input: unknown;
  /** The arguments exactly as the model wrote them, where the wire format carries text. */
  readonly arguments?: string;
}

/** What a tool call came to. User messages only. */
export interface ToolResultBlock {
  /** Marks the block. */
  readonly type: "tool-result";
  /** The id of the call that this answers. */
  readonly callId: string;
  /** What the model gets. */
  readonly content: string;
  /** Whether the tool failed. Default: false. */
  readonly isError?: boolean;
}

/** The model's thinking; `data` is what the same provider and model want back. Assistant messages only. */
export interface ReasoningBlock {
  /** Marks the block. */
  readonly type: "reasoning";
  /** The identity of the provider that made it. */
  readonly provider: string;
  /** The model that made it. */
  readonly model: string;
  /** What the provider wants back, as it sent it. */
  readonly data: unknown;
  /** The readable part, where there is one. */
  readonly text?: string;
}

/** One piece of a message. */
export type ModelContentBlock =
  | TextBlock
  | ImageBlock
  | FileBlock
  | ToolCallBlock
  | ToolResultBlock
  | ReasoningBlock;

/** A message of the conversation. The system text is not one. */
export interface ModelMessage {
  /** Who speaks. Tool results are the user's. */
  readonly role: "user" | "assistant";
  /** The pieces, at least one. */
  readonly content: readonly ModelContentBlock[];
}

/** Anything that holds blocks. */
type Content = { readonly content: readonly ModelContentBlock[] };

/** The texts of a message's text blocks, joined without anything between. */
export function messageText(message: Content): string {
  return message.content.filter((block) => block.type === "text").map((block) => block.text).join("");
}

/** The readable reasoning of a message, joined by a blank line; undefined when there is none. */
export function reasoningText(message: Content): string | undefined {
  const texts = message.content
    .filter((block) => block.type === "reasoning")
    .map((block) => block.text ?? "")
    .filter((text) => text.trim() !== "");
  return texts.length === 0 ? undefined : texts.join("\n\n");
}

/** The tool calls of a message, in order. */
export function toolCalls(message: Content): ToolCallBlock[] {
  return message.content.filter((block) => block.type === "tool-call");
}

/**
 * A call's arguments as a value: nothing, blank text and `null` are an empty object, JSON is parsed, and what is no
 * JSON stays the text it is.
 */
export function parseArguments(text: string | null | undefined): unknown {
  if (text === undefined || text === null || text.trim() === "") return {};
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return text;
  }
}

/** A call's arguments as the text of a JSON object, which strict servers want back whatever the model sent. */
export function argumentsObjectText(call: ToolCallBlock): string {
  if (!isJsonObject(call.input)) return "{}";
  const raw = call.arguments?.trim() ?? "";
  return raw.startsWith("{") ? raw : JSON.stringify(call.input);
}

const ACCEPTED: Record<ModelMessage["role"], readonly string[]> = {
  user: ["text", "image", "file", "tool-result"],
  assistant: ["text", "tool-call", "reasoning"],
};

/**
 * Checks a conversation: not empty, user first and last, no empty message, each block where it belongs, and every tool
 * call answered once, in the next message and nowhere else.
 *
 * @throws ConfigurationError naming the message by its index
 */
export function checkMessages(messages: readonly ModelMessage[]): void {
  const fail = (index: number, what: string): never => {
    throw new ConfigurationError(`the conversation is not valid: message ${index} ${what}`);
  };
  if (messages.length === 0) throw new ConfigurationError("the conversation is not valid: it has no messages");
  if (messages[0]!.role !== "user") fail(0, "must be the user's");
  if (messages.at(-1)!.role !== "user") fail(messages.length - 1, "must be the user's");
  let open = new Set<string>();
  messages.forEach((message, index) => {
    if (!Object.hasOwn(ACCEPTED, message.role)) fail(index, `has the role ${JSON.stringify(message.role)}`);
    if (!Array.isArray(message.content)) fail(index, "has content that is no list of blocks");
    if (message.content.length === 0) fail(index, "is empty");
    const answered = new Set<string>();
    for (const block of message.content) {
      if (!ACCEPTED[message.role].includes(block.type)) {
        fail(index, `is the ${message.role}'s and may not hold a block of the type ${block.type}`);
      }
      if (block.type !== "tool-result") continue;
      if (answered.has(block.callId)) fail(index, `answers the tool call ${block.callId} twice`);
      if (!open.has(block.callId)) fail(index, `answers the tool call ${block.callId}, which was not just made`);
      answered.add(block.callId);
    }
    const missing = [...open].find((id) => !answered.has(id));
    if (missing !== undefined) fail(index, `does not answer the tool call ${missing}`);
    open = new Set();
    for (const call of toolCalls(message)) {
      if (open.has(call.id)) fail(index, `makes two tool calls with the id ${call.id}`);
      open.add(call.id);
    }
  });
}
