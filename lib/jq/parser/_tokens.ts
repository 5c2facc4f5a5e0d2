/** The parser's view of the tokens: one token ahead, and what it says when another was expected. */
import type { JqNode, JqPattern } from "../ast.ts";
import { JqLimitError, type JqPlace, JqSyntaxError } from "../errors.ts";
import { Lexer, type Token } from "./_lexer.ts";

/** What terms need of the expressions around them. */
export interface Grammar {
  /** Everything: definitions, bindings, pipes and commas. */
  pipe(tokens: Tokens): JqNode;
  /** Operators of at least this level. */
  expression(tokens: Tokens, least: number): JqNode;
  /** `as` and the patterns behind it. */
  binding(tokens: Tokens): JqPattern[];
}

/** Tokens of one source, with a limit on how deep they nest. */
export class Tokens {
  readonly lexer: Lexer;
  readonly grammar: Grammar;
  readonly #maxDepth: number;
  #current: Token;
  #depth = 0;

  /** Reads the first token. */
  constructor(source: string, maxDepth: number, grammar: Grammar) {
    this.grammar = grammar;
    this.lexer = new Lexer(source);
    this.#maxDepth = maxDepth;
    this.#current = this.lexer.next();
  }

  /** The token that comes next. */
  get current(): Token {
    return this.#current;
  }

  /** Takes the token that comes next. */
  take(): Token {
    const token = this.#current;
    this.#current = this.lexer.next();
    return token;
  }

  /** Reads the next token anew: after a text, which the lexer reads itself. */
  resume(): void {
    this.#current = this.lexer.next();
  }

  /** Whether this operator or keyword comes next. */
  at(text: string): boolean {
    const { kind, text: found } = this.#current;
    return found === text && (kind === "operator" || kind === "keyword");
  }

  /** Whether a text comes next. */
  atText(): boolean {
    return this.#current.kind === "quote";
  }

  /** Takes this operator or keyword, if it comes next. */
  accept(text: string): boolean {
    if (!this.at(text)) return false;
    this.take();
    return true;
  }

  /** Takes this operator or keyword, which must come next. */
  expect(text: string): Token {
    if (!this.at(text)) this.fail(`expected ${text}`);
    return this.take();
  }

  /** Takes a token of this kind, which must come next. */
  expectKind(kind: Token["kind"], what: string): Token {
    if (this.#current.kind !== kind) this.fail(`expected ${what}`);
    return this.take();
  }

  /** Refuses the token that comes next. */
  fail(expected: string): never {
    throw new JqSyntaxError(`unexpected ${describe(this.#current)}: ${expected}`, this.#current.place);
  }

  /** Goes a level down; `leave` comes back up. */
  enter(place: JqPlace): void {
    if (++this.#depth > this.#maxDepth) {
      throw new JqLimitError(
        "sourceDepth",
        `the expression is nested deeper than ${this.#maxDepth} (line ${place.line}, column ${place.column})`,
      );
    }
  }

  /** Comes a level up. */
  leave(): void {
    this.#depth--;
  }
}

function describe({ kind, text }: Token): string {
  if (kind === "end") return "end of the expression";
  if (kind === "quote") return "text";
  const mark = kind === "variable" ? "$" : kind === "field" ? "." : kind === "format" ? "@" : "";
  return `\`${mark}${text}\``;
}
