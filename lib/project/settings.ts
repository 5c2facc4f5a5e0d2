/** Resolving what one request uses: model, endpoint, sampling, tools, from the caller, the alias and the defaults. */
import { ConfigurationError, type LaitError, SettingError } from "../base/errors.ts";
import type { EnvironmentReader } from "../base/environment.ts";
import { mayReadVariable } from "../base/rights.ts";
import { LIMITS } from "../base/limits.ts";
import { didYouMean } from "../base/nearest.ts";
import { DEFAULT_BASE_URL } from "../base/product.ts";
import type { AgentModel, ModelReasoning } from "../model/provider.ts";
import type { Pricing } from "../model/usage.ts";
import { expandVariables, ExpansionError } from "../source/expand.ts";
import type { KeyFields, ModelDefinition } from "./config_shape.ts";
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
}

/** Where a key comes from; looked up only when a request is made. */
export type KeySource =
  | { readonly kind: "absent" }
  | { readonly kind: "literal"; readonly key: string }
  | {
    readonly kind: "command";
    readonly command: string | readonly string[];
    readonly path: readonly (string | number)[];
  };

/** What answers: a server, or a script. */
export type Endpoint =
  | { readonly kind: "server"; readonly baseUrl: string; readonly key: KeySource }
  | { readonly kind: "script"; readonly path: string };

/** Everything that one request uses. */
export interface RequestSettings {
  readonly model: AgentModel;
  /** The alias, when the model was named by one. */
  readonly alias?: string;
  readonly endpoint: Endpoint;
  readonly pricing?: Pricing;
  readonly tools: readonly string[];
  /** Where `tools` stands in the files; absent when the caller gave it. */
  readonly toolsPath?: readonly (string | number)[];
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
  const { config } = project;
  const defaults = config.default ?? {};
  const expand = (value: string, ...path: (string | number)[]) => expandAt(project, value, path, environment);
  checkKeyPair(project, config, []);
  const name = caller.model ?? defaults.model;
  if (name === undefined || name.trim() === "") {
    throw new ConfigurationError("a model is required: pass --model NAME, or set default.model in lait.config.yml");
  }
  const definition = aliasDefinition(project, name);
  const at = ["models", name, 0];
  const model: AgentModel = {
    name: modelId(project, name, definition),
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
    endpoint: resolveEndpoint(),
    ...(definition?.pricing === undefined ? {} : { pricing: checkPricing(project, at, definition.pricing) }),
    tools: caller.tools ?? defaults.tools ?? [],
    ...(caller.tools === undefined ? { toolsPath: ["default", "tools"] } : {}),
    maxToolRounds,
    ...(system === undefined ? {} : { system }),
  };

  function resolveEndpoint(): Endpoint {
    const provider = definition?.provider;
    if (provider !== undefined && "script" in provider && caller.baseUrl === undefined) {
      return { kind: "script", path: project.pathBeside(["models", name!, 0, "provider", "script"], provider.script) };
    }
    const server = provider !== undefined && "base_url" in provider ? provider : undefined;
    return { kind: "server", baseUrl: resolveBaseUrl(server), key: resolveKey(server) };
  }

  function resolveBaseUrl(server: { readonly base_url: string } | undefined): string {
    if (caller.baseUrl !== undefined) return checkBaseUrl(caller.baseUrl, (what) => new ConfigurationError(what));
    const value = server?.base_url ?? config.base_url;
    if (value === undefined) return DEFAULT_BASE_URL;
    const path = server === undefined ? ["base_url"] : [...at, "provider", "base_url"];
    return checkBaseUrl(
      expand(value, ...path),
      (what) => new SettingError(project.fault(path, "base-url", `${dotted(path)}: ${what}`)),
    );
  }

  function resolveKey(server: KeyFields | undefined): KeySource {
    if (caller.apiKey !== undefined && caller.apiKey.trim() !== "") return { kind: "literal", key: caller.apiKey };
    return keyOf(server, [...at, "provider"]) ?? keyOf(config, []) ?? { kind: "absent" };
  }

  function keyOf(fields: KeyFields | undefined, path: (string | number)[]): KeySource | undefined {
    if (fields?.api_key !== undefined) {
      return { kind: "literal", key: expand(fields.api_key, ...path, "api_key") };
    }
    if (fields?.api_key_cmd === undefined) return undefined;
    return { kind: "command", command: fields.api_key_cmd, path: [...path, "api_key_cmd"] };
  }
}

/** The first entry of an alias, with all of them checked; undefined when the name is a plain model id. */
function aliasDefinition(project: Project, name: string): ModelDefinition | undefined {
  const models = project.config.models ?? {};
  if (!Object.hasOwn(models, name)) return undefined;
  const entries = models[name]!;
  if (entries.length === 0) {
    throw new SettingError(project.fault(["models", name], "empty-model", `models.${name} has no entry`));
  }
  for (const [index, { provider }] of entries.entries()) {
    if ("base_url" in provider) checkKeyPair(project, provider, ["models", name, index, "provider"]);
  }
  return entries[0];
}

function modelId(project: Project, name: string, definition: ModelDefinition | undefined): string {
  if (definition === undefined) return name;
  const { model_id, provider } = definition;
  if (model_id !== undefined && model_id.trim() !== "") return model_id;
  if (model_id === undefined && "script" in provider) return name;
  const message = `models.${name}[0].model_id is ${model_id === undefined ? "missing" : "blank"}`;
  throw new SettingError(project.fault(["models", name, 0], "model-id", message, "the name that the server knows"));
}

/** A key and a command for it exclude each other, wherever the key that is used comes from. */
function checkKeyPair(project: Project, fields: KeyFields, path: (string | number)[]): void {
  if (fields.api_key === undefined || fields.api_key_cmd === undefined) return;
  const where = path.length === 0 ? "" : `${dotted(path)}: `;
  const message = `${where}api_key and api_key_cmd exclude each other`;
  throw new SettingError(project.fault([...path, "api_key_cmd"], "exclusive-keys", message, "keep one of them"));
}

/** A base URL without slashes at its end; `fault` makes the error for one that cannot be used. */
function checkBaseUrl(value: string, fault: (what: string) => Error): string {
  const text = value.trim().replace(/\/+$/, "");
  if (text === "") throw fault("the base URL is empty");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    const shown = text.replace(/\/\/[^/]*@/, "//…@"); // Without a password.
    throw fault(`the base URL must start with http:// or https://, as in http://localhost:1234/v1 (got ${shown})`);
  }
  if (url.username !== "" || url.password !== "") {
    throw fault("the base URL must not hold a user or password: set api_key, or pass --api-key");
  }
  return text;
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

/** `${VAR}` in a value of a file, replaced; a fault names the value's place. */
export function expandAt(
  project: Project,
  value: string,
  path: readonly (string | number)[],
  environment: EnvironmentReader,
): string {
  try {
    return expandVariables(value, environment);
  } catch (error) {
    if (!(error instanceof ExpansionError)) throw error;
    const hint = error.variable === undefined || !mayReadVariable(error.variable)
      ? undefined
      : `export ${error.variable}, or put it into .env`;
    throw new SettingError(project.fault([...path], "unset-variable", `${dotted(path)}: ${error.message}`, hint));
  }
}

/** A path as messages show it: `models.draft[0].model_id`. */
export function dotted(path: readonly (string | number)[]): string {
  return path.map((step, index) => typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`).join("");
}

/** A name that a registry does not have. */
export interface UnknownName {
  /** What is named: `tool`, `agent`. */
  readonly kind: string;
  readonly name: string;
  /** The registry's key, such as `tools`. */
  readonly key: string;
  readonly known: readonly string[];
  /** Where the name stands; undefined when the caller gave it. */
  readonly path: readonly (string | number)[] | undefined;
}

/** The error for a name that a registry does not have; says what there is, and the nearest. */
export function unknownName(project: Project, { kind, name, key, known, path }: UnknownName): LaitError {
  const message = `unknown ${kind} '${name}': it is not under \`${key}:\` in lait.config.yml`;
  const hint = didYouMean(name, known) ??
    (known.length === 0 ? `there is no \`${key}:\`` : `\`${key}:\` has ${known.join(", ")}`);
  return settingFault(project, path, `unknown-${kind}`, message, hint);
}

/** An error with the place of a value, or without one when the caller gave it. */
export function settingFault(
  project: Project,
  path: readonly (string | number)[] | undefined,
  id: string,
  message: string,
  hint?: string,
): LaitError {
  if (path !== undefined) return new SettingError(project.fault([...path], id, message, hint));
  return new ConfigurationError(hint === undefined ? message : `${message}; ${hint}`);
}
