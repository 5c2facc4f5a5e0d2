/** What is known of servers that speak Chat Completions in a dialect of their own, by their host. */
import type { SchemaProfile } from "../../schema/provider_schema.ts";

/** How a server differs. */
export interface ServerProfile {
  readonly schemas: SchemaProfile;
  /** Whether a model's reasoning has to come back with the tool calls that it led to, or must not. */
  readonly returnsReasoning: boolean;
}

/** Gemini's schemas know a part of JSON Schema, and it refuses a request with the rest. */
const GEMINI_REFUSES = [
  "additionalProperties",
  "allOf",
  "const",
  "contentEncoding",
  "contentMediaType",
  "dependentRequired",
  "dependentSchemas",
  "else",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "if",
  "multipleOf",
  "not",
  "oneOf",
  "patternProperties",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
  "uniqueItems",
];

const PLAIN: ServerProfile = {
  schemas: { refused: [], checksStrict: false },
  returnsReasoning: false,
};

/** Hosts, or what they end with behind a dot, and how they differ from a plain server. */
const PROFILES: Readonly<Record<string, Partial<ServerProfile>>> = {
  "api.openai.com": { schemas: { refused: [], checksStrict: true } },
  "openai.azure.com": { schemas: { refused: [], checksStrict: true } },
  "generativelanguage.googleapis.com": { schemas: { refused: GEMINI_REFUSES, checksStrict: false } },
  "api.deepseek.com": { returnsReasoning: true },
  "api.moonshot.ai": { returnsReasoning: true },
  "api.moonshot.cn": { returnsReasoning: true },
};

/** The profile of the server with this base URL; plain for one that is not known. */
export function profileOf(baseUrl: string): ServerProfile {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
  const entry = Object.entries(PROFILES).find(([name]) => host === name || host.endsWith(`.${name}`));
  return Object.freeze({ ...PLAIN, ...entry?.[1] });
}
