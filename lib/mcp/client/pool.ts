/** The servers of a run, by name: each is made once, and all are closed together. */
import { PendingWork } from "../../base/pending.ts";
import { McpServer } from "./server.ts";
import type { McpHost, McpServerOptions } from "./target.ts";

/** See the module. */
export class McpPool {
  readonly #host: McpHost;
  readonly #servers = new Map<string, McpServer>();

  /** A pool without servers. */
  constructor(host: McpHost) {
    this.#host = host;
  }

  /** The server of this name; made with `options` when it is asked for first. Nothing is started by that. */
  server(name: string, options: () => McpServerOptions): McpServer {
    let server = this.#servers.get(name);
    if (server === undefined) this.#servers.set(name, server = new McpServer(options(), this.#host));
    return server;
  }

  /** Ends every connection and every program, and waits for it. */
  async close(): Promise<void> {
    const closing = new PendingWork();
    for (const server of this.#servers.values()) void closing.track(server.close());
    await closing.settled();
  }
}
