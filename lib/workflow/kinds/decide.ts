/** `decide`: typed questions about the step's input, answered by a decision service. */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { isJsonObject, setOwn } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { decide, type DecideQuestion } from "../../model/decide.ts";
import { decisionService } from "../../project/decision_service.ts";
import { FieldReader } from "../read/fields.ts";
import { filled } from "../schema_parts.ts";
import type { Kind } from "./kind.ts";

/** The fields of a decide step. */
export interface DecideBody {
  readonly questions: Readonly<Record<string, DecideQuestion>>;
  readonly model: string | undefined;
}

const TYPES = ["noul", "choice", "score"] as const;

/** See the module. */
export const decideKind: Kind<DecideBody> = {
  name: "decide",
  schema: questionSchema(),
  fields: { model: filled("The decision model") },
  takesDefaults: true,
  read: (reader) => ({ questions: readQuestions(reader), model: reader.filled("model") }),
  bodies: () => [],
  async run({ questions, model }, step) {
    const { project, host } = step.scope.file;
    const service = await decisionService(project, host.environment, step.signal);
    const answers: JsonObject = await decide({
      baseUrl: service.baseUrl,
      key: service.key,
      model: model ?? service.model,
      state: step.input,
      questions,
      signal: step.signal,
    });
    return { value: answers };
  },
  plan({ questions, model }, writer) {
    writer.line(`decide: ${Object.entries(questions).map(([id, { type }]) => `${id} (${type})`).join(", ")}`);
    if (model !== undefined) writer.line(`model: ${model}`);
  },
  detail: ({ questions }) => [Object.keys(questions).join(", ")],
};

/** Reads the questions of a map; also for `lait decide`. */
export function readQuestions(reader: FieldReader, key = "decide"): Record<string, DecideQuestion> {
  const node = reader.map(key);
  const { faults } = reader.reading;
  if (node?.entries.length === 0) faults.type(node.place, `${reader.where}: \`${key}\` must hold a question`);
  const questions: Record<string, DecideQuestion> = {};
  for (const { key: id, keyPlace, value } of node?.entries ?? []) {
    const where = `${reader.where}.${key}.${id}`;
    if (id === "") faults.add("question", keyPlace, `${where}: a question's id must not be empty`);
    if (value.kind !== "map") {
      faults.type(value.place, `${where} must be a question: { type, instructions?, criteria? }`);
      continue;
    }
    const inner = new FieldReader(value, where, reader.reading);
    inner.onlyKeys(["type", "instructions", "criteria"]);
    const type = inner.text("type");
    if (type === undefined || !TYPES.includes(type as DecideQuestion["type"])) {
      inner.fault(
        "type",
        "question",
        `\`type\` must be one of ${TYPES.join(", ")}${type === undefined ? "" : ` (got '${type}')`}`,
      );
      continue;
    }
    const instructions = inner.json("instructions");
    checkDescription(inner, "instructions", instructions);
    const criteria = inner.json("criteria");
    checkCriteria(inner, type as DecideQuestion["type"], criteria);
    setOwn(questions, id, {
      type: type as DecideQuestion["type"],
      ...(instructions === undefined ? {} : { instructions }),
      ...(criteria === undefined ? {} : { criteria }),
    });
  }
  return questions;
}

function checkDescription(reader: FieldReader, key: string, value: JsonValue | undefined): void {
  if (value === undefined || typeof value === "string" || typeof value === "object") return;
  reader.fault(key, "question", `\`${key}\` must be a text, a map or a list (got ${JSON.stringify(value)})`);
}

function checkCriteria(reader: FieldReader, type: DecideQuestion["type"], criteria: JsonValue | undefined): void {
  const wrong = (expected: string) =>
    reader.fault("criteria", "question", `\`criteria\` of a ${type} must be ${expected}`);
  if (type === "score") {
    const { decideLevels } = LIMITS;
    const fits = Array.isArray(criteria) && criteria.length >= 2 && criteria.length <= decideLevels;
    if (!fits) return wrong(`a list of 2 to ${decideLevels} descriptions`);
    for (const level of criteria) if (!isDescription(level)) return wrong("a list of texts, maps or lists");
    return;
  }
  if (type === "noul") {
    if (criteria === undefined) return;
    if (!isJsonObject(criteria)) return wrong("a map with the keys true and false");
    if (Object.keys(criteria).some((key) => key !== "true" && key !== "false")) {
      wrong("a map with the keys true and false");
    }
    checkOptions(criteria, wrong);
    return;
  }
  const { decideOptions } = LIMITS;
  const names = isJsonObject(criteria) ? Object.keys(criteria) : [];
  if (names.length < 2 || names.length > decideOptions || names.includes("")) {
    return wrong(`a map of 2 to ${decideOptions} options with names`);
  }
  checkOptions(criteria as JsonObject, wrong);
}

function checkOptions(criteria: JsonObject, wrong: (expected: string) => void): void {
  const fits = Object.values(criteria).every((value) => value === null || isDescription(value));
  if (!fits) wrong("a map of texts, maps, lists or nulls");
}

function isDescription(value: JsonValue): boolean {
  return typeof value === "string" || typeof value === "object" && value !== null;
}

function questionSchema(): JsonObject {
  const described: JsonObject = { type: ["string", "object", "array"] };
  const option: JsonObject = { type: ["string", "object", "array", "null"] };
  const question = (type: DecideQuestion["type"], criteria: JsonObject, required: readonly string[]): JsonObject => ({
    type: "object",
    properties: { type: { const: type }, instructions: { type: ["string", "object", "array", "null"] }, criteria },
    required: ["type", ...required],
    additionalProperties: false,
  });
  const { decideOptions, decideLevels } = LIMITS;
  return {
    type: "object",
    minProperties: 1,
    propertyNames: { minLength: 1 },
    additionalProperties: {
      oneOf: [
        question(
          "noul",
          { type: "object", propertyNames: { enum: ["true", "false"] }, additionalProperties: option },
          [],
        ),
        question("choice", {
          type: "object",
          minProperties: 2,
          maxProperties: decideOptions,
          propertyNames: { minLength: 1 },
          additionalProperties: option,
        }, ["criteria"]),
        question("score", { type: "array", minItems: 2, maxItems: decideLevels, items: described }, ["criteria"]),
      ],
    },
    description: "Questions by their ids",
  };
}
