/** The fields that every step with a model has, and their ranges. */
import { modelFields } from "../../project/agents/agent_shape.ts";
import { type Infer, rangeProblems, record } from "../../source/shape.ts";
import type { FieldReader } from "./fields.ts";

const shape = record(modelFields);

/** Settings of a model step, as the file has them: `placeOf` knows where each stands. */
export type ModelFields = Infer<typeof shape>;

/** The names of these fields. */
export const MODEL_FIELDS: readonly string[] = Object.keys(modelFields);

/** Reads the model fields of a map. */
export function readModelFields(reader: FieldReader): ModelFields {
  const fields = reader.shaped(shape, MODEL_FIELDS) ?? {};
  for (const [key, problem] of rangeProblems(modelFields, fields)) {
    reader.fault(key, "range", `\`${key}\` ${problem}`);
  }
  return fields;
}
