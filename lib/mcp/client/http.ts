/**
 * A server over Streamable HTTP. The SDK speaks; around it stand what it leaves open: bounds, no redirects, headers for
 * the address alone, and an end for each request whose answer cannot come any more.
 */
import { ConfigurationError, LaitError, McpServerError } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { sendDirectly } from "../../base/loopback.ts";
import { missingRight } from "../../base/rights.ts";
import { shorten, visible } from "../../base/text.ts";
import { transportFailure } from "../../base/transport.ts";
import {
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  StreamableHTTPError,
  type Transport,
  UnauthorizedError,
} from "../../deps/mcp.ts";
import type { HttpTarget } from "./target.ts";
import { NotCarriedOut } from "./_not_carried_out.ts";
import { watchAnswer } from "./_answer_body.ts";

/** The `data` of an answer that the transport makes up for a request that is lost. */
export interface LostAnswer {
  readonly lost: McpServerError;
}

/** A request whose answer has not come. */
interface Waiting {
  readonly cut: AbortController;
  /** Whether the server has said how the stream can be resumed. */
  resumable: boolean;
}

type RequestId = string | number;

/** See the module. */
export class HttpTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  readonly #inner: StreamableHTTPClientTransport;
  readonly #server: string;
  readonly #label: string;
  readonly #target: HttpTarget;
  readonly #waiting = new Map<RequestId, Waiting>();
  readonly #notices = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;

  /** A transport for a server that messages call `label`. */
  constructor(server: string, label: string, target: HttpTarget) {
    this.#server = server;
    this.#label = label;
    this.#target = target;
    this.#inner = new StreamableHTTPClientTransport(target.url, {
      fetch: (url, init) => this.#fetch(new URL(url), init ?? {}),
      ...(target.auth === undefined ? {} : { authProvider: target.auth }),
    });
    this.#inner.onmessage = (message) => this.#receive(message);
    this.#inner.onerror = (error) => {
      // The SDK says only in words that a stream is given up.
      if (/Maximum reconnection attempts/.test(error.message)) this.#loseResumed();
      this.onerror?.(error);
    };
    this.#inner.onclose = () => this.onclose?.();
  }

  /** The session that the server has given; undefined without one. */
  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  /** For the SDK. */
  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  /** Makes ready. */
  async start(): Promise<void> {
    await this.#inner.start();
  }

  /** Sends a message; a request's answer comes by `onmessage`. */
  async send(message: JSONRPCMessage): Promise<void> {
    const hadSession = this.sessionId !== undefined;
    if (!("method" in message)) return await this.#inner.send(message);
    if (!("id" in message)) {
      const sent = this.#inner.send(message);
      const notice = sent.catch(() => {}).finally(() => this.#notices.delete(notice));
      this.#notices.add(notice);
      await sent;
      if (message.method === "notifications/cancelled") this.#forget(message.params?.["requestId"] as RequestId);
      return;
    }
    const waiting: Waiting = { cut: new AbortController(), resumable: false };
    this.#waiting.set(message.id, waiting);
    try {
      await this.#inner.send(message, { onresumptiontoken: () => void (waiting.resumable = true) });
    } catch (error) {
      this.#waiting.delete(message.id);
      throw this.#explain(error, hadSession);
    }
  }

  /** Lets the last notices out, ends the session, and closes every stream. May be called twice. */
  close(): Promise<void> {
    return this.#closing ??= this.#end();
  }

  async #end(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise((resolve) => timer = setTimeout(resolve, LIMITS.mcpCloseMs));
    await Promise.race([Promise.all(this.#notices), late]);
    await Promise.race([this.#inner.terminateSession().catch(() => {}), late]);
    clearTimeout(timer);
    for (const { cut } of this.#waiting.values()) cut.abort();
    await this.#inner.close();
  }

  #receive(message: JSONRPCMessage): void {
    if (!("method" in message) && message.id !== undefined) this.#waiting.delete(message.id);
    this.onmessage?.(message);
  }

  /** A request that was given up: its stream is closed. */
  #forget(id: RequestId | undefined): void {
    if (id === undefined) return;
    this.#waiting.get(id)?.cut.abort();
    this.#waiting.delete(id);
  }

  /** Answers a request in place of the server, which cannot any more. */
  #lose(id: RequestId, how: string): void {
    if (!this.#waiting.delete(id)) return;
    const message = `${this.#label}: the connection to ${this.#shownUrl} was lost: ${how}`;
    const data: LostAnswer = { lost: new McpServerError("mcp", this.#server, message) };
    this.onmessage?.({ jsonrpc: "2.0", id, error: { code: -32000, message, data } });
  }

  #loseResumed(): void {
    for (const [id, { resumable }] of [...this.#waiting]) {
      if (resumable) this.#lose(id, "the answer's stream broke off and could not be resumed");
    }
  }

  get #shownUrl(): string {
    const { shown, url: { origin, pathname } } = this.#target;
    return shown ?? `${origin}${pathname}`;
  }

  async #fetch(url: URL, init: RequestInit): Promise<Response> {
    const own = url.href === this.#target.url.href;
    const headers = new Headers(init.headers);
    if (own) { for (const [name, value] of Object.entries(this.#target.headers)) headers.set(name, value); }
    const id = own && init.method === "POST" ? requestIdOf(init.body) : undefined;
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    const signals = [init.signal, waiting?.cut.signal].filter((signal) => signal instanceof AbortSignal);
    const response = await sendDirectly(url.href, {
      ...init,
      headers,
      redirect: "manual",
      ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }),
    });
    if (own) await this.#refuseRedirect(response);
    if (own && headers.has("last-event-id") && response.status === 405) {
      await response.body?.cancel();
      throw new McpServerError("mcp", this.#server, `${this.#label} does not let a stream be resumed`);
    }
    return watchAnswer(response, {
      limit: LIMITS.mcpBodyBytes,
      tooLong: () => new McpServerError("response", this.#server, this.#tooLong()),
      failed: (error) => {
        if (id !== undefined && error instanceof McpServerError) this.#loseWith(id, error);
      },
      ended: (reason) => {
        if (id !== undefined && response.ok && waiting?.resumable !== true) this.#lose(id, reason);
      },
    });
  }

  #loseWith(id: RequestId, lost: McpServerError): void {
    if (!this.#waiting.delete(id)) return;
    this.onmessage?.({ jsonrpc: "2.0", id, error: { code: -32000, message: lost.message, data: { lost } } });
  }

  #tooLong(): string {
    return `${this.#label}: an answer of ${this.#shownUrl} is over the limit of ${LIMITS.mcpBodyBytes} bytes`;
  }

  async #refuseRedirect(response: Response): Promise<void> {
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) return;
    await response.body?.cancel();
    const target = new URL(location, this.#target.url);
    const shown = visible(`${target.origin}${target.pathname}`);
    throw new McpServerError(
      "mcp",
      this.#server,
      `${this.#label}: ${this.#shownUrl} redirects to ${shown}, which is not followed; set \`url\` to the right address`,
    );
  }

  /** What went wrong, in words that hold none of the headers' values. */
  #explain(error: unknown, hadSession: boolean): unknown {
    if (error instanceof LaitError) return error;
    if (error instanceof UnauthorizedError) return this.#unauthorized(error);
    if (error instanceof StreamableHTTPError) {
      const { code } = error;
      if (hadSession && (code === 404 || (code === 400 && /session/i.test(error.message)))) {
        const message = `${this.#label}: ${this.#shownUrl} forgets its sessions`;
        return new NotCarriedOut(new McpServerError("mcp", this.#server, message, { cause: error }));
      }
      if (code === 401) return this.#unauthorized(error);
      const said = this.#redacted(
        error.message.replace(/^Streamable HTTP error: (?:Error POSTing to endpoint: )?/, ""),
      );
      const status = code === undefined || code < 0 ? "" : ` answered ${code}`;
      return new McpServerError("mcp", this.#server, `${this.#label}: ${this.#shownUrl}${status}${said}`, {
        cause: error,
        details: { status: code },
      });
    }
    if (error instanceof Deno.errors.NotCapable) {
      return new ConfigurationError(`${this.#label}: ${missingRight(error)}`, { cause: error });
    }
    const reason = this.#redacted(transportReason(error));
    if (this.#target.auth !== undefined && !(error instanceof TypeError)) {
      return new McpServerError("mcp", this.#server, `${this.#label}: the login cannot be used${reason}`, {
        cause: error,
      });
    }
    return new McpServerError("mcp", this.#server, `${this.#label}: cannot reach ${this.#shownUrl}${reason}`, {
      cause: error,
    });
  }

  #unauthorized(cause: unknown): McpServerError {
    return new McpServerError(
      "mcp",
      this.#server,
      `${this.#label}: ${this.#shownUrl} answered 401: it wants to know who asks; ${this.#target.unauthorizedHint}`,
      { cause, details: { status: 401 } },
    );
  }

  #redacted(text: string): string {
    let shown = visible(shorten(text.trim(), LIMITS.errorBodyCharacters));
    for (const value of Object.values(this.#target.headers)) {
      for (const part of [value, value.replace(/^\w+ /, "")]) {
        if (part.length > 3) shown = shown.replaceAll(part, "***");
      }
    }
    return shown === "" ? "" : `: ${shown}`;
  }
}

function transportReason(error: unknown): string {
  return error instanceof Error ? transportFailure(error).reason : String(error);
}

function requestIdOf(body: unknown): RequestId | undefined {
  if (typeof body !== "string") return undefined;
  const { id, method } = JSON.parse(body) as { id?: RequestId; method?: string };
  return method === undefined ? undefined : id;
}
