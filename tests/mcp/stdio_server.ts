/**
 * An MCP server on standard streams that does what its one argument says, JSON or `@` and a file with it; every message that it gets goes into a
 * journal. It knows the protocol by itself, so that it can break it.
 */

/** What the server does. */
export interface ServerPlan {
  /** The file that gets a line for each message, and one for each start. */
  readonly journal?: string;
  /** Names of tools, or whole tools. Default: `echo`. */
  readonly tools?: readonly (string | Record<string, unknown>)[];
  /** How many tools a page has. Default: all. */
  readonly pageSize?: number;
  /** The cursor that every page gives. */
  readonly stuckCursor?: string;
  /** What the result of a call is. Default: its arguments as a text. */
  readonly result?: unknown;
  /** An error that answers a call. */
  readonly error?: { code: number; message: string };
  /** What the server does when a call comes, before it answers. */
  readonly onCall?: "die" | "hang" | "huge" | "garbage" | "wrong-id";
  /** Milliseconds between pieces of progress, and how many come, before a call is answered. */
  readonly progress?: { readonly everyMs: number; readonly count: number };
  /** Ends the program once it has answered a call, as often as this; counted in the journal. */
  readonly diesAfterCalls?: number;
  /** Bytes that are written to standard output before anything else, and whether they have line endings. */
  readonly noise?: { readonly bytes: number; readonly lines: boolean };
  readonly stderr?: string;
  /** Does not end with its standard input, and does not listen to SIGTERM. */
  readonly stubborn?: boolean;
  /** Starts a `sleep` of so many seconds in the background. */
  readonly sleep?: string;
  /** A question that is asked during a call. */
  readonly elicit?: Record<string, unknown>;
  /** Exits at once with this status. */
  readonly exit?: number;
  /** Never answers the handshake. */
  readonly mute?: boolean;
}

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
}

async function serve(plan: ServerPlan): Promise<void> {
  const note = (entry: unknown) => {
    if (plan.journal !== undefined) {
      Deno.writeTextFileSync(plan.journal, `${JSON.stringify(entry)}\n`, { append: true });
    }
  };
  note({ start: Deno.pid });
  if (plan.stderr !== undefined) await Deno.stderr.write(new TextEncoder().encode(plan.stderr));
  if (plan.exit !== undefined) Deno.exit(plan.exit);
  if (plan.sleep !== undefined) new Deno.Command("sleep", { args: [plan.sleep], stdin: "null" }).spawn();
  if (plan.stubborn) {
    Deno.addSignalListener("SIGTERM", () => {});
    setInterval(() => {}, 1_000);
  }
  if (plan.noise !== undefined) await makeNoise(plan.noise);
  const server = new Server(plan, note);
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of Deno.stdin.readable) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split("\n");
    text = lines.pop()!;
    for (const line of lines) {
      const message = JSON.parse(line) as Message;
      note(message);
      void server.take(message);
    }
  }
  note({ end: "stdin" });
}

async function makeNoise({ bytes, lines }: { bytes: number; lines: boolean }): Promise<void> {
  const unit = lines ? "npm notice this is no message\n" : "npm notice this is no message ";
  const block = new TextEncoder().encode(unit.repeat(2_000));
  for (let written = 0; written < bytes;) written += await Deno.stdout.write(block);
  if (!lines) await Deno.stdout.write(new Uint8Array([10]));
}

class Server {
  readonly #plan: ServerPlan;
  readonly #note: (entry: unknown) => void;
  readonly #answers = new Map<unknown, (message: Message) => void>();
  #calls = 0;

  constructor(plan: ServerPlan, note: (entry: unknown) => void) {
    this.#plan = plan;
    this.#note = note;
  }

  async take(message: Message): Promise<void> {
    const { id, method, params = {} } = message;
    if (method === undefined) return this.#answers.get(id)?.(message);
    if (method === "initialize" && !this.#plan.mute) {
      this.#send({
        id,
        result: {
          protocolVersion: params["protocolVersion"],
          capabilities: { tools: {} },
          serverInfo: { name: "test", version: "1" },
        },
      });
    } else if (method === "tools/list") this.#send({ id, result: this.#page(params["cursor"] as string | undefined) });
    else if (method === "tools/call") await this.#call(id!, params);
  }

  #page(cursor: string | undefined): unknown {
    const { tools = ["echo"], pageSize, stuckCursor } = this.#plan;
    const all = tools.map((tool) => typeof tool === "string" ? { name: tool, inputSchema: { type: "object" } } : tool);
    if (stuckCursor !== undefined) return { tools: all, nextCursor: stuckCursor };
    if (pageSize === undefined) return { tools: all };
    const from = Number(cursor ?? 0);
    const next = from + pageSize;
    return { tools: all.slice(from, next), ...(next < all.length ? { nextCursor: String(next) } : {}) };
  }

  async #call(id: number | string, params: Record<string, unknown>): Promise<void> {
    const { onCall, elicit, progress, error, result, diesAfterCalls } = this.#plan;
    this.#calls += 1;
    if (onCall === "die") Deno.exit(7);
    if (onCall === "hang") return;
    if (onCall === "garbage") return this.#send({ id, result: { content: "no list" } });
    if (onCall === "wrong-id") return this.#send({ id: "another", result: { content: [] } });
    if (onCall === "huge") {
      this.#send({ id, result: { content: [{ type: "text", text: "x".repeat(17 * 1024 * 1024) }] } });
      return;
    }
    let answer: unknown;
    if (elicit !== undefined) answer = await this.#ask("elicitation/create", elicit);
    for (let step = 1; step <= (progress?.count ?? 0); step++) {
      await new Promise((resolve) => setTimeout(resolve, progress!.everyMs));
      const { progressToken } = params["_meta"] as { progressToken: unknown };
      this.#send({ method: "notifications/progress", params: { progressToken, progress: step } });
    }
    const text = JSON.stringify(answer ?? params["arguments"] ?? null);
    if (error !== undefined) this.#send({ id, error });
    else this.#send({ id, result: result ?? { content: [{ type: "text", text }] } });
    if (diesAfterCalls !== undefined && this.#calls >= diesAfterCalls) Deno.exit(9);
  }

  async #ask(method: string, params: unknown): Promise<unknown> {
    const id = `q${this.#answers.size}`;
    const answer = new Promise<Message>((resolve) => this.#answers.set(id, resolve));
    this.#send({ id, method, params });
    const { result } = await answer;
    this.#note({ answered: result });
    return result;
  }

  #send(message: object): void {
    let bytes = new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    while (bytes.length > 0) bytes = bytes.subarray(Deno.stdout.writeSync(bytes));
  }
}

if (import.meta.main) {
  const [plan = "{}"] = Deno.args;
  await serve(JSON.parse(plan.startsWith("@") ? Deno.readTextFileSync(plan.slice(1)) : plan) as ServerPlan);
}
