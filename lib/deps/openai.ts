/** The OpenAI client. Its retries, timeouts and environment headers are switched off where it is made. */
export { APIError, OpenAI } from "npm:openai@7.59.0";

/** Variables that the package reads when a client is made without explicit options; lait gives them all. */
export const OPENAI_ENVIRONMENT = [] as const;
