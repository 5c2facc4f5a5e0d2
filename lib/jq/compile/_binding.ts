/** Code for `as`, `reduce` and `foreach`: outputs that are given names. */
import type { JqPattern } from "../ast.ts";
import { Resume } from "../machine/frame.ts";
import type { Machine } from "../machine/machine.ts";
import { indexKey, indexValue } from "../values/index.ts";
import { Owned } from "../values/paths.ts";
import { enterTry, leaveTry } from "./_control.ts";
import { inPlace } from "./_in_place.ts";
import { checkKey } from "./_terms.ts";
import type { Compiler, Emitter, Label } from "./compiler.ts";
import { withPatterns } from "./_patterns.ts";
import type { Scope } from "./scope.ts";

/** Appends code that takes `current` apart. */
function emitPattern(compiler: Compiler, pattern: JqPattern, scope: Scope, slots: ReadonlyMap<string, number>): void {
  if (pattern.kind === "variable") return compiler.store(slots.get(pattern.name)!);
  const value = scope.owner.slot();
  compiler.store(value);
  if (pattern.kind === "array") {
    for (const [index, item] of pattern.items.entries()) {
      compiler.op((machine) => {
        machine.current = indexValue(machine.frame.slots[value] as typeof machine.current, index, machine.maxDepth);
      });
      emitPattern(compiler, item, scope, slots);
    }
    return;
  }
  for (const { variable, key, pattern: inside } of pattern.entries) {
    const part = (machine: Machine, name: string) => {
      machine.current = indexKey(machine.frame.slots[value] as typeof machine.current, name);
    };
    if (variable !== undefined) {
      compiler.op((machine) => part(machine, variable));
      compiler.store(slots.get(variable)!);
    } else {
      checkKey(compiler, key!);
      compiler.load(value);
      compiler.emit(key!, scope, false);
      compiler.op((machine) => {
        const { current, frame, maxDepth } = machine;
        machine.current = indexValue(frame.slots[value] as typeof current, current, maxDepth);
      });
    }
    if (inside !== undefined) emitPattern(compiler, inside, scope, slots);
  }
}

/** Binds `current`, by the first pattern that does not fail; `emitBody` is given the names. */
function emitPatterns(
  compiler: Compiler,
  patterns: readonly JqPattern[],
  scope: Scope,
  emitBody: (scope: Scope) => void,
): void {
  const { scope: inner, slots } = withPatterns(compiler, scope, patterns);
  if (patterns.length === 1) {
    emitPattern(compiler, patterns[0]!, inner, slots);
    return emitBody(inner);
  }
  const value = scope.owner.slot();
  const tried = scope.owner.slot();
  const body: Label = { address: -1 };
  compiler.store(value);
  for (const [index, pattern] of patterns.entries()) {
    const next: Label = { address: -1 };
    compiler.op((machine) => {
      const { slots: values } = machine.frame;
      for (const slot of slots.values()) values[slot] = null;
      if (index < patterns.length - 1) enterTry(machine, tried, next.address);
      else values[tried] = -1;
      machine.current = values[value] as typeof machine.current;
    });
    emitPattern(compiler, pattern, inner, slots);
    if (index < patterns.length - 1) compiler.jump(body);
    compiler.mark(next);
  }
  compiler.mark(body);
  emitBody(inner);
  compiler.op((machine) => {
    if ((machine.frame.slots[tried] as number) >= 0) leaveTry(machine, tried);
  });
}

/** `source as $name | body`. */
export const emitBind: Emitter<"bind"> = (compiler, node, scope, paths) => {
  const input = scope.owner.slot();
  compiler.store(input);
  compiler.emit(node.source, scope, false);
  emitPatterns(compiler, node.patterns, scope, (inner) => {
    compiler.load(input);
    compiler.emit(node.body, inner, paths);
  });
};

/** `reduce source as $name (start; update)`. */
export const emitReduce: Emitter<"reduce"> = (compiler, node, scope, paths) => {
  const input = scope.owner.slot();
  const state = scope.owner.slot();
  const end: Label = { address: -1 };
  compiler.store(input);
  compiler.emit(node.start, scope, paths);
  const owned = scope.owner.slot();
  compiler.op((machine) => {
    const { slots } = machine.frame;
    slots[state] = machine.current;
    slots[owned] = undefined;
    machine.fork(Resume.Jump, end.address);
    machine.current = slots[input] as typeof machine.current;
  });
  compiler.emit(node.source, scope, paths);
  emitPatterns(compiler, node.patterns, scope, (inner) => {
    const update = paths ? undefined : inPlace(compiler, node.update, inner);
    if (update !== undefined) {
      compiler.op((machine) => {
        const { slots } = machine.frame;
        const before = slots[state] as typeof machine.current;
        const held = slots[owned] as Owned | undefined ?? new Owned();
        slots[owned] = held;
        held.changed = false;
        machine.isChanged = () => held.changed;
        slots[state] = update(before, machine.frame, held);
        machine.isChanged = undefined;
      });
    } else {
      // While an update runs nobody else holds the state, and one without output leaves null, as in jq.
      compiler.op((machine) => {
        const { slots } = machine.frame;
        machine.current = slots[state] as typeof machine.current;
        slots[state] = null;
      });
      compiler.emit(node.update, inner, paths);
      compiler.store(state);
    }
    compiler.op((machine) => machine.backtrack());
  });
  compiler.mark(end);
  compiler.load(state);
};

/** `foreach source as $name (start; update; extract)`. */
export const emitForeach: Emitter<"foreach"> = (compiler, node, scope, paths) => {
  const input = scope.owner.slot();
  const state = scope.owner.slot();
  compiler.store(input);
  compiler.emit(node.start, scope, paths);
  compiler.op((machine) => {
    machine.frame.slots[state] = machine.current;
    machine.current = machine.frame.slots[input] as typeof machine.current;
  });
  compiler.emit(node.source, scope, paths);
  emitPatterns(compiler, node.patterns, scope, (inner) => {
    compiler.op((machine) => {
      const { slots } = machine.frame;
      machine.current = slots[state] as typeof machine.current;
      slots[state] = null;
    });
    compiler.emit(node.update, inner, paths);
    compiler.store(state);
    if (node.extract !== undefined) compiler.emit(node.extract, inner, paths);
  });
};
