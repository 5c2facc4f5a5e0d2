/** Operations on the path that goes with the value while paths are made. */
import type { JsonValue } from "../../base/json.ts";
import type { Path } from "../machine/frame.ts";
import type { Machine } from "../machine/machine.ts";
import { quote, Raised } from "../values/kinds.ts";

/** Whether `current` is what the path points at, not something that was computed. */
function isIntact(machine: Machine): boolean {
  return Object.is(machine.current, machine.pathValue);
}

/** Refuses to go on from a computed value. */
export function requirePath(machine: Machine, attempt: () => string): void {
  if (!isIntact(machine)) {
    throw new Raised(`Invalid path expression near attempt to ${attempt()} ${quote(machine.current)}`);
  }
}

/** The path as an array; refuses a computed value. */
export function finishedPath(machine: Machine): JsonValue[] {
  if (!isIntact(machine)) throw new Raised(`Invalid path expression with result ${quote(machine.current)}`);
  return pathArray(machine.path);
}

/** A path as jq shows it. */
export function pathArray(path: Path | undefined): JsonValue[] {
  const keys: JsonValue[] = new Array(path?.length ?? 0);
  for (let step = path; step !== undefined; step = step.up) keys[step.length - 1] = step.key;
  return keys;
}

/** Starts making paths at the current value. */
export function startPaths(machine: Machine): void {
  machine.path = undefined;
  machine.pathValue = machine.current;
}
