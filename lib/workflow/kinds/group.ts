/** `group`: steps that are one unit. */
import type { Step } from "../definition.ts";
import { steps } from "../schema_parts.ts";
import type { Kind } from "./kind.ts";

/** See the module. */
export const groupKind: Kind<readonly Step[]> = {
  name: "group",
  schema: steps("Run in order, as one unit"),
  fields: {},
  read: (reader) => reader.steps("group"),
  bodies: (body) => [{ title: "group", steps: body, scope: "same" }],
  run: (body, step) => step.steps(body, step.input),
  plan: (body, writer) => writer.steps(undefined, body, { first: true }),
  detail: () => [],
};
