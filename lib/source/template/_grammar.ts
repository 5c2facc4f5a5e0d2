/**
 * Handlebars' generated lexer and parser, driven so that faults have a place and a meaning.
 *
 * The grammar is used as it is, with one change in its lexer: behind a dot, `0`, `true` and `null` are keys, so that
 * `{{ items.0 }}` works like `{{ items.[0] }}` (the package's grammar takes them for literals and refuses the path).
 */
import { LIMITS } from "../../base/limits.ts";
import { shorten } from "../../base/text.ts";
import { parse as processTree, parser as packageParser } from "../../deps/handlebars.ts";
import type { Position } from "../text_place.ts";
import type { RawProgram } from "./_raw_tree.ts";

/** A template that is none, with the best place that is known. */
export class SyntaxFault extends Error {
  /** Creates the fault; `at` counts lines and columns from 1. */
  constructor(message: string, readonly at: Position, readonly hint?: string) {
    super(message);
  }
}

interface LexerLocation {
  readonly first_line: number;
  readonly first_column: number;
}

/** What is used of the package's generated lexer. */
interface Lexer {
  readonly rules: readonly RegExp[];
  readonly yylloc: LexerLocation;
  readonly yytext: string;
  /** The text that is not read yet. */
  readonly _input: string;
  lex(): number | string;
  readonly conditions: { readonly mu: { readonly rules: readonly number[] } };
  _currentRules(): readonly number[];
}

/** What is used of the package's generated parser. */
interface Parser {
  readonly lexer: Lexer;
  /** The names of the tokens. */
  readonly terminals_: Readonly<Record<number | string, string>>;
  parse(source: string): RawProgram;
  parseError(message: string, facts: { readonly token: string | null; readonly expected?: readonly string[] }): never;
}

/** The package's parser, and the rules of its lexer inside `{{ }}`: all of them, and those behind a dot. */
interface Grammar {
  readonly parser: Parser;
  readonly rules: readonly number[];
  readonly rulesBehindDot: readonly number[];
}

/** The lexer's rules for numbers, `true`, `false`, `undefined` and `null`. */
const LITERAL_RULES = /^\/\^\(\?:(true|false|undefined|null|-\?\[0-9\])/;

const grammar: Grammar = loadGrammar();

function loadGrammar(): Grammar {
  processTree(""); // fills in what the package's parser shares with its tree builders
  const parser = packageParser as Parser;
  const { rules } = parser.lexer.conditions.mu;
  const rulesBehindDot = rules.filter((rule) => !LITERAL_RULES.test(String(parser.lexer.rules[rule])));
  return { parser, rules, rulesBehindDot };
}

/** Parses a template to the package's tree, before whitespace control. Throws {@link SyntaxFault}, or what the package throws. */
export function parseRaw(source: string): RawProgram {
  const watch = new Watch(grammar);
  const parser = Object.create(grammar.parser) as { -readonly [K in keyof Parser]: Parser[K] };
  parser.lexer = watch.lexer;
  parser.parseError = (_message, facts) => {
    throw watch.fault(facts.token, facts.expected ?? [], source);
  };
  return parser.parse(source);
}

/** Watches the lexer, to know which block and which mustache are open when the parser fails. */
class Watch {
  /** The package's lexer, watched. */
  readonly lexer: Lexer;
  readonly #blocks: { name: string; at: Position; depth: number }[] = [];
  #mustache: Position | undefined;
  #depth = 0;
  #last = "";
  #lastAt: LexerLocation | undefined;

  constructor(grammar: Grammar) {
    const base = grammar.parser.lexer;
    const lexer = Object.create(base) as { -readonly [K in keyof Lexer]: Lexer[K] };
    lexer._currentRules = () => {
      const rules = base._currentRules.call(lexer);
      return this.#last === "SEP" && rules === grammar.rules ? grammar.rulesBehindDot : rules;
    };
    lexer.lex = () => {
      const symbol = base.lex.call(lexer);
      // The package's lexer calls itself behind skipped text; the token is then seen a second time.
      if (lexer.yylloc !== this.#lastAt) this.#see(grammar.parser.terminals_[symbol] ?? String(symbol));
      return symbol;
    };
    this.lexer = lexer;
  }

  #see(token: string): void {
    const at = positionOf(this.lexer.yylloc);
    const block = this.#blocks.at(-1);
    if (block !== undefined && OPENERS.includes(this.#last)) block.name = this.lexer.yytext;
    if (token === "CLOSE" || token === "CLOSE_UNESCAPED" || token === "CLOSE_RAW_BLOCK") this.#mustache = undefined;
    else if (token === "OPEN_SEXPR") this.#deepen(at);
    else if (token === "CLOSE_SEXPR") this.#depth--;
    else if (token === "OPEN_ENDBLOCK" || token === "END_RAW_BLOCK") this.#depth = this.#blocks.pop()?.depth ?? 0;
    else if (token === "OPEN_INVERSE_CHAIN") this.#deepen(at); // `{{else if}}` is a block inside the branch before it
    else if (OPENERS.includes(token)) {
      this.#blocks.push({ name: "", at, depth: this.#depth });
      this.#deepen(at);
    }
    if (token.startsWith("OPEN") && token !== "OPEN_SEXPR" && token !== "OPEN_BLOCK_PARAMS") this.#mustache = at;
    this.#last = token;
    this.#lastAt = this.lexer.yylloc;
  }

  /** Stops early: the package's parser copies its stack at every step, so its time grows with the square of the depth. */
  #deepen(at: Position): void {
    this.#depth++;
    if (this.#depth > LIMITS.templateDepth) {
      throw new SyntaxFault(`blocks and calls are nested more than ${LIMITS.templateDepth} levels deep`, at);
    }
  }

  /** The fault for a token that the grammar does not want where it stands; `null` is text that is no token. */
  fault(token: string | null, expected: readonly string[], source: string): SyntaxFault {
    const at = positionOf(this.lexer.yylloc);
    const open = this.#mustache;
    const block = this.#blocks.at(-1);
    const text = this.lexer.yytext.split("\n", 1)[0] ?? "";
    if (token === null) {
      const rest = this.lexer._input;
      if (rest.startsWith("{{!")) return new SyntaxFault("comment is not closed", at, "`--}}` is missing");
      if (rest.startsWith("\0")) return new SyntaxFault("a template may not hold a NUL character", at);
    }
    if ((token === "EOF" || token === null) && open === undefined && block !== undefined) {
      return new SyntaxFault(`block \`${block.name}\` is not closed`, block.at, `\`{{/${block.name}}}\` is missing`);
    }
    if (open !== undefined && !closesLater(source, open)) {
      return new SyntaxFault("`{{` is not closed", open, "`}}` is missing");
    }
    if (token === "INVERSE" || token === "OPEN_INVERSE_CHAIN") {
      return new SyntaxFault("`{{else}}` stands outside a block, or behind another one", at);
    }
    if (token === "OPEN_ENDBLOCK") return new SyntaxFault("a block is closed that was not opened", at);
    if (token === "EOF" || text === "") return new SyntaxFault("the template ends too early", at);
    if (text === '"' || text === "'") return new SyntaxFault("a text in quotes is not closed", at);
    if (token === "CLOSE" && expected.includes("'CLOSE_UNESCAPED'")) {
      return new SyntaxFault("`{{{` is closed by `}}`", at, "write `}}}`");
    }
    if (token === "CLOSE_UNESCAPED" && expected.includes("'CLOSE'")) {
      return new SyntaxFault("`{{` is closed by `}}}`", at, "write `}}`");
    }
    if (token === "OPEN_SEXPR" && !expected.includes("'OPEN_SEXPR'")) {
      return new SyntaxFault(
        "`(` cannot stand here",
        at,
        "a helper that is printed has no parentheses: `{{ eq a b }}`",
      );
    }
    const message = `unexpected \`${shorten(text, 40)}\`${
      expected.includes("'ID'") ? ": a name is expected here" : ""
    }`;
    return new SyntaxFault(message, at, token === "INVALID" ? "to print `{{` itself, write `\\{{`" : undefined);
  }
}

/** The tokens that open a block. */
const OPENERS: readonly string[] = ["OPEN_BLOCK", "OPEN_INVERSE", "OPEN_RAW_BLOCK", "OPEN_PARTIAL_BLOCK"];

/** Whether `}}` follows a position. */
function closesLater(source: string, from: Position): boolean {
  const lines = source.split(/\r\n?|\n/);
  return lines.slice(from.line - 1).some((line, index) => line.includes("}}", index === 0 ? from.column - 1 : 0));
}

function positionOf(location: LexerLocation): Position {
  return { line: location.first_line, column: location.first_column + 1 };
}
