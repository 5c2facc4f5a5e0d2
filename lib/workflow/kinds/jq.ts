/** `jq`: an expression over the step's input. */
import type { Expression } from "../definition.ts";
import { expression as expressionSchema } from "../schema_parts.ts";
import type { Kind } from "./kind.ts";

/** See the module. */
export const jqKind: Kind<Expression | undefined> = {
  name: "jq",
  schema: expressionSchema("the value"),
  fields: {},
  read: (reader) => reader.expression("jq"),
  bodies: () => [],
  run: async (expression, step) => ({ value: await step.evaluate(expression!, "jq") }),
  plan: (expression, writer) => writer.line(`jq: ${expression!.source}`),
  detail: (expression) => [expression!.source],
};
