/** Offsets of a text as lines and columns. */
import type { Position } from "./text_place.ts";

/** The lines of a text. */
export class Lines {
  readonly #text: string;
  readonly #starts: number[] = [0];

  /** Finds where the lines of `text` start; they end with `\n` or `\r\n`. */
  constructor(text: string) {
    this.#text = text;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#starts.push(at + 1);
  }

  /** The line and column of an offset; one outside the text counts as the nearest inside. */
  position(offset: number): Position {
    const inside = Math.max(0, Math.min(offset, this.#text.length));
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= inside) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: inside - this.#starts[low]! + 1 };
  }

  /** A line without its line ending, counted from 1; empty when there is none. */
  line(number: number): string {
    const start = this.#starts[number - 1];
    if (start === undefined) return "";
    const next = this.#starts[number];
    let end = next === undefined ? this.#text.length : next - 1;
    if (next !== undefined && this.#text[end - 1] === "\r") end--;
    return this.#text.slice(start, end);
  }
}
