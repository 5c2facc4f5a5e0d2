/** MCP servers as a harness declares them: checked when the harness is made, without loading the client. */
import { LONGEST_TIMER_MS } from "../../base/clock.ts";
import { ConfigurationError } from "../../base/errors.ts";
import { readEnvironment } from "../../base/environment.ts";
import { LIMITS } from "../../base/limits.ts";
import { checkInteger, checkKeys, checkText } from "../../base/options.ts";
import type { SandboxLease } from "../../sandbox/lease.ts";
import type { McpServerOptions, McpTarget } from "./target.ts";

/** Which tools of a server are offered; at least one of the two. Exclusion wins. */
export interface McpToolFilter {
  /** Exactly these; each must be there. Default: all. */
  readonly include?: readonly string[];
  /** All but these. Default: none. */
  readonly exclude?: readonly string[];
}

/** A server that is a program in the sandbox. */
export interface McpStdioServer {
  /** The program. */
  readonly command: string;
  /** Its arguments. Default: none. */
  readonly arguments?: readonly string[];
  /** Variables with their values, which are no secrets. Default: none. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Names of variables that it gets: the sandbox's, else this process's. Default: none. */
  readonly variables?: readonly string[];
  /** Default: all tools. */
  readonly tools?: McpToolFilter;
  /** Milliseconds until it must be ready. Default: 60,000. */
  readonly startupTimeoutMs?: number;
}

/** A server at an address: Streamable HTTP, reached from this process and not from the sandbox. */
export interface McpHttpServer {
  /** An http or https address. */
  readonly url: string;
  /** Sent with every request; no secrets. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The variable that holds a bearer token: the sandbox's, else this process's. Default: none. */
  readonly bearerTokenVariable?: string;
  /** Default: all tools. */
  readonly tools?: McpToolFilter;
  /** Milliseconds until it must be ready. Default: 60,000. */
  readonly startupTimeoutMs?: number;
}

/** Servers by name: 1–32 letters, digits, `_` or `-`. */
export type McpServers = Readonly<Record<string, McpStdioServer | McpHttpServer>>;

const STDIO_KEYS = ["command", "arguments", "environment", "variables", "tools", "startupTimeoutMs"];
const HTTP_KEYS = ["url", "headers", "bearerTokenVariable", "tools", "startupTimeoutMs"];
const SERVER_NAME = /^[A-Za-z0-9_-]{1,32}$/;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const RAW_TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Checks declarations, and gives a frozen copy.
 *
 * @throws ConfigurationError naming the server and the option
 */
export function checkMcpServers(what: string, servers: McpServers): McpServers {
  if (typeof servers !== "object" || servers === null || Array.isArray(servers)) {
    throw new ConfigurationError(`${what} must be an object`);
  }
  const checked = Object.entries(servers).map(([name, server]) => {
    if (!SERVER_NAME.test(name)) {
      throw new ConfigurationError(
        `${what}: a server's name has 1 to 32 letters, digits, \`_\` or \`-\` (got ${JSON.stringify(name)})`,
      );
    }
    checkServer(`${what}.${name}`, server);
    return [name, freezeDeep(structuredClone(server))] as const;
  });
  return Object.freeze(Object.fromEntries(checked));
}

function checkServer(what: string, server: McpStdioServer | McpHttpServer): void {
  if (typeof server !== "object" || server === null) throw new ConfigurationError(`${what} must be an object`);
  const isStdio = "command" in server;
  if (isStdio === "url" in server) {
    throw new ConfigurationError(`${what} needs exactly one of \`command\` and \`url\``);
  }
  checkKeys(what, server, isStdio ? STDIO_KEYS : HTTP_KEYS);
  checkInteger(`${what}.startupTimeoutMs`, server.startupTimeoutMs, 1);
  if ((server.startupTimeoutMs ?? 1) > LONGEST_TIMER_MS) {
    throw new ConfigurationError(`${what}.startupTimeoutMs must be at most ${LONGEST_TIMER_MS}`);
  }
  if (isStdio) checkStdio(what, server);
  else checkHttp(what, server as McpHttpServer);
  if (server.tools !== undefined) checkFilter(`${what}.tools`, server.tools);
}

function checkStdio(what: string, server: McpStdioServer): void {
  checkText(`${what}.command`, server.command);
  checkLiteral(`${what}.command`, server.command);
  const { arguments: args = [], environment = {}, variables = [] } = server;
  checkList(`${what}.arguments`, args).forEach((arg, index) => checkLiteral(`${what}.arguments[${index}]`, arg));
  for (const [name, value] of Object.entries(environment)) {
    checkVariable(`${what}.environment`, name);
    checkLiteral(`${what}.environment.${name}`, value);
  }
  for (const name of checkList(`${what}.variables`, variables)) {
    checkVariable(`${what}.variables`, name);
    if (Object.hasOwn(environment, name)) {
      throw new ConfigurationError(`${what}: \`${name}\` is both in \`environment\` and in \`variables\``);
    }
  }
}

function checkHttp(what: string, { url, headers = {}, bearerTokenVariable }: McpHttpServer): void {
  checkLiteral(`${what}.url`, url);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new ConfigurationError(`${what}.url must be an absolute http or https address`);
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new ConfigurationError(`${what}.url must hold no user or password; use bearerTokenVariable`);
  }
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) throw new ConfigurationError(`${what}.headers: ${JSON.stringify(name)} is no name`);
    checkLiteral(`${what}.headers.${name}`, value);
    if (/[\r\n]/.test(value)) throw new ConfigurationError(`${what}.headers.${name} must be one line`);
    if (/^(?:accept|mcp-session-id|last-event-id)$/i.test(name)) {
      throw new ConfigurationError(`${what}.headers: \`${name}\` belongs to the protocol`);
    }
  }
  if (bearerTokenVariable === undefined) return;
  checkVariable(`${what}.bearerTokenVariable`, bearerTokenVariable);
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) {
    throw new ConfigurationError(`${what} has both an Authorization header and bearerTokenVariable`);
  }
}

function checkFilter(what: string, filter: McpToolFilter): void {
  checkKeys(what, filter, ["include", "exclude"]);
  if (filter.include === undefined && filter.exclude === undefined) {
    throw new ConfigurationError(`${what} needs \`include\` or \`exclude\``);
  }
  for (const [key, names] of Object.entries(filter) as [string, readonly string[]][]) {
    checkList(`${what}.${key}`, names);
    if (names.length === 0) throw new ConfigurationError(`${what}.${key} must name a tool`);
    if (new Set(names).size !== names.length) throw new ConfigurationError(`${what}.${key} names a tool twice`);
    const wrong = names.find((name) => !RAW_TOOL_NAME.test(name));
    if (wrong !== undefined) {
      throw new ConfigurationError(`${what}.${key}: ${JSON.stringify(wrong)} is no name of an MCP tool`);
    }
  }
}

function checkList(what: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw new ConfigurationError(`${what} must be a list of texts`);
}

function checkVariable(what: string, name: unknown): void {
  if (typeof name === "string" && VARIABLE_NAME.test(name)) return;
  throw new ConfigurationError(`${what}: ${JSON.stringify(name)} is no name of a variable`);
}

/** Nothing is replaced in declarations, so what looks like a placeholder is a mistake. */
function checkLiteral(what: string, value: unknown): void {
  if (typeof value !== "string") throw new ConfigurationError(`${what} must be a text`);
  if (!value.includes("${") && !value.includes("\0")) return;
  throw new ConfigurationError(
    `${what} must hold no \`\${\` and no NUL: nothing is replaced in it; name variables in \`variables\` or ` +
      "`bearerTokenVariable`",
  );
}

function freezeDeep<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(freezeDeep);
  return Object.freeze(value);
}

/** A declared server as the client takes it. */
export function declaredServer(name: string, server: McpStdioServer | McpHttpServer): McpServerOptions {
  const label = `mcpServers.${name}`;
  return {
    name,
    label,
    resolve: (lease) => "command" in server ? stdioTarget(label, server, lease) : httpTarget(label, server, lease),
    startMs: server.startupTimeoutMs ?? LIMITS.mcpStartupMs,
    requestMs: undefined,
  };
}

function stdioTarget(label: string, server: McpStdioServer, lease: SandboxLease): McpTarget {
  const { command, arguments: args = [], environment = {}, variables = [] } = server;
  const found = variables.map((name) => [name, variable(label, name, lease)] as const);
  return {
    kind: "stdio",
    command: { executable: command, arguments: args, variables: { ...environment, ...Object.fromEntries(found) } },
  };
}

function httpTarget(label: string, server: McpHttpServer, lease: SandboxLease): McpTarget {
  const { url, headers = {}, bearerTokenVariable: name } = server;
  const bearer = name === undefined ? {} : { Authorization: `Bearer ${variable(label, name, lease)}` };
  return {
    kind: "http",
    url: new URL(url),
    headers: { ...headers, ...bearer },
    unauthorizedHint: name === undefined
      ? "name the variable that holds its token in `bearerTokenVariable`"
      : `check the token in ${name}`,
  };
}

function variable(label: string, name: string, lease: SandboxLease): string {
  const value = lease.variables?.[name] ?? readEnvironment(name);
  if (value !== undefined) return value;
  throw new ConfigurationError(`${label}: the variable ${name} is set neither in the sandbox nor here`);
}
