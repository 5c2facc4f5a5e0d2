/** Markdown for a terminal (`--render`). */
import { lexer, type Token, type Tokens } from "../deps/marked.ts";
import type { Paint } from "../base/color.ts";

/** The Markdown text with terminal styles, without a line ending at its end. */
export function renderMarkdown(text: string, paint: Paint): string {
  return new Renderer(paint).blocks(lexer(text)).join("\n\n");
}

class Renderer {
  readonly #paint: Paint;

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  blocks(tokens: readonly Token[]): string[] {
    return tokens.map((token) => this.#block(token)).filter((block) => block !== "");
  }

  #block(token: Token): string {
    const { bold, dim, cyan, underline } = this.#paint;
    switch (token.type) {
      case "space":
      case "def":
        return "";
      case "heading":
        return bold(token["depth"] === 1 ? underline(this.#inline(token)) : this.#inline(token));
      case "code":
        return indent(cyan(token["text"]), "  ");
      case "blockquote":
        return indent(this.blocks(token.tokens ?? []).join("\n\n"), dim("│ "));
      case "list":
        return this.#list(token as Tokens.List);
      case "hr":
        return dim("─".repeat(40));
      case "table":
        return this.#table(token as Tokens.Table);
      case "html":
        return token.raw.trimEnd();
      default:
        return this.#inline(token);
    }
  }

  #list({ items, ordered, start, loose }: Tokens.List): string {
    const first = typeof start === "number" ? start : 1;
    const lines = items.map((item, index) => {
      const mark = ordered ? `${first + index}. ` : "• ";
      const box = item.task ? (item.checked ? "☑ " : "☐ ") : "";
      const content = item.tokens.filter(({ type }) => type !== "checkbox");
      const body = this.blocks(content).join(loose ? "\n\n" : "\n");
      return `${mark}${box}${indent(body, " ".repeat(mark.length)).trimStart()}`;
    });
    return lines.join(loose ? "\n\n" : "\n");
  }

  #table({ header, rows }: Tokens.Table): string {
    const all = [header, ...rows].map((row) => row.map((cell) => this.#inlines(cell.tokens)));
    const widths = header.map((_, column) => Math.max(...all.map((row) => width(row[column] ?? ""))));
    const line = (row: readonly string[]) =>
      row.map((cell, column) => cell + " ".repeat(widths[column]! - width(cell))).join("  ").trimEnd();
    const [head = [], ...body] = all;
    const rule = this.#paint.dim(widths.map((count) => "─".repeat(count)).join("  "));
    return [this.#paint.bold(line(head)), rule, ...body.map(line)].join("\n");
  }

  #inline(token: Token): string {
    return "tokens" in token && token.tokens !== undefined ? this.#inlines(token.tokens) : plain(token);
  }

  #inlines(tokens: readonly Token[]): string {
    return tokens.map((token) => this.#span(token)).join("");
  }

  #span(token: Token): string {
    const { bold, italic, cyan, dim, underline } = this.#paint;
    switch (token.type) {
      case "strong":
        return bold(this.#inline(token));
      case "em":
        return italic(this.#inline(token));
      case "del":
        return dim(this.#inline(token));
      case "codespan":
        return cyan(plain(token));
      case "br":
        return "\n";
      case "link":
      case "image": {
        const text = this.#inline(token);
        const target = String(token["href"]);
        return text === target || text === "" ? underline(target) : `${underline(text)} ${dim(`(${target})`)}`;
      }
      default:
        return this.#inline(token);
    }
  }
}

function plain(token: Token): string {
  const text: unknown = (token as { text?: unknown }).text;
  return typeof text === "string" ? text : token.raw;
}

/** Columns that a styled text takes, roughly: what counts is that a table's columns stand in line. */
function width(text: string): number {
  // deno-lint-ignore no-control-regex
  return [...text.replace(/\x1b\[\d+m/g, "")].length;
}

function indent(text: string, by: string): string {
  return text.split("\n").map((line) => `${by}${line}`).join("\n");
}
