/** OpenAI's client library, with everything of its own switched off. */
import { LONGEST_TIMER_MS } from "../../base/clock.ts";
import { withVariables } from "../../base/environment.ts";
import type { OpenAI } from "../../deps/openai.ts";
import type { ModelExchange } from "./http.ts";
import type { ClientCall, WireClient } from "./_wire_provider.ts";

/** The key as a bearer. */
export function bearer(key: string | false): Record<string, string> {
  return key === false ? {} : { authorization: `Bearer ${key}` };
}

/** Makes the client; `call` says which of its methods sends a body. */
export async function connectOpenAi(
  baseUrl: string,
  fetch: ModelExchange["fetch"],
  call: (client: OpenAI, body: Record<string, unknown>) => unknown,
): Promise<WireClient> {
  const { APIError, OpenAI } = await import("../../deps/openai.ts");
  // With headers in the environment that are none, the client could not even be made.
  const client = withVariables({ OPENAI_CUSTOM_HEADERS: undefined }, () =>
    new OpenAI({
      apiKey: "unused",
      adminAPIKey: null,
      baseURL: baseUrl,
      maxRetries: 0,
      logLevel: "off",
      organization: null,
      project: null,
      timeout: LONGEST_TIMER_MS,
      fetch,
    }));
  return {
    // The body is ours, so that what is sent is what the API's file says; the client's types know only its own models.
    send: (body) => call(client, body) as ClientCall,
    reportedBy: (error) => error instanceof APIError ? error.error ?? error.message : undefined,
  };
}
