/** `agent`: an agent works on the step's input. */
import { ConfigurationError } from "../../base/errors.ts";
import { textForm } from "../../base/json.ts";
import { extname, resolve } from "../../deps/path.ts";
import { type AgentDefinition, defineAgent, readAgentFile } from "../../project/agents/agent.ts";
import { agentRequest } from "../../project/agents/request.ts";
import { shownPath } from "../../project/project.ts";
import { resolveSettings } from "../../project/settings.ts";
import type { Template } from "../../source/template/template.ts";
import { type ModelFields, readModelFields } from "../read/model_fields.ts";
import { askModel, fileSettings, stepSettings } from "../run/ask_model.ts";
import type { FileRun } from "../run/scope.ts";
import { attachments, filled, modelFields } from "../schema_parts.ts";
import type { Kind } from "./kind.ts";

/** The fields of an agent step. */
export interface AgentBody {
  /** A name in `agents:` of the file, a path, or a name in `agents:` of the configuration. */
  readonly reference: string;
  readonly fields: ModelFields;
  readonly files: readonly Template[];
  readonly images: readonly Template[];
}

/** Agents that were read already, by run of a file and reference. */
const read = new WeakMap<FileRun["files"], Map<string, Promise<AgentDefinition>>>();

/** See the module. */
export const agentKind: Kind<AgentBody> = {
  name: "agent",
  schema: filled("An agent of this file, a path, or a name of the configuration"),
  fields: { ...modelFields, ...attachments },
  takesDefaults: true,
  read: (reader) => ({
    reference: reader.filled("agent") ?? "",
    fields: readModelFields(reader),
    files: reader.templates("files"),
    images: reader.templates("images"),
  }),
  bodies: () => [],
  async run(body, step) {
    const { file, globals } = step.scope;
    const definition = await agentOf(body.reference, file);
    const { settings, responseFormat } = agentRequest(file.project, definition, {
      input: step.input,
      data: { steps: globals.steps, inputs: globals.inputs, loop: globals.loop },
      over: [stepSettings(file, body.fields)],
      under: fileSettings(file),
    }, file.host.environment);
    return {
      value: await askModel(step, { ...body, settings, text: textForm(step.input), format: responseFormat }),
    };
  },
  plan(body, writer) {
    const { file } = writer;
    const inline = file.definition.agents.has(body.reference);
    const name = inline
      ? `${body.reference} (inline)`
      : isPath(body.reference)
      ? body.reference
      : `${body.reference} (lait.config.yml agents)`;
    writer.line(`agent: ${name}`);
    writer.model(async () => {
      const definition = await agentOf(body.reference, file).catch((error) => {
        if (inline || isPath(body.reference)) throw error;
        return undefined;
      });
      if (definition === undefined) return undefined;
      const own = [stepSettings(file, body.fields), stepSettings(file, definition.fields as ModelFields)];
      return resolveSettings(file.project, [...own, ...fileSettings(file)], file.host.environment, {
        defaultSystem: false,
      });
    });
  },
  detail: ({ reference }) => [reference],
};

function isPath(reference: string): boolean {
  return reference.includes("/") || extname(reference) === ".md";
}

/** The agent that a reference means; a file is read once for a run. */
async function agentOf(reference: string, file: FileRun): Promise<AgentDefinition> {
  const known = read.get(file.files) ?? new Map<string, Promise<AgentDefinition>>();
  read.set(file.files, known);
  const key = `${file.definition.realPath}\0${reference}`;
  const found = known.get(key) ?? load(reference, file);
  known.set(key, found);
  return await found;
}

async function load(reference: string, { definition, host }: FileRun): Promise<AgentDefinition> {
  const inline = definition.agents.get(reference);
  if (inline !== undefined) {
    return await defineAgent({
      fields: inline.fields,
      body: inline.system,
      directory: definition.directory,
      shown: `${definition.shown} (agents.${inline.name})`,
    });
  }
  if (isPath(reference)) {
    const path = resolve(definition.directory, reference);
    const agent = await readAgentFile(path, { shown: shownPath(path, host.directory) });
    return agent!;
  }
  try {
    return await host.session(host.project).agents.named(reference);
  } catch (error) {
    const known = Object.hasOwn(host.project.config.agents ?? {}, reference);
    if (known) throw error;
    throw new ConfigurationError(
      `unknown agent '${reference}': it is neither under \`agents:\` of ${definition.shown} nor under \`agents:\` in ` +
        "lait.config.yml; a path needs a `/` or the ending `.md`",
      { cause: error },
    );
  }
}
