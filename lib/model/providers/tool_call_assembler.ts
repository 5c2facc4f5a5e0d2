/**
 * Putting the pieces of streamed tool calls together, for what servers really send. The rules, strongest first:
 *
 * 1. an id that was seen belongs to its call, whatever the index says; unless the piece is the head of another call, for
 *    which the server has used the same id again: it names another function, or comes after complete arguments, or is
 *    a second bare head with an index of its own;
 * 2. a new id is a new call, unless a call at its index still waits for an id;
 * 3. without an id, the index decides, then the call that is being streamed;
 * 4. a name for a call that has another name, or that has it already and whose arguments are complete, starts a new
 *    call. A piece that only repeats the name says nothing.
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

/** One entry of a `tool_calls` list. */
interface Piece {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  /** A text is a fragment; a value that is no text is all of them. */
  readonly arguments: string;
  readonly isValue: boolean;
}

function pieceOf(entry: Readonly<Record<string, unknown>>): Piece {
  const body = isJsonObject(entry["function"]) ? entry["function"] : {};
  const given: unknown = body["arguments"];
  const isValue = isJsonObject(given);
  return {
    index: typeof entry["index"] === "number" ? entry["index"] : undefined,
    id: typeof entry["id"] === "string" ? entry["id"] : "",
    name: typeof body["name"] === "string" ? body["name"] : "",
    arguments: isValue ? JSON.stringify(given) : typeof given === "string" ? given : "",
    isValue,
  };
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

function isComplete(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
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

  /** Adds one entry of a `tool_calls` list, a whole call or a piece; anything that is no object is passed over. */
  add(entry: unknown, whole: boolean = false): void {
    if (!isJsonObject(entry)) return;
    const piece = pieceOf(entry);
    if (!whole && this.#repeats(piece)) return;
    const slot = (whole ? undefined : this.#find(piece)) ?? this.#open(piece.index);
    if (slot.id === "") slot.id = piece.id;
    if (slot.name === "") slot.name = piece.name;
    slot.index ??= piece.index;
    // Some servers start each call with `{}` and send the arguments behind it.
    const replaces = piece.isValue || (slot.arguments.trim() === "{}" && piece.arguments.startsWith("{"));
    slot.arguments = replaces ? piece.arguments : slot.arguments + piece.arguments;
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

  /** Whether a piece says a whole call again, as some servers do at the end. */
  #repeats(piece: Piece): boolean {
    const slot = piece.id === "" ? undefined : this.#byId(piece);
    return slot !== undefined && slot.index === piece.index && slot.name === piece.name &&
      slot.arguments === piece.arguments && isComplete(slot.arguments);
  }

  #find(piece: Piece): Slot | undefined {
    const slot = piece.id === "" ? this.#byPosition(piece) : this.#byId(piece) ?? this.#waiting(piece);
    return slot === undefined || this.#startsAnew(slot, piece) ? undefined : slot;
  }

  #byId({ id, index }: Piece): Slot | undefined {
    const seen = this.#slots.filter((slot) => slot.id === id);
    return seen.findLast((slot) => slot.index === index) ?? seen.at(-1);
  }

  /** A call without an id so far, which a new id may belong to. */
  #waiting({ index }: Piece): Slot | undefined {
    const slot = index === undefined ? this.#current : this.#at(index);
    return slot?.id === "" ? slot : undefined;
  }

  /** Where a piece without an id belongs. */
  #byPosition({ index, name, arguments: text }: Piece): Slot | undefined {
    const slot = index === undefined ? undefined : this.#at(index);
    if (slot !== undefined || this.#current === undefined) return slot;
    if (index === undefined) return this.#current;
    // An unknown index: the rest of the call that is being streamed, unless that one needs no rest.
    return name === "" && (isBlank(text) || !isComplete(this.#current.arguments)) ? this.#current : undefined;
  }

  #startsAnew(slot: Slot, { id, index, name, arguments: text }: Piece): boolean {
    if (name === "" || slot.name === "") return false;
    if (name !== slot.name) return true;
    if (!isBlank(text)) return isComplete(slot.arguments);
    return id !== "" && index !== undefined && slot.index !== undefined && index !== slot.index;
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
