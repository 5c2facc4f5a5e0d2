/** Ids of tool calls: unique in the conversation, and the same each time, so that a recorded run can be replayed. */
import { type ModelContentBlock, type ModelMessage, toolCalls } from "../model/message.ts";

/** Hands out ids; knows those that the conversation has used. */
export class CallIds {
  readonly #used = new Set<string>();

  /** Starts with the ids of a history. */
  constructor(history: readonly ModelMessage[]) {
    for (const message of history) for (const call of toolCalls(message)) this.#used.add(call.id);
  }

  /** The content with every call's id unique: one that is empty or was used before becomes `call_<step>_<index>`. */
  complete(content: readonly ModelContentBlock[], step: number): readonly ModelContentBlock[] {
    let index = 0;
    return content.map((block) => {
      if (block.type !== "tool-call") return block;
      const id = block.id !== "" && !this.#used.has(block.id) ? block.id : this.#made(step, index);
      index += 1;
      this.#used.add(id);
      return id === block.id ? block : { ...block, id };
    });
  }

  #made(step: number, index: number): string {
    const plain = `call_${step}_${index}`;
    let id = plain;
    for (let again = 2; this.#used.has(id); again++) id = `${plain}_${again}`;
    return id;
  }
}
