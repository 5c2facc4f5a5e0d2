/** The contract between the loop and whatever answers it: a model server, a script, a layer around another provider. */
import type { JsonObject } from "../base/json.ts";
import type { ModelContentBlock, ModelMessage } from "./message.ts";
import type { Usage } from "./usage.ts";

/** How hard a model should think. */
export type ModelReasoning = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** Every reasoning level, weakest first. */
export const REASONING_LEVELS: readonly ModelReasoning[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** A model and how to ask it. */
export interface AgentModel {
  /** The name that the provider knows. */
  readonly name: string;
  /** Default: the provider's own. */
  readonly reasoning?: ModelReasoning;
  /** Tokens that one answer may have. Default: the provider's own. */
  readonly maxOutputTokens?: number;
  /** 0–2. Default: the provider's own. */
  readonly temperature?: number;
  /** 0–1. Default: the provider's own. */
  readonly topP?: number;
}

/** A tool as the model sees it. */
export interface ToolSpec {
  /** The name to call it by. */
  readonly name: string;
  /** Absent when the tool's author gave none. */
  readonly description?: string;
  /** JSON Schema of the arguments; its root is an object. */
  readonly inputSchema: JsonObject;
}

/** An answer that must be JSON of this schema. */
export interface ResponseFormat {
  /** 1–64 letters, digits, `_` or `-`. */
  readonly name: string;
  /** JSON Schema of the answer. */
  readonly schema: JsonObject | boolean;
  /** Whether the server is to enforce the schema. Default: true. */
  readonly strict?: boolean;
}

/** Something that a provider or a layer tells about a request that goes on. */
export interface ModelNotice {
  /**
   * `retry` and `fallback` before another attempt, `cache` and `replay` when no request was made, `notice` for what a
   * user should know of a request, `detail` for what matters only when one looks closely.
   */
  readonly kind: "retry" | "fallback" | "cache" | "replay" | "notice" | "detail";
  /** For people. */
  readonly message: string;
  /** The attempt that follows, from 2. */
  readonly attempt?: number;
}

/** One request. Exactly one of `prompt` and `messages` is given. */
export interface ModelRequest {
  /** The name that the provider knows. */
  readonly model: string;
  /** The user's one message. */
  readonly prompt?: string;
  /** The conversation; it ends with the user's message. */
  readonly messages?: readonly ModelMessage[];
  /** The system text. Absent when there is none. */
  readonly system?: string;
  /** Absent when there are none. */
  readonly tools?: readonly ToolSpec[];
  /** Tokens that the answer may have. Default: the provider's own. */
  readonly maxOutputTokens?: number;
  /** How hard to think. Default: the provider's own. */
  readonly reasoning?: ModelReasoning;
  /** 0–2. Default: the provider's own. */
  readonly temperature?: number;
  /** 0–1. Default: the provider's own. */
  readonly topP?: number;
  /** An answer that must be JSON. Default: text. */
  readonly responseFormat?: ResponseFormat;
  /** A wish that the provider caches the conversation's beginning. */
  readonly cache?: boolean;
  /** Whether a streamed answer should report its tokens, which some servers only do when asked. Default: true. */
  readonly wantUsage?: boolean;
  /** Cancels the request. */
  readonly signal?: AbortSignal;
  /** Hears of retries, fallbacks and answers that needed no request. */
  readonly onNotice?: (notice: ModelNotice) => void;
}

/** Why an answer ended. */
export type StopReason = "end" | "tool-calls" | "max-tokens" | "refusal";

/** Who really answered. */
export interface Served {
  /** The endpoint, without credentials. */
  readonly endpoint: string;
  /** The model that answered. */
  readonly model: string;
  /** Whether a request was made. */
  readonly source: "live" | "cache" | "replay";
}

/** An answer. */
export interface ModelResult {
  /** The readable text; empty when there is none. */
  readonly text: string;
  /** The answer's blocks; without it `text` is the one block. */
  readonly content?: readonly ModelContentBlock[];
  /** Absent: decided by the content. */
  readonly stopReason?: StopReason;
  /** Absent when the provider reported none. */
  readonly usage?: Usage;
  /** Who answered. Absent when the provider does not say. */
  readonly served?: Served;
}

/** A piece of a streamed answer. The stream ends with exactly one `result`, which holds all of it. */
export type ModelStreamEvent =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "result"; readonly result: ModelResult };

/** What answers requests. */
export interface ModelProvider {
  /** For messages. */
  readonly name: string;
  /** Who can read this provider's reasoning blocks again. Default: nobody. */
  readonly identity?: string;
  /** Checks a model's settings when an agent is made; throws `ConfigurationError`. */
  validate?(model: AgentModel): void;
  /**
   * Answers a request.
   *
   * @throws ModelError when the server cannot be reached, refuses, or sends what is no answer
   * @throws the signal's reason when it aborts
   */
  request(request: ModelRequest): Promise<ModelResult>;
  /** The same, piece by piece. */
  stream?(request: ModelRequest): AsyncIterable<ModelStreamEvent>;
}

/** The messages of a request, whichever way they were given. */
export function requestMessages(request: ModelRequest): readonly ModelMessage[] {
  return request.messages ?? [{ role: "user", content: [{ type: "text", text: request.prompt ?? "" }] }];
}
