/** `prompt`: one question to a model. */
import type { ResponseFormat } from "../../model/provider.ts";
import { resolveSettings } from "../../project/settings.ts";
import type { Template } from "../../source/template/template.ts";
import type { SchemaSource } from "../definition.ts";
import { SCHEMA_NAME } from "../../project/agents/agent_shape.ts";
import type { FieldReader } from "../read/fields.ts";
import { type ModelFields, readModelFields } from "../read/model_fields.ts";
import { askModel, checkValue, fileSettings, loadSchema, stepSettings } from "../run/ask_model.ts";
import type { FileRun } from "../run/scope.ts";
import type { StepRun } from "../run/steps.ts";
import { attachments, modelFields, schemaName, schemaReference, text } from "../schema_parts.ts";
import type { Kind } from "./kind.ts";

/** The fields of a prompt step. */
export interface PromptBody {
  readonly text: Template | undefined;
  readonly system: Template | undefined;
  readonly fields: ModelFields;
  readonly files: readonly Template[];
  readonly images: readonly Template[];
  readonly inputSchema: SchemaSource | undefined;
  readonly outputSchema: SchemaSource | undefined;
  readonly schemaName: string;
}

/** See the module. */
export const promptKind: Kind<PromptBody> = {
  name: "prompt",
  schema: text("The user's message, a template"),
  fields: {
    system: text("The system prompt, a template"),
    ...modelFields,
    ...attachments,
    input_schema: schemaReference("What the step's input must be"),
    output_schema: schemaReference("What the answer must be"),
    schema_name: schemaName,
  },
  takesDefaults: true,
  read(reader) {
    const outputSchema = reader.schema("output_schema", { names: true });
    return {
      text: reader.template("prompt"),
      system: reader.template("system"),
      fields: readModelFields(reader),
      files: reader.templates("files"),
      images: reader.templates("images"),
      inputSchema: reader.schema("input_schema", { names: true }),
      outputSchema,
      schemaName: readSchemaName(reader, outputSchema),
    };
  },
  bodies: () => [],
  async run(body, step) {
    const { file } = step.scope;
    const { definition } = file;
    if (body.inputSchema !== undefined) {
      checkValue(await loadSchema(body.inputSchema, definition), step.input, "input");
    }
    const settings = promptSettings(body, file, step);
    const format = await formatOf(body, definition);
    return { value: await askModel(step, { ...body, settings, text: step.render(body.text!), format }) };
  },
  plan(body, writer) {
    writer.template("prompt", body.text);
    writer.template("system", systemOf(body, writer.file));
    writer.schema("input_schema", body.inputSchema);
    writer.schema("output_schema", body.outputSchema, `name: ${body.schemaName}`);
    writer.model(() => promptSettings(body, writer.file));
  },
  detail: () => [],
};

function systemOf({ system }: PromptBody, { defaults }: FileRun): Template | undefined {
  return system ?? defaults.find(({ system }) => system !== undefined)?.system;
}

function promptSettings(body: PromptBody, file: FileRun, step?: StepRun) {
  const system = systemOf(body, file);
  const settings = resolveSettings(
    file.project,
    [stepSettings(file, body.fields), ...fileSettings(file)],
    file.host.environment,
    {
      defaultSystem: false,
      modelAdvice: "set `model` in the step, in `default:` of the workflow, or default.model in lait.config.yml",
    },
  );
  return system === undefined || step === undefined ? settings : { ...settings, system: step.render(system) };
}

async function formatOf(body: PromptBody, definition: FileRun["definition"]): Promise<ResponseFormat | undefined> {
  if (body.outputSchema === undefined) return undefined;
  const schema = await loadSchema(body.outputSchema, definition);
  return { name: body.schemaName, schema: schema as ResponseFormat["schema"] };
}

function readSchemaName(reader: FieldReader, schema: SchemaSource | undefined): string {
  const given = reader.text("schema_name");
  if (given !== undefined && !reader.has("output_schema")) {
    reader.fault(
      "schema_name",
      "schema-name",
      "`schema_name` names the `output_schema`, and there is none",
      "remove it",
    );
  }
  const name = given ?? schema?.name ?? "structured_output";
  if (!SCHEMA_NAME.test(name)) {
    const key = given === undefined ? "output_schema" : "schema_name";
    reader.fault(
      key,
      "schema-name",
      `the schema's name must be 1 to 64 letters, digits, \`_\` or \`-\` (got '${name}')`,
      "give `schema_name`",
    );
  }
  return name;
}
