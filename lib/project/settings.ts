/** Resolving what one request uses: model, endpoint, sampling, tools, from the caller, the alias and the defaults. */
import { ConfigurationError, SettingError } from "../base/errors.ts";
import type { EnvironmentReader } from "../base/environment.ts";
import { LIMITS } from "../base/limits.ts";
import type { AgentModel, ModelReasoning } from "../model/provider.ts";
import type { Pricing } from "../model/usage.ts";
import type { ModelDefinition } from "./config_shape.ts";
import { aliasDefinitions, type Endpoint, type FallbackEndpoint, modelId, resolveEndpoints } from "./endpoint.ts";
import { dotted } from "./faults.ts";
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
  /** Replaces `default.tools`, also when it is empty. */
  readonly tools?: readonly string[];
  /** Replaces `default.mcp`, also when it is empty. */
  readonly mcp?: readonly string[];
}

/** Everything that one request uses. */
export interface RequestSettings {
  readonly model: AgentModel;
  /** The alias, when the model was named by one. */
  readonly alias?: string;
  readonly endpoint: Endpoint;
  /** Asked in order when the endpoint is not available. */
  readonly fallbacks: readonly FallbackEndpoint[];
  readonly pricing?: Pricing;
  readonly tools: readonly string[];
  /** Where `tools` stands in the files; absent when the caller gave it. */
  readonly toolsPath?: readonly (string | number)[];
  /** The MCP servers whose tools are offered. */
  readonly mcp: readonly string[];
  /** Where `mcp` stands in the files; absent when the caller gave it. */
  readonly mcpPath?: readonly (string | number)[];
  readonly maxToolRounds: number;
  readonly system?: string;
}

/**
 * Resolves the settings of a chat.
 *
 * @throws SettingError with the place, for a value of a file that cannot be used
 * @throws ConfigurationError for one that the caller gave
 */
export function resolveSettings(
  project: Project,
  caller: CallerSettings,
  environment: EnvironmentReader,
): RequestSettings {
  const defaults = project.config.default ?? {};
  const name = caller.model ?? defaults.model;
  if (name === undefined || name.trim() === "") {
    throw new ConfigurationError("a model is required: pass --model NAME, or set default.model in lait.config.yml");
  }
  const definitions = aliasDefinitions(project, name);
  const definition = definitions[0];
  const at = ["models", name, 0];
  const model: AgentModel = {
    name: definition === undefined ? name : modelId(project, name, 0, definition),
    ...sampling(project, name, caller, definition),
  };
  const maxToolRounds = defaults.max_tool_rounds ?? LIMITS.toolRounds;
  if (maxToolRounds < 1) {
    const message = `default.max_tool_rounds must be at least 1 (got ${maxToolRounds})`;
    throw new SettingError(project.fault(["default", "max_tool_rounds"], "range", message));
  }
  const system = caller.system ?? defaults.system;
  return {
    model,
    ...(definition === undefined ? {} : { alias: name }),
    ...resolveEndpoints(project, { name, definitions, caller, environment }),
    ...(definition?.pricing === undefined ? {} : { pricing: checkPricing(project, at, definition.pricing) }),
    tools: caller.tools ?? defaults.tools ?? [],
    ...(caller.tools === undefined ? { toolsPath: ["default", "tools"] } : {}),
    mcp: caller.mcp ?? defaults.mcp ?? [],
    ...(caller.mcp === undefined ? { mcpPath: ["default", "mcp"] } : {}),
    maxToolRounds,
    ...(system === undefined ? {} : { system }),
  };
}

interface Candidate<T> {
  readonly value: T | undefined;
  /** What the setting is called where it was set. */
  readonly name: string;
  readonly path?: (string | number)[];
}

/** Each value from the caller, else from the alias, else from the defaults. */
function sampling(
  project: Project,
  model: string,
  caller: CallerSettings,
  definition: ModelDefinition | undefined,
): Omit<AgentModel, "name"> {
  const defaults = project.config.default ?? {};
  const first = <T>(field: string, own: T | undefined, alias: T | undefined, fallback: T | undefined): Candidate<T> => {
    if (own !== undefined) return { value: own, name: field };
    const aliasPath = ["models", model, 0, `default_${field}`];
    if (alias !== undefined) return { value: alias, name: dotted(aliasPath), path: aliasPath };
    return { value: fallback, name: `default.${field}`, path: ["default", field] };
  };
  const inRange = (candidate: Candidate<number>, minimum: number, maximum: number): number | undefined => {
    const { value, name, path } = candidate;
    if (value === undefined || (value >= minimum && value <= maximum)) return value;
    const message = `${name} must be from ${minimum} to ${maximum} (got ${value}), for the model \`${model}\``;
    throw path === undefined
      ? new ConfigurationError(message)
      : new SettingError(project.fault(path, "range", message));
  };
  const reasoning =
    first("reasoning_effort", caller.reasoningEffort, definition?.default_reasoning_effort, defaults.reasoning_effort)
      .value;
  const temperature = inRange(
    first("temperature", caller.temperature, definition?.default_temperature, defaults.temperature),
    0,
    2,
  );
  const topP = inRange(first("top_p", caller.topP, definition?.default_top_p, defaults.top_p), 0, 1);
  const maxOutputTokens = inRange(
    first("max_tokens", caller.maxTokens, definition?.default_max_tokens, defaults.max_tokens),
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
