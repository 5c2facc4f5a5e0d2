/** Rendering: a walk over the checked tree. Own properties only; whatever is not there is an error. */
import { isJsonObject, jsonTypeOf, textForm } from "../../base/json.ts";
import { didYouMean } from "../../base/nearest.ts";
import type { Position } from "../text_place.ts";
import { TemplateError, type TemplateSite } from "./error.ts";
import { HelperFault, helperNamed, isTruthy } from "./helpers.ts";
import type { Call, EachNode, Expression, Path, TemplateNode, WithNode } from "./tree.ts";

/** What rendering needs to know besides the tree and the data. */
export interface RenderSettings {
  /** Whether a bare path may print an object or array as JSON. */
  readonly objects: "json" | "error";
  /** Says where a position of the template is. */
  site(position: Position): TemplateSite;
}

/** What names mean at a place of the template. */
interface Scope {
  readonly context: unknown;
  /** The scope that `../` leads to. */
  readonly outer: Scope | undefined;
  readonly loop: Loop | undefined;
  readonly parameters: BlockParameters | undefined;
}

/** The variables of the innermost `{{#each}}`. */
interface Loop {
  readonly values: Readonly<Record<string, unknown>>;
  readonly outer: Loop | undefined;
}

interface BlockParameters {
  readonly name: string;
  readonly value: unknown;
  readonly outer: BlockParameters | undefined;
}

/** The text of a template for the given data. Throws {@link TemplateError}. */
export function renderNodes(
  nodes: readonly TemplateNode[],
  data: Readonly<Record<string, unknown>>,
  settings: RenderSettings,
): string {
  const root: Scope = { context: data, outer: undefined, loop: undefined, parameters: undefined };
  const renderer = new Renderer(data, settings);
  try {
    renderer.render(nodes, root);
    return renderer.output;
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    // The engine's own limits: the depth of the data, or the length of a text.
    const reason = error instanceof RangeError
      ? "the data is nested too deeply, or the result is too long"
      : String(error);
    throw new TemplateError(`the template cannot be rendered: ${reason}`, settings.site({ line: 1, column: 1 }));
  }
}

class Renderer {
  output = "";
  readonly #data: Readonly<Record<string, unknown>>;
  readonly #settings: RenderSettings;

  constructor(data: Readonly<Record<string, unknown>>, settings: RenderSettings) {
    this.#data = data;
    this.#settings = settings;
  }

  render(nodes: readonly TemplateNode[], scope: Scope): void {
    for (const node of nodes) {
      switch (node.kind) {
        case "text":
          this.output += node.text;
          break;
        case "output":
          this.output += this.#printed(node.expression, scope);
          break;
        case "if":
          this.render(this.#holds(node.condition, node.includeZero, scope) ? node.then : node.otherwise, scope);
          break;
        case "each":
          this.#each(node, scope);
          break;
        case "with":
          this.#with(node, scope);
          break;
      }
    }
  }

  #printed(expression: Expression, scope: Scope): string {
    const value = this.#value(expression, scope);
    if (
      this.#settings.objects === "error" && expression.kind === "path" && typeof value === "object" && value !== null
    ) {
      const { written } = expression;
      const kind = Array.isArray(value) ? "an array" : "an object";
      throw this.#error(`"${written}" is ${kind}: write \`{{ json ${written} }}\` to print it`, expression, written);
    }
    return textForm(value);
  }

  /** Whether a condition holds. A path that leads nowhere does not. */
  #holds(condition: Expression, includeZero: Expression | undefined, scope: Scope): boolean {
    const value = condition.kind === "path" ? this.#find(condition, scope) : this.#value(condition, scope);
    if (value === 0 && includeZero !== undefined) return isTruthy(this.#value(includeZero, scope));
    return isTruthy(value);
  }

  #each(node: EachNode, scope: Scope): void {
    const value = this.#value(node.value, scope);
    const keys = Array.isArray(value) ? value.keys() : isJsonObject(value) ? Object.keys(value) : undefined;
    if (keys === undefined && isTruthy(value)) {
      const written = node.value.kind === "path" ? node.value.written : undefined;
      const what = written === undefined ? "the value of `each`" : `"${written}"`;
      throw this.#error(`${what} must be an array or object (got ${jsonTypeOf(value)})`, node, written);
    }
    const all = [...keys ?? []];
    for (const [index, key] of all.entries()) {
      const item = Object.hasOwn(value as object, key) ? (value as Record<string | number, unknown>)[key] : null;
      const values = { index, key, first: index === 0, last: index === all.length - 1 };
      const inner = within(scope, item, node.names, [item, key]);
      this.render(node.body, { ...inner, loop: { values, outer: scope.loop } });
    }
    if (all.length === 0) this.render(node.otherwise, scope);
  }

  #with(node: WithNode, scope: Scope): void {
    const value = this.#value(node.value, scope);
    // As in Handlebars: 0 is something to work with.
    if (isTruthy(value) || value === 0) this.render(node.body, within(scope, value, node.names, [value]));
    else this.render(node.otherwise, scope);
  }

  /** The value of an expression, never undefined. */
  #value(expression: Expression, scope: Scope): unknown {
    if (expression.kind === "literal") return expression.value;
    if (expression.kind === "call") return this.#call(expression, scope);
    const value = this.#find(expression, scope);
    if (value === undefined) throw this.#undefined(expression, scope);
    return value;
  }

  #call(call: Call, scope: Scope): unknown {
    const values = call.arguments.map((argument) => this.#value(argument, scope));
    if (call.helper === "lookup") return this.#lookup(call, values);
    try {
      return helperNamed(call.helper)?.run(values);
    } catch (error) {
      if (error instanceof HelperFault) throw this.#error(error.message, call);
      throw error;
    }
  }

  #lookup(call: Call, [container, key]: readonly unknown[]): unknown {
    const [target] = call.arguments;
    const written = target?.kind === "path" ? target.written : "lookup";
    if (typeof key !== "string" && typeof key !== "number") {
      throw this.#error(`\`lookup\` takes a string or number as its key (got ${jsonTypeOf(key)})`, call, written);
    }
    const value = own(container, String(key));
    if (value !== undefined) return value;
    const path = `${written}.${key}`;
    throw this.#error(`"${path}" is not defined${explain(container, String(key), written)}`, call, path);
  }

  /** The value at a path, or undefined. */
  #find(path: Path, scope: Scope): unknown {
    let value = this.#base(path, scope);
    for (const key of path.keys) {
      value = own(value, key);
      if (value === undefined) return undefined;
    }
    return value;
  }

  #base(path: Path, scope: Scope): unknown {
    switch (path.base) {
      case "root":
        return this.#data;
      case "loop": {
        let loop = scope.loop;
        for (let up = path.up; up > 0; up--) loop = loop?.outer;
        return loop?.values[path.name];
      }
      case "parameter": {
        let parameter = scope.parameters;
        while (parameter !== undefined && parameter.name !== path.name) parameter = parameter.outer;
        return parameter?.value;
      }
      case "context": {
        let at: Scope | undefined = scope;
        for (let up = path.up; up > 0; up--) at = at?.outer;
        return at?.context;
      }
    }
  }

  #undefined(path: Path, scope: Scope): TemplateError {
    let value = this.#base(path, scope);
    let known = path.keys.length;
    for (const [index, key] of path.keys.entries()) {
      const next = own(value, key);
      if (next === undefined) {
        known = index;
        break;
      }
      value = next;
    }
    const missing = path.keys[known] ?? "";
    // The part of the path that does lead somewhere, as far as it can be told from how the path was written.
    const rest = path.keys.slice(known).join(".").length;
    const reached = path.written.slice(0, Math.max(0, path.written.length - rest - 1));
    return this.#error(`"${path.written}" is not defined${explain(value, missing, reached)}`, path, path.written);
  }

  #error(reason: string, node: { readonly at: Position }, path?: string): TemplateError {
    return new TemplateError(reason, this.#settings.site(node.at), path);
  }
}

/** A key that a value has itself. Arrays have their indexes only, texts and numbers have none. */
function own(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(key)) return undefined;
  const found = (value as Record<string, unknown>)[key];
  return typeof found === "function" ? undefined : found;
}

/** What may help to see why a key is not there. `container` is the value it was looked for in, `written` its path. */
function explain(container: unknown, key: string, written: string): string {
  if (isJsonObject(container)) {
    const near = didYouMean(key, Object.keys(container));
    return near === undefined ? "" : `; ${near}`;
  }
  if (written === "" || container === undefined) return "";
  return `: \`${written}\` is ${kindOf(container)}`;
}

/** What kind of value it is, with its article. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  const type = jsonTypeOf(value);
  return type === "null" ? type : `${/^[aio]/.test(type) ? "an" : "a"} ${type}`;
}

function within(scope: Scope, context: unknown, names: readonly string[], values: readonly unknown[]): Scope {
  let parameters = scope.parameters;
  for (const [index, name] of names.entries()) parameters = { name, value: values[index], outer: parameters };
  return { context, outer: scope, loop: scope.loop, parameters };
}
