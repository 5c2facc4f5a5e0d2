/** The messages that open a turn. */
import { ConfigurationError } from "../base/errors.ts";
import { checkMessages, type ModelContentBlock, type ModelMessage } from "../model/message.ts";

/** A message of the user's. */
export function userMessage(content: readonly ModelContentBlock[]): ModelMessage {
  return { role: "user", content };
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
