/**
 * A loopback server that speaks Chat Completions as far as the command's tests need it. It answers from a list, or by a
 * function, and keeps every request.
 */

/** A tool call of an answer; `arguments` is sent as it is when it is a text, else as JSON. */
export interface Call {
  readonly name: string;
  readonly arguments?: unknown;
  readonly id?: string;
}

/** One answer. It is streamed when the request asks for a stream. */
export interface Answer {
  readonly text?: string;
  readonly reasoning?: string;
  /** The field that carries the reasoning. Default: `reasoning`. */
  readonly reasoningField?: string;
  readonly calls?: readonly Call[];
  readonly usage?: Readonly<Record<string, number>>;
  /** With a status, or a body, that is the whole answer. */
  readonly status?: number;
  readonly body?: string;
  /** Milliseconds before the answer begins. */
  readonly delayMs?: number;
  /** A streamed answer's pieces. Default: the text in two halves. */
  readonly chunks?: readonly string[];
  /** Milliseconds between the pieces. */
  readonly pauseMs?: number;
  /** A streamed answer that breaks off behind its pieces. */
  readonly cut?: boolean;
  /** A streamed answer that repeats its last piece until the client is gone. */
  readonly endless?: boolean;
  /** Never answers. */
  readonly hang?: boolean;
}

/** A message as it was sent. */
export interface WireMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
}

/** A request's body as it was sent. */
export interface WireBody {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly stream: boolean;
  readonly tools?: readonly { readonly function: { name: string; description?: string; parameters: unknown } }[];
  readonly [key: string]: unknown;
}

/** A request as it came. */
export interface ModelRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: WireBody;
}

/** What answers: a list, in order; or a function of the request and its number from 0. */
export type Script = readonly (string | Answer)[] | ((request: ModelRequest, index: number) => string | Answer);

const OVER: Answer = { status: 400, body: '{"error":{"message":"the test\'s script has no more answers"}}' };

/** See the module. Use it with `await using`. */
export class ModelServer implements AsyncDisposable {
  /** Every request, in order. */
  readonly requests: ModelRequest[] = [];
  /** The root to give as `--base-url`. */
  readonly url: string;
  /** Resolves when a client has gone away from a streamed answer. */
  readonly cancelled: Promise<void>;
  readonly #script: Script;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #closing = Promise.withResolvers<void>();
  #reportCancelled: () => void = () => {};
  #closed = false;

  /** Starts listening on a free port. */
  constructor(script: Script) {
    this.#script = script;
    this.cancelled = new Promise((resolve) => this.#reportCancelled = resolve);
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {}, onError: () => new Response(null, { status: 500 }) },
      (request) => this.#answer(request),
    );
    this.url = `http://127.0.0.1:${this.#server.addr.port}/v1`;
  }

  /** The only request's body. */
  get onlyBody(): WireBody {
    if (this.requests.length !== 1) throw new Error(`${this.requests.length} requests came, one was expected`);
    return this.requests[0]!.body;
  }

  /** The contents of the tool messages of a request, the last one unless told. */
  toolResults(index = -1): string[] {
    const messages = this.requests.at(index)?.body.messages ?? [];
    return messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#closing.resolve();
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const recorded: ModelRequest = {
      method: request.method,
      path: new URL(request.url).pathname,
      headers: request.headers,
      body: JSON.parse(await request.text()) as WireBody,
    };
    const index = this.requests.push(recorded) - 1;
    const scripted = typeof this.#script === "function" ? this.#script(recorded, index) : this.#script[index] ?? OVER;
    const answer: Answer = typeof scripted === "string" ? { text: scripted } : scripted;
    if (answer.hang) await this.#closing.promise;
    if (answer.delayMs !== undefined) await this.#pause(answer.delayMs);
    const { status = 200, body } = answer;
    const headers = { "content-type": "application/json" };
    if (body !== undefined || status !== 200) return new Response(body ?? "{}", { status, headers });
    if (!recorded.body.stream) return Response.json(wholeAnswer(answer));
    const wantsUsage = recorded.body["stream_options"] !== undefined;
    return new Response(this.#stream(answer, wantsUsage), { headers: { "content-type": "text/event-stream" } });
  }

  #stream(answer: Answer, wantsUsage: boolean): ReadableStream<Uint8Array> {
    const events = this.#events(answer, wantsUsage);
    const encoder = new TextEncoder();
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const { done, value } = await events.next();
        if (!done) controller.enqueue(encoder.encode(`data: ${value}\n\n`));
        else if (answer.cut) controller.error(new Error("cut by the test"));
        else controller.close();
      },
      cancel: () => this.#reportCancelled(),
    });
  }

  async *#events(answer: Answer, wantsUsage: boolean): AsyncGenerator<string> {
    const delta = (part: Record<string, unknown>, finish: string | null = null) =>
      JSON.stringify({ object: "chat.completion.chunk", choices: [{ index: 0, delta: part, finish_reason: finish }] });
    yield delta({ role: "assistant" });
    if (answer.reasoning !== undefined) yield delta({ [answer.reasoningField ?? "reasoning"]: answer.reasoning });
    const chunks = answer.chunks ?? halves(answer.text ?? "");
    for (const chunk of chunks) {
      yield delta({ content: chunk });
      if (answer.pauseMs !== undefined) await this.#pause(answer.pauseMs);
    }
    while (answer.endless && !this.#closed) {
      yield delta({ content: chunks.at(-1) });
      await this.#pause(5);
    }
    if (answer.cut) return;
    for (const [index, call] of wireCalls(answer).entries()) {
      const [first, second] = halves(call.function.arguments);
      yield delta({ tool_calls: [{ ...call, index, function: { name: call.function.name, arguments: first } }] });
      if (second !== undefined) yield delta({ tool_calls: [{ index, function: { arguments: second } }] });
    }
    yield delta({}, answer.calls === undefined ? "stop" : "tool_calls");
    if (wantsUsage && answer.usage !== undefined) yield JSON.stringify({ choices: [], usage: answer.usage });
    yield "[DONE]";
  }

  /** A wait that the end of the test cuts short. */
  async #pause(milliseconds: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = new Promise<void>((resolve) => timer = setTimeout(resolve, milliseconds));
    await Promise.race([over, this.#closing.promise]);
    clearTimeout(timer);
  }
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}

function wireCalls(
  { calls = [] }: Answer,
): { id: string; type: string; function: { name: string; arguments: string } }[] {
  return calls.map(({ name, arguments: given = {}, id }, index) => ({
    id: id ?? `c${index}`,
    type: "function",
    function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given) },
  }));
}

function wholeAnswer(answer: Answer): unknown {
  const { text, reasoning, reasoningField = "reasoning", calls, usage } = answer;
  const message = {
    role: "assistant",
    content: text ?? null,
    ...(reasoning === undefined ? {} : { [reasoningField]: reasoning }),
    ...(calls === undefined ? {} : { tool_calls: wireCalls(answer) }),
  };
  const finish = calls === undefined ? "stop" : "tool_calls";
  return { choices: [{ index: 0, message, finish_reason: finish }], ...(usage === undefined ? {} : { usage }) };
}
