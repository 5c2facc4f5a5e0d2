/**
 * How one model request goes over HTTP, for the clients of any API: a fixed list of headers, no redirects, a time
 * limit that covers the body, a bound on the body, and errors that name URL and status and hold no key.
 */
import { ModelError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { PRODUCT_NAME, VERSION } from "../../base/product.ts";
import { decodeUtf8Lossy, shorten } from "../../base/text.ts";

/** How a request is bounded. */
export interface ExchangeOptions {
  /** Milliseconds: for the whole exchange, or for the silence before each chunk. */
  readonly timeoutMs: number;
  readonly timeoutCovers: "exchange" | "silence";
  /** Bytes of the body, decompressed. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
  /** Texts that no message may show. */
  readonly secrets: readonly string[];
}

const SENT_HEADERS = ["accept", "authorization", "content-type", "x-api-key", "anthropic-version"];
const DONE_MARK = "data: [DONE]";

/** One request and its answer; made anew for each. */
export class ModelExchange {
  readonly #options: ExchangeOptions;
  readonly #cut = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #url = "";
  #head = "";
  #tail = "";
  #sawDone = false;
  /** What ended the exchange, when it failed. It says more than what a client makes of it. */
  failure: ModelError | undefined;

  /** Prepares an exchange. */
  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /** Whether the end mark of an event stream, `data: [DONE]`, has passed. */
  get sawDone(): boolean {
    return this.#sawDone;
  }

  /** A `fetch` for a client library. */
  readonly fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    this.#url = input instanceof Request ? input.url : String(input);
    this.#arm();
    try {
      const response = await fetch(this.#url, {
        method: init.method ?? "GET",
        headers: this.#headers(init.headers),
        ...(init.body === undefined || init.body === null ? {} : { body: init.body }),
        redirect: "manual",
        signal: AbortSignal.any([this.#cut.signal, ...(this.#options.signal ? [this.#options.signal] : [])]),
      });
      if (!response.ok) throw await this.#refused(response);
      return new Response(this.#bounded(response.body), { status: response.status, headers: response.headers });
    } catch (error) {
      this.#disarm();
      this.failure ??= this.#explain(error);
      throw this.failure;
    }
  };

  /** The error for an answer that is not what the API promises; quotes its beginning. */
  malformed(what: string): ModelError {
    const quoted = this.#head === "" ? "" : `: ${shorten(this.#head.trim(), LIMITS.errorBodyCharacters)}`;
    return new ModelError(
      this.#clean(`the model server's answer cannot be used: ${what} (POST ${this.#url})${quoted}`),
      {
        code: "response",
        details: { url: this.#url },
      },
    );
  }

  /** Turns whatever a client threw into the error to report. */
  explain(error: unknown): unknown {
    if (this.#options.signal?.aborted) return this.#options.signal.reason;
    if (this.failure !== undefined) return this.failure;
    if (error instanceof ModelError) return error;
    if (error instanceof SyntaxError) return this.malformed("it is not JSON");
    return new ModelError(
      this.#clean(`the model server reported an error (POST ${this.#url}): ${
        String(
          error instanceof Error ? error.message : error,
        )
      }`),
      { details: { url: this.#url }, cause: error },
    );
  }

  #headers(given: HeadersInit | undefined): Headers {
    const all = new Headers(given);
    const headers = new Headers({ "user-agent": `${PRODUCT_NAME}/${VERSION}` });
    for (const name of SENT_HEADERS) {
      const value = all.get(name);
      if (value !== null) headers.set(name, value);
    }
    return headers;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const { timeoutMs, timeoutCovers } = this.#options;
      const what = timeoutCovers === "exchange" ? "did not finish its answer within" : "sent nothing for";
      this.failure ??= new ModelError(
        this.#clean(`the model server ${what} ${timeoutMs / 1000}s (POST ${this.#url})`),
        {
          code: "timeout",
          details: { url: this.#url, timeoutMs },
        },
      );
      this.#cut.abort(this.failure);
    }, this.#options.timeoutMs);
  }

  #disarm(): void {
    clearTimeout(this.#timer);
  }

  #bounded(body: ReadableStream<Uint8Array> | null): ReadableStream<Uint8Array> | null {
    if (body === null) {
      this.#disarm();
      return null;
    }
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let bytes = 0;
    let cancelled = false;
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          // A client may stop reading at the end mark, while the next piece is on its way.
          if (cancelled) return;
          if (done) {
            this.#disarm();
            controller.close();
            return;
          }
          bytes += value.length;
          if (bytes > this.#options.maxBytes) {
            const limit = `it is larger than ${this.#options.maxBytes} bytes`;
            throw this.malformed(limit);
          }
          if (this.#options.timeoutCovers === "silence") this.#arm();
          this.#look(decoder.decode(value, { stream: true }));
          controller.enqueue(value);
        } catch (error) {
          this.#disarm();
          if (cancelled) return;
          this.failure ??= this.#explain(error);
          await reader.cancel().catch(() => {});
          controller.error(this.failure);
        }
      },
      cancel: async (reason) => {
        cancelled = true;
        this.#disarm();
        await reader.cancel(reason).catch(() => {});
      },
    });
  }

  #look(text: string): void {
    if (this.#head.length < LIMITS.errorBodyCharacters) this.#head += shorten(text, LIMITS.errorBodyCharacters);
    if (this.#sawDone) return;
    const seen = this.#tail + text;
    this.#sawDone = seen.includes(DONE_MARK);
    this.#tail = seen.slice(-DONE_MARK.length);
  }

  #explain(error: unknown): ModelError {
    if (error instanceof ModelError) return error;
    if (error instanceof Deno.errors.NotCapable) {
      const host = new URL(this.#url).host;
      return new ModelError(`lait may not connect to ${host}: add it to --allow-net (${error.message})`, {
        cause: error,
      });
    }
    const reason = error instanceof Error ? innermost(error) : String(error);
    const during = this.#head === ""
      ? "cannot reach the model server at"
      : "lost the connection to the model server at";
    return new ModelError(this.#clean(`${during} ${this.#url}: ${reason}`), {
      cause: error,
      details: { url: this.#url },
    });
  }

  async #refused(response: Response): Promise<ModelError> {
    const { status } = response;
    const facts: Record<string, unknown> = { status, url: this.#url };
    if (status >= 300 && status < 400) {
      await response.body?.cancel();
      const location = response.headers.get("location");
      const where = location === null ? "" : ` to ${location}`;
      return new ModelError(
        this.#clean(
          `the model server redirects (${status}) POST ${this.#url}${where}; set base_url to the final address`,
        ),
        { details: facts },
      );
    }
    const body = await readSome(response);
    facts["body"] = this.#clean(body);
    const retryAfterMs = retryAfter(response.headers);
    if (retryAfterMs !== undefined) facts["retryAfterMs"] = retryAfterMs;
    const said = body.trim() === "" ? "" : `: ${errorText(body)}`;
    const name = response.statusText === "" ? "" : ` ${response.statusText}`;
    return new ModelError(this.#clean(`the model server answered ${status}${name} to POST ${this.#url}${said}`), {
      code: status === 429 ? "quota" : "provider",
      details: facts,
    });
  }

  #clean(text: string): string {
    return this.#options.secrets.reduce(
      (clean, secret) => secret === "" ? clean : clean.replaceAll(secret, "***"),
      text,
    );
  }
}

/** The most telling message of an error and its causes: the operating system's, when there is one. */
function innermost(error: Error): string {
  const message = error.message;
  const reason = /: ([^:]+ \(os error \d+\))/.exec(message)?.[1];
  return reason ?? message.replace(/^error sending request for url \([^)]*\): /, "");
}

async function readSome(response: Response): Promise<string> {
  if (response.body === null) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > 4 * LIMITS.errorBodyCharacters) break;
  }
  const all = new Uint8Array(bytes);
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.length;
  }
  return decodeUtf8Lossy(all);
}

/** What an error body says: the `error.message` of JSON, else the body itself, shortened. */
function errorText(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    const error = isJsonObject(parsed) ? parsed["error"] ?? parsed["message"] ?? parsed["detail"] : undefined;
    const message = isJsonObject(error) ? error["message"] : error;
    if (typeof message === "string" && message !== "") return message;
  } catch {
    // Not JSON: shown as it is.
  }
  return shorten(body.trim(), LIMITS.errorBodyCharacters);
}

/** Milliseconds to wait by `retry-after-ms` or `Retry-After` (seconds or a date); undefined when neither is usable. */
export function retryAfter(headers: Headers, now: number = Date.now()): number | undefined {
  const milliseconds = Number(headers.get("retry-after-ms") ?? NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  const value = headers.get("retry-after");
  if (value === null || value.trim() === "") return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
