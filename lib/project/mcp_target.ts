/** An entry of `mcp_servers:` as the MCP client takes it; variables are looked up when it is connected. */
import type { EnvironmentReader } from "../base/environment.ts";
import { type LaitError, SettingError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { PRODUCT_NAME } from "../base/product.ts";
import { join } from "../deps/path.ts";
import type { HttpTarget, McpServerOptions, McpTarget, StdioTarget } from "../mcp/client/target.ts";
import type { OAuthSettings } from "../mcp/client/oauth.ts";
import type { McpServerEntry } from "./config_shape.ts";
import { userDirectory } from "./discover.ts";
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

/** What `lait mcp login` and `logout` need of a server: its login, and the headers of its address. */
export function loginOptions(
  project: Project,
  name: string,
  environment: EnvironmentReader,
): { readonly settings: OAuthSettings; readonly headers: Readonly<Record<string, string>> } {
  const reader = new EntryReader(project, name, project.config.mcp_servers![name]!, environment);
  reader.check();
  const settings = reader.oauth();
  if (settings === undefined) throw reader.withoutLogin();
  return { settings, headers: reader.headers() };
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

  async target(): Promise<McpTarget> {
    if (this.#entry.command !== undefined) return this.#stdio();
    const target = this.#http();
    const settings = this.oauth();
    if (settings === undefined) return target;
    const { runOAuth } = await import("../mcp/client/oauth.ts");
    return { ...target, auth: runOAuth(settings) };
  }

  /** How the server is logged in at; undefined when its entry has no `auth`. */
  oauth(): OAuthSettings | undefined {
    const { auth } = this.#entry;
    if (auth === undefined) return undefined;
    const settings = auth === "oauth" ? {} : auth;
    const { client_id: clientId, client_secret: clientSecret, scope, redirect_port: redirectPort } = settings;
    if (clientSecret !== undefined && clientId === undefined) {
      throw this.#fault(["auth"], "has a `client_secret` without a `client_id`");
    }
    if (redirectPort !== undefined && (redirectPort < 1 || redirectPort > 65_535)) {
      throw this.#fault(["auth", "redirect_port"], "`redirect_port` must be from 1 to 65535");
    }
    const config = userDirectory("XDG_CONFIG_HOME", ".config", this.#environment);
    // Names may hold anything, file names may not.
    const file = join(config, PRODUCT_NAME, "mcp", `${encodeURIComponent(this.#name).replaceAll(".", "%2E")}.json`);
    return {
      name: this.#name,
      url: this.#url().href,
      file,
      ...(clientId === undefined ? {} : { clientId: this.#expand(clientId, "auth", "client_id") }),
      ...(clientSecret === undefined ? {} : { clientSecret: this.#expand(clientSecret, "auth", "client_secret") }),
      ...(scope === undefined ? {} : { scope }),
      ...(redirectPort === undefined ? {} : { redirectPort }),
    };
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

  /** The address, without a login. */
  #http(): HttpTarget {
    const { url = "" } = this.#entry;
    return {
      kind: "http",
      url: this.#url(),
      ...(url.includes("${") ? { shown: url } : {}),
      headers: this.headers(),
      unauthorizedHint: this.#hint(),
    };
  }

  /** The error for a login at a server that has none. */
  withoutLogin(): LaitError {
    return this.#fault([], "has no `auth: oauth`, so there is nothing to log in at");
  }

  /** The headers of the entry, as they can be sent. */
  headers(): Record<string, string> {
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
    return headers;
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
