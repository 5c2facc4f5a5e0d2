/** The border to Handlebars' grammar: parsing with faults that have a place. */
import { shorten } from "../../base/text.ts";
import { parse as processTree } from "../../deps/handlebars.ts";
import { parseRaw, SyntaxFault } from "./_grammar.ts";
import type { RawProgram } from "./_raw_tree.ts";

/** Parses a template, with whitespace control applied. Throws {@link SyntaxFault} for what is no template. */
export function parseSyntax(source: string): RawProgram {
  try {
    // Given a tree, the package's own `parse` does the whitespace control only.
    return processTree(parseRaw(source)) as RawProgram;
  } catch (error) {
    throw toFault(error);
  }
}

/** Anything that the package throws, as a fault. */
function toFault(error: unknown): SyntaxFault {
  if (error instanceof SyntaxFault) return error;
  if (error instanceof RangeError) return new SyntaxFault("the template is too large", { line: 1, column: 1 });
  const { message, lineNumber, column } = error as { message?: string; lineNumber?: number; column?: number };
  const at = { line: lineNumber ?? 1, column: (column ?? 0) + 1 };
  const first = (message ?? String(error)).split("\n", 1)[0]?.replace(/ - \d+:\d+$/, "") ?? "";
  const mismatch = /^(.*) doesn't match (.*)$/.exec(first);
  if (mismatch === null) return new SyntaxFault(first.charAt(0).toLowerCase() + first.slice(1), at);
  const [, opened = "", closed = ""] = mismatch;
  return new SyntaxFault(`block \`${shorten(opened, 60)}\` is closed by \`{{/${shorten(closed, 60)}}}\``, at);
}
