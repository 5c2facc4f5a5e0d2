/** Running lait with MCP servers: a workspace whose configuration has them, and a model with a script. */
import { join } from "node:path";
import { Workspace } from "../cli/_lait.ts";
import type { Script } from "../../lib/model/providers/script.ts";
import type { ServerPlan } from "./stdio_server.ts";

const STDIO_SERVER = new URL("./stdio_server.ts", import.meta.url).pathname;

/** The words that start the test server with a plan. */
export function planned(plan: ServerPlan): [string, ...string[]] {
  return [Deno.execPath(), "run", "-A", "--no-check", "--quiet", STDIO_SERVER, JSON.stringify(plan)];
}

/** An entry of `mcp_servers:` for a program. */
export function stdio([command, ...args]: readonly string[], more: Readonly<Record<string, unknown>> = {}) {
  return { command, args, ...more };
}

/** A line of a server's journal. */
export interface JournalEntry {
  readonly start?: number;
  readonly end?: string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly answered?: unknown;
}

/** A workspace with these servers, all offered, and a model that answers by the script. */
export async function mcpWorkspace(
  servers: Readonly<Record<string, unknown>>,
  script: Script,
  rest: Readonly<Record<string, unknown>> = {},
): Promise<Workspace> {
  return await Workspace.create({
    "lait.config.yml": JSON.stringify({
      default: { model: "s", mcp: Object.keys(servers) },
      models: { s: [{ provider: { script: "script.json" } }] },
      mcp_servers: servers,
      ...rest,
    }),
    "script.json": JSON.stringify(script),
  });
}

/** A temporary file for a journal, and its entries. */
export class Journal implements AsyncDisposable {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async make(): Promise<Journal> {
    return new Journal(await Deno.makeTempDir({ prefix: "lait-journal-" }));
  }

  get path(): string {
    return join(this.#directory, "journal");
  }

  async entries(): Promise<JournalEntry[]> {
    const text = await Deno.readTextFile(this.path).catch(() => "");
    return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as JournalEntry);
  }

  /** The methods of the messages that came, in order; `start` for each start. */
  async methods(): Promise<string[]> {
    return (await this.entries()).flatMap(({ start, method }) => start !== undefined ? ["start"] : method ?? []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#directory, { recursive: true });
  }
}
