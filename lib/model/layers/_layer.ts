/** What layers around a provider have in common. */
import { ModelError } from "../../base/errors.ts";
import type { ModelProvider, ModelRequest, ModelStreamEvent } from "../provider.ts";

/** A provider that answers in its own way and is the inner one in everything else. */
export function wrapProvider(inner: ModelProvider, own: Pick<ModelProvider, "request" | "stream">): ModelProvider {
  return Object.freeze({
    name: inner.name,
    ...(inner.identity === undefined ? {} : { identity: inner.identity }),
    ...(inner.validate === undefined ? {} : { validate: inner.validate.bind(inner) }),
    ...own,
  });
}

/** A provider's stream; the whole answer in one piece from one that has none. */
export async function* streamOf(provider: ModelProvider, request: ModelRequest): AsyncGenerator<ModelStreamEvent> {
  if (provider.stream !== undefined) return yield* provider.stream(request);
  const result = await provider.request(request);
  if (result.text !== "") yield { type: "text-delta", text: result.text };
  yield { type: "result", result };
}

/** Whether the server cannot have seen the request. */
export function neverReached(error: unknown): error is ModelError {
  return error instanceof ModelError && error.details["reached"] === false;
}

/** The HTTP status that a request failed with; undefined when it failed otherwise. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof ModelError)) return undefined;
  const status = error.details["status"];
  return typeof status === "number" ? status : undefined;
}
