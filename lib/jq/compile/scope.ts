/** Names and what they stand for. */
import type { JqNode } from "../ast.ts";
import type { Routine, Simple } from "../machine/frame.ts";

/** The slots of one function's frames, and what was made for parts of the tree as its code. */
export class FunctionScope {
  slots = 0;
  /** Nodes as evaluators; undefined for those that cannot be. */
  readonly simple = new Map<JqNode, Simple | undefined>();
  /** What must be made once, as other code refers to it. */
  readonly made = {
    slots: new Map<object, unknown>(),
    filter: new Map<object, unknown>(),
    definition: new Map<object, unknown>(),
    expansion: new Map<object, unknown>(),
  };
  /** A function that is defined in another one is a level below it. */
  constructor(readonly level: number) {}

  /** A slot for a variable or a temporary value. */
  slot(): number {
    return this.slots++;
  }
}

/** A name and where what it stands for is found. */
export type Binding =
  | { readonly kind: "variable" | "label" | "param"; readonly name: string; readonly slot: number }
  | { readonly kind: "function"; readonly name: string; readonly arity: number; readonly routine: Routine };

/** The names that can be used at a place: a list from the latest. */
export interface Scope {
  /** The function whose code it is. */
  readonly owner: FunctionScope;
  readonly names: NameList | undefined;
}

interface NameList {
  readonly binding: Binding;
  /** The function in whose frame the slot is, or the definition was met. */
  readonly owner: FunctionScope;
  readonly next: NameList | undefined;
}

/** A name that was found. */
export interface Found<B extends Binding = Binding> {
  readonly binding: B;
  /** How many frames outwards it is. */
  readonly up: number;
}

/** The scope with one more name. */
export function withName(scope: Scope, binding: Binding): Scope {
  return { owner: scope.owner, names: { binding, owner: scope.owner, next: scope.names } };
}

/** The scope for the code of a function that is defined here. */
export function innerScope(scope: Scope): Scope {
  return { owner: new FunctionScope(scope.owner.level + 1), names: scope.names };
}

/** The latest binding that is wanted. */
export function find<B extends Binding>(
  scope: Scope,
  wanted: (binding: Binding) => binding is B,
): Found<B> | undefined {
  for (let list = scope.names; list !== undefined; list = list.next) {
    if (wanted(list.binding)) return { binding: list.binding, up: scope.owner.level - list.owner.level };
  }
  return undefined;
}

type Slotted = Extract<Binding, { slot: number }>;

/** The variable of this name. */
export function findVariable(scope: Scope, name: string): Found<Slotted> | undefined {
  return find(scope, (one): one is Slotted => one.kind === "variable" && one.name === name);
}

/** The label of this name. */
export function findLabel(scope: Scope, name: string): Found<Slotted> | undefined {
  return find(scope, (one): one is Slotted => one.kind === "label" && one.name === name);
}

/** The function or the parameter of this name and number of arguments. */
export function findFunction(scope: Scope, name: string, arity: number): Found | undefined {
  return find(
    scope,
    (one): one is Binding =>
      one.name === name &&
      (one.kind === "function" ? one.arity === arity : one.kind === "param" && arity === 0),
  );
}

/** Every name of a kind, for hints. */
export function namesOf(scope: Scope, kinds: readonly Binding["kind"][]): string[] {
  const names: string[] = [];
  for (let list = scope.names; list !== undefined; list = list.next) {
    if (kinds.includes(list.binding.kind)) names.push(list.binding.name);
  }
  return names;
}
