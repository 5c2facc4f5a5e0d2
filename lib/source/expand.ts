/** `${NAME}` in values of a configuration: replaced when the value is used, never when the file is read. */
import { LaitError } from "../base/errors.ts";
import { mayReadVariable } from "../base/rights.ts";
import { shorten } from "../base/text.ts";

/** A placeholder that cannot be replaced. The message quotes the placeholder alone: what stands beside it may be secret. */
export class ExpansionError extends LaitError {
  /** The variable that is not set; undefined when the placeholder itself is wrong. */
  readonly variable: string | undefined;

  /** Creates the error. */
  constructor(message: string, variable?: string) {
    super("configuration", message, variable === undefined ? {} : { details: { variable } });
    this.variable = variable;
  }
}

/** A placeholder's name and where it ends, or what is wrong with it. */
type Placeholder = { readonly name: string; readonly end: number } | { readonly fault: string };

/**
 * The text with every `${NAME}` replaced by the variable of that name, as `lookup` knows it. A name is made of ASCII
 * letters, digits and `_`. A `$` without `{` is a plain `$`; nothing can be escaped; values are not expanded again.
 *
 * Throws {@link ExpansionError} for a variable that is not set, for an empty or invalid name, and for a missing `}`.
 *
 * @example
 * ```ts
 * import { expandVariables } from "./expand.ts";
 * console.assert(expandVariables("http://${HOST}/v1", () => "localhost") === "http://localhost/v1");
 * ```
 */
export function expandVariables(text: string, lookup: (name: string) => string | undefined): string {
  let result = "";
  let from = 0;
  for (let at = text.indexOf("${"); at !== -1; at = text.indexOf("${", from)) {
    const placeholder = placeholderAt(text, at);
    if ("fault" in placeholder) throw new ExpansionError(placeholder.fault);
    const value = lookup(placeholder.name);
    if (value === undefined) {
      const { name } = placeholder;
      const why = mayReadVariable(name) ? "is not set" : `may not be read; run lait with --allow-env=${name}`;
      throw new ExpansionError(`environment variable \`${name}\` ${why}`, name);
    }
    result += text.slice(from, at) + value;
    from = placeholder.end;
  }
  return result + text.slice(from);
}

/** The names in a text's placeholders, each once, in order. Malformed placeholders are passed over. */
export function variableNames(text: string): string[] {
  const names = new Set<string>();
  for (const match of text.matchAll(/\$\{([A-Za-z0-9_]+)\}/g)) names.add(match[1]!);
  return [...names];
}

function placeholderAt(text: string, at: number): Placeholder {
  const close = text.indexOf("}", at);
  const name = /^[A-Za-z0-9_]*/.exec(text.slice(at + 2))?.[0] ?? "";
  // Of a malformed one only the part that looks like a name is quoted: the rest may be the value beside it.
  if (close === -1) return { fault: `placeholder \`\${${shorten(name, 60)}\` has no closing \`}\`` };
  if (close === at + 2) return { fault: "placeholder `${}` names no environment variable" };
  if (at + 2 + name.length < close) {
    return {
      fault: `placeholder \`\${${shorten(name, 60)}…}\` is invalid: a name has letters, digits and \`_\` only`,
    };
  }
  return { name, end: close + 1 };
}
