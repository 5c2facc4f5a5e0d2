/** The model providers of one invocation: made once each, with retries and fallbacks around them. */
import { DiagnosticError } from "../base/errors.ts";
import { readTextBounded } from "../base/files.ts";
import { LIMITS } from "../base/limits.ts";
import { withFallback } from "../model/layers/fallback.ts";
import { withSchemas } from "../model/layers/schemas.ts";
import { withRetries } from "../model/layers/retry.ts";
import type { ModelProvider, ModelRequest, ModelStreamEvent } from "../model/provider.ts";
import { profileOf } from "../model/providers/profile.ts";
import { createChatCompletionsProvider } from "../model/providers/chat_completions.ts";
import type { WireOptions } from "../model/providers/_wire_provider.ts";
import { createResponsesProvider } from "../model/providers/responses.ts";
import type { Script } from "../model/providers/script.ts";
import { createScriptedModelProvider, type ScriptedModelProvider } from "../model/providers/scripted.ts";
import { loggedSend } from "../model/providers/wire_log.ts";
import { nodeToJson } from "../source/node.ts";
import { readYaml } from "../source/yaml.ts";
import type { Endpoint } from "./endpoint.ts";
import { KeyRing } from "./keys.ts";
import { type Project, shownPath } from "./project.ts";
import type { RequestSettings } from "./settings.ts";

/** What providers need of the invocation. */
export interface ProviderOptions {
  /** Aborts when the invocation ends. */
  readonly signal: AbortSignal;
  /** Takes what goes over the wire, without keys. */
  readonly wireLog?: (text: string) => void;
}

/** Makes providers and keeps them: calls to one server share its limits, steps of one script its place. */
export class ProviderPool {
  readonly #project: Project;
  readonly #keys: KeyRing;
  readonly #wireLog: ProviderOptions["wireLog"];
  readonly #made = new Map<string, Promise<ModelProvider>>();
  readonly #scripts: ScriptedModelProvider[] = [];

  /** A pool for a project. */
  constructor(project: Project, options: ProviderOptions) {
    this.#project = project;
    this.#keys = new KeyRing(project, options.signal);
    this.#wireLog = options.wireLog;
  }

  /** The provider for these settings. */
  async provider({ endpoint, fallbacks, model }: RequestSettings): Promise<ModelProvider> {
    const primary = await this.#at(endpoint);
    if (fallbacks.length === 0) return primary;
    const label = endpoint.kind === "server" ? endpoint.baseUrl : shownPath(endpoint.path, this.#project.directory);
    return withFallback([
      { provider: primary, model: model.name, label },
      ...fallbacks.map(({ resolve, model, label }) => ({
        provider: lazyProvider(() => this.#at(resolve())),
        model,
        label,
      })),
    ]);
  }

  /** For the end of a successful run: a script whose answers were not all used is an error. */
  checkScripts(): void {
    for (const script of this.#scripts) script.checkUsed();
  }

  #at(endpoint: Endpoint): Promise<ModelProvider> {
    const id = JSON.stringify(endpoint);
    let provider = this.#made.get(id);
    if (provider === undefined) {
      const made = endpoint.kind === "script" ? this.#script(endpoint.path) : Promise.resolve(this.#server(endpoint));
      provider = made.then((inner) => withRetries(inner));
      this.#made.set(id, provider);
    }
    return provider;
  }

  #server(endpoint: Extract<Endpoint, { kind: "server" }>): ModelProvider {
    const log = this.#wireLog;
    const { schemas, returnsReasoning } = profileOf(endpoint.baseUrl);
    const options: WireOptions = {
      baseUrl: endpoint.baseUrl,
      apiKey: (signal) => this.#keys.key(endpoint.key, signal),
      timeoutMs: LIMITS.modelAttemptMs,
      timeoutCovers: "exchange",
      maxResponseBytes: LIMITS.modelResponseBytes,
      ...(log === undefined ? {} : { send: loggedSend({ log, secrets: () => this.#keys.known }) }),
    };
    const provider = endpoint.api === "responses"
      ? createResponsesProvider({ ...options, replaysReasoning: false })
      : createChatCompletionsProvider({ ...options, storeFalse: false, returnsReasoning });
    return withSchemas(provider, schemas);
  }

  async #script(path: string): Promise<ScriptedModelProvider> {
    const name = shownPath(path, this.#project.directory);
    const { root, diagnostics } = readYaml(await readTextBounded(path), name);
    if (diagnostics.length > 0) throw new DiagnosticError(diagnostics);
    // `checkScript` refuses whatever is no script.
    const script = createScriptedModelProvider((root === undefined ? [] : nodeToJson(root)) as Script, { name });
    this.#scripts.push(script);
    return script;
  }
}

/** A provider that is made when it is first asked: a fallback that nobody needs asks for no key and no variable. */
function lazyProvider(make: () => Promise<ModelProvider>): ModelProvider {
  return {
    name: "fallback",
    request: async (request) => await (await make()).request(request),
    stream: async function* (request: ModelRequest): AsyncGenerator<ModelStreamEvent> {
      yield* (await make()).stream!(request);
    },
  };
}
