/**
 * Templates: a strict subset of Handlebars. The package's grammar is used, its run time is not: that one prints objects
 * as `[object Object]`, takes missing values for empty texts, and reaches prototypes.
 *
 * - `{{ path }}` prints a string as it is and anything else as compact JSON. Nothing is escaped for HTML, so
 *   `{{{ path }}}` and `{{& path }}` print the same.
 * - Blocks: `if`, `unless`, `each`, `with`, with `else` and `{{else if …}}`; helpers: see `./helpers.ts`.
 * - Names are own properties of the data. A name that is not there is an error, but counts as false as the bare
 *   argument of `#if` and `#unless`.
 * - Text in the data is never read as a template.
 */
import type { Diagnostic } from "../../base/diagnostic.ts";
import { DiagnosticError } from "../../base/errors.ts";
import type { TextPlace } from "../text_place.ts";
import { buildTemplate, type TemplateFault } from "./_build.ts";
import { siteOf } from "./error.ts";
import { referencesOf, type TemplateReference } from "./_references.ts";
import { renderNodes } from "./_render.ts";
import { SyntaxFault } from "./_grammar.ts";
import { parseSyntax } from "./_syntax.ts";
import type { TemplateNode } from "./tree.ts";

export { TemplateError } from "./error.ts";
export type { TemplateReference } from "./_references.ts";

/** How a template is to behave. */
export interface TemplateOptions {
  /** What a bare path does with an object or array: print it as JSON (the default), or fail and say how to print it. */
  readonly objects?: "json" | "error";
}

/** A template that was checked; made by {@link parseTemplate}. */
export class Template {
  /** The template's text. */
  readonly source: string;
  readonly #nodes: readonly TemplateNode[];
  readonly #origin: TextPlace | undefined;
  readonly #objects: "json" | "error";

  /** Use {@link parseTemplate}. */
  constructor(source: string, nodes: readonly TemplateNode[], origin: TextPlace | undefined, options: TemplateOptions) {
    this.source = source;
    this.#nodes = nodes;
    this.#origin = origin;
    this.#objects = options.objects ?? "json";
    Object.freeze(this);
  }

  /**
   * The template's text for the given data, plain JSON values. Throws {@link TemplateError} for a name that is not
   * defined and for a value that a block or helper cannot work with.
   */
  render(data: Readonly<Record<string, unknown>>): string {
    return renderNodes(this.#nodes, data, {
      objects: this.#objects,
      site: (position) => siteOf(this.source, this.#origin, position),
    });
  }

  /**
   * The paths that the template refers to from the top of the data, in the order in which they stand. Names that are
   * relative to the item of a loop are left out, those inside `{{#with}}` are resolved.
   */
  references(): readonly TemplateReference[] {
    return referencesOf(this.#nodes);
  }
}

/**
 * Reads a template. `origin` is where its text starts in a file: faults then name the file, and their line and column
 * there when `origin.content` says how the text lies in the file, or when the template is a single line. Otherwise they
 * have the place of the origin, and the message adds the line and column in the template.
 *
 * Throws {@link DiagnosticError} with all faults that the tree shows, or with the one that keeps it from being read:
 * `template-syntax`, `template-helper` (unknown helpers and blocks, wrong arguments), `template-path`,
 * `template-partial`, `template-decorator`, `template-raw-block`.
 *
 * @example
 * ```ts
 * import { parseTemplate } from "./template.ts";
 * const template = parseTemplate("Hello {{ input.name }}!");
 * console.assert(template.render({ input: { name: "you" } }) === "Hello you!");
 * ```
 */
export function parseTemplate(source: string, origin?: TextPlace, options: TemplateOptions = {}): Template {
  // Also what starts a comment or is escaped holds these; without them there is nothing to parse.
  if (!source.includes("{{")) return new Template(source, [{ kind: "text", text: source }], origin, options);
  const { nodes, faults } = build(source);
  if (faults.length > 0) throw new DiagnosticError(faults.map((fault) => toDiagnostic(fault, source, origin)));
  return new Template(source, nodes, origin, options);
}

function build(source: string): { nodes: readonly TemplateNode[]; faults: readonly TemplateFault[] } {
  try {
    return buildTemplate(parseSyntax(source));
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    const { message, at, hint } = error;
    return { nodes: [], faults: [{ id: "template-syntax", at, message, ...(hint === undefined ? {} : { hint }) }] };
  }
}

function toDiagnostic(fault: TemplateFault, source: string, origin: TextPlace | undefined): Diagnostic {
  const { id, hint } = fault;
  const site = siteOf(source, origin, fault.at);
  const message = site.place === undefined || site.remark === "" ? fault.message : `${fault.message} (${site.remark})`;
  const place = site.place ?? { file: "template", ...fault.at };
  return { id, severity: "error", place, message, ...(hint === undefined ? {} : { hint }) };
}
