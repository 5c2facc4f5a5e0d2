/** What the MCP client is told: which server, how it is reached, and who stands around it. */
import type { ElicitRequest, ElicitResult, OAuthClientProvider } from "../../deps/mcp.ts";
import type { SandboxLease, SpawnCommand } from "../../sandbox/lease.ts";

/** A server that is a program: it speaks on its standard streams. */
export interface StdioTarget {
  readonly kind: "stdio";
  readonly command: Omit<SpawnCommand, "stdin" | "signal">;
}

/** A server at an address: Streamable HTTP. */
export interface HttpTarget {
  readonly kind: "http";
  readonly url: URL;
  /** The address as messages show it: it may hold a secret. Default: without what stands behind `?`. */
  readonly shown?: string;
  /** Sent with every request to the address itself, and to nothing else. No message shows their values. */
  readonly headers: Readonly<Record<string, string>>;
  /** OAuth, where it is wanted. */
  readonly auth?: OAuthClientProvider;
  /** What to do when the server wants to know who is there, for the error. */
  readonly unauthorizedHint: string;
}

/** How a server is reached, with every variable looked up. */
export type McpTarget = StdioTarget | HttpTarget;

/** One server. */
export interface McpServerOptions {
  /** Its name in the configuration. */
  readonly name: string;
  /** What messages call it: `mcp_servers.notes`. */
  readonly label: string;
  /** Called before each connection. */
  readonly resolve: (lease: SandboxLease) => McpTarget | Promise<McpTarget>;
  /** Milliseconds until it must be ready, and for each page of its list of tools. */
  readonly startMs: number;
  /** Milliseconds for any other request, given anew by each piece of progress; undefined: the caller's signal alone. */
  readonly requestMs: number | undefined;
}

/** What a server asks the user. */
export type ElicitationParams = ElicitRequest["params"];

/** Answers a server's question. */
export type Elicit = (server: string, params: ElicitationParams, signal: AbortSignal) => Promise<ElicitResult>;

/** What stands around the servers. */
export interface McpHost {
  /** Where programs run; taken when the first one is needed. */
  readonly lease: () => Promise<SandboxLease>;
  /** Answers questions of servers; without it servers are told that nobody can be asked. */
  readonly elicit?: Elicit;
  /** Hears what a server writes to its standard error, as text. */
  readonly stderr?: (server: string, text: string) => void;
  /** Hears what is good to know about a server, for a log. */
  readonly detail?: (message: string) => void;
  /**
   * Whether a call that was given up costs the connection: the next one gets a fresh one. Default: the server is only
   * told to stop.
   */
  readonly freshAfterCancel?: boolean;
}
