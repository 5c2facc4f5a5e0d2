/** Where a model is asked: the server or script of an alias, its fallbacks, and where the key comes from. */
import { ConfigurationError, SettingError } from "../base/errors.ts";
import type { EnvironmentReader } from "../base/environment.ts";
import { DEFAULT_BASE_URL } from "../base/product.ts";
import type { KeyFields, ModelDefinition } from "./config_shape.ts";
import { dotted, expandAt } from "./faults.ts";
import type { Project } from "./project.ts";

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
  | {
    readonly kind: "server";
    readonly api: "chat_completions" | "responses";
    readonly baseUrl: string;
    readonly key: KeySource;
  }
  | { readonly kind: "script"; readonly path: string };

/** One of the endpoints that are asked when the first is not available. */
export interface FallbackEndpoint {
  /** The name that this server has for the model. */
  readonly model: string;
  /** The endpoint as the file says it, for messages. */
  readonly label: string;
  /** The endpoint; what it needs of the environment is looked up only now. */
  readonly resolve: () => Endpoint;
}

/** What the endpoints of a request depend on. */
export interface EndpointRequest {
  /** The model's name as the caller gave it. */
  readonly name: string;
  /** The alias's entries; empty for a plain model id. */
  readonly definitions: readonly ModelDefinition[];
  readonly caller: { readonly baseUrl?: string; readonly apiKey?: string };
  readonly environment: EnvironmentReader;
}

/**
 * The endpoint of a request, and its fallbacks. A caller that names URL or key means this one server: there are no
 * fallbacks then.
 *
 * @throws SettingError with the place, or ConfigurationError for what the caller gave
 */
export function resolveEndpoints(
  project: Project,
  request: EndpointRequest,
): { readonly endpoint: Endpoint; readonly fallbacks: readonly FallbackEndpoint[] } {
  const { name, definitions, caller, environment } = request;
  checkKeyPair(project, project.config, []);
  const resolver = new EndpointResolver(project, environment);
  const [first, ...others] = definitions;
  const endpoint = resolver.endpoint(first, ["models", name, 0], caller);
  const fixed = caller.baseUrl !== undefined || caller.apiKey !== undefined;
  const fallbacks = fixed ? [] : others.map((definition, index): FallbackEndpoint => ({
    model: modelId(project, name, index + 1, definition),
    label: "script" in definition.provider ? definition.provider.script : definition.provider.base_url,
    resolve: () => resolver.endpoint(definition, ["models", name, index + 1], {}),
  }));
  return { endpoint, fallbacks };
}

/** The entries of an alias, all of them checked; empty when the name is a plain model id. */
export function aliasDefinitions(project: Project, name: string): readonly ModelDefinition[] {
  const models = project.config.models ?? {};
  if (!Object.hasOwn(models, name)) return [];
  const entries = models[name]!;
  if (entries.length === 0) {
    throw new SettingError(project.fault(["models", name], "empty-model", `models.${name} has no entry`));
  }
  for (const [index, definition] of entries.entries()) {
    const { provider } = definition;
    if ("base_url" in provider) checkKeyPair(project, provider, ["models", name, index, "provider"]);
    modelId(project, name, index, definition);
  }
  return entries;
}

/** The name that an alias's entry has at its server. */
export function modelId(project: Project, alias: string, index: number, definition: ModelDefinition): string {
  const { model_id, provider } = definition;
  if (model_id !== undefined && model_id.trim() !== "") return model_id;
  if (model_id === undefined && "script" in provider) return alias;
  const message = `models.${alias}[${index}].model_id is ${model_id === undefined ? "missing" : "blank"}`;
  throw new SettingError(
    project.fault(["models", alias, index], "model-id", message, "the name that the server knows"),
  );
}

class EndpointResolver {
  readonly #project: Project;
  readonly #environment: EnvironmentReader;

  constructor(project: Project, environment: EnvironmentReader) {
    this.#project = project;
    this.#environment = environment;
  }

  endpoint(
    definition: ModelDefinition | undefined,
    at: readonly (string | number)[],
    caller: EndpointRequest["caller"],
  ): Endpoint {
    const provider = definition?.provider;
    if (provider !== undefined && "script" in provider && caller.baseUrl === undefined) {
      return { kind: "script", path: this.#project.pathBeside([...at, "provider", "script"], provider.script) };
    }
    const server = provider !== undefined && "base_url" in provider ? provider : undefined;
    const path = [...at, "provider"];
    return {
      kind: "server",
      // Fallbacks speak Chat Completions, whatever their entries say.
      api: at.at(-1) === 0 ? definition?.api ?? "chat_completions" : "chat_completions",
      baseUrl: this.#baseUrl(server, path, caller.baseUrl),
      key: this.#key(server, path, caller.apiKey),
    };
  }

  #baseUrl(
    server: { readonly base_url: string } | undefined,
    at: readonly (string | number)[],
    given: string | undefined,
  ): string {
    if (given !== undefined) return checkBaseUrl(given, (what) => new ConfigurationError(what));
    const value = server?.base_url ?? this.#project.config.base_url;
    if (value === undefined) return DEFAULT_BASE_URL;
    const path = server === undefined ? ["base_url"] : [...at, "base_url"];
    return checkBaseUrl(
      this.#expand(value, path),
      (what) => new SettingError(this.#project.fault(path, "base-url", `${dotted(path)}: ${what}`)),
    );
  }

  #key(server: KeyFields | undefined, at: readonly (string | number)[], given: string | undefined): KeySource {
    if (given !== undefined && given.trim() !== "") return { kind: "literal", key: given };
    return this.#keyOf(server, at) ?? this.#keyOf(this.#project.config, []) ?? { kind: "absent" };
  }

  #keyOf(fields: KeyFields | undefined, at: readonly (string | number)[]): KeySource | undefined {
    const source = keySource(this.#project, fields ?? {}, at, this.#environment);
    return source.kind === "absent" ? undefined : source;
  }

  #expand(value: string, path: readonly (string | number)[]): string {
    return expandAt(this.#project, value, path, this.#environment);
  }
}

/** Where the key of one place of the files comes from. */
export function keySource(
  project: Project,
  { api_key, api_key_cmd }: KeyFields,
  at: readonly (string | number)[],
  environment: EnvironmentReader,
): KeySource {
  if (api_key !== undefined) {
    return { kind: "literal", key: expandAt(project, api_key, [...at, "api_key"], environment) };
  }
  if (api_key_cmd === undefined) return { kind: "absent" };
  return { kind: "command", command: api_key_cmd, path: [...at, "api_key_cmd"] };
}

/** A key and a command for it exclude each other, wherever the key that is used comes from. */
export function checkKeyPair(project: Project, fields: KeyFields, path: readonly (string | number)[]): void {
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
