/** An MCP server over Streamable HTTP in this process; what it does with a call is a function. */

/** A request as it came. */
export interface HttpEntry {
  readonly http: string;
  readonly path: string;
  readonly method?: string;
  readonly session: string | null;
  readonly headers: Headers;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** What answers a call: a response, or undefined for the usual one. */
export type Answering = (message: Message, count: number, request: Request) => Response | Promise<Response> | undefined;

/** See the module. Use it with `await using`. */
export class HttpMcpServer implements AsyncDisposable {
  readonly requests: HttpEntry[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #onCall: Answering;
  readonly #onAny: ((request: Request) => Response | undefined | Promise<Response>) | undefined;
  #session = 0;
  #calls = 0;

  /** Serves on a free port, or on the given one. `onAny` may answer every request before anything else does. */
  constructor(
    options: { onCall?: Answering; onAny?: (request: Request) => Response | undefined | Promise<Response> } = {},
  ) {
    this.#onCall = options.onCall ?? (() => undefined);
    this.#onAny = options.onAny;
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {}, onError: () => new Response(null, { status: 500 }) },
      (request) => this.#answer(request),
    );
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  /** The methods of the messages that came, and DELETE. */
  get methods(): string[] {
    return this.requests.flatMap(({ http, method }) => http === "DELETE" ? [http] : method ?? []);
  }

  /** Forgets every session. */
  forget(): void {
    this.#session += 100;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const text = request.method === "POST" ? await request.text() : "";
    const message: Message = text.startsWith("{") ? JSON.parse(text) : {};
    const { pathname } = new URL(request.url);
    this.requests.push({
      http: request.method,
      path: pathname,
      ...(message.method === undefined ? {} : { method: message.method }),
      session: request.headers.get("mcp-session-id"),
      headers: request.headers,
    });
    const any = await this.#onAny?.(request);
    if (any !== undefined) return any;
    if (request.method === "DELETE") return new Response(null, { status: 200 });
    if (request.method === "GET") return new Response(null, { status: 405 });
    const { id, method } = message;
    if (method === "initialize") {
      this.#session += 1;
      const headers = { "mcp-session-id": `session-${this.#session}` };
      const serverInfo = { name: "test", version: "1" };
      const { protocolVersion } = message.params!;
      return reply(id!, { protocolVersion, capabilities: { tools: {} }, serverInfo }, headers);
    }
    if (request.headers.get("mcp-session-id") !== `session-${this.#session}`) {
      return new Response("no such session", { status: 404 });
    }
    if (id === undefined) return new Response(null, { status: 202 });
    if (method === "tools/list") return reply(id, { tools: [{ name: "echo", inputSchema: { type: "object" } }] });
    return await this.#onCall(message, ++this.#calls, request) ?? echoed(message);
  }
}

/** The usual answer to a call. */
export function echoed({ id, params }: Message): Response {
  return reply(id!, { content: [{ type: "text", text: JSON.stringify(params!["arguments"] ?? null) }] });
}

/** A JSON-RPC result as JSON. */
export function reply(id: number, result: unknown, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: "2.0", id, result }, { headers });
}

/** A stream of events. */
export function events(...list: readonly string[]): Response {
  return new Response(list.join(""), { headers: { "content-type": "text/event-stream" } });
}
