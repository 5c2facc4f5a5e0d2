/** What the operators between two values do. */
import type { JsonValue } from "../../base/json.ts";
import type { BinaryOperator, UpdateOperator } from "../ast.ts";
import type { Machine } from "../machine/machine.ts";
import { add, divide, multiply, remainder, subtract } from "../values/arithmetic.ts";
import { compare, comparing, equating } from "../values/compare.ts";
import { isTrue } from "../values/kinds.ts";

/** An operator as a function. */
export type Operation = (a: JsonValue, b: JsonValue, machine: Machine) => JsonValue;

function same(a: JsonValue, b: JsonValue, machine: Machine): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    if (typeof a === "string") machine.toil(a.length / 16);
    return a === b;
  }
  return machine.perform(equating(a, b, machine.maxDepth));
}

function order(a: JsonValue, b: JsonValue, machine: Machine): number {
  if (typeof a !== "object" || typeof b !== "object") {
    if (typeof a === "string") machine.toil(a.length);
    return compare(a, b, machine.maxDepth);
  }
  return machine.perform(comparing(a, b, machine.maxDepth));
}

/** What each operator does. */
export const OPERATIONS: Readonly<Record<BinaryOperator, Operation>> = {
  "+": (a, b, machine) => typeof a === "number" && typeof b === "number" ? a + b : add(a, b, machine),
  "-": (a, b, machine) => subtract(a, b, machine),
  "*": (a, b, machine) => multiply(a, b, machine),
  "/": (a, b, machine) => divide(a, b, machine),
  "%": (a, b) => remainder(a, b),
  "==": (a, b, machine) => same(a, b, machine),
  "!=": (a, b, machine) => !same(a, b, machine),
  "<": (a, b, machine) => order(a, b, machine) < 0,
  "<=": (a, b, machine) => order(a, b, machine) <= 0,
  ">": (a, b, machine) => order(a, b, machine) > 0,
  ">=": (a, b, machine) => order(a, b, machine) >= 0,
};

/** What an update makes of the old value and the new one; undefined for `|=`, whose right side is a filter. */
export function updateOperation(operator: UpdateOperator): Operation | undefined {
  if (operator === "|=") return undefined;
  if (operator === "=") return (_, value) => value;
  if (operator === "//=") return (before, value) => isTrue(before) ? before : value;
  return OPERATIONS[operator.slice(0, -1) as BinaryOperator];
}
