/** The tree that templates are made of, after checking. Every name in it is one that rendering knows. */
import type { Position } from "../text_place.ts";

/** A part of a template. */
export type TemplateNode = TextNode | OutputNode | IfNode | EachNode | WithNode;

/** Text that is printed as it is. */
export interface TextNode {
  readonly kind: "text";
  readonly text: string;
}

/** `{{ expression }}`. */
export interface OutputNode {
  readonly kind: "output";
  readonly expression: Expression;
  readonly at: Position;
}

/** `{{#if}}`, `{{#unless}}` (its branches swapped), and comparisons used as blocks. */
export interface IfNode {
  readonly kind: "if";
  readonly condition: Expression;
  /** Whether the number 0 counts as true (`includeZero=true`). */
  readonly includeZero: Expression | undefined;
  readonly then: readonly TemplateNode[];
  readonly otherwise: readonly TemplateNode[];
}

/** `{{#each}}`. */
export interface EachNode {
  readonly kind: "each";
  readonly value: Expression;
  /** The names of the block parameters: of the item, of its index or key. */
  readonly names: readonly string[];
  readonly body: readonly TemplateNode[];
  readonly otherwise: readonly TemplateNode[];
  readonly at: Position;
}

/** `{{#with}}`. */
export interface WithNode {
  readonly kind: "with";
  readonly value: Expression;
  /** The name of the block parameter. */
  readonly names: readonly string[];
  readonly body: readonly TemplateNode[];
  readonly otherwise: readonly TemplateNode[];
  readonly at: Position;
}

/** What gives a value. */
export type Expression = Literal | Path | Call;

/** A text, number, boolean or null written in the template. */
export interface Literal {
  readonly kind: "literal";
  readonly value: string | number | boolean | null;
}

/** A path to a value. */
export interface Path {
  readonly kind: "path";
  /**
   * Where it starts: at a context (`up` blocks further out, each `../` one), at the whole data (`@root`), at a variable
   * of the loop `up` loops further out (`@index`), or at a block parameter.
   */
  readonly base: "context" | "root" | "loop" | "parameter";
  readonly up: number;
  /** The variable or block parameter; empty for the other bases. */
  readonly name: string;
  /** The keys from there on. */
  readonly keys: readonly string[];
  /** The path as it was written, for messages. */
  readonly written: string;
  readonly at: Position;
}

/** A helper with its arguments. */
export interface Call {
  readonly kind: "call";
  readonly helper: string;
  readonly arguments: readonly Expression[];
  readonly at: Position;
}

/** The names that `@` may stand before inside a loop. */
export const LOOP_VARIABLES: readonly string[] = ["index", "key", "first", "last"];
