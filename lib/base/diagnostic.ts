/** What is wrong in a file that people write, and where. */

/** How bad a diagnostic is. */
export type Severity = "error" | "warning";

/** A place in a file. Line and column count from 1; columns are UTF-16 code units. */
export interface Place {
  /** The file as it should be shown. */
  readonly file: string;
  /** The line, from 1; absent when the fault is the file itself. */
  readonly line?: number;
  /** The column, from 1. */
  readonly column?: number;
}

/** One fault of a file. */
export interface Diagnostic {
  /** The rule's stable name, such as `unknown-key`. */
  readonly id: string;
  /** How bad it is. */
  readonly severity: Severity;
  /** Where it is. */
  readonly place: Place;
  /** What is wrong: what was expected and what was found. No period at the end. */
  readonly message: string;
  /** What to do, such as ``did you mean `tools`?``. */
  readonly hint?: string;
}

/** The text form of a place: `file:line:column`. */
export function formatPlace(place: Place): string {
  if (place.line === undefined) return place.file;
  return place.column === undefined ? `${place.file}:${place.line}` : `${place.file}:${place.line}:${place.column}`;
}

/** One line for people: `file:line:column: message [id]`, and the hint in parentheses. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const hint = diagnostic.hint === undefined ? "" : ` (${diagnostic.hint})`;
  return `${formatPlace(diagnostic.place)}: ${diagnostic.message}${hint} [${diagnostic.id}]`;
}
