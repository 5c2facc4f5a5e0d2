/** Code for `=`, `|=`, `+=` and their like. */
import type { JsonValue } from "../../base/json.ts";
import type { JqNode } from "../ast.ts";
import { type Frame, Resume, type Simple } from "../machine/frame.ts";
import type { Machine } from "../machine/machine.ts";
import { deletePaths } from "../values/delete.ts";
import { getPath, Owned, setPath } from "../values/paths.ts";
import { updateOperation } from "./_operators.ts";
import { finishedPath, startPaths } from "./_paths.ts";
import type { Compiler, Emitter, Label, Simplifier } from "./compiler.ts";
import type { Scope } from "./scope.ts";

/** What an update has made so far. */
interface Draft {
  value: JsonValue;
  readonly owned: Owned;
  /** Where `|=` had no output. */
  readonly deleted: JsonValue[];
  /** The path that is being updated, and how many forks there were before. */
  path: JsonValue[];
  height: number;
}

/** An update: its paths are those of the input, however it changes on the way. */
export const emitUpdate: Emitter<"update"> = (compiler, { operator, target, value }, scope) => {
  const input = scope.owner.slot();
  const right = scope.owner.slot();
  const slot = scope.owner.slot();
  const end: Label = { address: -1 };
  const operation = updateOperation(operator);
  compiler.store(input);
  if (operation !== undefined) {
    compiler.emitTo(right, value, scope);
    compiler.load(input);
  }
  compiler.op((machine) => {
    const draft: Draft = { value: machine.current, owned: new Owned(), deleted: [], path: [], height: 0 };
    machine.frame.slots[slot] = draft;
    machine.fork(Resume.Jump, end.address);
    startPaths(machine);
  });
  compiler.emit(target, scope, true);
  const draftOf = (machine: Machine) => machine.frame.slots[slot] as Draft;
  if (operation !== undefined) {
    compiler.op((machine) => {
      const draft = draftOf(machine);
      const path = finishedPath(machine);
      const before = operator === "=" ? null : getPath(draft.value, path, machine.maxDepth);
      const after = operation(before, machine.frame.slots[right] as JsonValue, machine);
      draft.value = setPath(draft.value, path, after, draft.owned, machine);
      machine.backtrack();
    });
  } else emitModify(compiler, value, scope, draftOf);
  compiler.mark(end);
  compiler.op((machine) => {
    const { value, deleted } = draftOf(machine);
    machine.current = deleted.length === 0 ? value : deletePaths(value, deleted, machine);
  });
};

/** `|=`: the first output counts; where there is none, what the path points at is deleted in the end. */
function emitModify(compiler: Compiler, value: JqNode, scope: Scope, draftOf: (machine: Machine) => Draft): void {
  const none: Label = { address: -1 };
  const simple = compiler.simple(value, scope);
  compiler.op((machine) => {
    const draft = draftOf(machine);
    draft.path = finishedPath(machine);
    const before = getPath(draft.value, draft.path, machine.maxDepth);
    draft.owned.release(before);
    if (simple === undefined) {
      draft.height = machine.forks.length;
      machine.fork(Resume.Jump, none.address);
      machine.current = before;
      return;
    }
    const after = simple(before, machine.frame);
    draft.value = setPath(draft.value, draft.path, after, draft.owned, machine);
    machine.backtrack();
  });
  if (simple !== undefined) return;
  compiler.emit(value, scope, false);
  compiler.op((machine) => {
    const draft = draftOf(machine);
    machine.cut(draft.height);
    draft.value = setPath(draft.value, draft.path, machine.current, draft.owned, machine);
    machine.backtrack();
  });
  compiler.mark(none);
  compiler.op((machine) => {
    const draft = draftOf(machine);
    machine.charge(16);
    draft.deleted.push(draft.path);
    machine.backtrack();
  });
}

/** The keys of a path such as `.a[.b]["c"]`, where each can have only one value. */
export function simplePath(compiler: Compiler, node: JqNode, scope: Scope): Simple[] | undefined {
  const keys: Simple[] = [];
  let target = node;
  for (; target.kind === "index"; target = target.target) {
    if (target.optional === true) return undefined;
    const key = compiler.simple(target.key, scope);
    if (key === undefined) return undefined;
    keys.push(key);
  }
  return target.kind === "identity" ? keys.toReversed() : undefined;
}

/** An update of one path with one value. */
export const simplifyUpdate: Simplifier<"update"> = (compiler, { operator, target, value }, scope) => {
  const keys = simplePath(compiler, target, scope);
  const right = compiler.simple(value, scope);
  if (keys === undefined || right === undefined) return undefined;
  const operation = updateOperation(operator);
  return (input: JsonValue, frame: Frame) => {
    const { machine } = frame;
    const given = operation === undefined ? null : right(input, frame);
    const path = keys.map((key) => key(input, frame));
    // Also for `=`: a path that cannot be followed is an error before anything else.
    const before = getPath(input, path, machine.maxDepth);
    const after = operation === undefined ? right(before, frame) : operation(before, given, machine);
    return setPath(input, path, after, new Owned(), machine);
  };
};
