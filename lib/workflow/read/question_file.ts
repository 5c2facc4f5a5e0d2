/** A file of questions for `lait decide`: what stands below `decide:` in a workflow. */
import { DiagnosticError } from "../../base/errors.ts";
import type { DecideQuestion } from "../../model/decide.ts";
import type { MapNode } from "../../source/node.ts";
import { readYaml } from "../../source/yaml.ts";
import { readQuestions } from "../kinds/decide.ts";
import { Faults, FieldReader } from "./fields.ts";

/**
 * Reads the questions.
 *
 * @throws DiagnosticError with all faults at once
 */
export function readQuestionFile(text: string, shown: string): Readonly<Record<string, DecideQuestion>> {
  const { root, diagnostics } = readYaml(text, shown);
  const faults = new Faults();
  faults.addAll(diagnostics);
  const place = root?.place ?? { file: shown };
  const whole: MapNode = {
    kind: "map",
    place,
    entries: root === undefined ? [] : [{ key: "questions", keyPlace: place, value: root }],
  };
  const reader = new FieldReader(whole, shown, { faults, schemas: new Map(), steps: () => [] });
  const questions = readQuestions(reader, "questions");
  if (root === undefined && diagnostics.length === 0) faults.type(place, "the file holds no questions");
  if (faults.all.length > 0) throw new DiagnosticError(faults.all, { structural: diagnostics.length === 0 });
  return questions;
}
