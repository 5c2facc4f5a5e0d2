/** Sending a request again when the server was not there, had too much to do, or failed. */
import { type Clock, systemClock } from "../../base/clock.ts";
import { ModelError } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { throwIfAborted } from "../../base/signals.ts";
import type { ModelProvider, ModelRequest, ModelStreamEvent } from "../provider.ts";
import { type LeaveGate, RateGate } from "./_rate_gate.ts";
import { neverReached, statusOf, streamOf, wrapProvider } from "./_layer.ts";

/** Settings of {@link withRetries}. */
export interface RetryOptions {
  /** How often a request is sent again at most. Default: 3. */
  readonly retries?: number;
  /** What waits. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Milliseconds that a server may ask to wait; when it asks for more, the request fails. Default: 60 000. */
  readonly maxDelayMs?: number;
}

/**
 * The provider, which sends a request again after a failed connection, a status 5xx or a 429 that is no used-up quota.
 * It waits as long as the server says, else 100 ms, 200 ms, 400 ms and so on, 8 s at most; each retry is told to
 * `onNotice`. A stream is sent again only while nothing of it has been passed on. After a 429 the requests of this
 * provider go one at a time, and not before the server said, until one has passed.
 *
 * @example
 * ```ts
 * import { createScriptedModelProvider } from "../providers/scripted.ts";
 * import { withRetries } from "./retry.ts";
 * const provider = withRetries(createScriptedModelProvider([{ status: 503 }, "Hello!"]));
 * console.assert((await provider.request({ model: "any", prompt: "hi" })).text === "Hello!");
 * ```
 */
export function withRetries(provider: ModelProvider, options: RetryOptions = {}): ModelProvider {
  const retrier = new Retrier(options);
  return wrapProvider(provider, {
    async request(request) {
      for (let attempt = 1;; attempt++) {
        const leave = await retrier.enter(request);
        let failure: unknown;
        try {
          const result = await provider.request(request);
          leave(true);
          return result;
        } catch (error) {
          failure = error;
        } finally {
          leave(false);
        }
        await retrier.waitOrThrow(failure, attempt, request);
      }
    },
    ...(provider.stream === undefined ? {} : { stream: (request) => retryStream(provider, request, retrier) }),
  });
}

async function* retryStream(
  provider: ModelProvider,
  request: ModelRequest,
  retrier: Retrier,
): AsyncGenerator<ModelStreamEvent> {
  for (let attempt = 1;; attempt++) {
    let started = false;
    let failure: unknown;
    const leave = await retrier.enter(request);
    try {
      for await (const event of streamOf(provider, request)) {
        started = true;
        leave(true);
        yield event;
      }
      return;
    } catch (error) {
      if (started) throw error;
      failure = error;
    } finally {
      leave(started);
    }
    await retrier.waitOrThrow(failure, attempt, request);
  }
}

class Retrier {
  readonly #retries: number;
  readonly #clock: Clock;
  readonly #maxDelayMs: number;
  readonly #gate: RateGate;

  constructor({ retries, clock, maxDelayMs }: RetryOptions) {
    this.#retries = retries ?? LIMITS.modelRetries;
    this.#clock = clock ?? systemClock;
    this.#maxDelayMs = maxDelayMs ?? LIMITS.retryAfterMs;
    this.#gate = new RateGate(this.#clock);
  }

  /** Resolves when the server may be asked: at once, unless it has refused another request for its rate. */
  async enter(request: ModelRequest): Promise<LeaveGate> {
    return await this.#gate.enter(request.signal);
  }

  /** Waits until the request may be sent again; throws when it may not. */
  async waitOrThrow(error: unknown, attempt: number, request: ModelRequest): Promise<void> {
    throwIfAborted(request.signal);
    if (attempt > this.#retries || !isPassing(error)) throw error;
    const asked = retryAfterOf(error);
    if (asked !== undefined && asked > this.#maxDelayMs) throw this.#later(error, asked);
    const wait = asked ?? Math.min(LIMITS.retryDelayMs * 2 ** (attempt - 1), LIMITS.retryDelayCapMs);
    if (statusOf(error) === 429) this.#gate.limit(wait);
    request.onNotice?.({
      kind: "retry",
      attempt: attempt + 1,
      message: `trying again in ${wait / 1000} s (attempt ${attempt + 1} of ${this.#retries + 1}): ${error.message}`,
    });
    await this.#clock.sleep(wait, request.signal);
    throwIfAborted(request.signal);
  }

  #later(error: ModelError, asked: number): ModelError {
    const seconds = Math.ceil(asked / 1000);
    const date = new Date(this.#clock.now() + asked);
    const when = Number.isNaN(date.getTime()) ? "" : ` (${date.toISOString()})`;
    const message = `${error.message}; it asks to come back in ${seconds} s${when}, ` +
      `and lait waits ${this.#maxDelayMs / 1000} s at most`;
    const code = error.code === "quota" ? "quota" : "provider";
    return new ModelError(message, { code, details: error.details, cause: error });
  }
}

/** Whether the same request may succeed a moment later. */
function isPassing(error: unknown): error is ModelError {
  if (neverReached(error)) return true;
  const status = statusOf(error);
  if (status === undefined) return false;
  if (status !== 429) return status >= 500;
  const { errorCode, errorType } = (error as ModelError).details;
  return ![errorCode, errorType].includes("insufficient_quota");
}

function retryAfterOf(error: ModelError): number | undefined {
  const { retryAfterMs } = error.details;
  return typeof retryAfterMs === "number" && retryAfterMs >= 0 ? retryAfterMs : undefined;
}
