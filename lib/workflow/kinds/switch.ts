/** `switch`: the first case whose condition holds. */
import type { Expression, Step } from "../definition.ts";
import { FieldReader } from "../read/fields.ts";
import { expression, steps as stepsSchema } from "../schema_parts.ts";
import type { Kind } from "./kind.ts";

interface Case {
  readonly when: Expression | undefined;
  readonly steps: readonly Step[];
}

/** The fields of a switch step. */
export interface SwitchBody {
  readonly cases: readonly Case[];
  readonly otherwise: readonly Step[] | undefined;
}

/** See the module. */
export const switchKind: Kind<SwitchBody> = {
  name: "switch",
  schema: {
    type: "array",
    minItems: 1,
    items: {
      type: "object",
      properties: { when: expression("whether it is this case"), steps: stepsSchema("Run when it is") },
      required: ["when", "steps"],
      additionalProperties: false,
    },
    description: "Cases; the first that holds is run",
  },
  fields: { else: stepsSchema("Run when no case holds") },
  read: (reader) => ({ cases: readCases(reader), otherwise: reader.has("else") ? reader.steps("else") : undefined }),
  bodies: ({ cases, otherwise }) => [
    ...cases.map(({ steps }, index) => ({ title: `case ${index + 1}`, steps, scope: "same" as const })),
    ...(otherwise === undefined ? [] : [{ title: "else", steps: otherwise, scope: "same" as const }]),
  ],
  async run({ cases, otherwise }, step) {
    for (const [index, { when, steps }] of cases.entries()) {
      if (!await step.holds(when!, `switch[${index}].when`)) continue;
      step.tell(`case ${index + 1} matched`);
      return await step.steps(steps, step.input);
    }
    if (otherwise === undefined) throw step.fail("no case matched, and there is no `else`");
    step.tell("no case matched, running 'else'");
    return await step.steps(otherwise, step.input);
  },
  plan({ cases, otherwise }, writer) {
    for (const [index, { when, steps }] of cases.entries()) {
      writer.steps(`case ${index + 1}: when ${when!.source}`, steps);
    }
    if (otherwise === undefined) writer.line("else: none (no match is an error)");
    else writer.steps("else:", otherwise);
  },
  detail: () => [],
};

function readCases(reader: FieldReader): Case[] {
  const value = reader.entry("switch")!.value;
  const { faults } = reader.reading;
  if (value.kind !== "list" || value.items.length === 0) {
    faults.type(value.place, `${reader.where}: \`switch\` must be a list of cases: { when, steps }`);
    return [];
  }
  return value.items.flatMap((item, index) => {
    const where = `${reader.where}.switch[${index}]`;
    if (item.kind !== "map") {
      faults.type(item.place, `${where} must be a case: { when, steps }`);
      return [];
    }
    const inner = new FieldReader(item, where, reader.reading);
    inner.onlyKeys(["when", "steps"]);
    if (!inner.has("when")) faults.type(item.place, `${where}: \`when\` is missing`);
    return [{ when: inner.expression("when"), steps: inner.steps("steps") }];
  });
}
