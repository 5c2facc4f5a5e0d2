/** The messages that open a turn. */
import { ConfigurationError } from "../base/errors.ts";
import { checkMessages, type ModelContentBlock, type ModelMessage, type TextBlock } from "../model/message.ts";

/** A message of the user's. */
export function userMessage(content: readonly ModelContentBlock[]): ModelMessage {
  return { role: "user", content };
}

/** A text as a block. */
export function textBlock(text: string): TextBlock {
  return { type: "text", text };
}

/**
 * The conversation that a turn starts with, however it was given.
 *
 * @throws ConfigurationError for both or neither, and for a conversation that is not valid
 */
export function openingMessages(
  { prompt, messages }: { readonly prompt?: string; readonly messages?: readonly ModelMessage[] },
): readonly ModelMessage[] {
  if ((prompt === undefined) === (messages === undefined)) {
    throw new ConfigurationError("runTurn: give either `prompt` or `messages`");
  }
  const opening = messages ?? [userMessage([{ type: "text", text: prompt! }])];
  checkMessages(opening);
  return opening;
}

/** A conversation whose last message says more, each part behind a blank line. */
export function withParts(messages: readonly ModelMessage[], parts: readonly string[]): readonly ModelMessage[] {
  if (parts.length === 0) return messages;
  const { content } = messages.at(-1)!;
  const last = content.at(-1)!;
  const text = parts.join("\n\n");
  const grown = last.type === "text"
    ? [...content.slice(0, -1), textBlock(`${last.text}\n\n${text}`)]
    : [...content, textBlock(text)];
  return [...messages.slice(0, -1), userMessage(grown)];
}
