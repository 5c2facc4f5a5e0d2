/** `createAnthropicModelProvider`: Anthropic's Messages API, for programs. */
import { LONGEST_TIMER_MS, timerMs } from "../../base/clock.ts";
import { withVariables } from "../../base/environment.ts";
import { ConfigurationError } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { checkInteger, checkKeys } from "../../base/options.ts";
import { isJsonObject } from "../../base/json.ts";
import { argumentsObjectText, type ModelContentBlock, type ModelMessage } from "../message.ts";
import { type AgentModel, type ModelProvider, type ModelRequest, requestMessages } from "../provider.ts";
import { AnthropicAssembler } from "./anthropic_assembler.ts";
import type { ModelExchange } from "./http.ts";
import { checkApiKey, checkBaseUrl } from "./openai.ts";
import { type ClientCall, type WireClient, WireProvider } from "./_wire_provider.ts";

/** Options of {@link createAnthropicModelProvider}. */
export interface AnthropicModelProviderOptions {
  /** The key; a function is called before each request. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** The API's root. Default: `https://api.anthropic.com/v1`. */
  readonly baseUrl?: string;
  /** Whether the system text is marked as worth caching; then each request needs one. Default: false. */
  readonly cacheSystem?: boolean;
  /** Milliseconds for a request; while streaming, for the silence between two chunks. Default: 120,000. */
  readonly timeoutMs?: number;
  /** Bytes that an answer may have, decompressed. Default: 8 MiB. */
  readonly maxResponseBytes?: number;
}

const API_VERSION = "2023-06-01";
const EPHEMERAL = Object.freeze({ type: "ephemeral" });

/**
 * A provider for Anthropic's models. A model needs `maxOutputTokens`, and its reasoning cannot be `minimal`. Nothing is
 * sent twice.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { createAnthropicModelProvider } from "./anthropic.ts";
 * const provider = createAnthropicModelProvider({ apiKey: "a key" });
 * console.assert(provider.name === "anthropic");
 * ```
 */
export function createAnthropicModelProvider(options: AnthropicModelProviderOptions): ModelProvider {
  const what = "createAnthropicModelProvider";
  checkKeys(what, options, ["apiKey", "baseUrl", "cacheSystem", "timeoutMs", "maxResponseBytes"]);
  const { cacheSystem = false, timeoutMs, maxResponseBytes } = options;
  const baseUrl = checkBaseUrl(`${what}: baseUrl`, options.baseUrl ?? "https://api.anthropic.com/v1");
  if (options.apiKey as unknown === false) throw new ConfigurationError(`${what}: apiKey must be a non-blank text`);
  const apiKey = checkApiKey(`${what}: apiKey`, options.apiKey);
  if (typeof cacheSystem !== "boolean") throw new ConfigurationError(`${what}: cacheSystem must be true or false`);
  checkInteger(`${what}: timeoutMs`, timeoutMs, 1);
  checkInteger(`${what}: maxResponseBytes`, maxResponseBytes, 1);
  const provider = new WireProvider({
    baseUrl,
    apiKey,
    timeoutMs: timerMs(timeoutMs ?? LIMITS.modelRequestMs),
    timeoutCovers: "silence-when-streaming",
    maxResponseBytes: maxResponseBytes ?? LIMITS.apiModelResponseBytes,
  }, {
    provider: "anthropic",
    name: "messages",
    headers: (key) => ({ "anthropic-version": API_VERSION, ...(key === false ? {} : { "x-api-key": key }) }),
    body: (request, { stream, identity }) => anthropicRequest(request, { stream, identity, cacheSystem }),
    connect,
    assembler: () => new AnthropicAssembler(),
  });
  return Object.freeze({
    name: provider.name,
    identity: provider.identity,
    validate: checkModel,
    request: provider.request.bind(provider),
    stream: provider.stream.bind(provider),
  });
}

async function connect(baseUrl: string, fetch: ModelExchange["fetch"]): Promise<WireClient> {
  const { Anthropic, AnthropicError } = await import("../../deps/anthropic.ts");
  const client = withVariables({ ANTHROPIC_CUSTOM_HEADERS: undefined }, () =>
    new Anthropic({
      apiKey: "unused",
      authToken: null,
      baseURL: baseUrl,
      maxRetries: 0,
      logLevel: "off",
      timeout: LONGEST_TIMER_MS,
      fetch,
    }));
  return {
    send: (body) => client.post("/messages", { body, stream: body["stream"] === true }) as unknown as ClientCall,
    reportedBy: (error) => {
      if (!(error instanceof AnthropicError)) return undefined;
      const said: unknown = error.error;
      return isJsonObject(said) && said["error"] !== undefined ? said["error"] : said ?? error.message;
    },
  };
}

function checkModel({ name, maxOutputTokens, reasoning }: AgentModel): void {
  if (maxOutputTokens === undefined) {
    throw new ConfigurationError(
      `the model \`${name}\` needs maxOutputTokens: Anthropic's API wants it in every request`,
    );
  }
  if (reasoning === "minimal") {
    throw new ConfigurationError(
      `the model \`${name}\` cannot have the reasoning \`minimal\`; use none, or low to max`,
    );
  }
}

type Wire = Record<string, unknown>;

/** The wire form of a request. Reasoning of this identity and model goes back. */
export function anthropicRequest(
  request: ModelRequest,
  { stream, identity, cacheSystem }: {
    readonly stream: boolean;
    readonly identity: string;
    readonly cacheSystem: boolean;
  },
): Wire {
  const { system, tools, reasoning, temperature, topP, maxOutputTokens, responseFormat } = request;
  if (cacheSystem && (system === undefined || system.trim() === "")) {
    throw new ConfigurationError("cacheSystem needs a system text, and this request has none");
  }
  const isOwn = (block: ModelContentBlock) =>
    block.type !== "reasoning" || (block.provider === identity && block.model === request.model);
  const config = {
    ...(reasoning === undefined || reasoning === "none" ? {} : { effort: reasoning }),
    ...(responseFormat === undefined ? {} : { format: { type: "json_schema", schema: responseFormat.schema } }),
  };
  return {
    model: request.model,
    max_tokens: maxOutputTokens,
    ...(system === undefined ? {} : {
      system: cacheSystem ? [{ type: "text", text: system, cache_control: EPHEMERAL }] : system,
    }),
    messages: requestMessages(request).map((message) => wireMessage(message, isOwn)),
    stream,
    ...(request.cache ? { cache_control: EPHEMERAL } : {}),
    ...(reasoning === undefined ? {} : { thinking: { type: reasoning === "none" ? "disabled" : "adaptive" } }),
    ...(Object.keys(config).length === 0 ? {} : { output_config: config }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(tools === undefined || tools.length === 0 ? {} : {
      tools: tools.map(({ name, description, inputSchema }) => ({
        name,
        ...(description === undefined ? {} : { description }),
        input_schema: inputSchema,
      })),
    }),
  };
}

/** Tool results come before everything else of a user's message. */
function wireMessage(message: ModelMessage, isOwn: (block: ModelContentBlock) => boolean): Wire {
  const results = message.content.filter(({ type }) => type === "tool-result");
  const rest = message.content.filter((block) => block.type !== "tool-result" && isOwn(block));
  return { role: message.role, content: [...results, ...rest].map(wireBlock) };
}

function wireBlock(block: ModelContentBlock): Wire {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image", source: imageSource(block.url) };
    case "file":
      return {
        type: "document",
        title: block.name,
        source: { type: "base64", media_type: block.mediaType, data: block.data },
      };
    case "tool-call":
      return { type: "tool_use", id: block.id, name: block.name, input: JSON.parse(argumentsObjectText(block)) };
    case "tool-result":
      return {
        type: "tool_result",
        tool_use_id: block.callId,
        content: block.content,
        ...(block.isError ? { is_error: true } : {}),
      };
    case "reasoning":
      return block.data as Wire;
  }
}

function imageSource(url: string): Wire {
  const data = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  return data === null ? { type: "url", url } : { type: "base64", media_type: data[1], data: data[2] };
}
