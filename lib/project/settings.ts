/** Resolving what one request uses: model, endpoint, sampling, tools, from the caller, the alias and the defaults. */
import { ConfigurationError, SettingError } from "../base/errors.ts";
import type { EnvironmentReader } from "../base/environment.ts";
import { LIMITS } from "../base/limits.ts";
import type { AgentModel, ModelReasoning } from "../model/provider.ts";
import type { Pricing } from "../model/usage.ts";
import type { DefaultSettings, ModelDefinition } from "./config_shape.ts";
import { aliasDefinitions, type Endpoint, type FallbackEndpoint, modelId, resolveEndpoints } from "./endpoint.ts";
import { dotted, settingFault, type SettingPath } from "./faults.ts";
import type { Project } from "./project.ts";

/** Sampling settings; each falls back on its own. */
export interface Sampling {
  readonly reasoningEffort?: ModelReasoning;
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxTokens?: number;
}

/** What a caller sets, by flags, by environment or in a file of its own. */
export interface CallerSettings extends Sampling {
  /** An alias or an id; blank counts as not given, and nothing falls in for it. */
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly system?: string;
  /** Replaces `default.tools`, also when it is empty; so do the other lists. */
  readonly tools?: readonly string[];
  /** Replaces `default.mcp`, also when it is empty. */
  readonly mcp?: readonly string[];
  readonly subagents?: readonly string[];
  readonly skills?: readonly string[];
  /** Model requests of one run. */
  readonly maxToolRounds?: number;
  /** Where these settings stand in the project's files; absent for a command line. */
  readonly path?: SettingPath;
}

/** The lists of names that a request has. */
export type ListName = "tools" | "mcp" | "subagents" | "skills";

/** Everything that one request uses. */
export interface RequestSettings extends Record<ListName, readonly string[]> {
  readonly model: AgentModel;
  /** The alias, when the model was named by one. */
  readonly alias?: string;
  readonly endpoint: Endpoint;
  /** Asked in order when the endpoint is not available. */
  readonly fallbacks: readonly FallbackEndpoint[];
  readonly pricing?: Pricing;
  /** Where a list stands in the files; absent when a command line gave it. */
  readonly toolsPath?: SettingPath;
  readonly mcpPath?: SettingPath;
  readonly subagentsPath?: SettingPath;
  readonly skillsPath?: SettingPath;
  readonly maxToolRounds: number;
  readonly system?: string;
  /** The agent file, links followed, that the request is made for; absent for any other request. */
  readonly agentFile?: string;
}

/** How settings are resolved. */
export interface ResolveOptions {
  /** Whether `default.system` is the system prompt of a request without one. Default: true. */
  readonly defaultSystem?: boolean;
  /** What to do when nothing names a model. Default: what to do on the command line. */
  readonly modelAdvice?: string;
}

/**
 * Resolves the settings of a request: each from the first caller that has it, then from the alias and `default:`.
 *
 * @throws SettingError with the place, for a value of a file that cannot be used
 * @throws ConfigurationError for one that a command line gave
 */
export function resolveSettings(
  project: Project,
  given: CallerSettings | readonly CallerSettings[],
  environment: EnvironmentReader,
  options: ResolveOptions = {},
): RequestSettings {
  const callers = [given].flat();
  const defaults = project.config.default ?? {};
  const own = <K extends keyof CallerSettings>(key: K) => callers.find((caller) => caller[key] !== undefined)?.[key];
  const name = own("model") ?? defaults.model;
  if (name === undefined || name.trim() === "") {
    const advice = options.modelAdvice ?? "pass --model NAME, or set default.model in lait.config.yml";
    throw new ConfigurationError(`a model is required: ${advice}`);
  }
  const definitions = aliasDefinitions(project, name);
  const definition = definitions[0];
  const at = ["models", name, 0];
  const model: AgentModel = {
    name: definition === undefined ? name : modelId(project, name, 0, definition),
    ...sampling(project, name, callers, definition),
  };
  const system = own("system") ?? (options.defaultSystem === false ? undefined : defaults.system);
  const [baseUrl, apiKey] = [own("baseUrl"), own("apiKey")];
  const caller = { ...(baseUrl === undefined ? {} : { baseUrl }), ...(apiKey === undefined ? {} : { apiKey }) };
  return {
    model,
    ...(definition === undefined ? {} : { alias: name }),
    ...resolveEndpoints(project, { name, definitions, caller, environment }),
    ...(definition?.pricing === undefined ? {} : { pricing: checkPricing(project, at, definition.pricing) }),
    ...resolveLists(callers, defaults),
    maxToolRounds: toolRounds(project, callers),
    ...(system === undefined ? {} : { system }),
  };
}

function resolveLists(
  callers: readonly CallerSettings[],
  defaults: DefaultSettings,
): Pick<RequestSettings, ListName | `${ListName}Path`> {
  const lists: Partial<Record<ListName | `${ListName}Path`, unknown>> = {};
  for (const name of ["tools", "mcp", "subagents", "skills"] as const) {
    const caller = callers.find((caller) => caller[name] !== undefined);
    lists[name] = caller === undefined ? defaults[name] ?? [] : caller[name];
    const path = caller === undefined ? ["default", name] : caller.path && [...caller.path, name];
    if (path !== undefined) lists[`${name}Path`] = path;
  }
  return lists as Pick<RequestSettings, ListName | `${ListName}Path`>;
}

function toolRounds(project: Project, callers: readonly CallerSettings[]): number {
  const caller = callers.find(({ maxToolRounds }) => maxToolRounds !== undefined);
  const rounds = caller?.maxToolRounds ?? project.config.default?.max_tool_rounds ?? LIMITS.toolRounds;
  if (rounds >= 1) return rounds;
  const path = caller === undefined
    ? ["default", "max_tool_rounds"]
    : caller.path && [...caller.path, "max_tool_rounds"];
  const shown = caller === undefined ? "default.max_tool_rounds" : "max_tool_rounds";
  throw settingFault(project, path, "range", `${shown} must be at least 1 (got ${rounds})`);
}

interface Candidate<T> {
  readonly value: T;
  /** What the setting is called where it was set. */
  readonly name: string;
  readonly path?: SettingPath | undefined;
}

/** Each value from the caller, else from the alias, else from the defaults. */
function sampling(
  project: Project,
  model: string,
  callers: readonly CallerSettings[],
  definition: ModelDefinition | undefined,
): Omit<AgentModel, "name"> {
  const defaults = project.config.default ?? {};
  const first = <K extends keyof Sampling>(
    field: string,
    key: K,
    alias: Sampling[K] | undefined,
    fallback: Sampling[K] | undefined,
  ): Candidate<Sampling[K] | undefined> => {
    const caller = callers.find((caller) => caller[key] !== undefined);
    if (caller !== undefined) return { value: caller[key], name: field, path: caller.path && [...caller.path, field] };
    const aliasPath = ["models", model, 0, `default_${field}`];
    if (alias !== undefined) return { value: alias, name: dotted(aliasPath), path: aliasPath };
    return { value: fallback, name: `default.${field}`, path: ["default", field] };
  };
  const inRange = (candidate: Candidate<number | undefined>, minimum: number, maximum: number): number | undefined => {
    const { value, name, path } = candidate;
    if (value === undefined || (value >= minimum && value <= maximum)) return value;
    const message = `${name} must be from ${minimum} to ${maximum} (got ${value}), for the model \`${model}\``;
    throw settingFault(project, path, "range", message);
  };
  const reasoning =
    first("reasoning_effort", "reasoningEffort", definition?.default_reasoning_effort, defaults.reasoning_effort)
      .value;
  const temperature = inRange(
    first("temperature", "temperature", definition?.default_temperature, defaults.temperature),
    0,
    2,
  );
  const topP = inRange(first("top_p", "topP", definition?.default_top_p, defaults.top_p), 0, 1);
  const maxOutputTokens = inRange(
    first("max_tokens", "maxTokens", definition?.default_max_tokens, defaults.max_tokens),
    1,
    4_294_967_295,
  );
  return {
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  };
}

function checkPricing(
  project: Project,
  at: (string | number)[],
  { input_per_1m, output_per_1m }: NonNullable<ModelDefinition["pricing"]>,
): Pricing {
  for (const [name, value] of Object.entries({ input_per_1m, output_per_1m })) {
    if (value >= 0) continue;
    const message = `${dotted([...at, "pricing", name])} must be at least 0 (got ${value})`;
    throw new SettingError(project.fault([...at, "pricing", name], "range", message));
  }
  return { inputPerMillion: input_per_1m, outputPerMillion: output_per_1m };
}
