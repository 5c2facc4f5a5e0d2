/**
 * The client of the conformance suite, built on lait's: connects to the address that is its last argument, lists the
 * tools and calls them, and logs in where it is asked to. A browser is played by following the address.
 */
import { McpPool } from "../../lib/mcp/client/pool.ts";
import { logIn } from "../../lib/mcp/client/login.ts";
import { LoginFile, type OAuthSettings, runOAuth } from "../../lib/mcp/client/oauth.ts";
import { createLocalSandboxProvider } from "../../lib/sandbox/providers/local.ts";

/** What a client may be named by that the suite knows. */
const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";
/** How often a server may ask for another login. */
const LOGINS = 3;

const url = Deno.args.at(-1)!;
const scenario = Deno.env.get("MCP_CONFORMANCE_SCENARIO") ?? "";
const context = JSON.parse(Deno.env.get("MCP_CONFORMANCE_CONTEXT") ?? "{}") as Record<string, string>;
const directory = await Deno.makeTempDir();
const signal = AbortSignal.timeout(25_000);

const clientId = context["client_id"] ?? (scenario === "auth/basic-cimd" ? CLIENT_METADATA_URL : undefined);
const settings: OAuthSettings = {
  name: "suite",
  url,
  file: `${directory}/login.json`,
  ...(clientId === undefined ? {} : { clientId }),
  ...(context["client_secret"] === undefined ? {} : { clientSecret: context["client_secret"] }),
};

const pool = new McpPool({
  lease: () => createLocalSandboxProvider().acquire({ directory }),
  elicit: () => Promise.resolve({ action: "accept", content: {} }),
});
const server = pool.server("suite", () => ({
  name: "suite",
  label: "mcp_servers.suite",
  resolve: () => ({
    kind: "http",
    url: new URL(url),
    headers: {},
    unauthorizedHint: "",
    ...(scenario.startsWith("auth/") ? { auth: runOAuth(settings) } : {}),
  }),
  startMs: 20_000,
  requestMs: 20_000,
}));

async function work(): Promise<void> {
  for (const { name, inputSchema } of await server.tools(signal)) {
    const args = Object.fromEntries(Object.keys(inputSchema.properties ?? {}).map((key, index) => [key, index + 1]));
    await server.call(name, args, { signal });
  }
}

/** A login is asked for by an error; any other one is the end. */
async function loggingIn(): Promise<void> {
  for (let logins = 0;; logins++) {
    try {
      return await work();
    } catch (error) {
      if (logins >= LOGINS || !/wants (?:a|another) login/.test((error as Error).message)) throw error;
      const show = async (address: URL) => void await (await fetch(address)).body?.cancel();
      await logIn({ settings, headers: {}, show, signal });
    }
  }
}

try {
  await loggingIn();
} finally {
  await pool.close();
  await new LoginFile(settings).remove();
  await Deno.remove(directory, { recursive: true });
}
