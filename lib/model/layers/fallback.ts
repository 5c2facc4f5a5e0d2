/** Asking the next model server when one is not available. */
import { ConfigurationError, ModelError } from "../../base/errors.ts";
import { throwIfAborted } from "../../base/signals.ts";
import type { AgentModel, ModelProvider, ModelRequest, ModelStreamEvent } from "../provider.ts";
import { neverReached, statusOf, streamOf, wrapProvider } from "./_layer.ts";

/** One of several servers that can answer. */
export interface FallbackEntry {
  /** What asks the server. */
  readonly provider: ModelProvider;
  /** The name that this server has for the model; it takes the place of the request's. */
  readonly model: string;
  /** The server in messages: its base URL. */
  readonly label: string;
}

/**
 * A provider that asks the first entry, and the next one when an entry cannot be reached, does not answer in time, or
 * answers 408, 429 or 5xx. Any other failure ends the request; when every entry fails, the last one's error is thrown.
 * Each switch is told to `onNotice`. A stream goes to the next entry only while nothing of it has been passed on.
 *
 * @throws ConfigurationError when there is no entry
 *
 * @example
 * ```ts
 * import { createScriptedModelProvider } from "../providers/scripted.ts";
 * import { withFallback } from "./fallback.ts";
 * const provider = withFallback([
 *   { provider: createScriptedModelProvider([{ status: 503 }]), model: "large", label: "http://a.test/v1" },
 *   { provider: createScriptedModelProvider(["Hello!"]), model: "small", label: "http://b.test/v1" },
 * ]);
 * console.assert((await provider.request({ model: "large", prompt: "hi" })).text === "Hello!");
 * ```
 */
export function withFallback(entries: readonly FallbackEntry[]): ModelProvider {
  const [first] = entries;
  if (first === undefined) throw new ConfigurationError("a model needs at least one server to ask");
  const streams = entries.some(({ provider }) => provider.stream !== undefined);
  return Object.freeze({
    ...wrapProvider(first.provider, {
      async request(request) {
        for (let index = 0;; index++) {
          const entry = entries[index]!;
          try {
            return await entry.provider.request(asking(entry, request));
          } catch (error) {
            announceOrThrow(error, entry, entries[index + 1], request);
          }
        }
      },
      ...(streams ? { stream: (request) => fallbackStream(entries, request) } : {}),
    }),
    validate(model: AgentModel) {
      for (const { provider, model: name } of entries) provider.validate?.({ ...model, name });
    },
  });
}

async function* fallbackStream(
  entries: readonly FallbackEntry[],
  request: ModelRequest,
): AsyncGenerator<ModelStreamEvent> {
  for (let index = 0;; index++) {
    const entry = entries[index]!;
    let started = false;
    try {
      for await (const event of streamOf(entry.provider, asking(entry, request))) {
        started = true;
        yield event;
      }
      return;
    } catch (error) {
      if (started) throw error;
      announceOrThrow(error, entry, entries[index + 1], request);
    }
  }
}

function asking({ model }: FallbackEntry, request: ModelRequest): ModelRequest {
  return { ...request, model };
}

/** Says who is asked next; throws when nobody may be. */
function announceOrThrow(
  error: unknown,
  failed: FallbackEntry,
  next: FallbackEntry | undefined,
  request: ModelRequest,
): void {
  throwIfAborted(request.signal);
  if (next === undefined || !isUnavailable(error)) throw error;
  const message = `${failed.label} failed: ${error.message}; asking ${next.model} at ${next.label} instead`;
  request.onNotice?.({ kind: "fallback", message });
}

function isUnavailable(error: unknown): error is ModelError {
  if (neverReached(error)) return true;
  if (error instanceof ModelError && error.code === "timeout") return true;
  const status = statusOf(error);
  return status !== undefined && (status === 408 || status === 429 || status >= 500);
}
