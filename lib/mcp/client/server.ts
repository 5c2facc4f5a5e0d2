/**
 * A server over a run: connected when it is first needed, shared by everyone who needs it, started again once when it
 * has died, and asked anew when it has forgotten the session. A call that may have reached it is never sent twice.
 */
import { ConfigurationError, McpServerError } from "../../base/errors.ts";
import { PendingWork } from "../../base/pending.ts";
import { throwIfAborted, untilAborted } from "../../base/signals.ts";
import {
  type CallToolResult,
  CallToolResultSchema,
  type McpToolDescription,
  type ServerCapabilities,
} from "../../deps/mcp.ts";
import { NotCarriedOut } from "./_not_carried_out.ts";
import { type McpConnection, openConnection, type ResultSchema } from "./connection.ts";
import { RefusedRequest } from "./refused.ts";
import { listTools } from "./listing.ts";
import type { McpHost, McpServerOptions } from "./target.ts";

/** A connection and how many use it. */
interface Shared {
  readonly connection: McpConnection;
  users: number;
  /** No new request is made on it; it is closed when nobody uses it any more. */
  retired: boolean;
}

/** Work that several wait for. It is given up when none of them waits any more. */
interface Attempt<T> {
  readonly work: Promise<T>;
  readonly given: AbortController;
  waiting: number;
  /** Nobody joins it any more. */
  readonly over: () => void;
}

/** What a request of a server is made with. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /** Hears what the server says about its progress. */
  readonly onProgress?: (message: string) => void;
}

/** See the module. */
export class McpServer {
  readonly #options: McpServerOptions;
  readonly #host: McpHost;
  readonly #pending = new PendingWork();
  readonly #closed = new AbortController();
  readonly #live = new Set<McpConnection>();
  readonly #closing = new Set<Promise<void>>();
  #shared: Shared | undefined;
  #connecting: Attempt<Shared> | undefined;
  #listing: Attempt<readonly McpToolDescription[]> | undefined;
  #tools: readonly McpToolDescription[] | undefined;
  #restarted = false;

  /** A server; nothing is started by it. */
  constructor(options: McpServerOptions, host: McpHost) {
    this.#options = options;
    this.#host = host;
  }

  /** Its name in the configuration. */
  get name(): string {
    return this.#options.name;
  }

  /** What messages call it. */
  get label(): string {
    return this.#options.label;
  }

  /** What it says that it can do. */
  async capabilities(signal: AbortSignal): Promise<ServerCapabilities> {
    return await this.use((connection) => Promise.resolve(connection.capabilities), signal);
  }

  /** Its tools; asked for once. */
  async tools(signal: AbortSignal): Promise<readonly McpToolDescription[]> {
    if (this.#tools !== undefined) return this.#tools;
    this.#listing ??= this.#attempt(async (given) => {
      const list = (connection: McpConnection) => listTools(connection, this.#options, given);
      // A server that cannot say what it has is not asked for anything else.
      return this.#tools = await this.#use(list, given, true);
    }, (attempt) => {
      if (this.#listing === attempt) this.#listing = undefined;
    });
    return await this.#join(this.#listing, signal);
  }

  /**
   * Calls a tool.
   *
   * @throws RefusedRequest when the server answers with an error of the protocol
   * @throws McpServerError, TimeoutError, ConfigurationError; the signal's reason
   */
  async call(
    tool: string,
    args: Readonly<Record<string, unknown>> | undefined,
    options: CallOptions,
  ): Promise<CallToolResult> {
    return await this.use((connection) =>
      connection.request(
        { method: "tools/call", params: { name: tool, ...(args === undefined ? {} : { arguments: args }) } },
        CallToolResultSchema,
        { ...options, limitMs: this.#options.requestMs, what: `the tool ${tool}` },
      ), options.signal);
  }

  /** Asks for something else than a tool; fails as `call` does. */
  async ask<T>(
    request: { readonly method: string; readonly params: Record<string, unknown> },
    schema: ResultSchema<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const limitMs = this.#options.requestMs;
    return await this.use((one) => one.request(request, schema, { signal, limitMs, what: request.method }), signal);
  }

  /** Works with a connection. Work that was certainly not carried out is done once more, with a fresh one. */
  async use<T>(work: (connection: McpConnection) => Promise<T>, signal: AbortSignal): Promise<T> {
    return await this.#use(work, signal, this.#host.freshAfterCancel ?? false);
  }

  async #use<T>(
    work: (connection: McpConnection) => Promise<T>,
    signal: AbortSignal,
    freshAfterFailure: boolean,
  ): Promise<T> {
    for (let again = false;; again = true) {
      throwIfAborted(signal);
      const shared = await this.#connect(signal);
      shared.users++;
      try {
        return await work(shared.connection);
      } catch (error) {
        if (!(error instanceof NotCarriedOut)) {
          if (!(error instanceof RefusedRequest)) shared.retired ||= freshAfterFailure;
          throw error;
        }
        shared.retired ||= !shared.connection.lost;
        if (again) throw error.cause;
      } finally {
        shared.users--;
        this.#closeIfUnused(shared);
      }
    }
  }

  /** Ends every connection, and waits for it. */
  async close(): Promise<void> {
    this.#closed.abort(new ConfigurationError(`${this.label} is not used any more: the run is over`));
    for (const connection of this.#live) void this.#close(connection);
    await this.#pending.settled();
    // One that was being made when the end came.
    for (const connection of this.#live) void this.#close(connection);
    await this.#pending.settled();
  }

  async #close(connection: McpConnection): Promise<void> {
    const closing = this.#pending.track(connection.close());
    this.#closing.add(closing);
    await closing;
    this.#closing.delete(closing);
    this.#live.delete(connection);
  }

  async #connect(signal: AbortSignal): Promise<Shared> {
    throwIfAborted(this.#closed.signal);
    const shared = this.#shared;
    if (shared !== undefined && !shared.retired && !shared.connection.lost) return shared;
    if (shared !== undefined && shared.connection.lost && !shared.retired) this.#countRestart(shared.connection);
    this.#shared = undefined; // One that is used still closes itself.
    this.#connecting ??= this.#attempt(async (given) => {
      if (shared?.connection.lost) void this.#close(shared.connection);
      // Two of one program at a time might stand in each other's way.
      await Promise.all(this.#closing);
      const connection = await openConnection(this.#options, this.#host, given);
      this.#live.add(connection);
      return this.#shared = { connection, users: 0, retired: false };
    }, (attempt) => {
      if (this.#connecting === attempt) this.#connecting = undefined;
    });
    return await this.#join(this.#connecting, signal);
  }

  /** A program that keeps dying would be started for each call. */
  #countRestart(connection: McpConnection): void {
    if (this.#restarted) {
      const message = `${this.label} has ended again; it is started again once a run${connection.remarks()}`;
      throw new McpServerError("process", this.name, message);
    }
    this.#restarted = true;
    this.#host.detail?.(`${this.label} has ended and is started again`);
  }

  #attempt<T>(work: (given: AbortSignal) => Promise<T>, over: (attempt: Attempt<T>) => void): Attempt<T> {
    const given = new AbortController();
    const running = this.#pending.track(work(AbortSignal.any([given.signal, this.#closed.signal])));
    const attempt: Attempt<T> = { work: running, given, waiting: 0, over: () => over(attempt) };
    running.finally(attempt.over).catch(() => {}); // Whoever waits hears it.
    return attempt;
  }

  async #join<T>(attempt: Attempt<T>, signal: AbortSignal): Promise<T> {
    attempt.waiting++;
    try {
      return await untilAborted(attempt.work, signal);
    } finally {
      attempt.waiting--;
      if (attempt.waiting === 0) {
        attempt.over();
        attempt.given.abort(signal.reason);
      }
    }
  }

  #closeIfUnused(shared: Shared): void {
    if (!shared.retired || shared.users > 0) return;
    if (this.#shared === shared) this.#shared = undefined;
    void this.#close(shared.connection);
  }
}
