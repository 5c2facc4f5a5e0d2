/** Reading a workflow file: everything that can be wrong in it is told at once, with its place. */
import { ContextError, DiagnosticError, FileError, messageOf } from "../../base/errors.ts";
import { readTextBounded } from "../../base/files.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { didYouMean } from "../../base/nearest.ts";
import { dirname, resolve } from "../../deps/path.ts";
import { modelShape } from "../../project/config_shape.ts";
import { fieldSettings } from "../../project/agents/request.ts";
import { agentShape, SCHEMA_NAME } from "../../project/agents/agent_shape.ts";
import { compileSchema, SchemaError } from "../../schema/schema.ts";
import { type MapNode, nodeToJson, type SourceNode } from "../../source/node.ts";
import { list, map, record } from "../../source/shape.ts";
import { readYaml } from "../../source/yaml.ts";
import type {
  InlineAgent,
  InputDefinition,
  SchemaSource,
  WorkflowDefaults,
  WorkflowDefinition,
} from "../definition.ts";
import { Faults, FieldReader, type FileReading, NAME, schemaSource } from "./fields.ts";
import { MODEL_FIELDS, readModelFields } from "./model_fields.ts";
import { checkPlacement } from "./placement.ts";
import { readSteps } from "./steps.ts";

const KEYS = [
  "version",
  "name",
  "description",
  "inputs",
  "input_schema",
  "output",
  "timeout",
  "default",
  "models",
  "schemas",
  "agents",
  "steps",
];

/** Where the guide to the current version is. */
const MIGRATION = "see the migration guide in docs/workflows.md: `nodes` and `use` are steps written in place now";

/**
 * Reads and checks a workflow file.
 *
 * @throws ContextError around a DiagnosticError with all faults, or a FileError
 */
export async function readWorkflowFile(path: string, shown: string): Promise<WorkflowDefinition> {
  let text: string;
  let realPath: string;
  try {
    text = await readTextBounded(path);
    realPath = await Deno.realPath(path);
  } catch (error) {
    const cause = error instanceof FileError ? error : new FileError(messageOf(error), { cause: error });
    throw new ContextError(`failed to read workflow file '${shown}'`, cause);
  }
  try {
    return parseWorkflow(text, { shown, realPath, directory: dirname(resolve(path)) });
  } catch (error) {
    if (!(error instanceof DiagnosticError)) throw error;
    throw new ContextError(`failed to parse workflow file '${shown}'`, error);
  }
}

/** Where a file is. */
export interface WorkflowPlace {
  readonly shown: string;
  readonly realPath: string;
  readonly directory: string;
}

/**
 * Checks a workflow's text.
 *
 * @throws DiagnosticError with all faults at once
 */
export function parseWorkflow(text: string, place: WorkflowPlace): WorkflowDefinition {
  const { root, diagnostics } = readYaml(text, place.shown);
  const faults = new Faults();
  faults.addAll(diagnostics);
  faults.typed = diagnostics.length > 0;
  const definition = root === undefined && diagnostics.length > 0 ? undefined : readRoot(root, place, faults);
  if (faults.all.length === 0) return Object.freeze(definition!);
  const order = faults.all.toSorted((a, b) =>
    (a.place.line ?? 0) - (b.place.line ?? 0) || (a.place.column ?? 0) - (b.place.column ?? 0)
  );
  throw new DiagnosticError(order, { structural: !faults.typed });
}

function readRoot(root: SourceNode | undefined, place: WorkflowPlace, faults: Faults): WorkflowDefinition | undefined {
  if (root?.kind !== "map") {
    faults.type(
      root?.place ?? { file: place.shown, line: 1, column: 1 },
      "a workflow file must be a map with `steps:`",
    );
    return undefined;
  }
  const reading: FileReading = {
    faults,
    schemas: new Map(),
    steps: (node, where) => readSteps(node, where, reading),
  };
  const reader = new FieldReader(root, "workflow", reading);
  if (!checkVersion(reader)) return undefined;
  reader.onlyKeys(KEYS);
  readSchemas(reader.map("schemas"), reading);
  const agents = readAgents(reader.map("agents"), reading);
  const defaults = readDefaults(reader.below("default"));
  const inputs = readInputs(reader.map("inputs"), reading);
  const steps = reader.entry("steps");
  if (steps === undefined) faults.type(root.place, "`steps` is missing: a workflow needs at least one step");
  const definition: WorkflowDefinition = {
    ...place,
    name: reader.text("name"),
    description: reader.text("description"),
    inputs,
    inputSchema: reader.schema("input_schema", { names: true }),
    output: reader.expression("output"),
    timeout: reader.integer("timeout", 1),
    defaults,
    models: reader.has("models") ? reader.shaped(modelsShape, ["models"]) : undefined,
    schemas: reading.schemas,
    agents,
    steps: steps === undefined ? [] : readSteps(steps.value, "steps", reading),
  };
  checkPlacement(definition.steps, faults);
  return definition;
}

const modelsShape = record({
  models: { shape: map(list(modelShape, { minimumItems: 1 })), description: "Aliases of models" },
});

function checkVersion(reader: FieldReader): boolean {
  const { faults } = reader.reading;
  const nodes = reader.entry("nodes");
  const entry = reader.entry("version");
  const version = entry?.value.kind === "scalar" ? entry.value.value : entry && null;
  if (nodes !== undefined || version === 1) {
    const place = (nodes ?? entry)!.keyPlace;
    faults.add("version", place, "this is a version 1 workflow, which cannot be run any more", MIGRATION);
    return false;
  }
  if (version === undefined || version === 2) return true;
  faults.add(
    "version",
    entry!.value.place,
    `version: ${JSON.stringify(nodeToJson(entry!.value))} is not supported`,
    "write `version: 2`",
  );
  return false;
}

function checkNames(node: MapNode | undefined, what: string, { faults }: FileReading): void {
  for (const { key, keyPlace } of node?.entries ?? []) {
    if (NAME.test(key)) continue;
    faults.add(
      "name",
      keyPlace,
      `${what}: a name must be letters, digits, \`_\` and \`-\`, not starting with a digit (got '${key}')`,
    );
  }
}

function readSchemas(node: MapNode | undefined, reading: FileReading): void {
  checkNames(node, "schemas", reading);
  for (const { key, value } of node?.entries ?? []) {
    const source = schemaSource(nodeToJson(value), (expected) => {
      reading.faults.type(value.place, `schemas.${key} must be ${expected}`);
      return undefined;
    });
    if (source === undefined) continue;
    checkSchema(source, `schemas.${key}`, value, reading);
    reading.schemas.set(key, source);
  }
}

function checkSchema(source: SchemaSource, name: string, value: SourceNode, { faults }: FileReading): void {
  if (source.kind !== "inline") return;
  try {
    compileSchema(source.schema, { schemaName: name });
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    faults.add("schema", value.place, error.message);
  }
}

function readAgents(node: MapNode | undefined, reading: FileReading): Map<string, InlineAgent> {
  checkNames(node, "agents", reading);
  const agents = new Map<string, InlineAgent>();
  for (const { key, value } of node?.entries ?? []) {
    if (value.kind !== "map") {
      reading.faults.type(value.place, `agents.${key} must be a map with \`system\``);
      continue;
    }
    const reader = new FieldReader(value, `agents.${key}`, reading);
    const own = ["name", "description", "input_schema", "output_schema", "schema_name", ...MODEL_FIELDS];
    reader.onlyKeys(["system", ...own]);
    readModelFields(reader);
    const fields = reader.shaped(agentShape, own) ?? {};
    if (!reader.has("system")) reader.fault("system", "agent", "an agent needs `system`, its system prompt");
    const system = reader.template("system");
    checkSchemaName(reader, fields.schema_name, fields.output_schema !== undefined);
    if (system !== undefined) agents.set(key, { name: key, fields, system });
  }
  return agents;
}

/** `schema_name` needs a schema, and is what servers take. */
export function checkSchemaName(reader: FieldReader, name: string | undefined, hasSchema: boolean): void {
  if (name === undefined) return;
  if (!hasSchema) {
    reader.fault("schema_name", "schema-name", "`schema_name` names the `output_schema`, and there is none");
  } else if (!SCHEMA_NAME.test(name)) {
    reader.fault(
      "schema_name",
      "schema-name",
      `\`schema_name\` must be 1 to 64 letters, digits, \`_\` or \`-\` (got '${name}')`,
    );
  }
}

function readDefaults(reader: FieldReader | undefined): WorkflowDefaults {
  if (reader === undefined) return { settings: {} };
  reader.onlyKeys([...MODEL_FIELDS, "system", "retry", "timeout"]);
  const system = reader.template("system");
  const retry = reader.retry();
  const timeout = reader.integer("timeout", 1);
  return {
    settings: fieldSettings(readModelFields(reader)),
    ...(system === undefined ? {} : { system }),
    ...(retry === undefined ? {} : { retry }),
    ...(timeout === undefined ? {} : { timeout }),
  };
}

function readInputs(node: MapNode | undefined, reading: FileReading): InputDefinition[] {
  checkNames(node, "inputs", reading);
  return (node?.entries ?? []).flatMap(({ key, value }) => {
    const written = nodeToJson(value);
    const schema: JsonObject | undefined = written === null
      ? {}
      : typeof written === "string"
      ? { type: written }
      : isJsonObject(written)
      ? written
      : undefined;
    if (schema === undefined) {
      reading.faults.type(value.place, `inputs.${key} must be the name of a type, or a JSON Schema`);
      return [];
    }
    const { default: fallback, description } = schema;
    if (written !== null) checkDefault(key, schema, value, reading);
    return [{
      name: key,
      schema,
      description: typeof description === "string" ? description : undefined,
      default: Object.hasOwn(schema, "default") ? fallback : undefined,
    }];
  });
}

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];

function checkDefault(key: string, schema: JsonObject, value: SourceNode, { faults }: FileReading): void {
  try {
    const compiled = compileSchema(schema, { name: `inputs.${key}.default`, schemaName: `inputs.${key}` });
    const issues = Object.hasOwn(schema, "default") ? compiled.explain(schema["default"]) : undefined;
    if (issues !== undefined) faults.add("input-default", value.place, issues);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const hint = typeof schema["type"] === "string" ? didYouMean(schema["type"], TYPES) : undefined;
    faults.add("schema", value.place, error.message, hint);
  }
}
