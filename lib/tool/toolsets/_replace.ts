/**
 * Exact replacing in texts whose line ends the model does not see: `read_file` shows lines without CR, so an LF of
 * `old_text` also fits a CRLF, and what takes its place gets the file's line ends.
 */

/** Where a text occurs: UTF-16 code units from the beginning, the end not included. */
export interface Occurrence {
  /** Where it begins. */
  readonly start: number;
  /** Where it has ended. */
  readonly end: number;
}

/**
 * The occurrences of `part`, none overlapping another. Without a CR in it, its line feeds fit both line ends; with one,
 * every character must be the same.
 */
export function findOccurrences(text: string, part: string): Occurrence[] {
  if (part.includes("\r") || !text.includes("\r\n")) return exactOccurrences(text, part);
  const lines = text.split("\r\n");
  // The text with LF in place of each CRLF is one character shorter for each before a place.
  let ends = 0;
  let passed = 0;
  const original = (index: number): number => {
    while (ends < lines.length - 1 && passed + lines[ends]!.length < index) {
      passed += lines[ends]!.length + 1;
      ends += 1;
    }
    return index + ends;
  };
  return exactOccurrences(lines.join("\n"), part).map(({ start, end }) => ({
    start: original(start),
    end: original(end),
  }));
}

function exactOccurrences(text: string, part: string): Occurrence[] {
  const found: Occurrence[] = [];
  for (let start = text.indexOf(part); start >= 0; start = text.indexOf(part, start + part.length)) {
    found.push({ start, end: start + part.length });
  }
  return found;
}

/** The text with `replacement` in place of each occurrence, taken literally but for its line ends. */
export function replaceOccurrences(text: string, occurrences: readonly Occurrence[], replacement: string): string {
  const usual = text.split("\r\n").length - 1 > (text.split("\n").length - 1) / 2;
  const crlf = replacement.replaceAll("\n", "\r\n");
  const literal = replacement.includes("\r");
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end } of occurrences) {
    const lineEnd = /\r?\n/.exec(text.slice(start, end))?.[0];
    const windows = lineEnd === undefined ? usual : lineEnd === "\r\n";
    pieces.push(text.slice(from, start), windows && !literal ? crlf : replacement);
    from = end;
  }
  pieces.push(text.slice(from));
  return pieces.join("");
}
