/** The one door to running an agent: from its definition and an input to everything that a turn of it needs. */
import { ConfigurationError } from "../../base/errors.ts";
import type { EnvironmentReader } from "../../base/environment.ts";
import type { JsonValue } from "../../base/json.ts";
import type { ResponseFormat } from "../../model/provider.ts";
import type { Project } from "../project.ts";
import { type CallerSettings, type RequestSettings, resolveSettings } from "../settings.ts";
import type { AgentDefinition } from "./agent.ts";
import type { AgentFields } from "./agent_shape.ts";

/** One call of an agent. */
export interface AgentCall {
  /** What the template sees as `input`, and what `input_schema` is asked about. */
  readonly input: JsonValue;
  /** What else the template sees. Default: empty `steps` and `inputs`. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Settings that are stronger than the agent's own, the strongest first: those of a workflow's step. */
  readonly over?: readonly CallerSettings[];
  /** Settings that are weaker than the agent's own and stronger than `default:`: those of a workflow. */
  readonly under?: readonly CallerSettings[];
}

/** What a turn of an agent needs, besides the user's message. */
export interface AgentRequest {
  /** Everything that the request uses; `ProjectSession.agent` makes an agent of it. */
  readonly settings: RequestSettings;
  /** How the answer is asked for; undefined for text. */
  readonly responseFormat: ResponseFormat | undefined;
}

/**
 * Checks the input, renders the system prompt, and resolves the settings of an agent.
 *
 * @throws ConfigurationError for an input that does not fit `input_schema`, and when nothing names a model
 * @throws TemplateError for a name of the template that is not there
 * @throws SettingError with the place, for a value of a file that cannot be used
 */
export function agentRequest(
  project: Project,
  definition: AgentDefinition,
  call: AgentCall,
  environment: EnvironmentReader,
): AgentRequest {
  checkInput(definition, call.input);
  const { body, shown, realPath, responseFormat } = definition;
  const system = typeof body === "string"
    ? body
    : body.render({ steps: {}, inputs: {}, ...call.data, input: call.input });
  const settings = resolveSettings(
    project,
    [...call.over ?? [], agentSettings(project, definition), ...call.under ?? []],
    environment,
    {
      defaultSystem: false,
      modelAdvice: `set \`model\` in the front matter of ${shown}, or default.model in lait.config.yml`,
    },
  );
  return {
    settings: { ...settings, system, ...(realPath === undefined ? {} : { agentFile: realPath }) },
    responseFormat,
  };
}

/** What a subagent or an agent is called in usage, events and history: its name, else its file. */
export function agentLabel({ fields, shown }: AgentDefinition): string {
  return fields.name ?? shown;
}

/**
 * Checks an input against `input_schema`.
 *
 * @throws ConfigurationError naming the paths that do not fit
 */
export function checkInput({ input, shown }: AgentDefinition, value: JsonValue): void {
  const issues = input?.explain(value);
  if (issues !== undefined) throw new ConfigurationError(`the input does not fit input_schema of ${shown}: ${issues}`);
}

/** The settings of an agent's front matter, with their place. */
export function agentSettings(project: Project, { fields, shown }: AgentDefinition): CallerSettings {
  return { ...fieldSettings(fields), path: project.addFile(shown, fields) };
}

/** Settings as files write them; a workflow's steps have the same names. */
export function fieldSettings(fields: AgentFields): CallerSettings {
  const settings: Record<string, unknown> = {};
  for (const [name, key] of SETTINGS) if (fields[key] !== undefined) settings[name] = fields[key];
  return settings as CallerSettings;
}

const SETTINGS: readonly (readonly [keyof CallerSettings, keyof AgentFields])[] = [
  ["model", "model"],
  ["reasoningEffort", "reasoning_effort"],
  ["temperature", "temperature"],
  ["topP", "top_p"],
  ["maxTokens", "max_tokens"],
  ["tools", "tools"],
  ["mcp", "mcp"],
  ["subagents", "subagents"],
  ["skills", "skills"],
  ["maxToolRounds", "max_tool_rounds"],
];
