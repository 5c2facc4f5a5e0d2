/** An agent as its file defines it: settings, schemas, and the template of its system prompt. */
import type { Diagnostic } from "../../base/diagnostic.ts";
import { DiagnosticError, FileError, messageOf, SettingError } from "../../base/errors.ts";
import { readTextBounded } from "../../base/files.ts";
import { isJsonObject, type JsonObject, jsonTypeOf } from "../../base/json.ts";
import { dirname, resolve } from "../../deps/path.ts";
import type { ResponseFormat } from "../../model/provider.ts";
import type { CompiledSchema, JsonSchema } from "../../schema/schema.ts";
import type { SourceNode } from "../../source/node.ts";
import { placeOf, rangeProblems, readShape } from "../../source/shape.ts";
import type { Template } from "../../source/template/template.ts";
import { type AgentFields, agentFields, agentShape, REFUSED_KEYS, SCHEMA_NAME } from "./agent_shape.ts";
import { isDocument } from "./entries.ts";
import { type ForeignRule, readMarkdown } from "./markdown.ts";

/** An agent, read and checked. Frozen. */
export interface AgentDefinition {
  /** The file as messages show it. */
  readonly shown: string;
  /** The file with links followed: what tells one agent from another; undefined for one that is no file. */
  readonly realPath: string | undefined;
  /** What the front matter says. */
  readonly fields: AgentFields;
  /** The system prompt: a template, or a text that is none. */
  readonly body: Template | string;
  /** The schema of the input and its check; undefined when anything will do. */
  readonly input: CompiledSchema | undefined;
  /** How the answer is asked for; undefined for text. */
  readonly responseFormat: ResponseFormat | undefined;
  /** What to tell whoever uses it: what was left out of a file that was written for other programs. */
  readonly remark: string | undefined;
}

/** What an agent is made of, however it was written down. */
export interface AgentSource {
  readonly fields: AgentFields;
  /** The system prompt: a template, or a text that is none. */
  readonly body: Template | string;
  /** Where `{ file: … }` starts from. */
  readonly directory: string;
  readonly shown: string;
  readonly realPath?: string;
  readonly remark?: string;
}

/** How an agent file is read. */
export interface AgentFileOptions {
  /** The file as messages show it. */
  readonly shown: string;
  /** For a file that other programs may have been meant by: which of its settings are theirs. */
  readonly foreign?: ForeignRule;
  /** Whether it may turn out to be only a document beside agents. Default: false. */
  readonly mayBeDocument?: boolean;
}

/**
 * Reads an agent file; undefined for a file of a collection that is only a document about it.
 *
 * @throws DiagnosticError with all faults of framing, keys, types and template at once
 * @throws SettingError for a value out of its range, or a schema that cannot be used
 * @throws FileError when it, or a schema that it names, cannot be read
 */
export async function readAgentFile(path: string, options: AgentFileOptions): Promise<AgentDefinition | undefined> {
  const { shown, foreign, mayBeDocument = false } = options;
  const text = await readTextBounded(path);
  if (mayBeDocument && isDocument(path, text)) return undefined;
  const file = readMarkdown(text, shown, foreign);
  const faults: Diagnostic[] = [...file.diagnostics];
  const fields = readFields(file.root, faults);
  const { parseTemplate } = await import("../../source/template/template.ts");
  let body: Template | string = file.body;
  try {
    const template = parseTemplate(file.body, file.bodyPlace);
    if (foreign === undefined || isOurs(template)) body = template;
  } catch (error) {
    if (!(error instanceof DiagnosticError)) throw error;
    if (foreign === undefined) faults.push(...error.diagnostics);
  }
  if (faults.length > 0) throw new DiagnosticError(faults);
  const remark = typeof body === "string" ? withBodyRemark(shown, file.remark) : file.remark;
  return await defineAgent({
    fields: fields!,
    body,
    directory: dirname(path),
    shown,
    // A pipe has no real path.
    realPath: await Deno.realPath(path).catch(() => path),
    ...(remark === undefined ? {} : { remark }),
  });
}

/**
 * Whether a body that may have been written for another program means lait's input by what stands in its braces, and not
 * the language of something that it is about.
 */
function isOurs(template: Template): boolean {
  return !template.source.includes("${{") && template.references().every(({ path }) => path[0] === "input");
}

function withBodyRemark(shown: string, remark: string | undefined): string {
  return `${remark ?? `${shown}:`}${remark === undefined ? "" : ";"} its {{ … }} are taken as text`;
}

/** The fields of an agent, from YAML; undefined with faults. */
function readFields(root: SourceNode | undefined, faults: Diagnostic[]): AgentFields | undefined {
  if (root === undefined) return {};
  const refused = (key: string) => Object.hasOwn(REFUSED_KEYS, key);
  if (root.kind !== "map" || !root.entries.some(({ key }) => refused(key))) return readShape(agentShape, root, faults);
  for (const { key, keyPlace: place } of root.entries) {
    if (!refused(key)) continue;
    faults.push({
      id: "unknown-key",
      severity: "error",
      place,
      message: `unknown key \`${key}\`: ${REFUSED_KEYS[key]}`,
    });
  }
  return readShape(agentShape, { ...root, entries: root.entries.filter(({ key }) => !refused(key)) }, faults);
}

/**
 * Makes an agent of fields that were checked for keys and types.
 *
 * @throws SettingError for a value out of its range, or a schema that cannot be used
 */
export async function defineAgent(source: AgentSource): Promise<AgentDefinition> {
  const { fields, directory, shown } = source;
  const at = (...path: (string | number)[]) => placeOf(fields, ...path);
  const fault = (key: string, id: string, message: string, hint?: string) =>
    new SettingError({
      id,
      severity: "error",
      place: at(key) ?? { file: shown },
      message: `\`${key}\` ${message}`,
      ...(hint === undefined ? {} : { hint }),
    });
  checkRanges(fields, fault);
  const schemaOf = async (key: "input_schema" | "output_schema") => {
    const written = fields[key];
    if (written === undefined) return undefined;
    const schema = isFileSource(written) ? await readSchema(resolve(directory, written.file), key, fault) : written;
    if (typeof schema !== "boolean" && !isJsonObject(schema)) {
      const wanted = "must be a schema: a map, true or false, or `{ file: PATH }`";
      throw fault(key, "agent-schema", `${wanted} (got ${jsonTypeOf(schema)})`);
    }
    const { compileSchema, SchemaError } = await import("../../schema/schema.ts");
    try {
      return compileSchema(schema, { schemaName: key });
    } catch (error) {
      if (error instanceof SchemaError) throw fault(key, "agent-schema", `cannot be used: ${error.message}`);
      throw error;
    }
  };
  const input = await schemaOf("input_schema");
  const output = await schemaOf("output_schema");
  return Object.freeze({
    shown,
    realPath: source.realPath,
    fields,
    body: source.body,
    input,
    responseFormat: output === undefined ? undefined : Object.freeze({
      name: fields.schema_name ?? "structured_output",
      schema: output.schema as JsonObject | boolean,
    }),
    remark: source.remark,
  });
}

type Fault = (key: string, id: string, message: string, hint?: string) => SettingError;

function checkRanges(fields: AgentFields, fault: Fault): void {
  for (const [key, problem] of rangeProblems(agentFields, fields)) throw fault(key, "range", problem);
  const { schema_name: name, output_schema } = fields;
  if (name === undefined) return;
  if (output_schema === undefined) {
    throw fault("schema_name", "schema-name", "names the `output_schema`, and there is none", "remove it");
  }
  if (!SCHEMA_NAME.test(name)) {
    throw fault(
      "schema_name",
      "schema-name",
      `must be 1 to 64 letters, digits, \`_\` or \`-\` (got ${JSON.stringify(name)})`,
    );
  }
}

/** `{ file: PATH }` and nothing else; any other map is a schema. */
function isFileSource(value: unknown): value is { readonly file: string } {
  if (!isJsonObject(value) || Object.keys(value).length !== 1) return false;
  return typeof value["file"] === "string" && value["file"] !== "";
}

async function readSchema(path: string, key: string, fault: Fault): Promise<unknown> {
  try {
    return JSON.parse((await readTextBounded(path)).replace(/^\ufeff/, "")) as JsonSchema;
  } catch (error) {
    if (error instanceof FileError) throw fault(key, "agent-schema", `cannot be used: ${error.message}`);
    throw fault(key, "agent-schema", `cannot be used: ${path} is not JSON: ${messageOf(error)}`);
  }
}
