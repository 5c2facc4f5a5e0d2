/** The MCP servers of a project for one invocation: which are wanted, which of their tools, and what they are told. */
import { LimitError } from "../base/errors.ts";
import type { EnvironmentReader } from "../base/environment.ts";
import { LIMITS } from "../base/limits.ts";
import { didYouMean } from "../base/nearest.ts";
import { runTogether } from "../base/together.ts";
import type { McpToolDescription } from "../deps/mcp.ts";
import type { McpPool } from "../mcp/client/pool.ts";
import type { McpServer } from "../mcp/client/server.ts";
import type { McpHost } from "../mcp/client/target.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import { matchesPattern } from "../tool/policy.ts";
import type { HarnessTool } from "../tool/tool.ts";
import { settingFault, unknownName } from "./faults.ts";
import { serverOptions } from "./mcp_target.ts";
import type { Project } from "./project.ts";
import type { RequestSettings } from "./settings.ts";

/** What an invocation brings for its MCP servers. */
export type ProjectMcpHost = Pick<McpHost, "elicit" | "stderr" | "detail">;

/** A name in a list, and where it stands; without a place when the caller gave it. */
export interface NamedEntry {
  readonly name: string;
  readonly path: readonly (string | number)[] | undefined;
}

/** A server that a request wants. */
export interface WantedServer extends NamedEntry {
  /** The tools that are wanted of it; undefined: all. */
  readonly patterns?: NamedEntry[];
}

/** A tool of a request. */
export interface OfferedTool {
  readonly tool: HarnessTool;
  /** What messages call its source, such as `tools.find`. */
  readonly source: string;
  /** Where it was asked for; undefined when the caller did. */
  readonly path: readonly (string | number)[] | undefined;
}

/**
 * What the lists `mcp` and `tools` of a request name: servers, and local commands. An entry `server__pattern` of `tools`
 * wants single tools of a server; a command of that very name goes first.
 */
export function sortTools(
  project: Project,
  { mcp, mcpPath, tools, toolsPath }: Pick<RequestSettings, "mcp" | "mcpPath" | "tools" | "toolsPath">,
): { readonly servers: readonly WantedServer[]; readonly commands: readonly NamedEntry[] } {
  const known = Object.keys(project.config.mcp_servers ?? {});
  const place = (path: readonly (string | number)[] | undefined, index: number) => path && [...path, index];
  const servers: WantedServer[] = mcp.map((name, index) => ({ name, path: place(mcpPath, index) }));
  const commands: NamedEntry[] = [];
  for (const [index, name] of tools.entries()) {
    const path = place(toolsPath, index);
    const isCommand = Object.hasOwn(project.config.tools ?? {}, name) || !name.includes("__");
    const server = isCommand ? undefined : serverOf(name, known);
    if (isCommand) commands.push({ name, path });
    else if (server === undefined) {
      const wanted = name.slice(0, name.indexOf("__"));
      throw unknownName(project, { kind: "MCP server", name: wanted, key: "mcp_servers", known, path });
    } else {
      const there = servers.find((one) => one.name === server);
      if (there === undefined) servers.push({ name: server, path, patterns: [{ name, path }] });
      else there.patterns?.push({ name, path });
    }
  }
  return { servers, commands };
}

/** The server that a pattern begins with: the longest name, as it is written or as tools show it. */
function serverOf(pattern: string, known: readonly string[]): string | undefined {
  return known.filter((name) => pattern.startsWith(`${name}__`) || pattern.startsWith(`${shown(name)}__`))
    .toSorted((a, b) => b.length - a.length)[0];
}

function shown(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/gu, "_");
}

/** Whether a pattern wants a tool of a server, by its own name or by the one that it is offered under. */
function fitsTool(
  pattern: string,
  server: string,
  { tool, name }: { tool: McpToolDescription; name: string },
): boolean {
  const rest = pattern.slice((pattern.startsWith(`${server}__`) ? server : shown(server)).length + 2);
  return matchesPattern(rest, tool.name) || matchesPattern(rest, shown(tool.name)) || pattern === name;
}

/** What the servers of an invocation need. */
export interface ProjectMcpOptions extends ProjectMcpHost {
  readonly environment: EnvironmentReader;
  /** A sandbox of their own; it is given back at the end. */
  readonly lease: () => Promise<SandboxLease>;
}

/** See the module. Nothing is loaded and nothing is started before a server is wanted. */
export class ProjectMcp {
  readonly #project: Project;
  readonly #options: ProjectMcpOptions;
  #lease: Promise<SandboxLease> | undefined;
  #pool: Promise<McpPool> | undefined;

  /** The servers of a project. */
  constructor(project: Project, options: ProjectMcpOptions) {
    this.#project = project;
    this.#options = options;
  }

  /** The names of all servers. */
  get names(): readonly string[] {
    return Object.keys(this.#project.config.mcp_servers ?? {});
  }

  /** Refuses a name that is not in the configuration. */
  check({ name, path }: NamedEntry): void {
    const known = this.names;
    if (known.includes(name)) return;
    throw unknownName(this.#project, { kind: "MCP server", name, key: "mcp_servers", known, path });
  }

  /** A server by its name. */
  async server(entry: NamedEntry): Promise<McpServer> {
    this.check(entry);
    const { name } = entry;
    const options = serverOptions(this.#project, name, this.#options.environment);
    return (await this.#open()).server(name, () => options);
  }

  /** The tools of the wanted servers, in the servers' order; the servers are asked side by side. */
  async tools(wanted: readonly WantedServer[], signal: AbortSignal): Promise<OfferedTool[]> {
    if (wanted.length === 0) return [];
    const servers = await Promise.all(wanted.map((one) => this.server(one)));
    const lists = await runTogether(servers, { signal, run: (server, given) => server.tools(given) });
    const offered: OfferedTool[] = [];
    for (const [index, server] of servers.entries()) {
      offered.push(...await this.#offer(wanted[index]!, server, lists[index]!));
    }
    if (offered.length > LIMITS.mcpTools) {
      throw new LimitError("mcpTools", `the MCP servers of this request have over ${LIMITS.mcpTools} tools together`);
    }
    return offered;
  }

  /** Ends every server. */
  async close(): Promise<void> {
    await (await this.#pool)?.close();
    await (await this.#lease)?.release();
  }

  async #offer(
    { patterns, path, name }: WantedServer,
    server: McpServer,
    tools: readonly McpToolDescription[],
  ): Promise<OfferedTool[]> {
    const { commandMcpTool } = await import("../mcp/client/tools.ts");
    const { mcpToolName } = await import("../mcp/client/names.ts");
    const allowed = this.#project.config.mcp_servers![name]!.allowed_tools;
    const named = await Promise.all(tools.map(async (tool) => ({ tool, name: await mcpToolName(name, tool.name) })));
    const used = new Set<NamedEntry>();
    const chosen = named.filter((one) => {
      if (patterns === undefined) return true;
      const fits = patterns.filter((pattern) => fitsTool(pattern.name, name, one));
      for (const pattern of fits) used.add(pattern);
      return fits.length > 0;
    });
    const unused = patterns?.find((pattern) => !used.has(pattern));
    if (unused !== undefined) {
      const names = named.map((one) => one.name);
      throw settingFault(
        this.#project,
        unused.path,
        "unknown-tool",
        `unknown tool '${unused.name}': no tool of ${server.label} fits it`,
        didYouMean(unused.name, names) ?? (names.length === 0 ? "it has none" : `it has ${names.join(", ")}`),
      );
    }
    return chosen.map((one) => ({
      tool: commandMcpTool({ server, ...one }, allowed),
      source: `${server.label} (${one.tool.name})`,
      path,
    }));
  }

  #open(): Promise<McpPool> {
    const { elicit, stderr, detail } = this.#options;
    return this.#pool ??= import("../mcp/client/pool.ts").then(({ McpPool }) =>
      new McpPool({
        lease: () => this.#lease ??= this.#options.lease(),
        ...(elicit === undefined ? {} : { elicit }),
        ...(stderr === undefined ? {} : { stderr }),
        ...(detail === undefined ? {} : { detail }),
        freshAfterCancel: true,
      })
    );
  }
}
