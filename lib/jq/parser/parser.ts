/** Source to tree. */
import type { JqDefinition, JqNode } from "../ast.ts";
import { JqCompileError, JqLimitError } from "../errors.ts";
import type { JqLimits } from "../limits.ts";
import { GRAMMAR, parseDefinition, parsePipe } from "./_expressions.ts";
import { Tokens } from "./_tokens.ts";

/**
 * Parses an expression. One with definitions alone is `.` behind them.
 *
 * @throws JqSyntaxError where the source is no expression, JqLimitError when it is too long or too deeply nested
 */
export function parse(source: string, limits: Pick<JqLimits, "sourceBytes" | "sourceDepth">): JqNode {
  const { sourceBytes, sourceDepth } = limits;
  if (source.length > sourceBytes || new TextEncoder().encode(source).length > sourceBytes) {
    throw new JqLimitError("sourceBytes", `the expression is longer than ${sourceBytes} bytes`);
  }
  try {
    return parseProgram(new Tokens(source, sourceDepth, GRAMMAR));
  } catch (error) {
    // Deeper than the stack that the caller left, where the limit allows more.
    if (error instanceof RangeError) throw new JqLimitError("sourceDepth", "the expression is nested too deeply");
    throw error;
  }
}

function parseProgram(tokens: Tokens): JqNode {
  for (const word of ["module", "import", "include"]) {
    if (tokens.at(word)) throw new JqCompileError(`modules are not available: \`${word}\``, tokens.current.place);
  }
  const definitions: JqDefinition[] = [];
  while (tokens.at("def")) definitions.push(parseDefinition(tokens));
  const { place } = tokens.current;
  let body: JqNode = tokens.current.kind === "end" ? { kind: "identity", place } : parsePipe(tokens);
  if (tokens.current.kind !== "end") tokens.fail("expected the end of the expression");
  for (const definition of definitions.toReversed()) {
    body = { kind: "define", definition, body, place: definition.place };
  }
  return body;
}

/** Parses definitions, such as those of the prelude. */
export function parseDefinitions(source: string): JqDefinition[] {
  const tokens = new Tokens(source, 1024, GRAMMAR);
  const definitions: JqDefinition[] = [];
  while (tokens.at("def")) definitions.push(parseDefinition(tokens));
  if (tokens.current.kind !== "end") tokens.fail("expected def");
  return definitions;
}
