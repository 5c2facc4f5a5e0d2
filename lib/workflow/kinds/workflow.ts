/** `workflow`: another workflow file, as one step. */
import { isJsonObject, jsonTypeOf } from "../../base/json.ts";
import { extname } from "../../deps/path.ts";
import type { Expression } from "../definition.ts";
import { expression, filled } from "../schema_parts.ts";
import type { Kind } from "./kind.ts";

/** The fields of a workflow step. */
export interface WorkflowBody {
  /** A path, or a name in `workflows:` of the configuration. */
  readonly reference: string;
  /** Gives the child's inputs. */
  readonly inputs: Expression | undefined;
}

/** See the module. */
export const workflowKind: Kind<WorkflowBody> = {
  name: "workflow",
  schema: filled("A path beside this file, or a name of the configuration"),
  fields: { with: expression("an object with the child's inputs") },
  read: (reader) => ({ reference: reader.filled("workflow") ?? "", inputs: reader.expression("with") }),
  bodies: () => [],
  async run({ reference, inputs }, step) {
    const { scope } = step;
    const child = await scope.file.calls.open(reference, scope);
    const given = inputs === undefined ? {} : await step.evaluate(inputs, "with");
    if (!isJsonObject(given)) throw step.fail(`'with' must produce an object (got ${jsonTypeOf(given)})`);
    return { value: await child.run({ value: step.input, inputs: given }, scope) };
  },
  plan({ reference, inputs }, writer) {
    writer.line(`workflow: ${reference} (not expanded)`);
    if (inputs !== undefined) writer.line(`with: ${inputs.source}`);
  },
  detail: ({ reference }) => [reference],
};

/** Whether a reference is a path; else it is a name. */
export function isWorkflowPath(reference: string): boolean {
  return reference.includes("/") || [".yml", ".yaml"].includes(extname(reference));
}
