/** `lait mcp`: the MCP servers of the configuration, without a model. */
import { LaitError, messageChain, ToolFailure, UsageError } from "../../base/errors.ts";
import { isJsonObject, type JsonObject, jsonTypeOf } from "../../base/json.ts";
import { didYouMean } from "../../base/nearest.ts";
import { visible } from "../../base/text.ts";
import type { Command } from "../../deps/commander.ts";
import { RefusedRequest } from "../../mcp/client/refused.ts";
import type { McpServer } from "../../mcp/client/server.ts";
import { ProjectSession } from "../../project/open.ts";
import { openProject, type Project } from "../../project/project.ts";
import type { CommandContext } from "../command.ts";
import { Log, logLevel } from "../log.ts";
import { createMcpHost } from "../mcp_host.ts";
import { projectOptions } from "../project_options.ts";
import { say } from "../say.ts";

const HELP = `
Commands:
  list [SERVER...]          start servers, all unless some are named, and list their tools
  call SERVER TOOL [JSON]   call a tool with arguments, an object; - reads them from standard input
  login SERVER              log in at a server that has \`auth: oauth\`
  logout SERVER             forget the login

Examples:
  lait mcp list
  lait mcp call files read_text_file '{"path":"notes.txt"}'

allowed_tools holds here, too; tool_policy is about models. A tool that reports an error ends with exit code 1.
`;

const ACTIONS: Readonly<Record<string, (session: Session, words: readonly string[]) => Promise<void>>> = {
  list,
  call,
  login,
  logout,
};

/** What an action works with. */
interface Session extends CommandContext {
  readonly project: Project;
  readonly servers: ProjectSession;
  readonly json: boolean;
}

/** Adds what the command takes. */
export function define(command: Command): void {
  command.usage("[options] <list|call|login|logout> …")
    .option("--json", "print one JSON document")
    .addHelpText("after", HELP);
}

/** Runs an action. */
export async function run(context: CommandContext): Promise<void> {
  const { io, line, signal } = context;
  const [name, ...words] = line.words;
  const action = name === undefined || !Object.hasOwn(ACTIONS, name) ? undefined : ACTIONS[name];
  if (action === undefined) {
    const names = Object.keys(ACTIONS);
    const near = name === undefined ? undefined : didYouMean(name, names);
    throw new UsageError(
      name === undefined ? "lait mcp takes a command" : `unknown command 'mcp ${name}'`,
      near ?? `it is one of ${names.join(", ")}`,
    );
  }
  const project = await openProject({ ...projectOptions(io, line.options), signal });
  const log = new Log(io, logLevel(line.options.verbose, io.environment));
  const servers = new ProjectSession(project, {
    environment: io.environment,
    signal,
    mcp: createMcpHost(io, log, project, () => {}),
  });
  try {
    await action({ ...context, project, servers, json: line.options["json"] === true }, words);
  } finally {
    await servers.close();
  }
}

type Listed =
  & { readonly name: string; readonly transport: "stdio" | "http" }
  & (
    | { readonly state: "ok"; readonly tools: readonly ListedTool[] }
    | { readonly state: "failed"; readonly error: string }
  );

interface ListedTool {
  readonly name: string;
  /** The name that models see. */
  readonly offered: string;
  readonly allowed: boolean;
  readonly description?: string;
  readonly inputSchema: unknown;
}

async function list(session: Session, words: readonly string[]): Promise<void> {
  const { io, project, servers, json } = session;
  const names = words.length > 0 ? words : servers.mcp.names;
  for (const name of names) checkKnown(session, name);
  if (names.length === 0) {
    if (json) io.stdout.write("[]\n");
    else io.stdout.write("no MCP servers are defined in lait.config.yml; add some under `mcp_servers:`\n");
    return;
  }
  const listed = await Promise.all(names.map((name) => describe(session, name)));
  if (json) io.stdout.write(`${JSON.stringify(listed, undefined, 2)}\n`);
  else io.stdout.write(listed.map((one) => textOf(project, one)).join(""));
  const failed = listed.filter(({ state }) => state === "failed").length;
  if (failed > 0) throw new LaitError("mcp", `${failed} of ${listed.length} MCP servers failed`);
}

async function describe({ project, servers, signal }: Session, name: string): Promise<Listed> {
  const { mcpToolName } = await import("../../mcp/client/names.ts");
  const { url, allowed_tools } = project.config.mcp_servers![name]!;
  const head = { name, transport: url === undefined ? "stdio" as const : "http" as const };
  try {
    const server = await servers.mcp.server({ name, path: undefined });
    const tools = await server.tools(signal);
    return {
      ...head,
      state: "ok",
      tools: await Promise.all(tools.map(async (tool) => ({
        name: tool.name,
        offered: await mcpToolName(name, tool.name),
        allowed: allowed_tools?.includes(tool.name) ?? true,
        ...(tool.description === undefined ? {} : { description: tool.description }),
        inputSchema: tool.inputSchema,
      }))),
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { ...head, state: "failed", error: messageChain(error) };
  }
}

function textOf(project: Project, listed: Listed): string {
  const { command, url } = project.config.mcp_servers![listed.name]!;
  const where = visible(`${listed.name} (${url ?? command})`);
  if (listed.state === "failed") return `${where}: failed: ${listed.error.split("\n").map(visible).join("\n  ")}\n`;
  const { tools } = listed;
  const lines = tools.map(({ name, allowed, description = "" }) => {
    const first = description.trim().split(/\r?\n/)[0]!;
    const mark = allowed ? "" : " (not in allowed_tools)";
    return `  ${visible(`${name}${mark}${first === "" ? "" : `: ${first}`}`)}\n`;
  });
  return `${where}: ok, ${tools.length} tool${tools.length === 1 ? "" : "s"}\n${lines.join("")}`;
}

async function call(session: Session, words: readonly string[]): Promise<void> {
  const { io, project, servers, signal, json } = session;
  const [name, tool, text, ...rest] = words;
  if (name === undefined || tool === undefined || rest.length > 0) {
    throw new UsageError("lait mcp call takes a server, a tool and at most one JSON object", "quote the JSON");
  }
  checkKnown(session, name);
  const args = await readArguments(session, text);
  const allowed = project.config.mcp_servers![name]!.allowed_tools;
  const server = await servers.mcp.server({ name, path: undefined });
  if (allowed !== undefined && !allowed.includes(tool)) {
    throw new LaitError("mcp", `the tool \`${tool}\` is not in ${server.label}.allowed_tools`);
  }
  const { renderResult } = await import("../../mcp/client/render.ts");
  try {
    const result = await server.call(tool, args, {
      signal,
      onProgress: (message) => {
        if (io.stderr.isTerminal) say(io, "note", `${server.label}: ${message}`);
      },
    });
    io.stdout.write(json ? `${JSON.stringify(result, undefined, 2)}\n` : `${renderResult(result)}\n`);
    if (result.isError === true) {
      const hint = await nearestTool(server, tool, signal);
      throw new ToolFailure(`the tool \`${tool}\` of ${server.label} reported an error${hint}`);
    }
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error;
    const hint = await nearestTool(server, tool, signal);
    throw new LaitError("mcp", `${server.label} refused the call: ${error.message} (code ${error.code})${hint}`);
  }
}

async function nearestTool(server: McpServer, tool: string, signal: AbortSignal): Promise<string> {
  const names = (await server.tools(signal)).map(({ name }) => name);
  if (names.includes(tool)) return "";
  return `; ${didYouMean(tool, names) ?? (names.length === 0 ? "it has no tools" : `it has ${names.join(", ")}`)}`;
}

async function readArguments({ io, signal }: Session, text: string | undefined): Promise<JsonObject | undefined> {
  if (text === undefined) return undefined;
  const json = text === "-" ? await io.stdin.readAll(signal) : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new UsageError(`the arguments are not JSON: ${(error as Error).message}`, "write an object: '{\"a\":1}'");
  }
  if (isJsonObject(value)) return value;
  throw new UsageError(`the arguments must be a JSON object (got ${jsonTypeOf(value)})`);
}

async function login(session: Session, words: readonly string[]): Promise<void> {
  const { io, project, signal } = session;
  const name = oneServer(session, "login", words);
  const { loginOptions } = await import("../../project/mcp_target.ts");
  const { logIn } = await import("../../mcp/client/login.ts");
  const outcome = await logIn({
    ...loginOptions(project, name, io.environment),
    show: (url) => void io.stderr.write(`to log in at ${visible(name)}, visit\n  ${url.href}\n`),
    signal,
  });
  say(io, "note", outcome === "logged-in" ? `logged in at ${name}` : `${name} answers without a login`);
}

async function logout(session: Session, words: readonly string[]): Promise<void> {
  const { io, project } = session;
  const name = oneServer(session, "logout", words);
  const { loginOptions } = await import("../../project/mcp_target.ts");
  const { LoginFile } = await import("../../mcp/client/oauth.ts");
  const removed = await new LoginFile(loginOptions(project, name, io.environment).settings).remove();
  say(io, "note", removed ? `logged out of ${name}` : `there was no login at ${name}`);
}

function oneServer(session: Session, action: string, words: readonly string[]): string {
  const [name, ...rest] = words;
  if (name === undefined || rest.length > 0) throw new UsageError(`lait mcp ${action} takes the name of one server`);
  checkKnown(session, name);
  return name;
}

function checkKnown({ servers }: Session, name: string): void {
  servers.mcp.check({ name, path: undefined });
}
