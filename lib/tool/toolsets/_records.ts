/** Cutting a stream of text into records. */

/** Calls `found` with each record that a separator ends, as text arrives in pieces. */
export class Records {
  readonly #separator: string;
  readonly #found: (record: string) => void;
  #pieces: string[] = [];

  /** Starts with nothing. */
  constructor(separator: string, found: (record: string) => void) {
    this.#separator = separator;
    this.#found = found;
  }

  /** Takes the next piece. */
  push(text: string): void {
    const parts = text.split(this.#separator);
    // Joined only when a record ends: a long one that comes in many pieces is not copied for each.
    for (const part of parts.slice(0, -1)) {
      this.#found(this.#pieces.length === 0 ? part : this.#pieces.join("") + part);
      this.#pieces = [];
    }
    this.#pieces.push(parts.at(-1)!);
  }
}
