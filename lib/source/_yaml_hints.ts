/** What to say about a YAML file that cannot be read: the package's messages in lait's words, and what to do. */

/** A message and a hint. */
export interface Advice {
  readonly message: string;
  readonly hint?: string;
}

/** How every hint of {@link templateHint} starts. */
export const TEMPLATE_HINT = "quote the template";

/**
 * The hint for a line on which a template starts without quotes, the commonest mistake of all: `prompt: {{ input }}`
 * is a map in a map to YAML. Undefined when the line holds no such thing.
 */
export function templateHint(line: string): string | undefined {
  if (line.length > 1_000) return undefined; // no line that a person wrote; a file may hold a fault for each character
  const block = /^\s*(?:- +)*(?:([^\s:'"{}[\],#][^:'"{}]*):\s+)?(\{\{.*?)\s*$/.exec(line);
  if (block === null) return /^[^'"]*[[,{:]\s*\{\{/.test(line) ? genericHint : undefined;
  const key = block[1] ?? "";
  const template = block[2] ?? "";
  if (/^\{\{\s*(\/|else\b)/.test(template)) return undefined; // the middle of a template that starts further up
  if (template.startsWith("{{#")) return `${TEMPLATE_HINT}, or write it as a block text below \`${key || "key"}: |\``;
  const quote = template.includes('"') ? "'" : '"';
  if (template.length > 60 || template.includes(quote)) return genericHint;
  return `${TEMPLATE_HINT}: \`${key === "" ? "" : `${key}: `}${quote}${template}${quote}\``;
}

const genericHint = `${TEMPLATE_HINT}, as in \`prompt: "{{ input }}"\``;

const HINTS: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "indent with spaces",
  BAD_SCALAR_START: "quote the value",
  BAD_DQ_ESCAPE: "write `\\\\` for a backslash, or use single quotes",
  MULTILINE_IMPLICIT_KEY: "a key is followed by `: `, with a space",
};

/** The package's fault, given by its code and message, in one line of lait's words. */
export function syntaxAdvice(code: string, libraryMessage: string): Advice {
  let message = (libraryMessage.split("\n", 1)[0] ?? "").trim();
  message = message.replace(/closing (['"])quote/, "closing `$1`").replace(/ in YAML stream:.*$/, "");
  if (!/^[A-Z]{2}/.test(message)) message = message.charAt(0).toLowerCase() + message.slice(1);
  if (message === "") message = "cannot be read as YAML";
  if (message.startsWith("nested mappings")) {
    return { message: "a map cannot start on the line of another key", hint: "quote a value that contains `: `" };
  }
  if (message.endsWith(" at node end")) return { message, hint: "quote the whole value" };
  const hint = HINTS[code];
  return hint === undefined ? { message } : { message, hint };
}
