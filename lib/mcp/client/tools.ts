/** The tools of a server as tools of a harness. */
import { ToolFailure } from "../../base/errors.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { CallToolResult, McpToolDescription } from "../../deps/mcp.ts";
import type { HarnessTool, HarnessToolContext, ToolOutput } from "../../tool/tool.ts";
import { RefusedRequest } from "./refused.ts";
import { renderResult, resultText } from "./render.ts";
import type { McpServer } from "./server.ts";

/** A tool and where it comes from. */
export interface McpToolSource {
  readonly server: McpServer;
  readonly tool: McpToolDescription;
  /** The name that it is offered under. */
  readonly name: string;
}

/**
 * A tool as the command offers it: results with everything in them, a lost server ends the run, and a tool that is not in
 * `allowed_tools` is shown but ends the run when it is called.
 */
export function commandMcpTool(source: McpToolSource, allowed: readonly string[] | undefined): HarnessTool {
  const { server, tool } = source;
  const isAllowed = allowed === undefined || allowed.includes(tool.name);
  return makeTool(source, {
    description: tool.description ?? "",
    inputSchema: tool.inputSchema as JsonObject,
    check: () => {
      if (isAllowed) return;
      const message = `the model called the tool \`${tool.name}\`, which is not in ${server.label}.allowed_tools`;
      throw new ToolFailure(message, { fatal: true });
    },
    show: renderResult,
    lost: (error) => error instanceof Error ? new ToolFailure(error.message, { fatal: true, cause: error }) : error,
  });
}

/** A tool as the API offers it: results as text, media as markers; a lost server throws. */
export function apiMcpTool(source: McpToolSource): HarnessTool {
  const { server, tool } = source;
  return makeTool(source, {
    description: [tool.description, tool.title, tool.annotations?.title].find((text) => text?.trim()) ??
      `The tool ${tool.name} of the MCP server ${server.name}.`,
    inputSchema: { ...tool.inputSchema as JsonObject, type: "object" },
    check: () => {},
    show: resultText,
    lost: (error) => error,
  });
}

interface Face {
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Throws when the tool may not be called. */
  readonly check: () => void;
  readonly show: (result: CallToolResult) => string;
  /** What to throw when no answer came. */
  readonly lost: (error: unknown) => unknown;
}

/** Arguments are checked by the server, which knows its schema best. */
function makeTool({ server, tool, name }: McpToolSource, face: Face): HarnessTool {
  return Object.freeze({
    kind: "tool" as const,
    name,
    description: face.description,
    readOnly: false,
    inputSchema: face.inputSchema,
    validate: (value: unknown) => {
      face.check();
      return Promise.resolve(isJsonObject(value) ? { value } : { issues: "input must be an object" });
    },
    resources: () => ({}),
    execute: async (input: unknown, context: HarnessToolContext): Promise<ToolOutput> => {
      try {
        const isBlank = context.arguments !== undefined && /^\s*(?:null\s*)?$/.test(context.arguments);
        const result = await server.call(tool.name, isBlank ? undefined : input as Record<string, unknown>, {
          signal: context.signal,
          onProgress: (text) => {
            if (!context.signal.aborted) context.observe({ kind: "text", text });
          },
        });
        return { content: face.show(result), isError: result.isError === true };
      } catch (error) {
        if (context.signal.aborted) throw context.signal.reason;
        if (!(error instanceof RefusedRequest)) throw face.lost(error);
        const text = `the server refused the call: ${error.message} (code ${error.code})`;
        return { content: face.show({ content: [{ type: "text", text }], isError: true }), isError: true };
      }
    },
  });
}
