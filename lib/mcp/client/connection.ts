/** One live connection to a server: the handshake, requests with their limits, and what their failures mean. */
import { LaitError, McpServerError, messageOf, TimeoutError } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { PRODUCT_NAME, VERSION } from "../../base/product.ts";
import { onAbort, throwIfAborted, untilAborted } from "../../base/signals.ts";
import { shorten, visible } from "../../base/text.ts";
import { Client, ElicitRequestSchema, McpError, type ServerCapabilities } from "../../deps/mcp.ts";
import { NotCarriedOut } from "./_not_carried_out.ts";
import { HttpTransport, type LostAnswer } from "./http.ts";
import { RefusedRequest } from "./refused.ts";
import { RequestTimer } from "./_request_timer.ts";
import { StdioTransport } from "./stdio.ts";
import type { McpHost, McpServerOptions, McpTarget } from "./target.ts";

/** Something like the SDK's schemas: it checks an answer. */
export type ResultSchema<T> = Parameters<Client["request"]>[1] & { readonly _zod: { readonly output: T } };

/** How a request is made. */
export interface RequestOptions {
  readonly signal: AbortSignal;
  /** Milliseconds, given anew by each piece of progress; undefined: none but the signal. */
  readonly limitMs: number | undefined;
  /** What it is called in a message: `the tool echo`. */
  readonly what: string;
  readonly onProgress?: ((message: string) => void) | undefined;
}

/** See the module. Made by {@link openConnection}. */
export class McpConnection {
  readonly #client: Client;
  readonly #transport: StdioTransport | HttpTransport;
  readonly #server: McpServerOptions;
  #lost = false;

  /** Use {@link openConnection}. */
  constructor(client: Client, transport: StdioTransport | HttpTransport, server: McpServerOptions) {
    this.#client = client;
    this.#transport = transport;
    this.#server = server;
    client.onclose = () => void (this.#lost = true);
  }

  /** Whether nothing can be asked any more. */
  get lost(): boolean {
    return this.#lost || (this.#transport instanceof StdioTransport && this.#transport.failure !== undefined);
  }

  /** What the server says that it can do. */
  get capabilities(): ServerCapabilities {
    return this.#client.getServerCapabilities() ?? {};
  }

  /** Shakes hands. */
  async initialize(): Promise<void> {
    // The limit is the caller's: an initialization is not cancelled by a notice but by closing.
    await this.#client.connect(this.#transport, { timeout: LIMITS.mcpTotalMs });
  }

  /**
   * Sends a request and waits for its answer.
   *
   * @throws RefusedRequest, NotCarriedOut, McpServerError, TimeoutError; the signal's reason, of which the server is told
   */
  async request<T>(
    request: { method: string; params?: Record<string, unknown> },
    schema: ResultSchema<T>,
    { signal, limitMs, what, onProgress }: RequestOptions,
  ): Promise<T> {
    throwIfAborted(signal);
    const cut = new AbortController();
    const forget = onAbort(signal, () => cut.abort(signal.reason));
    const timer = new RequestTimer(limitMs, (ms) => {
      const message = `${this.#server.label}: ${what} did not answer within ${ms / 1000} s; raise its \`timeout\``;
      cut.abort(new TimeoutError(message));
    });
    try {
      const answer = this.#client.request(request, schema, {
        signal: cut.signal,
        timeout: LIMITS.mcpTotalMs * 2,
        onprogress: ({ message, progress, total }) => {
          timer.restart();
          onProgress?.(message ?? `${progress}${total === undefined ? "" : `/${total}`}`);
        },
      });
      return await answer as T;
    } catch (error) {
      if (cut.signal.aborted) throw cut.signal.reason;
      throw this.explain(error, what);
    } finally {
      timer.stop();
      forget();
    }
  }

  /** What a failure of the SDK means. */
  explain(error: unknown, what: string): unknown {
    if (error instanceof LaitError || error instanceof NotCarriedOut) return error;
    const { name, label } = this.#server;
    if (this.#transport instanceof StdioTransport && this.#transport.failure !== undefined) {
      return this.#transport.failure;
    }
    if (error instanceof McpError) {
      const { lost } = (error.data ?? {}) as Partial<LostAnswer>;
      if (lost instanceof McpServerError) return lost;
      // The SDK says so of a connection that is closed; a server might say the same of something else.
      if (!this.lost || !/Connection closed$/.test(error.message)) {
        return new RefusedRequest(error.code, error.message.replace(/^MCP error -?\d+: /, ""));
      }
      return new McpServerError("mcp", name, `${label}: the connection was closed while ${what} was waited for`);
    }
    const said = visible(shorten(messageOf(error).replaceAll(/\s+/g, " "), LIMITS.quotedAnswerCharacters));
    return new McpServerError("response", name, `${label} answered ${what} with something that is no MCP: ${said}`, {
      cause: error,
    });
  }

  /** What its program has said besides messages; empty over HTTP. */
  remarks(): string {
    return this.#transport instanceof StdioTransport ? this.#transport.remarks() : "";
  }

  /** Ends it, with everything that was started for it. */
  async close(): Promise<void> {
    await this.#transport.close();
  }
}

/**
 * Connects to a server.
 *
 * @throws McpServerError, TimeoutError, ConfigurationError; the signal's reason. Nothing is left running then.
 */
export async function openConnection(
  server: McpServerOptions,
  host: McpHost,
  signal: AbortSignal,
): Promise<McpConnection> {
  throwIfAborted(signal);
  const lease = await host.lease();
  const transport = makeTransport(server, host, await server.resolve(lease));
  const client = new Client({ name: PRODUCT_NAME, version: VERSION }, {
    capabilities: host.elicit === undefined ? {} : { elicitation: { form: { applyDefaults: true }, url: {} } },
    // What tools answer is for the model to read; it is not checked here.
    jsonSchemaValidator: {
      getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
    },
  });
  const { elicit } = host;
  if (elicit !== undefined) {
    client.setRequestHandler(
      ElicitRequestSchema,
      ({ params }, { signal }) => elicit(server.name, params, signal),
    );
  }
  const connection = new McpConnection(client, transport, server);
  const cut = new AbortController();
  const forget = onAbort(signal, () => cut.abort(signal.reason));
  const timer = new RequestTimer(server.startMs, (ms) => {
    const message = `${server.label} was not ready within ${ms / 1000} s${connection.remarks()}`;
    cut.abort(new TimeoutError(message));
  });
  try {
    await untilAborted(connection.initialize(), cut.signal);
    return connection;
  } catch (error) {
    await connection.close();
    if (cut.signal.aborted) throw cut.signal.reason;
    const meaning = connection.explain(error, "the handshake");
    if (meaning instanceof NotCarriedOut) throw meaning.cause;
    if (!(meaning instanceof RefusedRequest)) throw meaning;
    throw new McpServerError("response", server.name, `${server.label} refused the handshake: ${meaning.message}`);
  } finally {
    timer.stop();
    forget();
  }
}

function makeTransport(server: McpServerOptions, host: McpHost, target: McpTarget): StdioTransport | HttpTransport {
  const { name, label } = server;
  if (target.kind === "http") return new HttpTransport(name, label, target);
  const { stderr, detail } = host;
  return new StdioTransport({
    server: name,
    label,
    spawn: async () => await (await host.lease()).spawn({ ...target.command, stdin: "piped" }),
    stderr: stderr === undefined ? undefined : (text) => stderr(name, text),
    detail,
  });
}
