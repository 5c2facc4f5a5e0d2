/** Collecting what `search` found. */
import { leftOut, pathLine } from "./_lines.ts";

/** The arguments of `search`. */
export interface SearchInput {
  /** The regular expression. */
  readonly pattern: string;
  /** The directory or file. */
  readonly path?: string;
  /** Which files. */
  readonly glob?: string;
  /** Whether case is ignored. */
  readonly ignore_case?: boolean;
  /** Lines to show. */
  readonly max_results?: number;
}

/** The first matches, and how many there are. */
export class Matches {
  readonly #most: number;
  readonly #lines: string[] = [];
  #characters = 0;
  #skipped = 0;

  /** Shows at most `most`. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The characters of what will be shown. */
  get characters(): number {
    return this.#characters;
  }

  /** Takes a line that was found. */
  add(path: string, line: string | number, text: string): void {
    if (this.#lines.length >= this.#most) return this.skip(1);
    const shown = `${pathLine(path)}:${line}:${text.replace(/\r$/, "")}`;
    this.#characters += shown.length + 1;
    this.#lines.push(shown);
  }

  /** Counts matches that will not be shown. */
  skip(count: number): void {
    this.#skipped += count;
  }

  /** The answer. */
  answer(): string {
    if (this.#lines.length + this.#skipped === 0) return "No matches.";
    if (this.#skipped === 0) return this.#lines.join("\n");
    return [...this.#lines, leftOut(this.#skipped, "match", "matches")].join("\n");
  }
}
