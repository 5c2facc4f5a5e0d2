/** A server on its standard streams: a program of the sandbox, one JSON message a line. */
import { ConfigurationError, McpServerError, messageOf, ProcessError } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { tailOf, visible } from "../../base/text.ts";
import { type JSONRPCMessage, JSONRPCMessageSchema, type Transport } from "../../deps/mcp.ts";
import type { SandboxProcess } from "../../sandbox/lease.ts";
import { NotCarriedOut } from "./_not_carried_out.ts";
import { MessageLines } from "./_lines.ts";

// deno-lint-ignore no-control-regex
const COLOURS = /\x1b\[[0-9;]*m/g;

/** What the transport works with. */
export interface StdioOptions {
  readonly server: string;
  /** What messages call the server. */
  readonly label: string;
  readonly spawn: () => Promise<SandboxProcess>;
  readonly stderr: ((text: string) => void) | undefined;
  readonly detail: ((message: string) => void) | undefined;
}

/** See the module. Its end is the end of the program, with everything that it started. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  readonly #options: StdioOptions;
  readonly #lines = new MessageLines((line) => this.#take(line));
  readonly #encoder = new TextEncoder();
  #starting: Promise<SandboxProcess> | undefined;
  #writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #readers: ReadableStreamDefaultReader<Uint8Array>[] = [];
  #stderrTail = "";
  #toldNoise = false;
  #status: number | undefined;
  /** Resolves when the program has ended and all that it wrote is read. */
  #over: Promise<void> | undefined;
  #failure: McpServerError | undefined;
  #closing: Promise<void> | undefined;

  /** A transport; nothing is started by it. */
  constructor(options: StdioOptions) {
    this.#options = options;
  }

  /** Why the connection is over; undefined while it lives, or when it was closed. */
  get failure(): McpServerError | undefined {
    return this.#failure;
  }

  /** Starts the program. */
  async start(): Promise<void> {
    this.#starting = this.#spawn();
    const process = await this.#starting;
    if (this.#closing !== undefined) throw this.#ended(); // Whoever closes it ends the program.
    if (process.stdin === undefined) {
      throw new ConfigurationError(`${this.#options.label}: the sandbox gives programs no standard input to talk to`);
    }
    this.#writer = process.stdin.getWriter();
    this.#writer.closed.catch(() => {}); // Its end is told by the writes, and by the status.
    const output = this.#read(process.stdout, (chunk) => {
      const fault = this.#lines.push(chunk);
      this.#tellNoise();
      if (fault !== undefined) this.#fail(this.#faultOf(fault));
    });
    const decoder = new TextDecoder();
    const messages = this.#read(process.stderr, (chunk) => {
      const text = decoder.decode(chunk, { stream: true });
      this.#stderrTail = tailOf(this.#stderrTail + text, LIMITS.mcpStderrCharacters);
      this.#options.stderr?.(text);
    }).then(() => {
      // Whoever shows it line by line shows the last one, too.
      if (!/(?:^|\n)$/.test(this.#stderrTail)) this.#options.stderr?.("\n");
    });
    this.#over = process.status.then(async (status) => {
      this.#status = status;
      // What it wrote before its end is read, unless something else holds its pipes open.
      let timer: ReturnType<typeof setTimeout> | undefined;
      await Promise.race([
        Promise.all([output, messages]),
        new Promise((resolve) => timer = setTimeout(resolve, LIMITS.drainMs)),
      ]);
      clearTimeout(timer);
      if (this.#closing === undefined) this.#fail(this.#ended());
    });
  }

  async #spawn(): Promise<SandboxProcess> {
    const { server, label, spawn } = this.#options;
    try {
      return await spawn();
    } catch (error) {
      if (error instanceof ConfigurationError) {
        throw new ConfigurationError(`${label}: ${error.message}`, { cause: error });
      }
      if (!(error instanceof ProcessError)) throw error;
      throw new McpServerError("process", server, `${label}: ${error.message}`, { cause: error });
    }
  }

  /** Writes a message. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#writer === undefined || this.#closing !== undefined) {
      throw new NotCarriedOut(this.#failure ?? this.#ended());
    }
    try {
      await this.#writer.write(this.#encoder.encode(`${JSON.stringify(message)}\n`));
    } catch (error) {
      // Nobody reads any more: what the program's end has to say comes first.
      let timer: ReturnType<typeof setTimeout> | undefined;
      await Promise.race([this.#over, new Promise((resolve) => timer = setTimeout(resolve, LIMITS.mcpCloseMs))]);
      clearTimeout(timer);
      this.#fail(this.#ended(error));
      throw new NotCarriedOut(this.#failure ?? this.#ended(error));
    }
  }

  /** Ends the program's input, waits for it a moment, and ends whatever is left of its tree. May be called twice. */
  close(): Promise<void> {
    return this.#closing ??= this.#end();
  }

  async #end(): Promise<void> {
    // One that is being started is ended as soon as it runs.
    const process = await this.#starting?.catch(() => undefined);
    if (process !== undefined) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => timer = setTimeout(resolve, LIMITS.mcpCloseMs));
      // Closing waits for what is still to be written, which a program that does not read never takes.
      await Promise.race([Promise.all([this.#writer?.close().catch(() => {}), process.status]), late]);
      clearTimeout(timer);
      void this.#writer?.abort().catch(() => {});
      await process.end();
      await Promise.all(this.#readers.map((reader) => reader.cancel().catch(() => {})));
    }
    this.onclose?.();
  }

  #fail(failure: McpServerError): void {
    if (this.#failure !== undefined || this.#closing !== undefined) return;
    this.#failure = failure;
    void this.close();
  }

  async #read(stream: ReadableStream<Uint8Array>, take: (chunk: Uint8Array) => void): Promise<void> {
    const reader = stream.getReader();
    this.#readers.push(reader);
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.#failure !== undefined) return;
        take(value);
      }
    } catch {
      // A pipe that breaks has said all that it will say.
    }
  }

  #take(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      value = undefined;
    }
    for (const one of Array.isArray(value) ? value : [value]) {
      const { success, data } = JSONRPCMessageSchema.safeParse(one);
      if (success) this.onmessage?.(data);
      else this.#lines.addNoise(line);
    }
  }

  #tellNoise(): void {
    const { firstNoise } = this.#lines;
    if (this.#toldNoise || firstNoise === undefined) return;
    this.#toldNoise = true;
    this.#options.detail?.(`${this.#options.label} wrote a line that is no message: ${visible(firstNoise)}`);
  }

  #faultOf(fault: "message-too-long" | "too-much-noise"): McpServerError {
    const { server, label } = this.#options;
    const what = fault === "message-too-long"
      ? `sent a message over the limit of ${LIMITS.mcpMessageBytes} bytes`
      : `wrote over ${LIMITS.mcpNoiseBytes} bytes to its standard output that are no MCP messages`;
    return new McpServerError("response", server, `${label} ${what}${this.remarks()}`);
  }

  #ended(cause?: unknown): McpServerError {
    const { server, label } = this.#options;
    const how = this.#status === undefined
      ? `does not read its input any more${cause === undefined ? "" : ` (${messageOf(cause)})`}`
      : `has ended with status ${this.#status}`;
    return new McpServerError("process", server, `${label} ${how}${this.remarks()}`, {
      details: { ...(this.#status === undefined ? {} : { status: this.#status }), stderr: this.#stderrTail },
    });
  }

  /** What the program said besides messages, for an error about it. */
  remarks(): string {
    const noise = this.#lines.firstNoise;
    const said = this.#stderrTail.replace(COLOURS, "").trim();
    return (noise === undefined ? "" : `; its first line on standard output was no message: ${visible(noise)}`) +
      (said === "" ? "" : `; its standard error ended with: ${said.split(/\r?\n/).map(visible).join("\n")}`);
  }
}
