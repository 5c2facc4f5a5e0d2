/** What built-in functions look like to the compiler. */
import type { JsonValue } from "../../base/json.ts";
import type { JqNode, NodeOf } from "../ast.ts";
import type { Machine } from "../machine/machine.ts";
import type { Compiler } from "./compiler.ts";
import type { Scope } from "./scope.ts";

/** A function of values: one output for an input and for each combination of arguments. */
export type Native = (machine: Machine, input: JsonValue, ...args: JsonValue[]) => JsonValue;

/** A function that has code of its own, or stands for another expression. */
export type Special =
  | {
    readonly kind: "code";
    emit(compiler: Compiler, node: NodeOf<"call">, scope: Scope, paths: boolean): void;
  }
  | { readonly kind: "expansion"; expand(node: NodeOf<"call">): JqNode };
