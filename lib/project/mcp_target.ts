/** An entry of `mcp_servers:` as the MCP client takes it; variables are looked up when it is connected. */
import type { EnvironmentReader } from "../base/environment.ts";
import { type LaitError, SettingError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { HttpTarget, McpServerOptions, McpTarget, StdioTarget } from "../mcp/client/target.ts";
import type { McpServerEntry } from "./config_shape.ts";
import { expandAt } from "./faults.ts";
import type { Project } from "./project.ts";

/** Headers that the protocol sets itself. */
const OWN_HEADERS: readonly string[] = ["accept", "mcp-session-id", "last-event-id"];

/** Keys that make sense for one kind of server only. */
const STDIO_KEYS = ["args", "env", "cwd"] as const;
const HTTP_KEYS = ["headers", "auth"] as const;

/**
 * The options of a server.
 *
 * @throws SettingError with the place, when the entry says two things or none
 */
export function serverOptions(project: Project, name: string, environment: EnvironmentReader): McpServerOptions {
  const entry = project.config.mcp_servers![name]!;
  const reader = new EntryReader(project, name, entry, environment);
  reader.check();
  const requestMs = entry.timeout === undefined ? LIMITS.mcpRequestMs : entry.timeout * 1000;
  return {
    name,
    label: `mcp_servers.${name}`,
    resolve: () => reader.target(),
    startMs: requestMs,
    requestMs,
  };
}

class EntryReader {
  readonly #project: Project;
  readonly #name: string;
  readonly #entry: McpServerEntry;
  readonly #environment: EnvironmentReader;

  constructor(project: Project, name: string, entry: McpServerEntry, environment: EnvironmentReader) {
    this.#project = project;
    this.#name = name;
    this.#entry = entry;
    this.#environment = environment;
  }

  check(): void {
    const { command, url, timeout } = this.#entry;
    if (command === undefined && url === undefined) {
      throw this.#fault([], "needs `command` (a program) or `url` (an address)");
    }
    if (command !== undefined && url !== undefined) {
      throw this.#fault(["url"], "has both `command` and `url`; remove one of them");
    }
    const foreign = (command === undefined ? STDIO_KEYS : HTTP_KEYS).find((key) => this.#entry[key] !== undefined);
    if (foreign !== undefined) {
      const kind = command === undefined ? "`url`" : "`command`";
      throw this.#fault([foreign], `has \`${foreign}\`, which does not go with ${kind}`);
    }
    if (timeout !== undefined && timeout < 1) {
      throw this.#fault(["timeout"], `\`timeout\` must be at least 1 second (got ${timeout})`);
    }
    if (this.#entry.auth !== undefined && this.#header("authorization") !== undefined) {
      throw this.#fault(["headers"], "has both `auth` and an `Authorization` header; remove one of them");
    }
  }

  target(): McpTarget {
    return this.#entry.command === undefined ? this.#http() : this.#stdio();
  }

  #stdio(): StdioTarget {
    const { command, args = [], env = {}, cwd } = this.#entry;
    return {
      kind: "stdio",
      command: {
        executable: this.#expand(command!, "command"),
        arguments: args.map((arg, index) => this.#expand(arg, "args", index)),
        variables: this.#expandAll(env, "env"),
        ...(cwd === undefined ? {} : { directory: this.#expand(cwd, "cwd") }),
      },
    };
  }

  #http(): HttpTarget {
    const headers = this.#expandAll(this.#entry.headers ?? {}, "headers");
    for (const [name, value] of Object.entries(headers)) {
      if (OWN_HEADERS.includes(name.toLowerCase())) {
        throw this.#fault(["headers", name], `the header \`${name}\` belongs to the protocol and cannot be set`);
      }
      try {
        new Headers({ [name]: value });
      } catch {
        throw this.#fault(["headers", name], `the header \`${name}\` has a name or value that cannot be sent`);
      }
    }
    return { kind: "http", url: this.#url(), headers, unauthorizedHint: this.#hint() };
  }

  #url(): URL {
    const text = this.#expand(this.#entry.url!, "url");
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
      throw this.#fault(["url"], "`url` must be an absolute http or https address");
    }
    if (url.username !== "" || url.password !== "") {
      throw this.#fault(["url"], "`url` must not hold a user or password; use `headers`");
    }
    return url;
  }

  #hint(): string {
    const header = 'set `headers: { Authorization: "Bearer ${TOKEN}" }` for it';
    return this.#entry.auth === undefined
      ? `${header}, or \`auth: oauth\` and run \`lait mcp login ${this.#name}\``
      : `run \`lait mcp login ${this.#name}\``;
  }

  #header(name: string): string | undefined {
    return Object.keys(this.#entry.headers ?? {}).find((key) => key.toLowerCase() === name);
  }

  #expandAll(values: Readonly<Record<string, string>>, key: string): Record<string, string> {
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, this.#expand(value, key, name)]));
  }

  #expand(value: string, ...path: (string | number)[]): string {
    return expandAt(this.#project, value, ["mcp_servers", this.#name, ...path], this.#environment);
  }

  #fault(path: (string | number)[], message: string): LaitError {
    return new SettingError(
      this.#project.fault(["mcp_servers", this.#name, ...path], "mcp-server", `mcp_servers.${this.#name} ${message}`),
    );
  }
}
