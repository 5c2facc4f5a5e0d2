/** All of the language, put together for the compiler. */
import { NATIVES } from "../builtins/natives.ts";
import { preludeDefinition, preludeKeys } from "../builtins/prelude.ts";
import { REFUSED } from "../builtins/refused.ts";
import { emitBind, emitForeach, emitReduce } from "./_binding.ts";
import { emitCall, emitDefine } from "./_calls.ts";
import { emitAlternative, emitBreak, emitComma, emitIf, emitLabel, emitLogic, emitPipe, emitTry } from "./_control.ts";
import { OPERATIONS } from "./_operators.ts";
import { SIMPLIFIERS } from "./_simplify.ts";
import { INPUTS, SPECIALS } from "./_specials.ts";
import { emitArray, emitIndex, emitIterate, emitObject, emitRecurse, emitSlice, emitString } from "./_terms.ts";
import { emitUpdate } from "./_updates.ts";
import type { Compiler, Language } from "./compiler.ts";
import type { Special } from "./contract.ts";
import type { JqNode } from "../ast.ts";
import type { JsonValue } from "../../base/json.ts";
import { negate } from "../values/arithmetic.ts";
import type { Scope } from "./scope.ts";

/** What has one output whatever the mode: a computed value, which the path does not point at. */
function emitValue(compiler: Compiler, node: JqNode, scope: Scope): void {
  const simple = compiler.simple(node, scope);
  if (simple === undefined) throw new Error(`no code for ${node.kind}`);
  compiler.op((machine) => {
    machine.current = simple(machine.current, machine.frame);
  });
}

const NAMES = [...SPECIALS.keys(), ...NATIVES.keys(), ...preludeKeys(), "builtins/0"]
  .filter((name) => !name.startsWith("_")).sort();

const BUILTINS: Special = {
  kind: "expansion",
  expand: ({ place }) => ({ kind: "literal", value: NAMES, place }),
};

/** The language. */
export const LANGUAGE: Language = {
  emitters: {
    identity: () => {},
    recurse: emitRecurse,
    literal: emitValue,
    location: emitValue,
    variable: emitValue,
    format: emitValue,
    string: asValue(emitString),
    index: emitIndex,
    slice: emitSlice,
    iterate: emitIterate,
    call: emitCall,
    array: asValue(emitArray),
    object: asValue(emitObject),
    negate: (compiler, { operand }, scope) => {
      compiler.emit(operand, scope, false);
      compiler.op((machine) => {
        machine.current = negate(machine.current);
      });
    },
    binary: asValue((compiler, { operator, left, right }, scope) => {
      const input = scope.owner.slot();
      const slot = scope.owner.slot();
      const operation = OPERATIONS[operator];
      compiler.store(input);
      compiler.emitTo(slot, right, scope);
      compiler.load(input);
      compiler.emit(left, scope, false);
      compiler.op((machine) => {
        machine.current = operation(machine.current, machine.frame.slots[slot] as JsonValue, machine);
      });
    }),
    logic: asValue(emitLogic),
    alternative: emitAlternative,
    update: asValue(emitUpdate),
    pipe: emitPipe,
    comma: emitComma,
    if: emitIf,
    try: emitTry,
    reduce: emitReduce,
    foreach: emitForeach,
    bind: emitBind,
    label: emitLabel,
    break: emitBreak,
    define: emitDefine,
  },
  simplifiers: SIMPLIFIERS,
  specials: new Map([...SPECIALS, ["builtins/0", BUILTINS]]),
  natives: NATIVES,
  prelude: preludeDefinition,
  refused: REFUSED,
  names: NAMES,
};

/** The language of a command, whose expressions may read on. */
export const LANGUAGE_WITH_INPUTS: Language = {
  ...LANGUAGE,
  specials: new Map([...LANGUAGE.specials, ...INPUTS]),
  names: [...NAMES, ...INPUTS.keys()].sort(),
};

/** Makes the value without its path, by its evaluator where it has one. */
function asValue<N extends JqNode>(
  emitter: (compiler: Compiler, node: N, scope: Scope, paths: boolean) => void,
): (compiler: Compiler, node: N, scope: Scope, paths: boolean) => void {
  return (compiler, node, scope, paths) => {
    if (paths) compiler.emit(node, scope, false);
    else emitter(compiler, node, scope, false);
  };
}
