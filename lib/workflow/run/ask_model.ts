/** One model call of a step: settings resolved, attachments read, the turn run, a structured answer read. */
import { ConfigurationError, FileError, LaitError, messageOf, ResponseError } from "../../base/errors.ts";
import { readTextBounded } from "../../base/files.ts";
import type { JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { shorten } from "../../base/text.ts";
import { resolve } from "../../deps/path.ts";
import { runTurn } from "../../harness/turn.ts";
import type { ResponseFormat } from "../../model/provider.ts";
import { fieldSettings } from "../../project/agents/request.ts";
import { readAttachments } from "../../project/attachments.ts";
import type { CallerSettings, RequestSettings } from "../../project/settings.ts";
import { compileSchema, type JsonSchema, SchemaError } from "../../schema/schema.ts";
import type { Template } from "../../source/template/template.ts";
import type { SchemaSource, WorkflowDefinition } from "../definition.ts";
import type { ModelFields } from "../read/model_fields.ts";
import type { FileRun } from "./scope.ts";
import type { StepRun } from "./steps.ts";

/** The settings of a step's own fields, with their place. */
export function stepSettings(file: FileRun, fields: ModelFields): CallerSettings {
  return { ...fieldSettings(fields), path: file.project.addFile(file.definition.shown, fields) };
}

/** The settings of `default:` of the file and of those that called it. */
export function fileSettings({ defaults }: FileRun): CallerSettings[] {
  return defaults.map(({ settings }) => settings);
}

/** Schemas that were read already, by file of the workflow that names them. */
const schemas = new WeakMap<WorkflowDefinition, Map<string, Promise<JsonSchema>>>();

/** The schema that a source of a workflow stands for; a file is read once. */
export async function loadSchema(source: SchemaSource, definition: WorkflowDefinition): Promise<JsonSchema> {
  if (source.kind === "inline") return source.schema;
  const known = schemas.get(definition) ?? new Map<string, Promise<JsonSchema>>();
  schemas.set(definition, known);
  const { path } = source;
  const reading = known.get(path) ?? readSchema(resolve(definition.directory, path));
  known.set(path, reading);
  // What could not be read may be there at the next attempt.
  reading.catch(() => known.delete(path));
  return await reading;
}

async function readSchema(path: string): Promise<JsonSchema> {
  let text: string;
  try {
    text = await readTextBounded(path);
  } catch (error) {
    throw new FileError(`failed to read JSON schema file '${path}': ${messageOf(error)}`, { cause: error });
  }
  try {
    return JSON.parse(text.replace(/^\ufeff/, "")) as JsonSchema;
  } catch (error) {
    throw new ConfigurationError(`failed to parse JSON schema file '${path}': ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Checks a value against a schema; `name` is what the value is called.
 *
 * @throws LaitError naming the paths that do not fit
 */
export function checkValue(schema: JsonSchema, value: JsonValue, name: string): void {
  let issues: string | undefined;
  try {
    issues = compileSchema(schema, { name }).explain(value);
  } catch (error) {
    if (error instanceof SchemaError) throw new ConfigurationError(error.message, { cause: error });
    throw error;
  }
  if (issues !== undefined) throw new LaitError("tool", issues);
}

/** What is asked. */
export interface ModelQuestion {
  readonly settings: RequestSettings;
  readonly text: string;
  readonly files: readonly Template[];
  readonly images: readonly Template[];
  readonly format: ResponseFormat | undefined;
}

/** Asks, and gives the answer: a text, or what a structured one holds. */
export async function askModel(step: StepRun, question: ModelQuestion): Promise<JsonValue> {
  const { file } = step.scope;
  const { host } = file;
  const attached = await readAttachments(host.directory, {
    files: question.files.map((path) => step.render(path)),
    images: question.images.map((path) => step.render(path)),
  });
  const text = attached.text === "" ? question.text : `${question.text}\n\n${attached.text}`;
  const session = host.session(file.project);
  const agent = await session.agent(question.settings, { streaming: false, wantUsage: true });
  const { text: answer } = await runTurn(agent, {
    lease: await host.lease(),
    messages: [{ role: "user", content: [{ type: "text", text }, ...attached.media] }],
    signal: step.signal,
    label: step.label,
    observe: (event) => host.observe(event, step.place),
    ...(question.format === undefined ? {} : { responseFormat: question.format }),
  });
  return question.format === undefined ? answer : structured(answer, question.format);
}

function structured(answer: string, format: ResponseFormat): JsonValue {
  const trimmed = answer.trim();
  const inside = /^```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?```$/.exec(trimmed)?.[1] ?? trimmed;
  let value: JsonValue;
  try {
    value = JSON.parse(inside) as JsonValue;
  } catch (error) {
    const said = shorten(answer, LIMITS.quotedAnswerCharacters);
    throw new ResponseError(`the structured answer is not JSON: ${messageOf(error)}; it was: ${said}`, {
      cause: error,
    });
  }
  checkValue(format.schema as JsonSchema, value, "output");
  return value;
}
