/** Which of the data a template refers to, as far as it can be told without the data. */
import type { Position } from "../text_place.ts";
import type { Expression, Path, TemplateNode } from "./tree.ts";

/** A path from the top of the data that a template refers to. */
export interface TemplateReference {
  /** The keys, from the top; none when the template uses the data as a whole (`{{ this }}`). */
  readonly path: readonly string[];
  /** Whether the template also renders without it: the bare condition of an `#if` or `#unless`. */
  readonly optional: boolean;
  /** The line in the template, from 1. */
  readonly line: number;
  /** The column in the template, from 1. */
  readonly column: number;
}

/** A path from the top of the data; undefined for what depends on the data, such as the item of a loop. */
type Known = readonly string[] | undefined;

interface Scope {
  readonly contexts: readonly Known[];
  readonly parameters: ReadonlyMap<string, Known>;
}

/** All references of a tree, in the order in which they stand there. */
export function referencesOf(nodes: readonly TemplateNode[]): TemplateReference[] {
  const found: TemplateReference[] = [];
  visit(nodes, { contexts: [[]], parameters: new Map() }, found);
  return found;
}

function visit(nodes: readonly TemplateNode[], scope: Scope, found: TemplateReference[]): void {
  for (const node of nodes) {
    if (node.kind === "output") read(node.expression, scope, found);
    if (node.kind === "if") {
      read(node.condition, scope, found, node.condition.kind === "path");
      if (node.includeZero !== undefined) read(node.includeZero, scope, found);
      visit(node.then, scope, found);
      visit(node.otherwise, scope, found);
    }
    if (node.kind === "each" || node.kind === "with") {
      const value = read(node.value, scope, found);
      const context = node.kind === "with" ? value : undefined;
      const parameters = new Map(scope.parameters);
      for (const name of node.names) parameters.set(name, context);
      visit(node.body, { contexts: [...scope.contexts, context], parameters }, found);
      visit(node.otherwise, scope, found);
    }
  }
}

/** Adds what an expression refers to; gives the path that its value has, when it is known. */
function read(expression: Expression, scope: Scope, found: TemplateReference[], optional = false): Known {
  if (expression.kind === "literal") return undefined;
  if (expression.kind === "path") {
    const path = resolve(expression, scope);
    if (path !== undefined) found.push(reference(path, expression.at, optional));
    return path;
  }
  const [target, key] = expression.arguments;
  if (expression.helper === "lookup" && target?.kind === "path" && key?.kind === "literal") {
    const container = resolve(target, scope);
    if (container === undefined) return undefined;
    const path = [...container, String(key.value)];
    found.push(reference(path, target.at, false));
    return path;
  }
  for (const argument of expression.arguments) read(argument, scope, found);
  return undefined;
}

function reference(path: readonly string[], at: Position, optional: boolean): TemplateReference {
  return { path, optional, line: at.line, column: at.column };
}

function resolve(path: Path, scope: Scope): Known {
  let start: Known;
  if (path.base === "root") start = [];
  else if (path.base === "parameter") start = scope.parameters.get(path.name);
  else if (path.base === "context") start = scope.contexts[scope.contexts.length - 1 - path.up];
  return start === undefined ? undefined : [...start, ...path.keys];
}
