/** Trees to code. */
import type { JqDefinition, JqNode, JqNodeData } from "../ast.ts";
import { JqCompileError, type JqPlace } from "../errors.ts";
import type { Frame, Routine, Simple } from "../machine/frame.ts";
import { type Op, State } from "../machine/machine.ts";
import type { Native, Special } from "./contract.ts";
import { FunctionScope, innerScope, type Scope, withName } from "./scope.ts";

/** Makes code for a kind of node. */
export type Emitter<K extends JqNodeData["kind"]> = (
  compiler: Compiler,
  node: Extract<JqNode, { kind: K }>,
  scope: Scope,
  paths: boolean,
) => void;

/** Makes an evaluator for a kind of node, where it can have only one output. */
export type Simplifier<K extends JqNodeData["kind"]> = (
  compiler: Compiler,
  node: Extract<JqNode, { kind: K }>,
  scope: Scope,
) => Simple | undefined;

/** What the compiler knows of the language. */
export interface Language {
  readonly emitters: { readonly [K in JqNodeData["kind"]]: Emitter<K> };
  readonly simplifiers: { readonly [K in JqNodeData["kind"]]?: Simplifier<K> };
  /** By name and number of arguments: `range/2`. */
  readonly specials: ReadonlyMap<string, Special>;
  readonly natives: ReadonlyMap<string, Native>;
  /** The definition of a function that is written in jq. */
  prelude(key: string): JqDefinition | undefined;
  /** Why a function of jq is not here. */
  readonly refused: ReadonlyMap<string, string>;
  /** Names of all built-in functions, for hints: `range/2`. */
  readonly names: readonly string[];
}

/** Goes back to the caller. One object, so that a call can see that nothing follows it. */
export const RETURN: Op = (machine) => {
  machine.pc = machine.frame.back;
  machine.frame = machine.frame.caller!;
};

/** Goes on at the latest fork. */
export const BACKTRACK: Op = (machine) => machine.backtrack();

const OUTPUT: Op = (machine) => {
  machine.state = State.Output;
};

/** An address that is not known yet. */
export interface Label {
  address: number;
}

/** Makes the code of one program. */
export class Compiler {
  readonly code: Op[] = [];
  readonly language: Language;
  readonly #preludes = new Map<string, Routine>();
  /** Functions whose code is not made yet. */
  #pending: Routine[] = [];
  /** Whether functions are for the program's own code, which is all made at once to tell its faults. */
  #eager = true;
  #jumps: { readonly at: number; readonly label: Label }[] = [];

  /** Starts without code. */
  constructor(language: Language) {
    this.language = language;
  }

  /** Makes the code of the program, and of every function in it. */
  program(node: JqNode, scope: Scope): number {
    const start = this.code.length;
    this.emit(node, scope, false);
    this.op(OUTPUT);
    this.op(BACKTRACK);
    this.#resolveJumps();
    // Faults are told at once, also those in functions that nobody calls.
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) next.entry(false);
    this.#eager = false;
    return start;
  }

  /** Appends an operation. */
  op(op: Op): void {
    this.code.push(op);
  }

  /** Where the next operation goes. */
  mark(label: Label): void {
    label.address = this.code.length;
  }

  /** Appends a jump. */
  jump(label: Label): void {
    this.#jumps.push({ at: this.code.length, label });
    this.code.push((machine) => {
      machine.pc = label.address;
    });
  }

  /** A jump to a return is a return, so that calls before it are in tail position. */
  #resolveJumps(): void {
    for (const { at, label } of this.#jumps) if (this.code[label.address] === RETURN) this.code[at] = RETURN;
    this.#jumps = [];
  }

  /** Appends the code of a node: it takes `current`, and leaves each output there. */
  emit(node: JqNode, scope: Scope, paths: boolean): void {
    const simple = paths ? undefined : this.simple(node, scope);
    if (simple !== undefined) {
      if (node.kind === "identity") return;
      this.op((machine) => {
        machine.current = simple(machine.current, machine.frame);
      });
      return;
    }
    const emitter = this.language.emitters[node.kind] as Emitter<JqNodeData["kind"]>;
    emitter(this, node, scope, paths);
  }

  /** Appends code that leaves the node's output in a slot, and in `current`. */
  emitTo(slot: number, node: JqNode, scope: Scope): void {
    this.emit(node, scope, false);
    this.store(slot);
  }

  /** Puts `current` into a slot. */
  store(slot: number): void {
    this.op((machine) => {
      machine.frame.slots[slot] = machine.current;
    });
  }

  /** Gets `current` from a slot. */
  load(slot: number): void {
    this.op((machine) => {
      machine.current = machine.frame.slots[slot] as typeof machine.current;
    });
  }

  /** The node as an evaluator, where it can have only one output. */
  simple(node: JqNode, scope: Scope): Simple | undefined {
    const known = scope.owner.simple;
    if (known.has(node)) return known.get(node);
    const simplifier = this.language.simplifiers[node.kind] as Simplifier<JqNodeData["kind"]> | undefined;
    const simple = simplifier?.(this, node, scope);
    known.set(node, simple);
    return simple;
  }

  /** What belongs to a part of the tree and must be made once, as other code refers to it: slots, functions. */
  once<T>(what: keyof FunctionScope["made"], part: object, { owner }: Scope, make: () => T): T {
    const made = owner.made[what];
    if (!made.has(part)) made.set(part, make());
    return made.get(part) as T;
  }

  /** A filter that is given to a function. */
  filter(node: JqNode, scope: Scope): Routine {
    const isKnownGood = this.simple(node, scope) !== undefined;
    return this.once("filter", node, scope, () => {
      const inner = innerScope(scope);
      return this.#routine(inner.owner, (paths) => this.emit(node, inner, paths), isKnownGood);
    });
  }

  /** A function that is defined here. */
  define(definition: JqDefinition, scope: Scope): { routine: Routine; scope: Scope } {
    const { name, params } = definition;
    const routine = this.once("definition", definition, scope, (): Routine => {
      const inner = innerScope(scope);
      const made = this.#routine(inner.owner, (paths) => this.#emitBody(definition, own, input, paths));
      const outside = withName(scope, { kind: "function", name, arity: params.length, routine: made });
      let own: Scope = { owner: inner.owner, names: outside.names };
      for (const param of params) {
        own = withName(own, { kind: "param", name: param.replace("$", ""), slot: inner.owner.slot() });
      }
      const input = inner.owner.slot();
      return made;
    });
    return { routine, scope: withName(scope, { kind: "function", name, arity: params.length, routine }) };
  }

  /** A built-in function that is written in jq. */
  preludeRoutine(key: string): Routine | undefined {
    const known = this.#preludes.get(key);
    if (known !== undefined) return known;
    const definition = this.language.prelude(key);
    if (definition === undefined) return undefined;
    const before = this.#eager;
    this.#eager = false;
    const { routine } = this.define(definition, { owner: new FunctionScope(0), names: undefined });
    this.#eager = before;
    this.#preludes.set(key, routine);
    return routine;
  }

  /** Values of `$name` parameters are made first, the first one's outermost. */
  #emitBody({ params, body, place }: JqDefinition, scope: Scope, input: number, paths: boolean): void {
    let inner = scope;
    const values = params.filter((param) => param.startsWith("$"));
    if (values.length > 0) this.store(input);
    const slots = this.once("slots", params, scope, () => values.map(() => scope.owner.slot()));
    for (const [index, param] of values.entries()) {
      const name = param.slice(1);
      this.emit({ kind: "call", name, args: [], place }, scope, false);
      this.store(slots[index]!);
      this.load(input);
      inner = withName(inner, { kind: "variable", name, slot: slots[index]! });
    }
    this.emit(body, inner, paths);
  }

  #routine(owner: FunctionScope, emitBody: (paths: boolean) => void, isKnownGood = false): Routine {
    const entries: [values: number, paths: number] = [-1, -1];
    const entry = (paths: boolean): number => {
      const version = paths ? 1 : 0;
      if (entries[version] >= 0) return entries[version];
      // Never while other code is being made, so it can go behind what there is.
      const start = entries[version] = this.code.length;
      emitBody(paths);
      this.op(RETURN);
      this.#resolveJumps();
      return start;
    };
    const routine: Routine = {
      entry,
      get slots() {
        return owner.slots;
      },
    };
    if (this.#eager && !isKnownGood) this.#pending.push(routine);
    return routine;
  }

  /** Refuses the program. */
  fail(message: string, place: JqPlace): never {
    throw new JqCompileError(message, place);
  }
}

/** Gets a frame that is some levels outwards. */
export function outwards(up: number): (frame: Frame) => Frame {
  if (up === 0) return (frame) => frame;
  if (up === 1) return (frame) => frame.outer!;
  return (frame) => {
    let found = frame;
    for (let left = up; left > 0; left--) found = found.outer!;
    return found;
  };
}
