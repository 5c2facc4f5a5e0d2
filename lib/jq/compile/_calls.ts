/** Code for names: variables, functions, and what they are given. */
import type { JsonValue } from "../../base/json.ts";
import type { JqNode, NodeOf } from "../ast.ts";
import { didYouMean } from "../../base/nearest.ts";
import { Closure, type Frame, type Simple } from "../machine/frame.ts";
import { type Compiler, type Emitter, outwards, RETURN } from "./compiler.ts";
import type { Native } from "./contract.ts";
import { findFunction, findVariable, namesOf, type Scope } from "./scope.ts";

/** A variable's value. */
export function variable(compiler: Compiler, { name, place }: NodeOf<"variable">, scope: Scope): Simple {
  const found = findVariable(scope, name);
  if (found === undefined) {
    if (name === "ENV") return compiler.fail("$ENV is not available: expressions do not see the environment", place);
    const hint = didYouMean(`$${name}`, namesOf(scope, ["variable"]).map((known) => `$${known}`));
    return compiler.fail(`$${name} is not defined${hint === undefined ? "" : `: ${hint}`}`, place);
  }
  const { slot } = found.binding;
  if (found.up === 0) return (_, frame) => frame.slots[slot] as JsonValue;
  if (found.up === 1) return (_, frame) => frame.outer!.slots[slot] as JsonValue;
  const frameOf = outwards(found.up);
  return (_, frame) => frameOf(frame).slots[slot] as JsonValue;
}

/** A definition, and what it is for. */
export const emitDefine: Emitter<"define"> = (compiler, node, scope, paths) => {
  let inner = scope;
  let body: JqNode = node;
  for (; body.kind === "define"; body = body.body) inner = compiler.define(body.definition, inner).scope;
  compiler.emit(body, inner, paths);
};

/** A call, to whatever the name stands for here. */
export const emitCall: Emitter<"call"> = (compiler, node, scope, paths) => {
  const { name, args } = node;
  const key = builtinKey(node);
  const found = findFunction(scope, name, args.length);
  if (found !== undefined) {
    const frameOf = outwards(found.up);
    const { binding } = found;
    if (binding.kind !== "function") {
      compiler.op((machine) => {
        const { routine, frame, simple } = frameOf(machine.frame).slots[(binding as { slot: number }).slot] as Closure;
        if (simple !== undefined && !paths) machine.current = simple(machine.current, frame);
        else machine.call(routine, paths, frame, machine.code[machine.pc] === RETURN);
      });
      return;
    }
    const filters = args.map((arg) => filterOf(compiler, arg, scope));
    compiler.op((machine) => {
      const caller = machine.frame;
      const tail = machine.code[machine.pc] === RETURN;
      const called = machine.call(binding.routine, paths, frameOf(caller), tail);
      for (let index = 0; index < filters.length; index++) called.slots[index] = filters[index]!(caller);
    });
    return;
  }
  const special = compiler.language.specials.get(key);
  if (special?.kind === "code") return special.emit(compiler, node, scope, paths);
  if (special !== undefined) {
    return compiler.emit(compiler.once("expansion", node, scope, () => special.expand(node)), scope, paths);
  }
  const native = compiler.language.natives.get(key);
  if (native !== undefined) return emitNative(compiler, native, args, scope);
  const routine = compiler.preludeRoutine(key);
  if (routine === undefined) return refuse(compiler, node, scope);
  const filters = args.map((arg) => filterOf(compiler, arg, scope));
  compiler.op((machine) => {
    const caller = machine.frame;
    const called = machine.call(routine, paths, undefined, machine.code[machine.pc] === RETURN);
    for (let index = 0; index < filters.length; index++) called.slots[index] = filters[index]!(caller);
  });
};

/** Makes a filter's closure at run time; one that was given to the caller is handed on, so that chains do not grow. */
function filterOf(compiler: Compiler, arg: JqNode, scope: Scope): (frame: Frame) => Closure {
  if (arg.kind === "call" && arg.args.length === 0) {
    const found = findFunction(scope, arg.name, 0);
    if (found !== undefined && found.binding.kind !== "function") {
      const { slot } = found.binding;
      const frameOf = outwards(found.up);
      return (frame) => frameOf(frame).slots[slot] as Closure;
    }
  }
  const routine = compiler.filter(arg, scope);
  const simple = compiler.simple(arg, scope);
  return (frame) => new Closure(routine, frame, simple);
}

/** A function of values: the outputs of the last argument are outermost. */
function emitNative(compiler: Compiler, native: Native, args: readonly JqNode[], scope: Scope): void {
  const input = scope.owner.slot();
  const slots = args.map(() => scope.owner.slot());
  compiler.store(input);
  for (let index = args.length - 1; index >= 0; index--) {
    compiler.load(input);
    compiler.emitTo(slots[index]!, args[index]!, scope);
  }
  compiler.op((machine) => {
    const values = machine.frame.slots;
    machine.current = native(
      machine,
      values[input] as JsonValue,
      ...slots.map((slot) => values[slot] as JsonValue),
    );
  });
}

/** A call as an evaluator: of a function of values, or of what stands for an expression. */
export function simplifyCall(compiler: Compiler, node: NodeOf<"call">, scope: Scope): Simple | undefined {
  const { name, args } = node;
  const key = builtinKey(node);
  if (findFunction(scope, name, args.length) !== undefined) return undefined;
  const special = compiler.language.specials.get(key);
  if (special?.kind === "expansion") {
    return compiler.simple(compiler.once("expansion", node, scope, () => special.expand(node)), scope);
  }
  const native = compiler.language.natives.get(key);
  if (native === undefined) return undefined;
  const given: Simple[] = [];
  for (const arg of args) {
    const simple = compiler.simple(arg, scope);
    if (simple === undefined) return undefined;
    given.push(simple);
  }
  const [first, second] = given;
  if (first === undefined) return (input, frame) => native(frame.machine, input);
  if (second === undefined) return (input, frame) => native(frame.machine, input, first(input, frame));
  return (input, frame) => native(frame.machine, input, ...given.map((arg) => arg(input, frame)));
}

/** Name and number of arguments; a name with `!` in front is a built-in function's, whatever is defined here. */
function builtinKey({ name, args }: NodeOf<"call">): string {
  return `${name.replace("!", "")}/${args.length}`;
}

function refuse(compiler: Compiler, { name, args, place }: NodeOf<"call">, scope: Scope): never {
  const key = `${name}/${args.length}`;
  const reason = compiler.language.refused.get(name);
  if (reason !== undefined) return compiler.fail(`${name} is not available: ${reason}`, place);
  const known = [...namesOf(scope, ["function", "param"]), ...compiler.language.names.map((one) => one.split("/")[0]!)];
  if (known.includes(name)) {
    const arities = compiler.language.names.filter((one) => one.startsWith(`${name}/`));
    return compiler.fail(
      `${key} is not defined${
        arities.length === 0 ? ": it takes another number of arguments" : `, but ${arities.join(" and ")} is`
      }`,
      place,
    );
  }
  const hint = didYouMean(name, known);
  return compiler.fail(`${key} is not defined${hint === undefined ? "" : `: ${hint}`}`, place);
}
