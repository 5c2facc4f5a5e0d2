/** Text to tokens, one at a time: what stands in a text literal is asked for by the parser. */
import { type JqPlace, JqSyntaxError } from "../errors.ts";

/** What a token is. */
export type TokenKind =
  | "end"
  | "number"
  | "name"
  | "keyword"
  | "field"
  | "variable"
  | "format"
  | "quote"
  | "operator";

/** A token; `text` is without the mark that its kind stands for (`.`, `$`, `@`). */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
  readonly place: JqPlace;
}

const KEYWORDS = new Set(
  ("def module import include if then else elif end as reduce foreach try catch label and or __loc__").split(" "),
);

const SPACE = /(?:[ \t\r\n\f]+|#(?:[^\n\\\r]|\\[^])*)+/y;
const TOKEN =
  /(?<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|(?<field>\.[A-Za-z_]\w*)|(?<variable>\$(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*)|(?<format>@\w+)|(?<name>(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*)|(?<quote>")|(?<operator>\?\/\/=?|\/\/=|\|=|\+=|-=|\*=|\/=|%=|==|!=|<=|>=|\/\/|\.\.|[.[\](){}|,:;=<>+\-*/%?$])/y;

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** Reads one source. */
export class Lexer {
  readonly source: string;
  #at = 0;
  #lines: number[] = [0];

  /** Starts at the beginning. */
  constructor(source: string) {
    this.source = source;
    for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) this.#lines.push(at + 1);
  }

  /** Line and column of an offset. */
  placeOf(offset: number): JqPlace {
    let low = 0;
    let high = this.#lines.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#lines[middle]! <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - this.#lines[low]! + 1 };
  }

  /** The next token. */
  next(): Token {
    SPACE.lastIndex = this.#at;
    if (SPACE.test(this.source)) this.#at = SPACE.lastIndex;
    const start = this.#at;
    const place = this.placeOf(start);
    if (start >= this.source.length) return { kind: "end", text: "", start, place };
    TOKEN.lastIndex = start;
    const groups = TOKEN.exec(this.source)?.groups;
    if (groups === undefined) {
      const character = String.fromCodePoint(this.source.codePointAt(start)!);
      throw new JqSyntaxError(`unexpected character ${JSON.stringify(character)}`, place);
    }
    this.#at = TOKEN.lastIndex;
    for (const kind of ["operator", "name", "field", "variable", "number", "quote", "format"] as const) {
      const text = groups[kind];
      if (text === undefined) continue;
      if (kind === "name") return { kind: KEYWORDS.has(text) ? "keyword" : "name", text, start, place };
      const bare = kind === "field" || kind === "variable" || kind === "format" ? text.slice(1) : text;
      return { kind, text: bare, start, place };
    }
    throw new Error("a token of no kind");
  }

  /**
   * Reads a text literal's plain part from where the last token ended, up to the closing quote (`open` false) or to an
   * expression's `\(` (`open` true).
   */
  readText(): { text: string; open: boolean } {
    let text = "";
    for (;;) {
      const from = this.#at;
      while (this.#at < this.source.length && this.source[this.#at] !== '"' && this.source[this.#at] !== "\\") {
        this.#at++;
      }
      text += this.source.slice(from, this.#at);
      if (this.#at >= this.source.length) {
        throw new JqSyntaxError('unexpected end: a text has no closing "', this.placeOf(this.#at));
      }
      if (this.source[this.#at] === '"') {
        this.#at++;
        return { text, open: false };
      }
      if (this.source[this.#at + 1] === "(") {
        this.#at += 2;
        return { text, open: true };
      }
      text += this.#escape();
    }
  }

  #escape(): string {
    const start = this.#at;
    const letter = this.source[start + 1] ?? "";
    const plain = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
    if (plain !== undefined) {
      this.#at += 2;
      return plain;
    }
    const hex = /^u([0-9a-fA-F]{4})/.exec(this.source.slice(start + 1, start + 6))?.[1];
    if (hex === undefined) throw new JqSyntaxError(`invalid escape \\${letter}`, this.placeOf(start));
    this.#at += 6;
    const unit = parseInt(hex, 16);
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit);
    const second = /^\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(this.source.slice(this.#at, this.#at + 6))?.[1];
    if (unit > 0xdbff || second === undefined) return "\ufffd";
    this.#at += 6;
    return String.fromCharCode(unit, parseInt(second, 16));
  }
}
