/**
 * Putting the pieces of streamed tool calls together, for what servers really send. The rules, strongest first:
 *
 * 1. an id that was seen belongs to its call, whatever the index says; unless the piece names a function again under
 *    another index: then the server has used one id for two calls;
 * 2. a new id is a new call, unless a call at its index still waits for an id;
 * 3. without an id, the index decides, then the call that is being streamed;
 * 4. a name for a call that has one already, and whose arguments are complete, starts a new call.
 */
import { isJsonObject } from "../../base/json.ts";

/** A call as far as it is known. */
export interface AssembledCall {
  /** Empty when none came. */
  id: string;
  /** Empty when none came. */
  name: string;
  /** The arguments' text as it came. */
  arguments: string;
}

interface Slot extends AssembledCall {
  index: number | undefined;
}

function isComplete(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Collects pieces of tool calls; see the rules above. */
export class ToolCallAssembler {
  readonly #slots: Slot[] = [];
  #current: Slot | undefined;

  /** Adds one entry of a `tool_calls` list, whole or a piece; anything that is no object is passed over. */
  add(entry: unknown): void {
    if (!isJsonObject(entry)) return;
    const index = typeof entry["index"] === "number" ? entry["index"] : undefined;
    const id = typeof entry["id"] === "string" ? entry["id"] : "";
    const body = isJsonObject(entry["function"]) ? entry["function"] : {};
    const name = typeof body["name"] === "string" ? body["name"] : "";
    const slot = this.#find(index, id, name) ?? this.#open(index);
    if (slot.id === "") slot.id = id;
    if (slot.name === "") slot.name = name;
    slot.index ??= index;
    const piece = body["arguments"];
    if (typeof piece === "string") slot.arguments += piece;
    else if (isJsonObject(piece)) slot.arguments = JSON.stringify(piece);
    this.#current = slot;
  }

  /** The calls, in the order of their indexes where every call has its own, else as they came. */
  calls(): AssembledCall[] {
    const indexes = new Set(this.#slots.map((slot) => slot.index));
    const ordered = indexes.size === this.#slots.length && !indexes.has(undefined)
      ? this.#slots.toSorted((a, b) => a.index! - b.index!)
      : this.#slots;
    return ordered.map(({ id, name, arguments: text }) => ({ id, name, arguments: text }));
  }

  #find(index: number | undefined, id: string, name: string): Slot | undefined {
    if (id !== "") {
      const seen = this.#slots.findLast((slot) => slot.id === id);
      const again = seen !== undefined && name !== "" && seen.name !== "" && index !== undefined &&
        seen.index !== undefined && index !== seen.index;
      if (seen !== undefined) return again || this.#startsAnew(seen, name) ? undefined : seen;
      const waiting = index === undefined ? this.#current : this.#at(index);
      return waiting?.id === "" && !this.#startsAnew(waiting, name) ? waiting : undefined;
    }
    const slot = (index === undefined ? undefined : this.#at(index)) ?? this.#continued(index, name);
    return slot !== undefined && this.#startsAnew(slot, name) ? undefined : slot;
  }

  /** The call that a piece without an id and with an unknown index goes on with. */
  #continued(index: number | undefined, name: string): Slot | undefined {
    if (this.#current === undefined) return undefined;
    if (index === undefined) return name !== "" && this.#current.name !== "" ? undefined : this.#current;
    return name === "" && !isComplete(this.#current.arguments) ? this.#current : undefined;
  }

  #startsAnew(slot: Slot, name: string): boolean {
    return name !== "" && slot.name !== "" && (name !== slot.name || isComplete(slot.arguments));
  }

  #at(index: number): Slot | undefined {
    return this.#slots.findLast((slot) => slot.index === index);
  }

  #open(index: number | undefined): Slot {
    const slot: Slot = { id: "", name: "", arguments: "", index };
    this.#slots.push(slot);
    return slot;
  }
}
