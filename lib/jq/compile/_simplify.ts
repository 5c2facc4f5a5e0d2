/** Expressions with exactly one output, as functions of JavaScript: no forks, no operations of the machine. */
import type { JsonValue } from "../../base/json.ts";
import { didYouMean } from "../../base/nearest.ts";
import type { JqNode } from "../ast.ts";
import { applyFormat, FORMATS } from "../builtins/formats.ts";
import type { JqPlace } from "../errors.ts";
import type { Simple } from "../machine/frame.ts";
import { negate } from "../values/arithmetic.ts";
import { indexKey, indexValue, sliceValue } from "../values/index.ts";
import { isTrue, Raised } from "../values/kinds.ts";
import { simplifyCall, variable } from "./_calls.ts";
import { OPERATIONS } from "./_operators.ts";
import { simpleObject } from "./_terms.ts";
import { simplifyUpdate } from "./_updates.ts";
import type { Compiler, Language } from "./compiler.ts";
import { withPatterns } from "./_patterns.ts";
import type { Scope } from "./scope.ts";

/** All of the nodes as evaluators, or undefined. */
function all(compiler: Compiler, nodes: readonly JqNode[], scope: Scope): Simple[] | undefined {
  const simple: Simple[] = [];
  for (const node of nodes) {
    const one = compiler.simple(node, scope);
    if (one === undefined) return undefined;
    simple.push(one);
  }
  return simple;
}

/** Refuses a format that does not exist. */
function checkFormat(compiler: Compiler, name: string, place: JqPlace): void {
  if (FORMATS.includes(name)) return;
  const hint = didYouMean(name, FORMATS);
  compiler.fail(`@${name} is not a format${hint === undefined ? "" : `: ${hint}`}`, place);
}

/** By kind; what is not here can have none or several outputs. */
export const SIMPLIFIERS: Language["simplifiers"] = {
  identity: () => (input) => input,
  literal: (_, { value }) => () => value,
  location: (_, { place }) => {
    const value = Object.freeze({ file: "<top-level>", line: place.line });
    return () => value;
  },
  variable: (compiler, node, scope) => variable(compiler, node, scope),
  format: (compiler, { name, place }) => {
    checkFormat(compiler, name, place);
    return (input, frame) => applyFormat(name, input, frame.machine);
  },
  call: simplifyCall,
  update: simplifyUpdate,

  index: (compiler, node, scope) => {
    if (node.optional === true) return undefined;
    const target = compiler.simple(node.target, scope);
    if (target === undefined) return undefined;
    if (node.key.kind === "literal" && typeof node.key.value === "string") {
      const key = node.key.value;
      if (node.target.kind === "identity") return (input) => indexKey(input, key);
      return (input, frame) => indexKey(target(input, frame), key);
    }
    const key = compiler.simple(node.key, scope);
    if (key === undefined) return undefined;
    return (input, frame) => {
      const wanted = key(input, frame);
      return indexValue(target(input, frame), wanted, frame.machine.maxDepth);
    };
  },

  slice: (compiler, node, scope) => {
    if (node.optional === true) return undefined;
    const target = compiler.simple(node.target, scope);
    const from = node.from === undefined ? () => null : compiler.simple(node.from, scope);
    const to = node.to === undefined ? () => null : compiler.simple(node.to, scope);
    if (target === undefined || from === undefined || to === undefined) return undefined;
    return (input, frame) => {
      const start = from(input, frame);
      const end = to(input, frame);
      const value = sliceValue(target(input, frame), start, end);
      if (Array.isArray(value)) frame.machine.charge(value.length * 8);
      else if (typeof value === "string") frame.machine.toil(value.length);
      return value;
    };
  },

  string: (compiler, node, scope) => {
    const format = node.format ?? "text";
    checkFormat(compiler, format, node.place);
    const parts: (string | Simple)[] = [];
    for (const part of node.parts) {
      const simple = typeof part === "string" ? part : compiler.simple(part, scope);
      if (simple === undefined) return undefined;
      parts.push(simple);
    }
    return (input, frame) => {
      let text = "";
      for (const part of parts) {
        text += typeof part === "string" ? part : applyFormat(format, part(input, frame), frame.machine);
      }
      frame.machine.charge(text.length * 2);
      return text;
    };
  },

  array: (compiler, { body }, scope) => {
    if (body === undefined) {
      return (_, frame) => {
        frame.machine.charge(48);
        return [];
      };
    }
    const items = all(compiler, body.kind === "comma" ? body.items : [body], scope);
    return items && ((input, frame) => {
      frame.machine.charge(16 * items.length + 48);
      const array: JsonValue[] = [];
      for (const item of items) array.push(item(input, frame));
      return array;
    });
  },

  object: (compiler, { entries }, scope) => simpleObject(compiler, entries, scope),

  negate: (compiler, { operand }, scope) => {
    const simple = compiler.simple(operand, scope);
    return simple && ((input, frame) => negate(simple(input, frame)));
  },

  binary: (compiler, { operator, left, right }, scope) => {
    const a = compiler.simple(left, scope);
    const b = compiler.simple(right, scope);
    if (a === undefined || b === undefined) return undefined;
    const operation = OPERATIONS[operator];
    return (input, frame) => {
      const second = b(input, frame);
      return operation(a(input, frame), second, frame.machine);
    };
  },

  logic: (compiler, { operator, left, right }, scope) => {
    const a = compiler.simple(left, scope);
    const b = compiler.simple(right, scope);
    if (a === undefined || b === undefined) return undefined;
    if (operator === "and") return (input, frame) => isTrue(a(input, frame)) && isTrue(b(input, frame));
    return (input, frame) => isTrue(a(input, frame)) || isTrue(b(input, frame));
  },

  alternative: (compiler, { left, right }, scope) => {
    const a = compiler.simple(left, scope);
    const b = compiler.simple(right, scope);
    if (a === undefined || b === undefined) return undefined;
    return (input, frame) => {
      const value = a(input, frame);
      return isTrue(value) ? value : b(input, frame);
    };
  },

  pipe: (compiler, { stages }, scope) => {
    const steps = all(compiler, stages, scope);
    if (steps === undefined) return undefined;
    return (input, frame) => {
      let value = input;
      for (const step of steps) value = step(value, frame);
      return value;
    };
  },

  if: (compiler, { condition, then, otherwise }, scope) => {
    const test = compiler.simple(condition, scope);
    const yes = compiler.simple(then, scope);
    const no = otherwise === undefined ? ((input: JsonValue) => input) : compiler.simple(otherwise, scope);
    if (test === undefined || yes === undefined || no === undefined) return undefined;
    return (input, frame) => (isTrue(test(input, frame)) ? yes : no)(input, frame);
  },

  try: (compiler, { body, handler }, scope) => {
    const inside = compiler.simple(body, scope);
    const caught = handler === undefined ? undefined : compiler.simple(handler, scope);
    if (inside === undefined || caught === undefined) return undefined;
    return (input, frame) => {
      try {
        return inside(input, frame);
      } catch (error) {
        if (!(error instanceof Raised)) throw error;
        return caught(error.value, frame);
      }
    };
  },

  bind: (compiler, { source, patterns, body }, scope) => {
    const [pattern] = patterns;
    if (pattern?.kind !== "variable" || patterns.length > 1) return undefined;
    const value = compiler.simple(source, scope);
    if (value === undefined) return undefined;
    const { scope: inner, slots } = withPatterns(compiler, scope, patterns);
    const slot = slots.get(pattern.name)!;
    const inside = compiler.simple(body, inner);
    return inside && ((input, frame) => {
      frame.slots[slot] = value(input, frame);
      return inside(input, frame);
    });
  },
};
