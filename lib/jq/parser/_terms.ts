/** Terms: what stands between operators, and what hangs on to it (`.a`, `[0]`, `?`). */
import type { JqNode, JqNodeData, ObjectEntry } from "../ast.ts";
import { JqCompileError, type JqPlace, JqSyntaxError } from "../errors.ts";
import type { Tokens } from "./_tokens.ts";

// Terms hold expressions and expressions hold terms: the way back goes through the tokens, not through an import.
// Few functions for each level of nesting, and small ones: 1 024 levels must fit into the stack.

/** A node at a place. */
export function nodeAt(place: JqPlace, data: JqNodeData): JqNode {
  return { ...data, place };
}

const identityAt = (place: JqPlace): JqNode => ({ kind: "identity", place });
const textAt = (place: JqPlace, value: string): JqNode => ({ kind: "literal", value, place });

/** A term with its signs and suffixes. */
export function parsePostfix(tokens: Tokens): JqNode {
  const { place, kind, text } = tokens.current;
  let term = kind === "operator" ? parseOperatorTerm(tokens) : parseTerm(tokens);
  let suffixes = 0;
  // `(.a.b)?` is about all in the brackets.
  let isBracketed = kind === "operator" && text === "(";
  for (;;) {
    const { current } = tokens;
    if (current.kind === "field" || tokens.at("[") || tokens.at(".")) isBracketed = false;
    if (current.kind === "field") {
      tokens.take();
      term = nodeAt(place, { kind: "index", target: term, key: textAt(current.place, current.text) });
    } else if (tokens.at("[")) {
      term = parseBracket(tokens, place, term);
    } else if (tokens.at(".")) {
      tokens.take();
      if (tokens.at("[")) term = parseBracket(tokens, place, term);
      else if (tokens.current.kind === "quote" || tokens.current.kind === "format") {
        term = nodeAt(place, { kind: "index", target: term, key: parseText(tokens) });
      } else tokens.fail("expected a key, or `[`, behind `.`");
    } else if (tokens.at("?")) {
      tokens.take();
      term = optional(place, term, isBracketed);
    } else {
      for (; suffixes > 0; suffixes--) tokens.leave();
      return term;
    }
    suffixes++;
    tokens.enter(current.place);
  }
}

function optional(place: JqPlace, term: JqNode, isBracketed: boolean): JqNode {
  const isStep = term.kind === "index" || term.kind === "slice" || term.kind === "iterate";
  if (isStep && !isBracketed && term.optional !== true) return { ...term, optional: true };
  return nodeAt(place, { kind: "try", body: term });
}

function parseTerm(tokens: Tokens): JqNode {
  const { current } = tokens;
  const { place, text } = current;
  switch (current.kind) {
    case "number":
      tokens.take();
      return nodeAt(place, { kind: "literal", value: Number(text) });
    case "quote":
    case "format":
      return parseText(tokens);
    case "field":
      tokens.take();
      return nodeAt(place, { kind: "index", target: identityAt(place), key: textAt(place, text) });
    case "variable":
      tokens.take();
      return text === "__loc__" ? nodeAt(place, { kind: "location" }) : nodeAt(place, { kind: "variable", name: text });
    case "name":
      return parseCall(tokens);
    case "keyword":
      return parseKeyword(tokens);
    default:
      return tokens.fail("expected an expression");
  }
}

function parseOperatorTerm(tokens: Tokens): JqNode {
  const { place, text } = tokens.current;
  if (text === "." || text === "..") {
    tokens.take();
    if (text === "..") return nodeAt(place, { kind: "recurse" });
    const { kind } = tokens.current;
    if (kind !== "quote" && kind !== "format") return identityAt(place);
    return nodeAt(place, { kind: "index", target: identityAt(place), key: parseText(tokens) });
  }
  if (text === "-") return parseNegation(tokens);
  if (text !== "(" && text !== "[" && text !== "{") return tokens.fail("expected an expression");
  tokens.take();
  tokens.enter(place);
  let node: JqNode;
  if (text === "(") {
    node = tokens.grammar.pipe(tokens);
    tokens.expect(")");
  } else if (text === "{") node = parseObject(tokens, place);
  else if (tokens.accept("]")) node = nodeAt(place, { kind: "array" });
  else {
    node = nodeAt(place, { kind: "array", body: tokens.grammar.pipe(tokens) });
    tokens.expect("]");
  }
  tokens.leave();
  return node;
}

/** A sign is for the term and its suffixes, so it has none of its own. */
function parseNegation(tokens: Tokens): JqNode {
  const { place } = tokens.take();
  tokens.enter(place);
  const operand = parsePostfix(tokens);
  tokens.leave();
  return nodeAt(place, { kind: "negate", operand });
}

const CONSTANTS = new Map<string, boolean | null>([["true", true], ["false", false], ["null", null]]);

function parseCall(tokens: Tokens): JqNode {
  const { place, text } = tokens.take();
  if (text === "break") {
    return nodeAt(place, { kind: "break", name: tokens.expectKind("variable", "a label such as $out").text });
  }
  if (CONSTANTS.has(text) && !tokens.at("(")) {
    return nodeAt(place, { kind: "literal", value: CONSTANTS.get(text) ?? null });
  }
  const args: JqNode[] = [];
  if (tokens.accept("(")) {
    tokens.enter(place);
    do args.push(tokens.grammar.pipe(tokens)); while (tokens.accept(";"));
    tokens.expect(")");
    tokens.leave();
  }
  return nodeAt(place, { kind: "call", name: text, args });
}

function parseKeyword(tokens: Tokens): JqNode {
  const { place, text } = tokens.current;
  if (text !== "if" && text !== "reduce" && text !== "foreach" && text !== "try") {
    if (text === "import" || text === "include" || text === "module") {
      throw new JqCompileError(`modules are not available: \`${text}\``, place);
    }
    return tokens.fail("expected an expression");
  }
  tokens.enter(place);
  tokens.take();
  const node = text === "if"
    ? parseIf(tokens, place)
    : text === "try"
    ? parseTry(tokens, place)
    : parseFold(tokens, place, text);
  tokens.leave();
  return node;
}

function parseTry(tokens: Tokens, place: JqPlace): JqNode {
  const body = parsePostfix(tokens);
  return tokens.accept("catch")
    ? nodeAt(place, { kind: "try", body, handler: parsePostfix(tokens) })
    : nodeAt(place, { kind: "try", body });
}

function parseIf(tokens: Tokens, place: JqPlace): JqNode {
  const condition = tokens.grammar.pipe(tokens);
  tokens.expect("then");
  const then = tokens.grammar.pipe(tokens);
  const { place: next } = tokens.current;
  if (tokens.accept("elif")) {
    tokens.enter(next);
    const otherwise = parseIf(tokens, next);
    tokens.leave();
    return nodeAt(place, { kind: "if", condition, then, otherwise });
  }
  if (!tokens.accept("else")) {
    tokens.expect("end");
    return nodeAt(place, { kind: "if", condition, then });
  }
  const otherwise = tokens.grammar.pipe(tokens);
  tokens.expect("end");
  return nodeAt(place, { kind: "if", condition, then, otherwise });
}

function parseFold(tokens: Tokens, place: JqPlace, kind: "reduce" | "foreach"): JqNode {
  const source = tokens.grammar.expression(tokens, 0);
  const patterns = tokens.grammar.binding(tokens);
  tokens.expect("(");
  const start = tokens.grammar.pipe(tokens);
  tokens.expect(";");
  const update = tokens.grammar.pipe(tokens);
  const extract = kind === "foreach" && tokens.accept(";") ? tokens.grammar.pipe(tokens) : undefined;
  tokens.expect(")");
  if (kind === "reduce") return nodeAt(place, { kind, source, patterns, start, update });
  return nodeAt(place, { kind, source, patterns, start, update, ...(extract === undefined ? {} : { extract }) });
}

/** `[…]` behind a term. */
function parseBracket(tokens: Tokens, place: JqPlace, target: JqNode): JqNode {
  tokens.enter(tokens.expect("[").place);
  let node: JqNode;
  if (tokens.accept("]")) node = nodeAt(place, { kind: "iterate", target });
  else if (tokens.accept(":")) {
    node = nodeAt(place, { kind: "slice", target, to: tokens.grammar.pipe(tokens) });
    tokens.expect("]");
  } else {
    const key = tokens.grammar.pipe(tokens);
    if (!tokens.accept(":")) {
      node = nodeAt(place, { kind: "index", target, key });
      tokens.expect("]");
    } else if (tokens.accept("]")) node = nodeAt(place, { kind: "slice", target, from: key });
    else {
      node = nodeAt(place, { kind: "slice", target, from: key, to: tokens.grammar.pipe(tokens) });
      tokens.expect("]");
    }
  }
  tokens.leave();
  return node;
}

/** A text, a format, or a text with a format. */
export function parseText(tokens: Tokens): JqNode {
  const { place } = tokens.current;
  let format: string | undefined;
  if (tokens.current.kind === "format") {
    format = tokens.take().text;
    if (!tokens.atText()) return nodeAt(place, { kind: "format", name: format });
  }
  const parts: (string | JqNode)[] = [];
  for (;;) {
    const { text, open } = tokens.lexer.readText();
    if (text !== "" || (!open && parts.length === 0)) parts.push(text);
    if (!open) break;
    tokens.enter(place);
    tokens.resume();
    parts.push(tokens.grammar.pipe(tokens));
    // Not `expect`: behind the bracket comes text, which is no token.
    if (!tokens.at(")")) tokens.fail("expected )");
    tokens.leave();
  }
  tokens.resume();
  const [only] = parts;
  if (parts.length === 1 && typeof only === "string") return nodeAt(place, { kind: "literal", value: only });
  return nodeAt(place, { kind: "string", ...(format === undefined ? {} : { format }), parts });
}

function parseObject(tokens: Tokens, place: JqPlace): JqNode {
  const entries: ObjectEntry[] = [];
  while (!tokens.at("}")) {
    const { key, shorthand } = parseKey(tokens);
    let value = shorthand;
    if (value === undefined || tokens.at(":")) {
      tokens.expect(":");
      // No commas in a value, those part the entries.
      value = tokens.grammar.expression(tokens, 0);
      if (tokens.at("|")) {
        const stages = [value];
        while (tokens.accept("|")) stages.push(tokens.grammar.expression(tokens, 0));
        value = nodeAt(value.place, { kind: "pipe", stages });
      }
    }
    entries.push({ key, value });
    if (!tokens.accept(",")) break;
  }
  tokens.expect("}");
  return nodeAt(place, { kind: "object", entries });
}

/** A key, and what its value is when none is written. */
function parseKey(tokens: Tokens): { key: JqNode; shorthand?: JqNode } {
  const { kind, place, text } = tokens.current;
  if (kind === "variable") {
    tokens.take();
    const variable = nodeAt(place, text === "__loc__" ? { kind: "location" } : { kind: "variable", name: text });
    if (text !== "__loc__" && tokens.at(":")) return { key: variable };
    return { key: textAt(place, text), shorthand: variable };
  }
  if (kind === "name" || kind === "keyword" || kind === "quote" || kind === "format") {
    const isName = kind === "name" || kind === "keyword";
    if (isName) tokens.take();
    const key = isName ? textAt(place, text) : parseText(tokens);
    return { key, shorthand: nodeAt(place, { kind: "index", target: identityAt(place), key }) };
  }
  if (kind === "number") throw new JqSyntaxError(`a number cannot be an object's key: write "${text}"`, place);
  if (!tokens.at("(")) return tokens.fail("expected a key");
  tokens.enter(tokens.take().place);
  const key = tokens.grammar.pipe(tokens);
  tokens.expect(")");
  tokens.leave();
  return { key };
}
