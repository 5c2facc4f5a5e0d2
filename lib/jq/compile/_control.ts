/** Code for what decides which way to go on. */
import type { JqNode } from "../ast.ts";
import { Resume } from "../machine/frame.ts";
import type { Machine } from "../machine/machine.ts";
import { isTrue } from "../values/kinds.ts";
import { BACKTRACK, type Compiler, type Emitter, type Label, outwards } from "./compiler.ts";
import { findLabel, findVariable, type Scope, withName } from "./scope.ts";

/** One stage behind another. */
export const emitPipe: Emitter<"pipe"> = (compiler, { stages }, scope, paths) => {
  for (const stage of stages) compiler.emit(stage, scope, paths);
};

/** The outputs of one behind those of another. */
export const emitComma: Emitter<"comma"> = (compiler, { items }, scope, paths) => {
  const end: Label = { address: -1 };
  for (const [index, item] of items.entries()) {
    const next: Label = { address: -1 };
    const isLast = index === items.length - 1;
    if (!isLast) compiler.op((machine) => machine.fork(Resume.Jump, next.address));
    compiler.emit(item, scope, paths);
    if (!isLast) compiler.jump(end);
    compiler.mark(next);
  }
  compiler.mark(end);
};

/** Appends code that jumps when the condition is false; the input stays. */
function emitCondition(compiler: Compiler, condition: JqNode, scope: Scope, otherwise: Label): void {
  const simple = compiler.simple(condition, scope);
  if (simple !== undefined) {
    compiler.op((machine) => {
      if (!isTrue(simple(machine.current, machine.frame))) machine.pc = otherwise.address;
    });
    return;
  }
  const input = scope.owner.slot();
  compiler.store(input);
  compiler.emit(condition, scope, false);
  compiler.op((machine) => {
    if (!isTrue(machine.current)) machine.pc = otherwise.address;
    machine.current = machine.frame.slots[input] as typeof machine.current;
  });
}

/** `if` … `then` … `else` … `end`. */
export const emitIf: Emitter<"if"> = (compiler, node, scope, paths) => {
  const end: Label = { address: -1 };
  for (let branch: typeof node | undefined = node; branch !== undefined;) {
    const otherwise: Label = { address: -1 };
    emitCondition(compiler, branch.condition, scope, otherwise);
    compiler.emit(branch.then, scope, paths);
    const next: JqNode | undefined = branch.otherwise;
    if (next !== undefined) compiler.jump(end);
    compiler.mark(otherwise);
    branch = next?.kind === "if" ? next : undefined;
    if (next !== undefined && branch === undefined) compiler.emit(next, scope, paths);
  }
  compiler.mark(end);
};

/** `left and right`, `left or right`. */
export const emitLogic: Emitter<"logic"> = (compiler, { operator, left, right }, scope) => {
  const input = scope.owner.slot();
  const end: Label = { address: -1 };
  const decided = operator === "or";
  compiler.store(input);
  compiler.emit(left, scope, false);
  compiler.op((machine) => {
    if (isTrue(machine.current) === decided) {
      machine.current = decided;
      machine.pc = end.address;
    } else machine.current = machine.frame.slots[input] as typeof machine.current;
  });
  compiler.emit(right, scope, false);
  compiler.op((machine) => {
    machine.current = isTrue(machine.current);
  });
  compiler.mark(end);
};

/** `left // right`. */
export const emitAlternative: Emitter<"alternative"> = (compiler, { left, right }, scope, paths) => {
  const found = scope.owner.slot();
  const otherwise: Label = { address: -1 };
  const end: Label = { address: -1 };
  compiler.op((machine) => {
    machine.frame.slots[found] = false;
    machine.fork(Resume.Jump, otherwise.address);
  });
  compiler.emit(left, scope, paths);
  compiler.op((machine) => {
    if (isTrue(machine.current)) {
      machine.frame.slots[found] = true;
      machine.pc = end.address;
    } else machine.backtrack();
  });
  compiler.mark(otherwise);
  compiler.op((machine) => {
    if (machine.frame.slots[found] === true) machine.backtrack();
  });
  compiler.emit(right, scope, paths);
  compiler.mark(end);
};

/** Catches errors from here on; `slot` keeps where. */
export function enterTry(machine: Machine, slot: number, handler: number): void {
  machine.frame.slots[slot] = machine.forks.length;
  machine.fork(Resume.Try, handler);
}

/** What comes now is not caught any more; going back leads in again. */
export function leaveTry(machine: Machine, slot: number): void {
  const height = machine.frame.slots[slot] as number;
  if (machine.forks.length === height + 1) machine.forks.pop();
  else machine.fork(Resume.TryLeft, -1, undefined, undefined, height);
}

/** `try body catch handler`, `body?`. */
export const emitTry: Emitter<"try"> = (compiler, { body, handler }, scope, paths) => {
  const slot = scope.owner.slot();
  const caught: Label = { address: -1 };
  const end: Label = { address: -1 };
  compiler.op((machine) => enterTry(machine, slot, caught.address));
  compiler.emit(body, scope, paths);
  compiler.op((machine) => {
    leaveTry(machine, slot);
    machine.pc = end.address;
  });
  compiler.mark(caught);
  if (handler === undefined) compiler.op(BACKTRACK);
  else compiler.emit(handler, scope, paths);
  compiler.mark(end);
};

/** `label $name | body`. */
export const emitLabel: Emitter<"label"> = (compiler, { name, body }, scope, paths) => {
  const slot = scope.owner.slot();
  compiler.op((machine) => {
    machine.frame.slots[slot] = machine.forks.length;
  });
  compiler.emit(body, withName(scope, { kind: "label", name, slot }), paths);
};

/** `break $name`. */
export const emitBreak: Emitter<"break"> = (compiler, { name, place }, scope) => {
  const found = findLabel(scope, name);
  if (found === undefined) {
    const hint = findVariable(scope, name) === undefined ? "" : ` ($${name} is a variable, not a label)`;
    return compiler.fail(`$${name} is not a label here${hint}`, place);
  }
  const frameOf = outwards(found.up);
  const { slot } = found.binding;
  compiler.op((machine) => {
    machine.cut(frameOf(machine.frame).slots[slot] as number);
    machine.backtrack();
  });
};
