/** The `.env` format. Messages name lines, never what stands on them: it may be secret. */
import type { Diagnostic } from "../base/diagnostic.ts";
import { DiagnosticError } from "../base/errors.ts";

/** A variable of a `.env` file. */
export interface DotenvEntry {
  readonly name: string;
  readonly value: string;
  /** The line on which it starts, from 1. */
  readonly line: number;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "\\": "\\", '"': '"' };

/**
 * Reads a `.env` text; `file` is the name shown in diagnostics. The entries are in file order, also those whose name
 * comes twice: the first one counts where only unset variables are set.
 *
 * Throws {@link DiagnosticError} with all faults (`dotenv-syntax`, `dotenv-name`, `dotenv-escape`, `dotenv-quote`).
 *
 * @example
 * ```ts
 * import { readDotenv } from "./dotenv.ts";
 * const [entry] = readDotenv('export MODEL="small" # for now\n');
 * console.assert(entry?.name === "MODEL" && entry.value === "small");
 * ```
 */
export function readDotenv(text: string, file = ".env"): DotenvEntry[] {
  const reader = new Reader(text, file);
  const entries = reader.read();
  if (reader.faults.length > 0) throw new DiagnosticError(reader.faults);
  return entries;
}

class Reader {
  readonly faults: Diagnostic[] = [];
  readonly #lines: string[];
  readonly #file: string;
  /** The line being read, from 0. */
  #at = 0;

  constructor(text: string, file: string) {
    const source = text.startsWith("\ufeff") ? text.slice(1) : text;
    this.#lines = source.split("\n").map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
    this.#file = file;
  }

  read(): DotenvEntry[] {
    const entries: DotenvEntry[] = [];
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#at + 1;
      const written = (this.#lines[this.#at] ?? "").trimStart();
      if (written === "" || written.startsWith("#")) continue;
      const statement = written.replace(/^export[ \t]+/, "");
      const equals = statement.indexOf("=");
      if (equals === -1) {
        this.#fault("dotenv-syntax", line, "a line must be `NAME=value`");
        continue;
      }
      const name = statement.slice(0, equals).trimEnd();
      // Read in any case: a quoted value may go on over the next lines.
      const value = this.#value(statement.slice(equals + 1).trimStart(), line, statement.charAt(equals + 1));
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
        const rule = "letters, digits and `_` only, and does not start with a digit";
        this.#fault("dotenv-name", line, `the name before \`=\` is invalid: a name has ${rule}`);
      } else if (value?.includes("\0")) {
        this.#fault("dotenv-syntax", line, "a value may not hold a NUL character");
      } else if (value !== undefined) {
        entries.push({ name, value, line });
      }
    }
    return entries;
  }

  /** The value that starts with `rest`; `before` is the character behind `=`. Undefined, with a fault, when malformed. */
  #value(rest: string, line: number, before: string): string | undefined {
    const quote = rest.charAt(0);
    if (quote === "'" || quote === '"') return this.#quoted(rest.slice(1), quote, line);
    const spaced = before === " " || before === "\t" ? ` ${rest}` : rest;
    const comment = spaced.search(/[ \t]#/);
    return (comment === -1 ? spaced : spaced.slice(0, comment)).trim();
  }

  /** A quoted value; `rest` is what follows the opening quote. Moves on to the line on which it ends. */
  #quoted(rest: string, quote: string, start: number): string | undefined {
    let value = "";
    let valid = true;
    for (let text = rest;; value += "\n", text = this.#lines[this.#at] ?? "") {
      for (let index = 0; index < text.length; index++) {
        const character = text.charAt(index);
        if (character === quote) return this.#end(text.slice(index + 1)) && valid ? value : undefined;
        if (character !== "\\" || quote === "'") {
          value += character;
          continue;
        }
        const escape = ESCAPES[text.charAt(++index)];
        if (escape === undefined) {
          valid = false;
          const message = 'invalid escape in a double-quoted value: `\\n`, `\\r`, `\\t`, `\\\\` and `\\"` are known';
          this.#fault("dotenv-escape", this.#at + 1, message);
        }
        value += escape ?? "";
      }
      this.#at++;
      if (this.#at >= this.#lines.length) {
        this.#fault("dotenv-quote", start, `the value that starts here has no closing \`${quote}\``);
        return undefined;
      }
    }
  }

  /** Checks that only a comment follows a closing quote. */
  #end(rest: string): boolean {
    if (/^\s*(#.*)?$/.test(rest)) return true;
    this.#fault("dotenv-quote", this.#at + 1, "only a comment may follow the closing quote");
    return false;
  }

  #fault(id: string, line: number, message: string): void {
    this.faults.push({ id, severity: "error", place: { file: this.#file, line, column: 1 }, message });
  }
}
