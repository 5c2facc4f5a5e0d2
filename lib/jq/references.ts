/** Which globals an expression reads, and which parts of them. */
import type { JqNode, JqPattern } from "./ast.ts";
import { namesIn } from "./compile/_patterns.ts";
import type { JqPlace } from "./errors.ts";

/** A place where an expression reads a global. */
export interface JqReference {
  /** The global's name, without `$`. */
  readonly name: string;
  /** The keys behind it as far as they are constant: `["a", "b"]` for `$steps.a["b"]`. */
  readonly path: readonly (string | number)[];
  readonly place: JqPlace;
}

/** Every reference, in the order of the source. */
export function referencesOf(root: JqNode, globals: readonly string[]): readonly JqReference[] {
  const found: JqReference[] = [];
  const visitAll = (nodes: readonly (JqNode | undefined)[], hidden: ReadonlySet<string>): void => {
    for (const node of nodes) if (node !== undefined) visit(node, hidden);
  };
  const visitPatterns = (patterns: readonly JqPattern[], hidden: ReadonlySet<string>): void => {
    for (const pattern of patterns) {
      if (pattern.kind === "array") visitPatterns(pattern.items, hidden);
      else if (pattern.kind === "object") {
        for (const { key, pattern: inside } of pattern.entries) {
          visitAll([key], hidden);
          if (inside !== undefined) visitPatterns([inside], hidden);
        }
      }
    }
  };
  /** A chain of keys from a global; the keys that are no constants are visited. */
  const visitChain = (node: JqNode, keys: readonly JqNode[], hidden: ReadonlySet<string>): void => {
    if (node.kind === "index") return visitChain(node.target, [node.key, ...keys], hidden);
    visitAll(keys.filter(({ kind }) => kind !== "literal"), hidden);
    if (node.kind === "try") return visitChain(node.body, keys, hidden);
    if (node.kind !== "variable") return visit(node, hidden);
    if (hidden.has(node.name) || !globals.includes(node.name)) return;
    const path: (string | number)[] = [];
    for (const key of keys) {
      if (key.kind !== "literal" || (typeof key.value !== "string" && typeof key.value !== "number")) break;
      path.push(key.value);
    }
    found.push({ name: node.name, path, place: node.place });
  };
  const visit = (node: JqNode, hidden: ReadonlySet<string>): void => {
    switch (node.kind) {
      case "variable":
      case "index":
        return visitChain(node, [], hidden);
      case "string":
        return visitAll(node.parts.filter((part) => typeof part !== "string"), hidden);
      case "slice":
        return visitAll([node.target, node.from, node.to], hidden);
      case "iterate":
        return visit(node.target, hidden);
      case "call":
        return visitAll(node.args, hidden);
      case "array":
        return visitAll([node.body], hidden);
      case "object":
        return visitAll(node.entries.flatMap(({ key, value }) => [key, value]), hidden);
      case "negate":
        return visit(node.operand, hidden);
      case "binary":
      case "logic":
      case "alternative":
        return visitAll([node.left, node.right], hidden);
      case "update":
        return visitAll([node.target, node.value], hidden);
      case "pipe":
        return visitPipe(node.stages, hidden);
      case "comma":
        return visitAll(node.items, hidden);
      case "if":
        return visitAll([node.condition, node.then, node.otherwise], hidden);
      case "try":
        return node.handler === undefined ? visitChain(node, [], hidden) : visitAll([node.body, node.handler], hidden);
      case "reduce":
      case "foreach":
      case "bind": {
        visit(node.source, hidden);
        const inner = new Set([...hidden, ...node.patterns.flatMap(namesIn)]);
        visitPatterns(node.patterns, inner);
        if (node.kind === "bind") return visit(node.body, inner);
        visit(node.start, hidden);
        return visitAll([node.update, node.kind === "foreach" ? node.extract : undefined], inner);
      }
      case "label":
        return visit(node.body, hidden);
      case "define": {
        const { params, body } = node.definition;
        const values = params.filter((param) => param.startsWith("$")).map((param) => param.slice(1));
        visit(body, new Set([...hidden, ...values]));
        return visit(node.body, hidden);
      }
      default:
        return;
    }
  };
  /** `$steps | .a` reads `$steps.a`. */
  const visitPipe = (stages: readonly JqNode[], hidden: ReadonlySet<string>): void => {
    const [first, second, ...rest] = stages;
    const keys = second === undefined ? undefined : keysOf(second);
    if (first === undefined || keys === undefined) return visitAll(stages, hidden);
    visitChain(first, keys, hidden);
    visitAll(rest, hidden);
  };
  visit(root, new Set());
  return Object.freeze(found);
}

/** The keys of `.a.b`; undefined for any other expression. */
function keysOf(node: JqNode): JqNode[] | undefined {
  const keys: JqNode[] = [];
  let target = node;
  for (; target.kind === "index"; target = target.target) keys.unshift(target.key);
  return target.kind === "identity" ? keys : undefined;
}
