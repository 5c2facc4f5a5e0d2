/** Reading a list of a server page by page, within bounds. */
import { McpServerError } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { shorten, visible } from "../../base/text.ts";
import { ListToolsResultSchema, type McpToolDescription } from "../../deps/mcp.ts";
import type { McpConnection } from "./connection.ts";
import type { McpServerOptions } from "./target.ts";

/**
 * All tools of a server; none when it does not say that it has any.
 *
 * @throws McpServerError when the list does not end, or is over a limit
 */
export async function listTools(
  connection: McpConnection,
  server: McpServerOptions,
  signal: AbortSignal,
): Promise<readonly McpToolDescription[]> {
  if (connection.capabilities.tools === undefined) return [];
  const tools: McpToolDescription[] = [];
  const cursors = new Set<string>();
  const fail = (message: string) => new McpServerError("response", server.name, `${server.label}: ${message}`);
  let bytes = 0;
  let cursor: string | undefined;
  for (let page = 1;; page++) {
    if (page > LIMITS.mcpPages) throw fail(`its list of tools has over ${LIMITS.mcpPages} pages`);
    const answer = await connection.request(
      { method: "tools/list", ...(cursor === undefined ? {} : { params: { cursor } }) },
      ListToolsResultSchema,
      { signal, limitMs: server.startMs, what: "the list of tools" },
    );
    if (answer.tools.length > LIMITS.mcpPageTools) {
      throw fail(`a page of its list of tools has over ${LIMITS.mcpPageTools}`);
    }
    for (const tool of answer.tools) {
      tools.push(tool);
      bytes += sizeOf(tool.description) + sizeOf(tool.inputSchema) + sizeOf(tool.outputSchema);
    }
    if (tools.length > LIMITS.mcpTools) throw fail(`it has over ${LIMITS.mcpTools} tools`);
    if (bytes > LIMITS.mcpMetadataBytes) {
      throw fail(`the descriptions and schemas of its tools are over ${LIMITS.mcpMetadataBytes} bytes`);
    }
    cursor = answer.nextCursor;
    if (cursor === undefined) return tools;
    if (cursors.has(cursor)) {
      throw fail(
        `its list of tools does not end: the cursor ${visible(JSON.stringify(shorten(cursor, 200)))} is repeated`,
      );
    }
    cursors.add(cursor);
  }
}

function sizeOf(value: unknown): number {
  return value === undefined ? 0 : new TextEncoder().encode(JSON.stringify(value)).length;
}
