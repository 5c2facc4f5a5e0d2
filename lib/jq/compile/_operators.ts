/** What the operators between two values do. */
import type { JsonValue } from "../../base/json.ts";
import type { BinaryOperator, UpdateOperator } from "../ast.ts";
import type { Machine } from "../machine/machine.ts";
import { add, divide, multiply, remainder, subtract } from "../values/arithmetic.ts";
import { compare, equal } from "../values/compare.ts";
import { isTrue } from "../values/kinds.ts";

/** An operator as a function. */
export type Operation = (a: JsonValue, b: JsonValue, machine: Machine) => JsonValue;

/** What each operator does. */
export const OPERATIONS: Readonly<Record<BinaryOperator, Operation>> = {
  "+": (a, b, machine) => typeof a === "number" && typeof b === "number" ? a + b : add(a, b, machine),
  "-": (a, b, machine) => subtract(a, b, machine),
  "*": (a, b, machine) => multiply(a, b, machine),
  "/": (a, b, machine) => divide(a, b, machine),
  "%": (a, b) => remainder(a, b),
  "==": (a, b, machine) => equal(a, b, machine.maxDepth),
  "!=": (a, b, machine) => !equal(a, b, machine.maxDepth),
  "<": (a, b, machine) => compare(a, b, machine.maxDepth) < 0,
  "<=": (a, b, machine) => compare(a, b, machine.maxDepth) <= 0,
  ">": (a, b, machine) => compare(a, b, machine.maxDepth) > 0,
  ">=": (a, b, machine) => compare(a, b, machine.maxDepth) >= 0,
};

/** What an update makes of the old value and the new one; undefined for `|=`, whose right side is a filter. */
export function updateOperation(operator: UpdateOperator): Operation | undefined {
  if (operator === "|=") return undefined;
  if (operator === "=") return (_, value) => value;
  if (operator === "//=") return (before, value) => isTrue(before) ? before : value;
  return OPERATIONS[operator.slice(0, -1) as BinaryOperator];
}
