/** A text of several JSON values that comes in pieces: each value as soon as it is whole, and no more is kept. */
import type { JsonValue } from "../../base/json.ts";
import { JsonFault, parseJsonParts } from "./parse.ts";

/** Finds where each value ends. */
export class DocumentReader {
  readonly #maxDepth: number;
  /** What of the value was read so far. */
  #parts: string[] = [];
  /** Levels of brackets that are open. */
  #depth = 0;
  /** Whether what was read ends in a text in quotes, and there behind a backslash. */
  #inText = false;
  #escaped = false;
  /** Whether there is something of a value. */
  #begun = false;
  /** Whether the value is a bare word, which a space or a bracket ends. */
  #isWord = false;
  /** Line of the value's first part, from 1, and what stands before it in that line. */
  #line = 1;
  #column = 0;

  /** Refuses what is nested deeper. */
  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  /** The line that the next value starts in, or is in. */
  get line(): number {
    return this.#line;
  }

  /**
   * The values that end in this piece.
   *
   * @throws JsonFault with the place in the whole text
   */
  *read(piece: string): Generator<JsonValue, undefined> {
    let start = 0;
    for (let at = 0; at < piece.length; at++) {
      const unit = piece.charCodeAt(at);
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (unit === 0x5c) this.#escaped = true;
        else if (unit === 0x22) {
          this.#inText = false;
          if (this.#depth > 0) continue;
          yield* this.#finish(piece.slice(start, at + 1));
          start = at + 1;
        }
        continue;
      }
      const isSpace = unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09 || unit === 0x1e;
      const isOpening = unit === 0x5b || unit === 0x7b;
      if (this.#isWord && (isSpace || isOpening || unit === 0x22)) {
        yield* this.#finish(piece.slice(start, at));
        start = at;
      }
      if (isSpace) {
        if (!this.#begun) {
          this.#skip(piece.slice(start, at + 1));
          start = at + 1;
        }
        continue;
      }
      this.#begun = true;
      if (unit === 0x22) this.#inText = true;
      else if (isOpening) this.#depth++;
      else if ((unit === 0x5d || unit === 0x7d) && !this.#isWord) {
        if (--this.#depth > 0) continue;
        yield* this.#finish(piece.slice(start, at + 1));
        start = at + 1;
      } else if (this.#depth === 0) this.#isWord = true;
    }
    if (start < piece.length) this.#parts.push(piece.slice(start));
  }

  /**
   * The last value, which only the end ends.
   *
   * @throws JsonFault when it is not whole
   */
  *end(): Generator<JsonValue, undefined> {
    if (this.#begun) yield* this.#finish("");
  }

  *#finish(last: string): Generator<JsonValue, undefined> {
    const text = this.#parts.length === 0 ? last : this.#parts.join("") + last;
    this.#parts = [];
    this.#depth = 0;
    this.#inText =
      this.#escaped =
      this.#begun =
      this.#isWord =
        false;
    let value: JsonValue;
    try {
      // The common case, several times as fast as reading value by value.
      value = JSON.parse(text) as JsonValue;
    } catch {
      for (const one of parseJsonParts(text, this.#maxDepth, { line: this.#line, column: this.#column })) {
        if (one !== undefined) yield one;
      }
      this.#skip(text);
      return;
    }
    yield value;
    this.#skip(text);
  }

  /** Counts the lines of what is done with. */
  #skip(text: string): void {
    let last = -1;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
      this.#line++;
      last = at;
    }
    this.#column = last < 0 ? this.#column + text.length : text.length - last - 1;
  }
}

export { JsonFault };
