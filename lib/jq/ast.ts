/** The syntax tree. Every node has the line and the column, from 1, where it starts. */
import type { JsonValue } from "../base/json.ts";
import type { JqPlace } from "./errors.ts";

/** Operators with two operands that are no assignment. */
export type BinaryOperator = "+" | "-" | "*" | "/" | "%" | "==" | "!=" | "<" | "<=" | ">" | ">=";

/** Operators that change what a path expression points at. */
export type UpdateOperator = "=" | "|=" | "+=" | "-=" | "*=" | "/=" | "%=" | "//=";

/** A key or an element of a destructuring pattern. */
export interface PatternEntry {
  /** `$name` in front of a pattern binds the value too. */
  readonly variable?: string;
  /** The key; absent when it is the variable's name. */
  readonly key?: JqNode;
  /** What the value is taken apart with. */
  readonly pattern?: JqPattern;
  readonly place: JqPlace;
}

/** What follows `as`. */
export type JqPattern =
  | { readonly kind: "variable"; readonly name: string; readonly place: JqPlace }
  | { readonly kind: "array"; readonly items: readonly JqPattern[]; readonly place: JqPlace }
  | { readonly kind: "object"; readonly entries: readonly PatternEntry[]; readonly place: JqPlace };

/** A function definition. */
export interface JqDefinition {
  readonly name: string;
  /** Names; one with `$` is a value, one without a filter. */
  readonly params: readonly string[];
  readonly body: JqNode;
  readonly place: JqPlace;
}

/** A key and a value of an object that is built. */
export interface ObjectEntry {
  readonly key: JqNode;
  readonly value: JqNode;
}

/** A node's own data. */
export type JqNodeData =
  | { readonly kind: "identity" }
  | { readonly kind: "recurse" }
  | { readonly kind: "literal"; readonly value: JsonValue }
  | { readonly kind: "location" }
  /** A text with expressions in it; `format` is applied to each of their outputs. */
  | { readonly kind: "string"; readonly format?: string; readonly parts: readonly (string | JqNode)[] }
  | { readonly kind: "format"; readonly name: string }
  /** One with `?` behind it has no output where it fails itself; its target and its key may still fail. */
  | { readonly kind: "index"; readonly target: JqNode; readonly key: JqNode; readonly optional?: true }
  | {
    readonly kind: "slice";
    readonly target: JqNode;
    readonly from?: JqNode;
    readonly to?: JqNode;
    readonly optional?: true;
  }
  | { readonly kind: "iterate"; readonly target: JqNode; readonly optional?: true }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly JqNode[] }
  | { readonly kind: "array"; readonly body?: JqNode }
  | { readonly kind: "object"; readonly entries: readonly ObjectEntry[] }
  | { readonly kind: "negate"; readonly operand: JqNode }
  | { readonly kind: "binary"; readonly operator: BinaryOperator; readonly left: JqNode; readonly right: JqNode }
  | { readonly kind: "logic"; readonly operator: "and" | "or"; readonly left: JqNode; readonly right: JqNode }
  | { readonly kind: "alternative"; readonly left: JqNode; readonly right: JqNode }
  | { readonly kind: "update"; readonly operator: UpdateOperator; readonly target: JqNode; readonly value: JqNode }
  | { readonly kind: "pipe"; readonly stages: readonly JqNode[] }
  | { readonly kind: "comma"; readonly items: readonly JqNode[] }
  | { readonly kind: "if"; readonly condition: JqNode; readonly then: JqNode; readonly otherwise?: JqNode }
  | { readonly kind: "try"; readonly body: JqNode; readonly handler?: JqNode }
  | {
    readonly kind: "reduce";
    readonly source: JqNode;
    readonly patterns: readonly JqPattern[];
    readonly start: JqNode;
    readonly update: JqNode;
  }
  | {
    readonly kind: "foreach";
    readonly source: JqNode;
    readonly patterns: readonly JqPattern[];
    readonly start: JqNode;
    readonly update: JqNode;
    readonly extract?: JqNode;
  }
  | {
    readonly kind: "bind";
    readonly source: JqNode;
    readonly patterns: readonly JqPattern[];
    readonly body: JqNode;
  }
  | { readonly kind: "label"; readonly name: string; readonly body: JqNode }
  | { readonly kind: "break"; readonly name: string }
  | { readonly kind: "define"; readonly definition: JqDefinition; readonly body: JqNode };

/** A node: its data and its place. */
export type JqNode = JqNodeData & { readonly place: JqPlace };

/** The node of a kind. */
export type NodeOf<K extends JqNodeData["kind"]> = Extract<JqNodeData, { kind: K }> & { readonly place: JqPlace };
