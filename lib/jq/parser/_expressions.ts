/** Operators, pipes, bindings and definitions. Precedence as in jq 1.8. */
import type { BinaryOperator, JqDefinition, JqNode, JqPattern, PatternEntry, UpdateOperator } from "../ast.ts";
import { JqSyntaxError } from "../errors.ts";
import { nodeAt, parsePostfix, parseText } from "./_terms.ts";
import type { Grammar, Tokens } from "./_tokens.ts";

/** From loose to tight; `side` says which operand may be of the same precedence. */
const OPERATORS: Readonly<Record<string, { level: number; side: "left" | "right" | "none" }>> = {
  "//": { level: 1, side: "right" },
  "?//": { level: 1, side: "right" },
  ...Object.fromEntries(
    ["=", "|=", "+=", "-=", "*=", "/=", "%=", "//=", "?//="].map((name) => [name, { level: 2, side: "none" as const }]),
  ),
  or: { level: 3, side: "left" },
  and: { level: 4, side: "left" },
  ...Object.fromEntries(
    ["==", "!=", "<", "<=", ">", ">="].map((name) => [name, { level: 5, side: "none" as const }]),
  ),
  "+": { level: 6, side: "left" },
  "-": { level: 6, side: "left" },
  "*": { level: 7, side: "left" },
  "/": { level: 7, side: "left" },
  "%": { level: 7, side: "left" },
};

/** A whole expression: definitions, bindings, pipes and commas. */
export function parsePipe(tokens: Tokens): JqNode {
  const { place } = tokens.current;
  const stages: JqNode[] = [];
  let items: JqNode[] = [];
  let start = place;
  for (;;) {
    const item = tokens.at("def") || tokens.at("label") ? parseBlock(tokens) : parseExpression(tokens, 0);
    items.push(tokens.at("as") ? parseBind(tokens, item) : item);
    if (tokens.accept(",")) continue;
    stages.push(items.length === 1 ? items[0]! : nodeAt(start, { kind: "comma", items }));
    if (!tokens.accept("|")) break;
    items = [];
    start = tokens.current.place;
  }
  return stages.length === 1 ? stages[0]! : nodeAt(place, { kind: "pipe", stages });
}

/** `as` behind its source; what it binds is bound as far to the right as can be. */
function parseBind(tokens: Tokens, source: JqNode): JqNode {
  const { place } = source;
  tokens.enter(place);
  const patterns = parseBinding(tokens);
  tokens.expect("|");
  const body = parsePipe(tokens);
  tokens.leave();
  return nodeAt(place, { kind: "bind", source, patterns, body });
}

/** `def` and `label`, which reach as far to the right as they can, too. */
function parseBlock(tokens: Tokens): JqNode {
  const { place } = tokens.current;
  tokens.enter(place);
  let node: JqNode;
  if (tokens.accept("label")) {
    const name = tokens.expectKind("variable", "a label such as $out").text;
    tokens.expect("|");
    node = nodeAt(place, { kind: "label", name, body: parsePipe(tokens) });
  } else {
    const definition = parseDefinition(tokens);
    node = nodeAt(place, { kind: "define", definition, body: parsePipe(tokens) });
  }
  tokens.leave();
  return node;
}

/** `def name(a; $b): body;` */
export function parseDefinition(tokens: Tokens): JqDefinition {
  const { place } = tokens.expect("def");
  const { kind, text: name } = tokens.current;
  if (kind !== "name" && kind !== "keyword") tokens.fail("expected a name");
  tokens.take();
  const params: string[] = [];
  if (tokens.accept("(")) {
    do {
      const { kind, text } = tokens.current;
      if (kind !== "name" && kind !== "keyword" && kind !== "variable") tokens.fail("expected a parameter");
      tokens.take();
      params.push(kind === "variable" ? `$${text}` : text);
    } while (tokens.accept(";"));
    tokens.expect(")");
  }
  tokens.expect(":");
  tokens.enter(place);
  const body = parsePipe(tokens);
  tokens.leave();
  tokens.expect(";");
  return { name, params, body, place };
}

/** Operators of at least this level. */
export function parseExpression(tokens: Tokens, least: number): JqNode {
  const { place } = tokens.current;
  let left = parsePostfix(tokens);
  let entered = 0;
  let none = -1;
  for (;;) {
    const { text, kind, place: here } = tokens.current;
    const operator = (kind === "operator" || kind === "keyword") && Object.hasOwn(OPERATORS, text)
      ? OPERATORS[text]
      : undefined;
    if (operator === undefined || operator.level < least) break;
    if (operator.level === none) {
      throw new JqSyntaxError(`\`${text}\` cannot follow an operator of its kind: use brackets`, here);
    }
    tokens.take();
    entered++;
    tokens.enter(here);
    const right = parseExpression(tokens, operator.side === "right" ? operator.level : operator.level + 1);
    none = operator.side === "none" ? operator.level : -1;
    const start = text.startsWith("?") ? nodeAt(place, { kind: "try", body: left }) : left;
    left = nodeAt(place, operatorNode(text.replace("?", ""), start, right));
  }
  for (; entered > 0; entered--) tokens.leave();
  return left;
}

function operatorNode(text: string, left: JqNode, right: JqNode) {
  if (text === "and" || text === "or") return { kind: "logic", operator: text, left, right } as const;
  if (text === "//") return { kind: "alternative", left, right } as const;
  if (OPERATORS[text]!.level === 2) {
    return { kind: "update", operator: text as UpdateOperator, target: left, value: right } as const;
  }
  return { kind: "binary", operator: text as BinaryOperator, left, right } as const;
}

/** `as` and the patterns behind it. */
export function parseBinding(tokens: Tokens): JqPattern[] {
  tokens.expect("as");
  const patterns: JqPattern[] = [];
  do patterns.push(parsePattern(tokens)); while (tokens.accept("?//"));
  return patterns;
}

function parsePattern(tokens: Tokens): JqPattern {
  const { kind, text, place } = tokens.current;
  if (kind === "variable") {
    tokens.take();
    return { kind: "variable", name: text, place };
  }
  if (!tokens.at("[") && !tokens.at("{")) tokens.fail("expected $name, [ or {");
  tokens.enter(place);
  let pattern: JqPattern;
  if (tokens.accept("[")) {
    const items: JqPattern[] = [];
    do items.push(parsePattern(tokens)); while (tokens.accept(","));
    tokens.expect("]");
    pattern = { kind: "array", items, place };
  } else {
    tokens.expect("{");
    const entries: PatternEntry[] = [];
    do entries.push(parsePatternEntry(tokens)); while (tokens.accept(","));
    tokens.expect("}");
    pattern = { kind: "object", entries, place };
  }
  tokens.leave();
  return pattern;
}

function parsePatternEntry(tokens: Tokens): PatternEntry {
  const { kind, text, place } = tokens.current;
  if (kind === "variable") {
    tokens.take();
    return { variable: text, place, ...(tokens.accept(":") ? { pattern: parsePattern(tokens) } : {}) };
  }
  let key: JqNode;
  if (kind === "name" || kind === "keyword") {
    tokens.take();
    key = nodeAt(place, { kind: "literal", value: text });
  } else if (kind === "quote" || kind === "format") key = parseText(tokens);
  else {
    tokens.expect("(");
    key = parsePipe(tokens);
    tokens.expect(")");
  }
  tokens.expect(":");
  return { key, pattern: parsePattern(tokens), place };
}

/** What terms are given. */
export const GRAMMAR: Grammar = {
  pipe: parsePipe,
  expression: parseExpression,
  binding: parseBinding,
};
