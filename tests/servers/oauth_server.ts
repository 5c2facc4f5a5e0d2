/**
 * An MCP server with its own authorization server, both from the SDK's server side: prints its address, then a line for
 * each thing that happens; serves until its standard input ends. Its one argument is JSON: after how many uses an access
 * token is over, and whether the user says no.
 */
import express from "npm:express@5.3.0";
// @ts-types="npm:@modelcontextprotocol/sdk@1.32.2/server/auth/router"
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthRouter,
} from "npm:@modelcontextprotocol/sdk@1.32.2/server/auth/router.js";
// @ts-types="npm:@modelcontextprotocol/sdk@1.32.2/server/auth/middleware/bearerAuth"
import { requireBearerAuth } from "npm:@modelcontextprotocol/sdk@1.32.2/server/auth/middleware/bearerAuth.js";
// @ts-types="npm:@modelcontextprotocol/sdk@1.32.2/server/auth/errors"
import { InvalidGrantError, InvalidTokenError } from "npm:@modelcontextprotocol/sdk@1.32.2/server/auth/errors.js";
import type { OAuthServerProvider } from "npm:@modelcontextprotocol/sdk@1.32.2/server/auth/provider";
import type { OAuthClientInformationFull, OAuthTokens } from "npm:@modelcontextprotocol/sdk@1.32.2/shared/auth";
// @ts-types="npm:@modelcontextprotocol/sdk@1.32.2/server/mcp"
import { McpServer } from "npm:@modelcontextprotocol/sdk@1.32.2/server/mcp.js";
// @ts-types="npm:@modelcontextprotocol/sdk@1.32.2/server/streamableHttp"
import { StreamableHTTPServerTransport } from "npm:@modelcontextprotocol/sdk@1.32.2/server/streamableHttp.js";

interface Plan {
  readonly uses?: number;
  readonly refuses?: boolean;
}

const plan = JSON.parse(Deno.args[0] ?? "{}") as Plan;
const say = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));

const clients = new Map<string, OAuthClientInformationFull>();
const codes = new Map<string, { client: string; challenge: string; scopes: string[] }>();
const tokens = new Map<string, { client: string; scopes: string[]; uses: number }>();
const refreshes = new Map<string, { client: string; scopes: string[] }>();

function issue(client: string, scopes: string[]): OAuthTokens {
  const access = crypto.randomUUID();
  const refresh = crypto.randomUUID();
  tokens.set(access, { client, scopes, uses: plan.uses ?? Infinity });
  refreshes.set(refresh, { client, scopes });
  return { access_token: access, token_type: "bearer", refresh_token: refresh, scope: scopes.join(" ") };
}

const provider: OAuthServerProvider = {
  clientsStore: {
    getClient: (id: string) => clients.get(id),
    registerClient: (client: Omit<OAuthClientInformationFull, "client_id" | "client_id_issued_at">) => {
      const full = { ...client, client_id: crypto.randomUUID() } as OAuthClientInformationFull;
      clients.set(full.client_id, full);
      say(`registered ${client.client_name} ${client.redirect_uris.join(" ")}`);
      return full;
    },
  },
  authorize: (client, { state, codeChallenge, redirectUri, scopes = [] }, response) => {
    const code = crypto.randomUUID();
    codes.set(code, { client: client.client_id, challenge: codeChallenge, scopes });
    const target = new URL(redirectUri);
    if (plan.refuses) target.searchParams.set("error", "access_denied");
    else target.searchParams.set("code", code);
    if (state !== undefined) target.searchParams.set("state", state);
    response.redirect(target.href);
    return Promise.resolve();
  },
  challengeForAuthorizationCode: (_, code) => Promise.resolve(codes.get(code)?.challenge ?? ""),
  exchangeAuthorizationCode: (client, code) => {
    const found = codes.get(code);
    codes.delete(code);
    if (found === undefined || found.client !== client.client_id) throw new InvalidGrantError("no such code");
    say("grant authorization_code");
    return Promise.resolve(issue(client.client_id, found.scopes));
  },
  exchangeRefreshToken: (client, refresh) => {
    const found = refreshes.get(refresh);
    refreshes.delete(refresh);
    if (found === undefined) throw new InvalidGrantError("no such refresh token");
    say("grant refresh_token");
    return Promise.resolve(issue(client.client_id, found.scopes));
  },
  verifyAccessToken: (token) => {
    const found = tokens.get(token);
    if (found === undefined || found.uses <= 0) throw new InvalidTokenError("the token is over");
    found.uses -= 1;
    const expiresAt = Math.floor(Date.now() / 1000) + 3600;
    return Promise.resolve({ token, clientId: found.client, scopes: found.scopes, expiresAt });
  },
};

function makeServer(): McpServer {
  const server = new McpServer({ name: "guarded", version: "1" });
  server.registerTool("whoami", {}, () => ({ content: [{ type: "text", text: "somebody" }] }));
  return server;
}

const app = express();
app.use(express.json());
const listener = app.listen(0, "127.0.0.1", () => {
  const origin = `http://127.0.0.1:${listener.address().port}`;
  const url = new URL(`${origin}/mcp`);
  app.use(mcpAuthRouter({ provider, issuerUrl: new URL(origin), resourceServerUrl: url, scopesSupported: ["tools"] }));
  const guard = requireBearerAuth({
    verifier: provider,
    resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(url),
  });
  // deno-lint-ignore no-explicit-any
  app.post("/mcp", guard, async (request: any, response: any) => {
    const transport = new StreamableHTTPServerTransport({});
    // deno-lint-ignore no-explicit-any
    await makeServer().connect(transport as any);
    await transport.handleRequest(request, response, request.body);
  });
  say(url.href);
});

for await (const _ of Deno.stdin.readable);
Deno.exit(0);
