/**
 * Updates of a `reduce` that change its state in place: without it, collecting n items copies n²/2 of them.
 *
 * Only where an update is made of parts with one output each, so that nobody else can hold the state meanwhile.
 */
import { type JsonValue, setOwn } from "../../base/json.ts";
import type { JqNode } from "../ast.ts";
import type { Frame, Simple } from "../machine/frame.ts";
import type { Machine } from "../machine/machine.ts";
import { isArray, isObject, isTrue } from "../values/kinds.ts";
import { getPath, type Owned, setPath } from "../values/paths.ts";
import { OPERATIONS, updateOperation } from "./_operators.ts";
import { simplePath } from "./_updates.ts";
import type { Compiler } from "./compiler.ts";
import { withPatterns } from "./_patterns.ts";
import type { Scope } from "./scope.ts";

/** The state after an update; may be the same container, changed. */
export type Step = (state: JsonValue, frame: Frame, owned: Owned) => JsonValue;

/** The update as a step, where it is of a form that can be one. */
export function inPlace(compiler: Compiler, node: JqNode, scope: Scope): Step | undefined {
  switch (node.kind) {
    case "pipe": {
      const steps = node.stages.map((stage) => inPlace(compiler, stage, scope));
      if (!steps.every((step) => step !== undefined)) return undefined;
      return (state, frame, owned) => steps.reduce((value, step) => step(value, frame, owned), state);
    }
    case "if": {
      const condition = compiler.simple(node.condition, scope);
      const then = inPlace(compiler, node.then, scope);
      const otherwise: Step | undefined = node.otherwise === undefined
        ? (state) => state
        : inPlace(compiler, node.otherwise, scope);
      if (condition === undefined || then === undefined || otherwise === undefined) return undefined;
      return (state, frame, owned) => (isTrue(condition(state, frame)) ? then : otherwise)(state, frame, owned);
    }
    case "bind": {
      const [pattern] = node.patterns;
      const source = compiler.simple(node.source, scope);
      if (source === undefined || pattern?.kind !== "variable" || node.patterns.length > 1) return undefined;
      const { scope: inner, slots } = withPatterns(compiler, scope, node.patterns);
      const slot = slots.get(pattern.name)!;
      const body = inPlace(compiler, node.body, inner);
      if (body === undefined) return undefined;
      return (state, frame, owned) => {
        frame.slots[slot] = shared(source(state, frame), owned);
        return body(state, frame, owned);
      };
    }
    case "binary":
      if (node.operator === "+" && node.left.kind === "identity") return addStep(compiler, node.right, scope);
      return plainStep(compiler, node, scope);
    case "update":
      return updateStep(compiler, node, scope) ?? plainStep(compiler, node, scope);
    default:
      return plainStep(compiler, node, scope);
  }
}

/** A value that may be part of the state, and is now held elsewhere too. */
function shared(value: JsonValue, owned: Owned): JsonValue {
  if (typeof value === "object" && value !== null) owned.clear();
  return value;
}

function plainStep(compiler: Compiler, node: JqNode, scope: Scope): Step | undefined {
  if (node.kind === "identity") return (state) => state;
  const simple = compiler.simple(node, scope);
  return simple && ((state, frame, owned) => shared(simple(state, frame), owned));
}

/** What an expression makes of the state, which keeps its containers to itself if the expression does not read it. */
function operand(compiler: Compiler, node: JqNode, scope: Scope): Step | undefined {
  const simple = compiler.simple(node, scope);
  if (simple === undefined || !readsInput(node)) return simple;
  return (state, frame, owned) => shared(simple(state, frame), owned);
}

function readsInput(node: JqNode): boolean {
  switch (node.kind) {
    case "literal":
    case "variable":
      return false;
    case "array":
      return node.body !== undefined && readsInput(node.body);
    case "comma":
      return node.items.some(readsInput);
    case "object":
      return node.entries.some(({ key, value }) => readsInput(key) || readsInput(value));
    case "binary":
      return readsInput(node.left) || readsInput(node.right);
    case "index":
      return readsInput(node.target) || readsInput(node.key);
    default:
      return true;
  }
}

function addStep(compiler: Compiler, right: JqNode, scope: Scope): Step | undefined {
  const value = operand(compiler, right, scope);
  return value && ((state, frame, owned) => addTo(state, value(state, frame, owned), owned, frame.machine));
}

/** `before + value`, into `before` where nobody else holds it. */
function addTo(before: JsonValue, value: JsonValue, owned: Owned, machine: Machine): JsonValue {
  if (isArray(before) && isArray(value)) {
    machine.charge(value.length * 16);
    const draft = owned.draft(before, machine) as JsonValue[];
    for (const item of value) draft.push(item);
    return draft;
  }
  if (isObject(before) && isObject(value)) {
    machine.charge(48);
    const draft = owned.draft(before, machine);
    for (const key of Object.keys(value)) setOwn(draft, key, value[key]);
    return draft as JsonValue;
  }
  return OPERATIONS["+"](before, value, machine);
}

function updateStep(compiler: Compiler, node: Extract<JqNode, { kind: "update" }>, scope: Scope): Step | undefined {
  const { operator, target, value } = node;
  const keys = simplePath(compiler, target, scope);
  if (keys === undefined) return undefined;
  const pathOf = (state: JsonValue, frame: Frame, owned: Owned) =>
    keys.map((key: Simple) => shared(key(state, frame), owned));
  const operation = operator === "+=" ? undefined : updateOperation(operator);
  const isFilter = operator === "|=";
  const right = isFilter ? inPlace(compiler, value, scope) : operand(compiler, value, scope);
  if (right === undefined) return undefined;
  return (state, frame, owned) => {
    const { machine } = frame;
    const given = isFilter ? null : right(state, frame, owned);
    const path = pathOf(state, frame, owned);
    const before = getPath(state, path, machine.maxDepth);
    let after: JsonValue;
    if (isFilter) after = right(before, frame, owned);
    else after = operation === undefined ? addTo(before, given, owned, machine) : operation(before, given, machine);
    machine.charge(32);
    return setPath(state, path, after, owned, machine);
  };
}
