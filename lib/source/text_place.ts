/** Places inside a text that stands in a file: a template or an expression knows its own lines, people know the file's. */
import type { Place } from "../base/diagnostic.ts";

/** A line and a column, both from 1; the column counts UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The place of a text in a file, and how the text's own lines lie there. */
export interface TextPlace extends Place {
  /**
   * Where the text's first character stands, when each of the text's lines is one line of the file that starts at this
   * column (a block text of YAML, a quoted text of one line, the body of a Markdown file). `null` when the lines of the
   * file are not the lines of the text (a folded text, one with escapes). Absent when nothing is known but where the
   * text starts: a text of one line is then taken to stand there as it is.
   */
  readonly content?: Position | null;
}

/**
 * The place in the file of a position in a text, or undefined when it cannot be known. `text` is the whole text that
 * `origin` is the place of.
 */
export function placeInText(origin: TextPlace, text: string, position: Position): Place | undefined {
  let start = origin.content;
  if (start === undefined && origin.line !== undefined && origin.column !== undefined && !text.includes("\n")) {
    start = { line: origin.line, column: origin.column };
  }
  if (start === undefined || start === null) return undefined;
  return {
    file: origin.file,
    line: start.line + position.line - 1,
    column: start.column + position.column - 1,
  };
}
