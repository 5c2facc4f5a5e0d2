/**
 * How one model request goes over HTTP, for the clients of any API: our headers and no others, no redirects, a time
 * limit that covers the body, a bound on the body, and errors that name URL and status and hold no key.
 */
import { LaitError, ModelError } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { missingRight } from "../../base/rights.ts";
import { headOf, shorten, tailOf, visible } from "../../base/text.ts";
import { DoneMark } from "./_done_mark.ts";
import { Redactor } from "./_redactor.ts";
import { refusalOf } from "./_refusal.ts";
import { errorFacts, type ServerError } from "./_server_error.ts";
import { sendDirectly } from "../../base/loopback.ts";
import { transportFailure } from "../../base/transport.ts";

/** What sends a request; the runtime's `fetch`, or a test's. */
export type SendRequest = (url: string, init: RequestInit) => Promise<Response>;

/** How a request is bounded. */
export interface ExchangeOptions {
  /** Milliseconds: for the whole exchange, or for the silence before the headers and before each chunk. */
  readonly timeoutMs: number;
  /** What the time limit covers. */
  readonly timeoutCovers: "exchange" | "silence";
  /** Bytes of the body, decompressed. */
  readonly maxBytes: number;
  /** Ends the exchange with its reason. */
  readonly signal: AbortSignal | undefined;
  /** What is sent, whatever the client wants to send. */
  readonly headers: Headers;
  /** Texts that no message may show. */
  readonly secrets: readonly string[];
  /** Default: the runtime's `fetch`. */
  readonly send?: SendRequest;
}

/** What a client library says about its request and is listened to: JSON is a text. */
interface ClientInit {
  readonly method?: string | undefined;
  readonly body?: unknown;
}

/** One request and its answer; made anew for each. */
export class ModelExchange {
  readonly #options: ExchangeOptions;
  readonly #redactor: Redactor;
  readonly #cut = new AbortController();
  readonly #doneMark = new DoneMark();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #url = "";
  #bytes = 0;
  #head = "";
  #tail = "";
  #phase: "sent" | "answered" | "ended" = "sent";
  /** What ended the exchange, when it failed. It says more than what a client makes of it. */
  failure: ModelError | undefined;

  /** Prepares an exchange. */
  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#redactor = new Redactor(options.secrets);
  }

  /** Whether the end mark of an event stream, `data: [DONE]`, has passed. */
  get sawDone(): boolean {
    return this.#doneMark.seen;
  }

  /** The beginning of what has been received, raw. */
  get head(): string {
    return this.#head;
  }

  /** Whether the answer has ended in the middle of a line. */
  get endedWithinLine(): boolean {
    return this.#phase === "ended" && !/[\r\n]$/.test(this.#tail);
  }

  /** A `fetch` for a client library. */
  readonly fetch = async (input: string | URL | Request, init: ClientInit = {}): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input);
    this.#url = this.#shownUrl(url);
    this.#arm();
    try {
      const send = this.#options.send ?? sendDirectly;
      const response = await send(url, {
        method: init.method ?? "GET",
        headers: this.#options.headers,
        ...(typeof init.body === "string" ? { body: init.body } : {}),
        redirect: "manual",
        signal: AbortSignal.any([this.#cut.signal, ...(this.#options.signal ? [this.#options.signal] : [])]),
      });
      this.#phase = "answered";
      if (!response.ok) {
        this.failure = await refusalOf(response, {
          url: this.#url,
          quote: (text, cut) => this.#quote(text, LIMITS.errorBodyCharacters, cut),
        });
        throw this.failure;
      }
      const body = this.#bounded(response.body);
      return new Response(body, { status: response.status, headers: response.headers });
    } catch (error) {
      this.#fail(error);
      throw this.failure;
    }
  };

  /** Ends the exchange: nothing is left running, and the connection is given up unless the answer was read whole. */
  close(): void {
    this.#disarm();
    if (this.#phase !== "ended") this.#cut.abort();
  }

  /** The error for an answer that is not what the API promises; quotes its beginning, or the last of it. */
  malformed(what: string, quoted: "beginning" | "end" = "beginning"): ModelError {
    const received = quoted === "beginning" ? this.#head : this.#tail;
    const cut = quoted === "beginning" && this.#bytes > received.length;
    const quote = this.#quote(received, LIMITS.quotedAnswerCharacters, cut, quoted === "end");
    const label = quoted === "beginning" ? "received" : "received last";
    const message = `the model server's answer cannot be used: ${this.#quote(what)} (POST ${this.#url})`;
    return new ModelError(quote === "" ? message : `${message}; ${label}: ${quote}`, {
      code: "response",
      details: { url: this.#url },
    });
  }

  /** The error for one that the server reported in place of an answer, or within it. */
  reported(error: ServerError): ModelError {
    const message = `the model server reported an error (POST ${this.#url}): ${this.#quote(error.message)}`;
    const facts = Object.entries(errorFacts(error)).map(([name, value]) => [name, this.#quote(value)]);
    return new ModelError(message, { details: { url: this.#url, ...Object.fromEntries(facts) } });
  }

  /** Turns whatever a client threw into the error to report. */
  explain(error: unknown): unknown {
    if (this.#options.signal?.aborted) return this.#options.signal.reason;
    if (this.failure !== undefined) return this.failure;
    if (error instanceof LaitError) return error;
    const { reason } = transportFailure(error);
    const message = `the request to the model server failed (POST ${this.#url}): ${this.#quote(reason)}`;
    return new ModelError(message, { details: { url: this.#url } });
  }

  #arm(): void {
    this.#disarm();
    const { timeoutMs, timeoutCovers } = this.#options;
    this.#timer = setTimeout(() => {
      const what = this.#phase === "sent"
        ? "did not answer within"
        : timeoutCovers === "exchange"
        ? "did not finish its answer within"
        : "fell silent in the middle of its answer for";
      const message = `the model server ${what} ${timeoutMs / 1000} s (POST ${this.#url})`;
      this.failure ??= new ModelError(message, { code: "timeout", details: { url: this.#url, timeoutMs } });
      this.#cut.abort(this.failure);
    }, timeoutMs);
  }

  #disarm(): void {
    clearTimeout(this.#timer);
  }

  /** The body as the client reads it. It is never read ahead: an error would take the place of what came before it. */
  #bounded(body: ReadableStream<Uint8Array> | null): ReadableStream<Uint8Array> | null {
    const perChunk = this.#options.timeoutCovers === "silence";
    if (perChunk || body === null) this.#disarm();
    if (body === null) {
      this.#phase = "ended";
      return null;
    }
    const reader = body.getReader();
    const decoder = new TextDecoder();
    // A client may stop reading at the end mark, while the next piece is on its way.
    let cancelled = false;
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          if (perChunk) this.#arm();
          const { done, value } = await reader.read();
          if (perChunk || done) this.#disarm();
          if (done) {
            this.#phase = "ended";
            controller.close();
            return;
          }
          this.#watch(value, decoder);
          controller.enqueue(value);
        } catch (error) {
          if (cancelled) return;
          this.#fail(error);
          await reader.cancel().catch(() => {});
          controller.error(this.failure);
        }
      },
      cancel: async (reason) => {
        cancelled = true;
        this.#disarm();
        await reader.cancel(reason).catch(() => {});
      },
    }, { highWaterMark: 0 });
  }

  #watch(bytes: Uint8Array, decoder: TextDecoder): void {
    this.#bytes += bytes.length;
    const { maxBytes } = this.#options;
    if (this.#bytes > maxBytes) {
      const message = `the model server's answer is larger than ${maxBytes} bytes (POST ${this.#url})`;
      throw new ModelError(message, { code: "response", details: { url: this.#url, maxBytes } });
    }
    const text = decoder.decode(bytes, { stream: true });
    this.#doneMark.look(text);
    // More than is quoted, so that a key at the edge is recognised whole.
    const most = 2 * LIMITS.errorBodyCharacters;
    if (this.#head.length < most) this.#head += headOf(text, most - this.#head.length);
    this.#tail = tailOf(this.#tail + text, most);
  }

  #fail(error: unknown): void {
    this.#disarm();
    this.failure ??= error instanceof ModelError ? error : this.#transportError(error);
  }

  #transportError(error: unknown): ModelError {
    if (error instanceof Deno.errors.NotCapable) {
      const message = `cannot reach the model server at ${this.#url}: ${missingRight(error)}`;
      return new ModelError(message, { details: { url: this.#url } });
    }
    const { reason, reached } = transportFailure(error);
    const quoted = this.#quote(reason);
    const when = this.#phase === "sent" ? "before it answered" : "in the middle of its answer";
    // The runtime's error is no cause of ours: its texts hold nothing more, and may hold what must not be shown.
    return new ModelError(
      reached
        ? `lost the connection to the model server ${when} (POST ${this.#url}): ${quoted}`
        : `cannot reach the model server at ${this.#url}: ${quoted}; is it running, and is base_url right?`,
      { details: { url: this.#url, reached } },
    );
  }

  /** A text from outside as one line for messages. */
  #quote(text: string, length: number = LIMITS.errorBodyCharacters, cut = false, end = false): string {
    const line = visible(this.#redactor.clean(text, cut).replace(/\s+/g, " ").trim());
    if (!end) return shorten(line, length);
    return line.length <= length ? line : `…${tailOf(line, length)}`;
  }

  /** An address without credentials; keys are looked for in its path only: `ollama` is a host and often a key, too. */
  #shownUrl(url: string): string {
    if (!URL.canParse(url)) return this.#redactor.clean(url);
    const { origin, pathname, search } = new URL(url);
    return `${origin}${this.#redactor.clean(pathname + search)}`;
  }
}
