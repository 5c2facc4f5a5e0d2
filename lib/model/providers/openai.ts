/** `createOpenAIModelProvider`: any server that speaks one of OpenAI's APIs, for programs. */
import { timerMs } from "../../base/clock.ts";
import { ConfigurationError } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { checkInteger, checkKeys, checkOneOf } from "../../base/options.ts";
import { withSchemas } from "../layers/schemas.ts";
import type { ModelProvider } from "../provider.ts";
import { createChatCompletionsProvider } from "./chat_completions.ts";
import { profileOf } from "./profile.ts";
import { createResponsesProvider } from "./responses.ts";

/** Options of {@link createOpenAIModelProvider}. */
export interface OpenAIModelProviderOptions {
  /** The API's root, such as `https://api.openai.com/v1`; http or https, without user, query or fragment. */
  readonly baseUrl: string;
  /** The key; a function is called before each request. `false` sends none. */
  readonly apiKey: string | false | (() => string | Promise<string>);
  /** Which API the server speaks. Default: `chat-completions`. */
  readonly api?: "chat-completions" | "responses";
  /** Milliseconds for a request; while streaming, for the silence between two chunks. Default: 120,000. */
  readonly timeoutMs?: number;
  /** Bytes that an answer may have, decompressed. Default: 8 MiB. */
  readonly maxResponseBytes?: number;
}

const OPTION_KEYS = ["baseUrl", "apiKey", "api", "timeoutMs", "maxResponseBytes"];

/**
 * A provider for an OpenAI-compatible server. The service is asked not to store anything; nothing is sent twice.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { createOpenAIModelProvider } from "./openai.ts";
 * const provider = createOpenAIModelProvider({ baseUrl: "http://localhost:1234/v1", apiKey: false });
 * console.assert(provider.name === "openai");
 * ```
 */
export function createOpenAIModelProvider(options: OpenAIModelProviderOptions): ModelProvider {
  const what = "createOpenAIModelProvider";
  checkKeys(what, options, OPTION_KEYS);
  const { api = "chat-completions", timeoutMs, maxResponseBytes } = options;
  const baseUrl = checkBaseUrl(`${what}: baseUrl`, options.baseUrl);
  const apiKey = checkApiKey(`${what}: apiKey`, options.apiKey);
  checkOneOf(`${what}: api`, api, ["chat-completions", "responses"]);
  checkInteger(`${what}: timeoutMs`, timeoutMs, 1);
  checkInteger(`${what}: maxResponseBytes`, maxResponseBytes, 1);
  const common = {
    baseUrl,
    apiKey,
    timeoutMs: timerMs(timeoutMs ?? LIMITS.modelRequestMs),
    timeoutCovers: "silence-when-streaming" as const,
    maxResponseBytes: maxResponseBytes ?? LIMITS.apiModelResponseBytes,
  };
  const { schemas, returnsReasoning } = profileOf(baseUrl);
  const provider = api === "responses"
    ? createResponsesProvider({ ...common, replaysReasoning: true })
    : createChatCompletionsProvider({ ...common, storeFalse: true, returnsReasoning });
  return withSchemas(provider, schemas);
}

/**
 * An API's root without slashes at its end.
 *
 * @throws ConfigurationError
 */
export function checkBaseUrl(what: string, value: unknown): string {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new ConfigurationError(`${what} must be an absolute http or https URL`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new ConfigurationError(`${what} must not hold a user, password, query or fragment`);
  }
  return (value as string).trim().replace(/\/+$/, "");
}

/**
 * A key that can be sent, or what gives one.
 *
 * @throws ConfigurationError that does not show it
 */
export function checkApiKey(
  what: string,
  value: OpenAIModelProviderOptions["apiKey"],
): string | false | (() => Promise<string>) {
  if (value === false) return false;
  if (typeof value === "function") return async () => checkedKey(what, await value());
  return checkedKey(what, value);
}

function checkedKey(what: string, value: unknown): string {
  if (typeof value !== "string" || value.trim() === "" || /[\r\n]/.test(value)) {
    throw new ConfigurationError(`${what} must be a non-blank text of one line`);
  }
  return value;
}
