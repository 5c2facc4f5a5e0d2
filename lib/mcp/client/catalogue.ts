/** Resources and prompts of servers as tools of a harness, and prompts as text. */
import { ConfigurationError } from "../../base/errors.ts";
import {
  type GetPromptResult,
  GetPromptResultSchema,
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ReadResourceResultSchema,
} from "../../deps/mcp.ts";
import { defineHarnessTool } from "../../tool/define.ts";
import type { HarnessTool, ToolOutput } from "../../tool/tool.ts";
import { RefusedRequest } from "./refused.ts";
import { blockText } from "./render.ts";
import type { McpServer } from "./server.ts";

/** A server with what it says that it can do. */
export interface CapableServer {
  readonly server: McpServer;
  readonly resources: boolean;
  readonly prompts: boolean;
}

/** The tools over resources and prompts; only those that a server has something for. */
export function catalogueTools(servers: readonly CapableServer[]): HarnessTool[] {
  const withResources = servers.filter(({ resources }) => resources).map(({ server }) => server);
  const withPrompts = servers.filter(({ prompts }) => prompts).map(({ server }) => server);
  return [
    ...withResources.length === 0 ? [] : [listResources(withResources), readResource(withResources)],
    ...withPrompts.length === 0 ? [] : [listPrompts(withPrompts), getPrompt(withPrompts)],
  ] as HarnessTool[];
}

/** A prompt of a server as text: each message as `role: text`. */
export async function promptText(
  server: McpServer,
  name: string,
  args: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  const { messages } = await ask(server, "prompts/get", { name, arguments: args }, GetPromptResultSchema, signal);
  return promptMessages(messages);
}

function promptMessages(messages: GetPromptResult["messages"]): string {
  return messages.map(({ role, content }) => `${role}: ${blockText(content)}`).join("\n\n");
}

type Schema<T> = Parameters<typeof ask<T>>[3];

function ask<T>(
  server: McpServer,
  method: string,
  params: Record<string, unknown>,
  schema: Parameters<McpServer["ask"]>[1] & { readonly _zod: { readonly output: T } },
  signal: AbortSignal,
): Promise<T> {
  return server.ask<T>({ method, params }, schema, signal);
}

interface Page {
  readonly server: string;
  readonly cursor?: string;
}

const pageInput = (servers: readonly McpServer[]) => ({
  type: "object",
  properties: { server: { enum: servers.map(({ name }) => name) }, cursor: { type: "string" } },
  required: ["server"],
  additionalProperties: false,
});

const chosen = (servers: readonly McpServer[], name: string): McpServer => {
  const server = servers.find((one) => one.name === name);
  if (server === undefined) throw new ConfigurationError(`there is no MCP server \`${name}\``);
  return server;
};

const page = ({ cursor }: Page) => cursor === undefined ? {} : { cursor };

function listResources(servers: readonly McpServer[]): HarnessTool<Page> {
  return defineHarnessTool<Page>({
    name: "mcp_list_resources",
    description: "Lists what an MCP server has to read; the first page also has the templates of addresses.",
    input: pageInput(servers),
    readOnly: true,
    execute: (input, { signal }) =>
      answering(async () => {
        const server = chosen(servers, input.server);
        const { resources, nextCursor } = await ask(
          server,
          "resources/list",
          page(input),
          ListResourcesResultSchema,
          signal,
        );
        const templates = input.cursor === undefined ? { resourceTemplates: await templatesOf(server, signal) } : {};
        return JSON.stringify({ resources, ...templates, ...(nextCursor === undefined ? {} : { nextCursor }) });
      }),
  });
}

/** A server with resources need not have templates. */
async function templatesOf(server: McpServer, signal: AbortSignal): Promise<unknown> {
  try {
    const schema: Schema<{ resourceTemplates: unknown[] }> = ListResourceTemplatesResultSchema;
    return (await ask(server, "resources/templates/list", {}, schema, signal)).resourceTemplates;
  } catch (error) {
    if (error instanceof RefusedRequest) return [];
    throw error;
  }
}

function readResource(servers: readonly McpServer[]): HarnessTool<{ server: string; uri: string }> {
  return defineHarnessTool<{ server: string; uri: string }>({
    name: "mcp_read_resource",
    description: "Reads a resource of an MCP server by its address.",
    input: {
      type: "object",
      properties: { server: { enum: servers.map(({ name }) => name) }, uri: { type: "string" } },
      required: ["server", "uri"],
      additionalProperties: false,
    },
    readOnly: true,
    execute: ({ server, uri }, { signal }) =>
      answering(async () => {
        const from = chosen(servers, server);
        const { contents } = await ask(from, "resources/read", { uri }, ReadResourceResultSchema, signal);
        return contents.map((one) => "text" in one ? one.text : `[resource: ${one.uri} ${one.mimeType ?? ""}]`)
          .join("\n");
      }),
  });
}

function listPrompts(servers: readonly McpServer[]): HarnessTool<Page> {
  return defineHarnessTool<Page>({
    name: "mcp_list_prompts",
    description: "Lists the prompts of an MCP server, with their arguments.",
    input: pageInput(servers),
    readOnly: true,
    execute: (input, { signal }) =>
      answering(async () => {
        const server = chosen(servers, input.server);
        const { prompts, nextCursor } = await ask(server, "prompts/list", page(input), ListPromptsResultSchema, signal);
        return JSON.stringify({ prompts, ...(nextCursor === undefined ? {} : { nextCursor }) });
      }),
  });
}

interface PromptCall {
  readonly server: string;
  readonly name: string;
  readonly arguments?: Readonly<Record<string, string>>;
}

function getPrompt(servers: readonly McpServer[]): HarnessTool<PromptCall> {
  return defineHarnessTool<PromptCall>({
    name: "mcp_get_prompt",
    description: "Gets a prompt of an MCP server, with its arguments filled in.",
    input: {
      type: "object",
      properties: {
        server: { enum: servers.map(({ name }) => name) },
        name: { type: "string" },
        arguments: { type: "object", additionalProperties: { type: "string" } },
      },
      required: ["server", "name"],
      additionalProperties: false,
    },
    readOnly: true,
    execute: ({ server, name, arguments: args = {} }, { signal }) =>
      answering(() => promptText(chosen(servers, server), name, args, signal)),
  });
}

/** What a server refuses is a result for the model, whatever thrown errors do. */
async function answering(work: () => Promise<string>): Promise<ToolOutput> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error;
    return { content: `the server refused the request: ${error.message} (code ${error.code})`, isError: true };
  }
}
