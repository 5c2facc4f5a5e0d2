/** `parallel`: branches that run at once. */
import { type JsonValue, setOwn } from "../../base/json.ts";
import { runTogether } from "../../base/together.ts";
import type { Step } from "../definition.ts";
import { NAME } from "../read/fields.ts";
import { NAME_PATTERN, steps as stepsSchema } from "../schema_parts.ts";
import type { Kind } from "./kind.ts";

interface Branch {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** See the module. */
export const parallelKind: Kind<readonly Branch[]> = {
  name: "parallel",
  schema: {
    type: "object",
    minProperties: 1,
    propertyNames: { pattern: NAME_PATTERN },
    additionalProperties: stepsSchema("A branch"),
    description: "Branches by their names, all at once",
  },
  fields: {},
  read(reader) {
    const { faults } = reader.reading;
    const node = reader.map("parallel");
    if (node?.entries.length === 0) faults.type(node.place, `${reader.where}: \`parallel\` must hold a branch`);
    return (node?.entries ?? []).map(({ key: name, keyPlace, value }) => {
      if (!NAME.test(name)) {
        faults.add("name", keyPlace, `${reader.where}: a branch's name must be letters, digits, \`_\` and \`-\``);
      }
      return { name, steps: reader.reading.steps(value, `${reader.where}.parallel.${name}`) };
    });
  },
  bodies: (branches) => branches.map(({ name, steps }) => ({ title: `branch '${name}'`, steps, scope: "branch" })),
  async run(branches, step) {
    step.tell(`running ${branches.length} branches concurrently`);
    const values = await runTogether(branches, {
      signal: step.signal,
      async run({ name, steps }, signal) {
        const { value } = await step.apart(steps, step.input, { prefix: `[${name}] `, concurrent: "branch", signal });
        return value;
      },
    });
    step.tell("branches joined");
    const joined: Record<string, JsonValue> = {};
    for (const [index, { name }] of branches.entries()) setOwn(joined, name, values[index]!);
    return { value: joined };
  },
  plan(branches, writer) {
    for (const { name, steps } of branches) writer.steps(`branch '${name}':`, steps);
  },
  detail: () => [],
};
