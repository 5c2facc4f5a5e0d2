/** `group`: steps that are one unit. */
import type { Step } from "../definition.ts";
import type { Kind } from "./kind.ts";

/** See the module. */
export const groupKind: Kind<readonly Step[]> = {
  name: "group",
  fields: [],
  read: (reader) => reader.steps("group"),
  bodies: (steps) => [{ title: "group", steps, scope: "same" }],
  run: (steps, step) => step.steps(steps, step.input),
  plan: (steps, writer) => writer.steps(undefined, steps, { first: true }),
  detail: () => [],
};
