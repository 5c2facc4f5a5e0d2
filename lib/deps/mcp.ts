/**
 * The client side of the MCP SDK: the protocol, Streamable HTTP, and OAuth. The package names the types of a file without
 * its extension only, the file itself only with it.
 */
export { Client } from "npm:@modelcontextprotocol/sdk@1.32.2/client";
// @ts-types="npm:@modelcontextprotocol/sdk@1.32.2/client/streamableHttp"
export {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from "npm:@modelcontextprotocol/sdk@1.32.2/client/streamableHttp.js";
export type { OAuthClientProvider } from "npm:@modelcontextprotocol/sdk@1.32.2/client/auth";
// @ts-types="npm:@modelcontextprotocol/sdk@1.32.2/client/auth"
export {
  auth,
  extractWWWAuthenticateParams,
  UnauthorizedError,
} from "npm:@modelcontextprotocol/sdk@1.32.2/client/auth.js";
export type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from "npm:@modelcontextprotocol/sdk@1.32.2/shared/auth";
export type { Transport } from "npm:@modelcontextprotocol/sdk@1.32.2/shared/transport";
// @ts-types="npm:@modelcontextprotocol/sdk@1.32.2/types"
export {
  CallToolResultSchema,
  ElicitRequestSchema,
  GetPromptResultSchema,
  JSONRPCMessageSchema,
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
  McpError,
  ReadResourceResultSchema,
} from "npm:@modelcontextprotocol/sdk@1.32.2/types.js";
export type {
  CallToolResult,
  ElicitRequest,
  ElicitResult,
  GetPromptResult,
  JSONRPCMessage,
  Prompt as McpPrompt,
  ReadResourceResult,
  Resource as McpResource,
  ResourceTemplate as McpResourceTemplate,
  ServerCapabilities,
  Tool as McpToolDescription,
} from "npm:@modelcontextprotocol/sdk@1.32.2/types";

/** Variables that the package reads: none. */
export const MCP_ENVIRONMENT = [] as const;
