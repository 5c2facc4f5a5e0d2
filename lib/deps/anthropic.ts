/** Anthropic's client. Its retries, timeouts and environment headers are switched off where it is made. */
export { Anthropic, APIError as AnthropicError } from "npm:@anthropic-ai/sdk@1.14.0";

/** Variables that the package reads when a client is made and when it sends. */
export const ANTHROPIC_ENVIRONMENT = [
  "ANTHROPIC_WEBHOOK_SIGNING_KEY",
  "ANTHROPIC_OPEN_TELEMETRY_PROPAGATION",
  "ANTHROPIC_OPEN_TELEMETRY",
  "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE",
  "ANTHROPIC_OPEN_TELEMETRY_TRACES_MAX_CONTENT_BYTES",
  "ANTHROPIC_CUSTOM_HEADERS",
] as const;
