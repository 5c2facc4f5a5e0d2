/** Built-in functions with code of their own: they stop early, make paths, or stand for another expression. */
import type { JsonValue } from "../../base/json.ts";
import type { JqNode, JqNodeData, NodeOf } from "../ast.ts";
import { type Path, Resume } from "../machine/frame.ts";
import type { Machine } from "../machine/machine.ts";
import { getPath } from "../values/paths.ts";
import { fail, isArray, isTrue } from "../values/kinds.ts";
import { MATCHERS } from "../builtins/regex.ts";
import { finishedPath, requirePath, startPaths } from "./_paths.ts";
import { BACKTRACK, type Compiler, type Label } from "./compiler.ts";
import type { Special } from "./contract.ts";
import type { Scope } from "./scope.ts";

type Emit = Extract<Special, { kind: "code" }>["emit"];

const code = (emit: Emit): Special => ({ kind: "code", emit });

/** An expansion, whose parts are at the place of the call. */
const expansion = (
  expand: (args: readonly JqNode[], at: (data: JqNodeData) => JqNode) => JqNode,
): Special => ({
  kind: "expansion",
  expand: ({ args, place }) => expand(args, (data) => ({ ...data, place })),
});

/** Appends code for the arguments that are values, the first one's outputs outermost; `current` is the input again. */
function emitValues(compiler: Compiler, args: readonly JqNode[], scope: Scope): number[] {
  const input = scope.owner.slot();
  compiler.store(input);
  const slots = args.map((arg) => {
    const slot = scope.owner.slot();
    compiler.emitTo(slot, arg, scope);
    compiler.load(input);
    return slot;
  });
  return slots;
}

function requireCount(value: unknown, name: string): number {
  if (typeof value !== "number") return fail(`${name} expects a number`);
  if (value < 0) return fail(`${name} doesn't support negative count`);
  return value;
}

const limit: Emit = (compiler, { args }, scope, paths) => {
  const [count] = emitValues(compiler, args.slice(0, 1), scope) as [number];
  const left = scope.owner.slot();
  const height = scope.owner.slot();
  compiler.op((machine) => {
    const { slots } = machine.frame;
    const wanted = requireCount(slots[count], "limit");
    slots[left] = wanted;
    slots[height] = machine.forks.length;
    if (wanted <= 0) machine.backtrack();
  });
  compiler.emit(args[1]!, scope, paths);
  compiler.op((machine) => {
    const { slots } = machine.frame;
    const rest = (slots[left] as number) - 1;
    slots[left] = rest;
    if (rest <= 0) machine.cut(slots[height] as number);
  });
};

const skip: Emit = (compiler, { args }, scope, paths) => {
  const [count] = emitValues(compiler, args.slice(0, 1), scope) as [number];
  const left = scope.owner.slot();
  compiler.op(({ frame }) => {
    frame.slots[left] = requireCount(frame.slots[count], "skip");
  });
  compiler.emit(args[1]!, scope, paths);
  compiler.op((machine) => {
    const { slots } = machine.frame;
    const rest = slots[left] as number;
    if (rest <= 0) return;
    slots[left] = rest - 1;
    machine.backtrack();
  });
};

/** Appends code that remembers how many forks there are. */
function emitHeight(compiler: Compiler, scope: Scope): number {
  const height = scope.owner.slot();
  compiler.op((machine) => {
    machine.frame.slots[height] = machine.forks.length;
  });
  return height;
}

const first: Emit = (compiler, { args }, scope, paths) => {
  const height = emitHeight(compiler, scope);
  compiler.emit(args[0]!, scope, paths);
  compiler.op((machine) => machine.cut(machine.frame.slots[height] as number));
};

const last: Emit = (compiler, { args }, scope, paths) => {
  const slot = scope.owner.slot();
  const end: Label = { address: -1 };
  compiler.op((machine) => {
    machine.frame.slots[slot] = undefined;
    machine.fork(Resume.Jump, end.address);
  });
  compiler.emit(args[0]!, scope, paths);
  compiler.op((machine) => {
    const { current, path, pathValue } = machine;
    machine.frame.slots[slot] = { current, path, pathValue };
    machine.backtrack();
  });
  compiler.mark(end);
  compiler.op((machine) => {
    const found = machine.frame.slots[slot];
    if (found === undefined) machine.backtrack();
    else Object.assign(machine, found);
  });
};

/** Whether a filter's outputs have what is looked for; stops at the first that has. */
function seek(emitTest: (compiler: Compiler, node: NodeOf<"call">, scope: Scope) => void, found: boolean): Emit {
  return (compiler, node, scope) => {
    const height = emitHeight(compiler, scope);
    const otherwise: Label = { address: -1 };
    const end: Label = { address: -1 };
    compiler.op((machine) => machine.fork(Resume.Jump, otherwise.address));
    emitTest(compiler, node, scope);
    compiler.op((machine) => {
      machine.cut(machine.frame.slots[height] as number);
      machine.current = found;
      machine.pc = end.address;
    });
    compiler.mark(otherwise);
    compiler.op((machine) => {
      machine.current = !found;
    });
    compiler.mark(end);
  };
}

const isTest = (wanted: boolean) => (compiler: Compiler, { args }: NodeOf<"call">, scope: Scope) => {
  compiler.emit(args[0]!, scope, false);
  compiler.emit(args[1]!, scope, false);
  compiler.op((machine) => {
    if (isTrue(machine.current) !== wanted) machine.backtrack();
  });
};

const path: Emit = (compiler, { args }, scope) => {
  const outer = scope.owner.slot();
  compiler.op((machine) => {
    machine.frame.slots[outer] = [machine.path, machine.pathValue];
    startPaths(machine);
  });
  compiler.emit(args[0]!, scope, true);
  compiler.op((machine) => {
    const found = finishedPath(machine);
    machine.charge(16 * found.length + 48);
    machine.current = found;
    [machine.path, machine.pathValue] = machine.frame.slots[outer] as [Path | undefined, JsonValue];
  });
};

const getpath: Emit = (compiler, { args }, scope, paths) => {
  const input = scope.owner.slot();
  const slot = scope.owner.slot();
  compiler.store(input);
  compiler.emitTo(slot, args[0]!, scope);
  compiler.load(input);
  compiler.op((machine) => {
    const keys = machine.frame.slots[slot] as JsonValue;
    if (!isArray(keys)) return fail("Path must be specified as an array");
    if (paths) requirePath(machine, () => "access element of");
    const value = getPath(machine.current, keys, machine.maxDepth);
    if (paths) { for (const key of keys) machine.descend(key, null); }
    machine.current = value;
    if (paths) machine.pathValue = value;
  });
};

/** `range`: `slots` are those of from, to and step. */
function emitRange(compiler: Compiler, args: readonly JqNode[], scope: Scope): void {
  const slots = emitValues(compiler, args, scope);
  compiler.op((machine) => {
    const given = slots.map((slot) => {
      const value = machine.frame.slots[slot];
      return typeof value === "number" ? value : fail("Range bounds must be numeric");
    });
    const [from, to, step] = given.length === 1 ? [0, given[0]!, 1] : [given[0]!, given[1]!, given[2] ?? 1];
    startRange(machine, from, to, step);
  });
}

function startRange(machine: Machine, from: number, to: number, step: number): void {
  const goesOn = (value: number) => step > 0 ? value < to : step < 0 && value > to;
  if (!goesOn(from)) return machine.backtrack();
  if (goesOn(from + step)) {
    machine.fork(Resume.Range, machine.pc, undefined, undefined, from + step, to, step);
  }
  machine.current = from;
}

/** A function whose outputs come from a source in TypeScript. */
function pulled(open: (input: JsonValue, ...args: JsonValue[]) => Iterator<JsonValue>): Special {
  return code((compiler, { args }, scope) => {
    const slots = emitValues(compiler, args, scope);
    compiler.op((machine) => {
      machine.pull(open(machine.current, ...slots.map((slot) => machine.frame.slots[slot] as JsonValue)));
    });
  });
}

const range = code((compiler, { args }, scope) => emitRange(compiler, args, scope));

/** A call of a built-in function, whatever else has its name. */
const call = (name: string, ...args: JqNode[]): JqNodeData => ({ kind: "call", name: `!${name}`, args });

/** By name and number of arguments. */
export const SPECIALS: ReadonlyMap<string, Special> = new Map<string, Special>([
  ["empty/0", code((compiler) => compiler.op(BACKTRACK))],
  ["limit/2", code(limit)],
  ["skip/2", code(skip)],
  ["first/1", code(first)],
  ["last/1", code(last)],
  ["isempty/1", code(seek((compiler, { args }, scope) => compiler.emit(args[0]!, scope, false), false))],
  ["any/2", code(seek(isTest(true), true))],
  ["all/2", code(seek(isTest(false), false))],
  ["path/1", code(path)],
  ["getpath/1", code(getpath)],
  ...[...MATCHERS].map(([key, open]) => [key, pulled(open as (input: JsonValue) => Iterator<JsonValue>)] as const),
  ["range/1", range],
  ["range/2", range],
  ["range/3", range],
  ["recurse/0", expansion((_, at) => at({ kind: "recurse" }))],
  [
    "select/1",
    expansion(([condition], at) =>
      at({ kind: "if", condition: condition!, then: at({ kind: "identity" }), otherwise: at(call("empty")) })
    ),
  ],
  [
    "map/1",
    expansion(([body], at) => {
      const each = at({ kind: "iterate", target: at({ kind: "identity" }) });
      return at({ kind: "array", body: at({ kind: "pipe", stages: [each, body!] }) });
    }),
  ],
  [
    "map_values/1",
    expansion(([value], at) => {
      const target = at({ kind: "iterate", target: at({ kind: "identity" }) });
      return at({ kind: "update", operator: "|=", target, value: value! });
    }),
  ],
  [
    "any/1",
    expansion(([test], at) => at(call("any", at({ kind: "iterate", target: at({ kind: "identity" }) }), test!))),
  ],
  [
    "all/1",
    expansion(([test], at) => at(call("all", at({ kind: "iterate", target: at({ kind: "identity" }) }), test!))),
  ],
  [
    "add/1",
    expansion(([body], at) => at({ kind: "pipe", stages: [at({ kind: "array", body: body! }), at(call("add"))] })),
  ],
  ["del/1", expansion(([paths], at) => at(call("delpaths", at({ kind: "array", body: at(call("path", paths!)) }))))],
]);

/** What reads on, where that is allowed. */
export const INPUTS: ReadonlyMap<string, Special> = new Map<string, Special>([
  [
    "input/0",
    code((compiler) =>
      compiler.op((machine) => {
        const taken = machine.takeInput();
        if (taken === null) fail("No more inputs");
        if (taken !== undefined) machine.current = taken.value;
      })
    ),
  ],
  [
    "inputs/0",
    code((compiler) => {
      const address = compiler.code.length;
      compiler.op((machine) => {
        const taken = machine.takeInput();
        if (taken === null) return machine.backtrack();
        if (taken === undefined) return;
        machine.fork(Resume.Jump, address);
        machine.current = taken.value;
      });
    }),
  ],
]);
