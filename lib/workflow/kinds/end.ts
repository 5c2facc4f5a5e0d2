/** `stop` and `break`: the end of the workflow, and of the loop around. */
import type { Kind } from "./kind.ts";

/** Ends the workflow file with the step's value. */
export const stopKind: Kind<null> = endKind("stop", "ends the workflow");

/** Ends the innermost loop with the step's value. */
export const breakKind: Kind<null> = endKind("break", "ends the innermost loop");

function endKind(name: "stop" | "break", remark: string): Kind<null> {
  return {
    name,
    schema: { const: true, description: remark },
    fields: {},
    ends: true,
    read(reader) {
      if (reader.boolean(name) === false) {
        reader.reading.faults.type(reader.placeOf(name), `${reader.where}: \`${name}\` can only be true`);
      }
      return null;
    },
    bodies: () => [],
    run: (_, step) => ({ value: step.input, flow: name }),
    plan: (_, writer) => writer.line(`(${remark})`),
    detail: () => [],
  };
}
