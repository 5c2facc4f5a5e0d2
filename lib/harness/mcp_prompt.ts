/** `defineMcpPrompt`: a prompt of an MCP server as a part of the system text. */
import { ConfigurationError } from "../base/errors.ts";
import { checkKeys, checkText } from "../base/options.ts";
import { defineHarnessInstructions, type HarnessInstructions } from "./instructions.ts";

/** Options of {@link defineMcpPrompt}. */
export interface McpPromptOptions {
  /** A name of the harness's `mcpServers`. */
  readonly server: string;
  /** The prompt's name. */
  readonly name: string;
  /** The prompt's arguments. Default: none. */
  readonly arguments?: Readonly<Record<string, string>>;
}

/**
 * Instructions that a server's prompt gives, anew for each turn: its messages as `role: text`, apart by a blank line. A
 * harness without the server, or a server without prompts, fails the turn.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { defineMcpPrompt } from "./mcp_prompt.ts";
 * const style = defineMcpPrompt({ server: "wiki", name: "house-style", arguments: { language: "en" } });
 * console.assert(style.kind === "instructions");
 * ```
 */
export function defineMcpPrompt(options: McpPromptOptions): HarnessInstructions {
  checkKeys("defineMcpPrompt", options, ["server", "name", "arguments"]);
  const { server, name, arguments: args = {} } = options;
  checkText("defineMcpPrompt: server", server);
  checkText("defineMcpPrompt: name", name);
  if (typeof args !== "object" || args === null || Object.values(args).some((value) => typeof value !== "string")) {
    throw new ConfigurationError("defineMcpPrompt: arguments must be an object of texts");
  }
  return defineHarnessInstructions(async ({ mcp, signal }) => {
    if (mcp === undefined) {
      throw new ConfigurationError(
        `defineMcpPrompt: the harness has no MCP server \`${server}\`: it has no mcpServers`,
      );
    }
    return await mcp.prompt(server, name, args, signal);
  });
}
