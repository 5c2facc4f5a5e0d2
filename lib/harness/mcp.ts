/** The MCP servers of one run: started at its beginning, ended with it. Loaded only for a harness that has some. */
import { ConfigurationError } from "../base/errors.ts";
import { runTogether } from "../base/together.ts";
import { type CapableServer, catalogueTools, promptText } from "../mcp/client/catalogue.ts";
import { declaredServer, type McpServers } from "../mcp/client/declaration.ts";
import { mcpToolName } from "../mcp/client/names.ts";
import { McpPool } from "../mcp/client/pool.ts";
import type { McpServer } from "../mcp/client/server.ts";
import { apiMcpTool } from "../mcp/client/tools.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import type { HarnessTool } from "../tool/tool.ts";
import { findCollision } from "../tool/name.ts";
import type { McpPrompts } from "./instructions.ts";

/** Servers that run. */
export interface RunningMcp {
  /** Their tools, and those over their resources and prompts. */
  readonly tools: readonly HarnessTool[];
  /** Their prompts, for instructions. */
  readonly prompts: McpPrompts;
  /** Ends them. */
  close(): Promise<void>;
}

/**
 * Starts all servers side by side, and reads their tools.
 *
 * @throws ConfigurationError, McpServerError, TimeoutError for the first that fails; no server runs then
 */
export async function startMcp(servers: McpServers, lease: SandboxLease, signal: AbortSignal): Promise<RunningMcp> {
  const pool = new McpPool({ lease: () => Promise.resolve(lease) });
  const start = async ([name, declaration]: [string, McpServers[string]], given: AbortSignal) => {
    const server = pool.server(name, () => declaredServer(name, declaration));
    const { resources, prompts } = await server.capabilities(given);
    const tools = await toolsOf(server, declaration, given);
    return { server, tools, resources: resources !== undefined, prompts: prompts !== undefined };
  };
  try {
    const started = await runTogether(Object.entries(servers), { signal, run: start });
    return {
      tools: [...started.flatMap(({ tools }) => tools), ...catalogueTools(started)],
      prompts: promptsOf(started),
      close: () => pool.close(),
    };
  } catch (error) {
    await pool.close();
    throw error;
  }
}

async function toolsOf(server: McpServer, { tools: filter }: McpServers[string], signal: AbortSignal) {
  const listed = await server.tools(signal);
  const absent = filter?.include?.find((name) => !listed.some((tool) => tool.name === name));
  if (absent !== undefined) {
    const names = listed.map(({ name }) => name).join(", ") || "none";
    throw new ConfigurationError(`${server.label}.tools.include names \`${absent}\`; the server has ${names}`);
  }
  const { include, exclude } = filter ?? {};
  const chosen = listed.filter(({ name }) => (include?.includes(name) ?? true) && !exclude?.includes(name));
  const named = await Promise.all(
    chosen.map(async (tool) => ({ tool, name: await mcpToolName(server.name, tool.name) })),
  );
  const collision = findCollision(named.map(({ name, tool }) => ({ name, source: `the tool ${tool.name}` })));
  if (collision !== undefined) throw new ConfigurationError(`${server.label}: ${collision.message}`);
  return named.map((one) => apiMcpTool({ server, ...one }));
}

function promptsOf(servers: readonly CapableServer[]): McpPrompts {
  return {
    prompt: async (name, prompt, args, signal) => {
      const found = servers.find(({ server }) => server.name === name);
      if (found === undefined) throw new ConfigurationError(`the harness has no MCP server \`${name}\``);
      if (!found.prompts) throw new ConfigurationError(`${found.server.label} offers no prompts`);
      return await promptText(found.server, prompt, args, signal);
    },
  };
}
