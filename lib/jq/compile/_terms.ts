/** Code for terms: parts of values, and values that are built. */
import { type JsonValue, setOwn } from "../../base/json.ts";
import type { JqNode } from "../ast.ts";
import { applyFormat } from "../builtins/formats.ts";
import { requireLength } from "../values/arithmetic.ts";
import { type Frame, Resume, type Simple } from "../machine/frame.ts";
import type { Machine, Op } from "../machine/machine.ts";
import { indexValue, sliceValue, valuesOf } from "../values/index.ts";
import { fail, isArray, quote, Raised } from "../values/kinds.ts";
import { descendants, fewDescendants } from "../values/walk.ts";
import { requirePath } from "./_paths.ts";
import type { Compiler, Emitter, Label } from "./compiler.ts";
import type { Scope } from "./scope.ts";

/** Appends code that leaves an expression's value in a slot, for each of its outputs; `current` is lost. */
function emitPart(compiler: Compiler, node: JqNode, scope: Scope, input: number): number {
  const slot = scope.owner.slot();
  const simple = compiler.simple(node, scope);
  if (simple === undefined) {
    compiler.load(input);
    compiler.emitTo(slot, node, scope);
  } else {
    compiler.op(({ frame }) => {
      frame.slots[slot] = simple(frame.slots[input] as JsonValue, frame);
    });
  }
  return slot;
}

function saveInput(compiler: Compiler, scope: Scope): number {
  const slot = scope.owner.slot();
  compiler.store(slot);
  return slot;
}

type KeyOf = (frame: Frame) => JsonValue;

/** `target[key]`: the key is made first, from the same input. */
export const emitIndex: Emitter<"index"> = (compiler, node, scope, paths) => {
  let key: KeyOf;
  if (node.key.kind === "literal") {
    const { value } = node.key;
    key = () => value;
  } else {
    const input = saveInput(compiler, scope);
    const slot = emitPart(compiler, node.key, scope, input);
    compiler.load(input);
    key = (frame) => frame.slots[slot] as JsonValue;
  }
  compiler.emit(node.target, scope, paths);
  if (paths) compiler.op((machine) => requirePath(machine, () => `access element ${quote(key(machine.frame))} of`));
  emitStep(
    compiler,
    node,
    paths ? indexPath(key) : (machine) => {
      machine.current = indexValue(machine.current, key(machine.frame), machine.maxDepth);
    },
  );
};

function indexPath(keyOf: KeyOf) {
  return (machine: Machine) => {
    const key = keyOf(machine.frame);
    machine.descend(key, indexValue(machine.current, key, machine.maxDepth));
  };
}

/** Appends a step to a part of a value; with `?` there is no output where it cannot be taken. */
function emitStep(compiler: Compiler, { optional }: { readonly optional?: true }, step: Op): void {
  if (optional !== true) return compiler.op(step);
  compiler.op((machine) => {
    try {
      step(machine);
    } catch (error) {
      if (!(error instanceof Raised)) throw error;
      machine.backtrack();
    }
  });
}

/** `target[from:to]`. */
export const emitSlice: Emitter<"slice"> = (compiler, node, scope, paths) => {
  const input = saveInput(compiler, scope);
  const from = node.from === undefined ? -1 : emitPart(compiler, node.from, scope, input);
  const to = node.to === undefined ? -1 : emitPart(compiler, node.to, scope, input);
  compiler.load(input);
  compiler.emit(node.target, scope, paths);
  if (paths) {
    compiler.op((machine) => {
      requirePath(machine, () => {
        const { slots } = machine.frame;
        return `access element ${quote(boundsOf(slots, from, to))} of`;
      });
    });
  }
  emitStep(compiler, node, (machine) => {
    const { slots } = machine.frame;
    const { start, end } = boundsOf(slots, from, to);
    const value = sliceValue(machine.current, start, end);
    if (paths) machine.descend({ start, end }, value);
    else {
      if (typeof value === "string") machine.toil(value.length);
      machine.charge(typeof value === "string" ? 16 : 8 * ((value as { length?: number } | null)?.length ?? 0));
      machine.current = value;
    }
  });
};

function boundsOf(slots: readonly unknown[], from: number, to: number): { start: JsonValue; end: JsonValue } {
  return { start: from < 0 ? null : slots[from] as JsonValue, end: to < 0 ? null : slots[to] as JsonValue };
}

/** `target[]`. */
export const emitIterate: Emitter<"iterate"> = (compiler, node, scope, paths) => {
  compiler.emit(node.target, scope, paths);
  if (paths) compiler.op((machine) => requirePath(machine, () => "iterate through"));
  emitStep(compiler, node, paths ? iteratePaths : iterate);
};

function iterate(machine: Machine): void {
  const items = valuesOf(machine.current);
  if (items.length === 0) return machine.backtrack();
  if (items.length > 1) machine.fork(Resume.Items, machine.pc, items, undefined, 1);
  machine.current = items[0]!;
}

function iteratePaths(machine: Machine): void {
  const items = valuesOf(machine.current);
  if (items.length === 0) return machine.backtrack();
  const keys = isArray(machine.current) ? undefined : Object.keys(machine.current as object);
  if (items.length > 1) machine.fork(Resume.ItemsWithPaths, machine.pc, items, keys, 1);
  machine.descend(keys === undefined ? 0 : keys[0]!, items[0]!);
}

/** Parts of a value that are found all at once, which is faster. */
const FEW_PARTS = 100_000;

/** `..`. */
export const emitRecurse: Emitter<"recurse"> = (compiler, node, scope, paths) => {
  if (paths) return compiler.emit({ kind: "call", name: "!_recurse", args: [], place: node.place }, scope, true);
  compiler.op((machine) => {
    const items = fewDescendants(machine.current, FEW_PARTS);
    if (items === undefined) return machine.pull(descendants(machine.current));
    machine.charge(items.length * 8);
    if (items.length > 1) machine.fork(Resume.Items, machine.pc, items, undefined, 1);
  });
};

/** A text with expressions that have several outputs: the last one's are outermost. */
export const emitString: Emitter<"string"> = (compiler, node, scope) => {
  const format = node.format ?? "text";
  const input = saveInput(compiler, scope);
  const slots = node.parts.map(() => -1);
  for (let index = node.parts.length - 1; index >= 0; index--) {
    const part = node.parts[index]!;
    if (typeof part !== "string") slots[index] = emitPart(compiler, part, scope, input);
  }
  compiler.op((machine) => {
    let text = "";
    for (const [index, part] of node.parts.entries()) {
      text += typeof part === "string"
        ? part
        : applyFormat(format, machine.frame.slots[slots[index]!] as JsonValue, machine);
    }
    requireLength(text.length);
    machine.charge(text.length * 2);
    machine.current = text;
  });
};

/** `[body]`. */
export const emitArray: Emitter<"array"> = (compiler, node, scope) => {
  const slot = scope.owner.slot();
  const end: Label = { address: -1 };
  compiler.op((machine) => {
    machine.charge(48);
    machine.frame.slots[slot] = [];
    machine.fork(Resume.Jump, end.address);
  });
  compiler.emit(node.body!, scope, false);
  compiler.op((machine) => {
    machine.charge(32);
    (machine.frame.slots[slot] as JsonValue[]).push(machine.current);
    machine.backtrack();
  });
  compiler.mark(end);
  compiler.load(slot);
};

/** `{key: value}`: the outputs of the first key are outermost. */
export const emitObject: Emitter<"object"> = (compiler, node, scope) => {
  for (const { key } of node.entries) checkKey(compiler, key);
  const input = saveInput(compiler, scope);
  const slots = node.entries.map(({ key, value }) => {
    const keySlot = emitPart(compiler, key, scope, input);
    const valueSlot = emitPart(compiler, value, scope, input);
    compiler.op(({ frame }) => void requireKey(frame.slots[keySlot] as JsonValue));
    return [keySlot, valueSlot] as const;
  });
  compiler.op((machine) => {
    const object = {};
    machine.charge(32 * slots.length + 56);
    for (const [key, value] of slots) {
      setOwn(object, machine.frame.slots[key] as string, machine.frame.slots[value]);
    }
    machine.current = object;
  });
};

/** A constant key that is no text is a fault of the program. */
export function checkKey(compiler: Compiler, key: JqNode): void {
  if (key.kind !== "literal" || typeof key.value === "string") return;
  compiler.fail(
    `cannot use ${key.value === null ? "null" : typeof key.value} (${quote(key.value)}) as object key`,
    key.place,
  );
}

function requireKey(key: JsonValue): string {
  return typeof key === "string" ? key : fail(`Object keys must be strings`);
}

/** An object whose parts have one output each. */
export function simpleObject(compiler: Compiler, entries: readonly { key: JqNode; value: JqNode }[], scope: Scope) {
  const parts: { key: Simple | string; value: Simple }[] = [];
  for (const { key, value } of entries) {
    checkKey(compiler, key);
    const constant = key.kind === "literal" ? key.value as string : compiler.simple(key, scope);
    const simple = compiler.simple(value, scope);
    if (constant === undefined || simple === undefined) return undefined;
    parts.push({ key: constant, value: simple });
  }
  return (input: JsonValue, frame: Frame): JsonValue => {
    const object: Record<string, JsonValue> = {};
    frame.machine.charge(32 * parts.length + 56);
    for (const { key, value } of parts) {
      const made = typeof key === "string" ? key : key(input, frame);
      const item = value(input, frame);
      // As in jq, only now: a value that fails, or that there is none of, comes first.
      const name = requireKey(made);
      if (name === "__proto__") setOwn(object, name, item);
      else object[name] = item;
    }
    return object;
  };
}
