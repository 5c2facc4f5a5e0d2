/** The messages of a loop, and the transcript that they are stored in as they come. */
import type { ModelMessage } from "../model/message.ts";
import type { Transcript } from "./transcript.ts";

/** See the module. */
export class History {
  readonly #transcript: Transcript | undefined;
  #messages: readonly ModelMessage[];

  /** Starts with messages that are stored already; a turn without a conversation has no transcript. */
  constructor(messages: readonly ModelMessage[], transcript?: Transcript) {
    this.#messages = messages;
    this.#transcript = transcript;
  }

  /** All of them, in order. */
  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }

  /** Adds a message; resolves once it is stored. */
  async add(message: ModelMessage): Promise<void> {
    this.#messages = [...this.#messages, message];
    await this.#transcript?.add(message);
  }

  /** Puts others in their place. */
  async replace(messages: readonly ModelMessage[]): Promise<void> {
    this.#messages = messages;
    await this.#transcript?.replace(messages);
  }
}
