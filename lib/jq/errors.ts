/** What can go wrong in a jq expression. One class for each thing a caller can act on. */
import type { JsonValue } from "../base/json.ts";

/** A place in the source of an expression. */
export interface JqPlace {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

/** The source is no jq expression. */
export class JqSyntaxError extends Error implements JqPlace {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;

  /** Creates the error for a place. */
  constructor(message: string, place: JqPlace) {
    super(message);
    this.name = new.target.name;
    this.line = place.line;
    this.column = place.column;
  }
}

/** The source reads, but uses what is not there: a variable, a function, a key that is no text. */
export class JqCompileError extends JqSyntaxError {}

/** The expression failed: `error(…)`, or an operation that its values do not allow. */
export class JqError extends Error {
  /** What `catch` would have been given. */
  readonly value: JsonValue;

  /** Creates the error from the value that was raised. */
  constructor(value: JsonValue, message: string) {
    super(message);
    this.name = "JqError";
    this.value = value;
  }
}

/** A limit was reached. Expressions cannot catch it. */
export class JqLimitError extends Error {
  /** Which limit, by its name in `JqLimits`; `regex` for a text that is too long for a pattern. */
  readonly limit: string;

  /** Creates the error for the limit of this name. */
  constructor(limit: string, message: string) {
    super(message);
    this.name = "JqLimitError";
    this.limit = limit;
  }
}
