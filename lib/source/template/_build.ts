/** From the grammar's tree to the tree that is rendered: everything that templates do not know is a fault here. */
import { didYouMean } from "../../base/nearest.ts";
import { shorten } from "../../base/text.ts";
import type { Position } from "../text_place.ts";
import { BLOCKS, helperNamed, HELPERS } from "./helpers.ts";
import type { RawBlock, RawCall, RawExpression, RawLocation, RawPath, RawProgram, RawStatement } from "./_raw_tree.ts";
import { type Call, type Expression, LOOP_VARIABLES, type Path, type TemplateNode } from "./tree.ts";

/** A fault of a template, placed in the template. */
export interface TemplateFault {
  readonly id: string;
  readonly at: Position;
  readonly message: string;
  readonly hint?: string;
}

/** What a place inside blocks can refer to. */
interface Scope {
  /** How many `../` lead to a context. */
  readonly contexts: number;
  /** How many loops are around. */
  readonly loops: number;
  readonly parameters: readonly string[];
}

const HELPER_NAMES = Object.keys(HELPERS);

/** Checks a whole template. The nodes are of use only when there are no faults. */
export function buildTemplate(program: RawProgram): { nodes: readonly TemplateNode[]; faults: TemplateFault[] } {
  const builder = new Builder();
  const nodes = builder.nodes(program, { contexts: 0, loops: 0, parameters: [] });
  const faults = builder.faults.toSorted((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
  return { nodes, faults };
}

class Builder {
  readonly faults: TemplateFault[] = [];

  nodes(program: RawProgram | undefined, scope: Scope): TemplateNode[] {
    return (program?.body ?? []).flatMap((statement) => this.#statement(statement, scope));
  }

  #statement(statement: RawStatement, scope: Scope): TemplateNode[] {
    switch (statement.type) {
      case "ContentStatement":
        return statement.value === "" ? [] : [{ kind: "text", text: statement.value }];
      case "CommentStatement":
        return [];
      case "MustacheStatement":
        return [{ kind: "output", expression: this.#called(statement, scope), at: positionOf(statement.path.loc) }];
      case "BlockStatement":
        return this.#block(statement, scope);
      case "PartialStatement":
      case "PartialBlockStatement":
        this.#fault("template-partial", statement.loc, "partials (`{{> name}}`) are not available");
        return [];
      case "DecoratorBlock":
        if (statement.path.original === "inline") {
          this.#fault("template-partial", statement.loc, "inline partials (`{{#*inline}}`) are not available");
          return [];
        }
        this.#fault("template-decorator", statement.loc, "decorators (`{{#*name}}`) are not available");
        return [];
      case "Decorator":
        this.#fault("template-decorator", statement.loc, "decorators (`{{* name}}`) are not available");
        return [];
    }
  }

  /** What is printed, or the head of a call in parentheses. */
  #called(raw: RawCall, scope: Scope): Expression {
    const { path } = raw;
    const bare = raw.params.length === 0 && raw.hash === undefined;
    if (path.type !== "PathExpression") {
      if (!bare) this.#fault("template-helper", path.loc, "a literal takes no arguments");
      return this.#expression(path, scope);
    }
    const name = simpleName(path);
    if (bare && (name === undefined || scope.parameters.includes(name) || helperNamed(name) === undefined)) {
      return this.#path(path, scope);
    }
    return this.#call(raw, name ?? path.original, scope);
  }

  #call(raw: RawCall, name: string, scope: Scope): Call {
    const helper = helperNamed(name);
    const values = raw.params.map((param) => this.#expression(param, scope));
    if (helper === undefined) {
      if (BLOCKS.includes(name)) {
        this.#fault("template-helper", raw.path.loc, `\`${name}\` is a block`, `write \`{{#${name} …}}\``);
      } else {
        const hint = didYouMean(name, HELPER_NAMES) ?? `known helpers: ${HELPER_NAMES.join(", ")}`;
        this.#fault("template-helper", raw.path.loc, `unknown helper \`${shorten(name, 60)}\``, hint);
      }
    } else if (values.length < helper.minimum || values.length > helper.maximum) {
      const hint = values.length === 0 ? `for a value of that name, write \`this.${name}\`` : undefined;
      this.#fault("template-helper", raw.path.loc, countMessage(name, helper, values.length), hint);
    }
    this.#noNamedArguments(raw, name, []);
    return { kind: "call", helper: name, arguments: values, at: positionOf(raw.path.loc) };
  }

  #expression(raw: RawExpression, scope: Scope): Expression {
    switch (raw.type) {
      case "PathExpression":
        return this.#path(raw, scope);
      case "SubExpression": {
        if (raw.path.type !== "PathExpression") {
          this.#fault("template-helper", raw.loc, "a helper's name is expected behind `(`");
          return { kind: "literal", value: null };
        }
        return this.#call(raw, simpleName(raw.path) ?? raw.path.original, scope);
      }
      case "NullLiteral":
        return { kind: "literal", value: null };
      case "UndefinedLiteral":
        this.#fault("template-syntax", raw.loc, "`undefined` is no value", "write `null`");
        return { kind: "literal", value: null };
      default:
        return { kind: "literal", value: raw.value };
    }
  }

  #path(raw: RawPath, scope: Scope): Path {
    const at = positionOf(raw.loc);
    const common = { kind: "path", written: raw.original, at } as const;
    const [first = "", ...rest] = raw.parts;
    if (raw.data) {
      if (first === "root") return { ...common, base: "root", up: 0, name: "", keys: rest };
      if (!LOOP_VARIABLES.includes(first)) {
        const names = ["root", ...LOOP_VARIABLES];
        const hint = didYouMean(first, names) ?? `known: ${names.map((name) => `@${name}`).join(", ")}`;
        this.#fault("template-path", raw.loc, `unknown variable \`@${shorten(first, 60)}\``, hint);
      } else if (raw.depth >= scope.loops) {
        this.#fault("template-path", raw.loc, `\`${raw.original}\` stands outside the \`{{#each}}\` that it is about`);
      }
      return { ...common, base: "loop", up: raw.depth, name: first, keys: rest };
    }
    if (raw.depth > scope.contexts) {
      this.#fault("template-path", raw.loc, `\`${shorten(raw.original, 60)}\` leads out of the template's data`);
    }
    if (raw.depth === 0 && !isScoped(raw) && scope.parameters.includes(first)) {
      return { ...common, base: "parameter", up: 0, name: first, keys: rest };
    }
    return { ...common, base: "context", up: raw.depth, name: "", keys: raw.parts };
  }

  #block(raw: RawBlock, scope: Scope): TemplateNode[] {
    const at = positionOf(raw.loc);
    if (raw.openStrip.open === undefined) {
      this.#fault("template-raw-block", raw.loc, "raw blocks (`{{{{name}}}}`) are not available");
      return [];
    }
    const name = raw.path.type === "PathExpression" ? simpleName(raw.path) ?? raw.path.original : "";
    const names = (raw.program ?? raw.inverse)?.blockParams ?? [];
    const condition = helperNamed(name)?.condition === true;
    if (condition) {
      const call = this.#call(raw, name, scope);
      this.#noParameters(raw, name, names, 0);
      return [this.#if(raw, call, undefined, scope)];
    }
    if (!BLOCKS.includes(name)) return this.#unknownBlock(raw, name, names, scope);
    const [argument] = raw.params;
    const value: Expression = argument === undefined
      ? { kind: "literal", value: null }
      : this.#expression(argument, scope);
    for (const extra of raw.params.slice(1)) this.#expression(extra, scope);
    if (raw.params.length !== 1) {
      const message = countMessage(name, { minimum: 1, maximum: 1 }, raw.params.length);
      this.#fault("template-helper", raw.path.loc, message);
    }
    const isCondition = name === "if" || name === "unless";
    this.#noNamedArguments(raw, name, isCondition ? ["includeZero"] : []);
    this.#noParameters(raw, name, names, isCondition ? 0 : name === "each" ? 2 : 1);
    if (isCondition) {
      const zero = raw.hash?.pairs.find((pair) => pair.key === "includeZero");
      const node = this.#if(raw, value, zero === undefined ? undefined : this.#expression(zero.value, scope), scope);
      return [name === "if" ? node : { ...node, then: node.otherwise, otherwise: node.then }];
    }
    const kind = name === "each" ? "each" : "with";
    const inside = within(scope, kind === "each", names);
    const body = this.nodes(raw.program, inside);
    return [{ kind, value, names, body, otherwise: this.nodes(raw.inverse, scope), at }];
  }

  #if(raw: RawBlock, condition: Expression, includeZero: Expression | undefined, scope: Scope) {
    const then = this.nodes(raw.program, scope);
    return { kind: "if", condition, includeZero, then, otherwise: this.nodes(raw.inverse, scope) } as const;
  }

  #unknownBlock(raw: RawBlock, name: string, names: readonly string[], scope: Scope): TemplateNode[] {
    const shown = shorten(name, 60);
    if (helperNamed(name) !== undefined) {
      this.#fault("template-helper", raw.path.loc, `\`${shown}\` is no block`, `write \`{{ ${shown} … }}\``);
    } else {
      const hint = raw.params.length === 0
        ? `write \`{{#each ${shown}}}\` to repeat, \`{{#if ${shown}}}\` to decide`
        : `known blocks: ${BLOCKS.join(", ")}`;
      this.#fault("template-helper", raw.path.loc, `unknown block \`${shown}\``, didYouMean(name, BLOCKS) ?? hint);
    }
    for (const param of raw.params) this.#expression(param, scope);
    // What is inside is still checked, as if the block brought all that a block can bring.
    this.nodes(raw.program, within(scope, true, names));
    this.nodes(raw.inverse, scope);
    return [];
  }

  #noNamedArguments(raw: RawCall, name: string, known: readonly string[]): void {
    for (const pair of raw.hash?.pairs ?? []) {
      if (known.includes(pair.key)) continue;
      const key = shorten(pair.key, 60);
      this.#fault("template-helper", pair.loc, `\`${shorten(name, 60)}\` takes no argument named \`${key}\``);
    }
  }

  #noParameters(raw: RawBlock, name: string, names: readonly string[], most: number): void {
    if (names.length <= most) return;
    const count = most === 0 ? "no block parameters" : `at most ${most} block parameter${most === 1 ? "" : "s"}`;
    this.#fault("template-helper", raw.path.loc, `\`${name}\` takes ${count}`);
  }

  #fault(id: string, location: RawLocation, message: string, hint?: string): void {
    this.faults.push({ id, at: positionOf(location), message, ...(hint === undefined ? {} : { hint }) });
  }
}

function within(scope: Scope, loop: boolean, names: readonly string[]): Scope {
  return {
    contexts: scope.contexts + 1,
    loops: scope.loops + (loop ? 1 : 0),
    parameters: [...scope.parameters, ...names],
  };
}

/** The name of a path that is a single word, which alone can name a helper or a block parameter. */
function simpleName(path: RawPath): string | undefined {
  const [name, ...more] = path.parts;
  return path.data || path.depth > 0 || more.length > 0 || isScoped(path) ? undefined : name;
}

/**
 * Whether a path starts with `this` or `.`: it is then about the context, whatever its first key is called. The
 * grammar leaves these words out of the keys, but not out of the path as written (where `[this]`, a key, has lost its
 * brackets).
 */
function isScoped(path: RawPath): boolean {
  return path.original.length !== path.parts.join(".").length;
}

function countMessage(name: string, count: { minimum: number; maximum: number }, got: number): string {
  const { minimum, maximum } = count;
  const wanted = maximum === Infinity ? `at least ${minimum}` : String(minimum);
  return `\`${name}\` takes ${wanted} argument${minimum === 1 ? "" : "s"} (got ${got})`;
}

function positionOf(location: RawLocation): Position {
  return { line: location.start.line, column: location.start.column + 1 };
}
