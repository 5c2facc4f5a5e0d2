/** Logging in at an MCP server: the authorization code flow with PKCE, its redirect on a port of this machine. */
import { ConfigurationError, LaitError, McpServerError, messageOf, TimeoutError } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { sendDirectly } from "../../base/loopback.ts";
import { PRODUCT_NAME, VERSION } from "../../base/product.ts";
import { throwIfAborted, untilAborted } from "../../base/signals.ts";
import { shorten, visible } from "../../base/text.ts";
import { transportFailure } from "../../base/transport.ts";
import { auth, extractWWWAuthenticateParams } from "../../deps/mcp.ts";
import { LoginFile, type OAuthSettings, StoredOAuth } from "./oauth.ts";
import { watchAnswer } from "./_answer_body.ts";

/** How a login is made. */
export interface LoginOptions {
  readonly settings: OAuthSettings;
  /** Sent to the server's address, and to nothing else. */
  readonly headers: Readonly<Record<string, string>>;
  /** Shows the user the address to visit. */
  readonly show: (url: URL) => void | Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Logs in. `not-needed`: the server answers without a login.
 *
 * @throws McpServerError when the server or its authorization server cannot be used, or the user says no
 * @throws TimeoutError when nobody comes back; the signal's reason
 */
export async function logIn(options: LoginOptions): Promise<"logged-in" | "not-needed"> {
  const { settings, signal } = options;
  const label = `mcp_servers.${settings.name}`;
  try {
    const { wanted } = await new LoginFile(settings).read();
    const challenge = await probe(options) ?? challengeOf(wanted);
    return challenge === undefined ? "not-needed" : await authorize(options, challenge, label);
  } catch (error) {
    throwIfAborted(signal);
    if (error instanceof LaitError || error instanceof Deno.errors.NotCapable) throw error;
    const reason = error instanceof TypeError ? transportFailure(error).reason : messageOf(error);
    const said = visible(shorten(reason, LIMITS.errorBodyCharacters));
    throw new McpServerError("mcp", settings.name, `${label}: the login failed: ${said}`, { cause: error });
  }
}

type Challenge = ReturnType<typeof extractWWWAuthenticateParams>;

/** What a run was asked for, where the server does not ask at once. */
function challengeOf(wanted: { readonly resourceMetadataUrl?: string } | undefined): Challenge | undefined {
  if (wanted === undefined) return undefined;
  const { resourceMetadataUrl } = wanted;
  return resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: new URL(resourceMetadataUrl) };
}

const PROTOCOL = "2025-11-25";

/** What a client says first. Some servers want a login for all of it, some for the tools only. */
const FIRST_MESSAGES: readonly object[] = [
  {
    id: 0,
    method: "initialize",
    params: { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: PRODUCT_NAME, version: VERSION } },
  },
  { method: "notifications/initialized" },
  { id: 1, method: "tools/list" },
];

/** Asks without a login, to hear who gives one; undefined when the server answers all the same. */
async function probe({ settings, headers, signal }: LoginOptions): Promise<Challenge | undefined> {
  let session: Record<string, string> = {};
  const send = async (method: string, message?: object) => {
    const response = await sendDirectly(settings.url, {
      method,
      headers: {
        ...headers,
        ...session,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      ...(message === undefined ? {} : { body: JSON.stringify({ jsonrpc: "2.0", ...message }) }),
      redirect: "manual",
      signal,
    });
    await response.body?.cancel();
    return response;
  };
  let challenge: Challenge | undefined;
  for (const [index, message] of FIRST_MESSAGES.entries()) {
    const response = await send("POST", message);
    if (response.status === 401) {
      challenge = extractWWWAuthenticateParams(response);
      break;
    }
    if (index > 0) continue;
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const id = response.headers.get("mcp-session-id");
    session = { "mcp-protocol-version": PROTOCOL, ...(id === null ? {} : { "mcp-session-id": id }) };
  }
  if ("mcp-session-id" in session) await send("DELETE");
  return challenge;
}

async function authorize(options: LoginOptions, challenge: Challenge, label: string): Promise<"logged-in"> {
  const { settings, signal } = options;
  const file = new LoginFile(settings);
  const kept = await file.read();
  const state = crypto.randomUUID();
  await using redirect = Redirect.listen(settings.redirectPort, kept.redirectPort, state);
  if (settings.clientId === undefined && kept.redirectPort !== redirect.port) {
    // The client that was registered may use another redirect only.
    await file.change({ client: undefined });
  }
  await file.change({ redirectPort: redirect.port });
  const provider = new StoredOAuth(settings, {
    redirectUrl: redirect.url,
    useTokens: false,
    state,
    redirect: (url) => {
      if (!/^https?:$/.test(url.protocol)) throw new Error(`the address to log in at is no web address: ${url.href}`);
      addScopes(url, kept.wanted?.scope);
      return options.show(url);
    },
  });
  const fetchFn = (url: string | URL, init?: RequestInit) => boundedFetch(String(url), { ...init, signal });
  const { scope, resourceMetadataUrl } = challenge;
  const request = {
    serverUrl: settings.url,
    fetchFn,
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  };
  if (await auth(provider, request) === "AUTHORIZED") return "logged-in";
  const authorizationCode = await redirect.code(label, signal);
  await auth(provider, { ...request, authorizationCode });
  return "logged-in";
}

/** What a server wanted during a run is asked for, too. */
function addScopes(url: URL, wanted: string | undefined): void {
  if (wanted === undefined) return;
  const scopes = new Set(`${url.searchParams.get("scope") ?? ""} ${wanted}`.split(/\s+/).filter((one) => one !== ""));
  url.searchParams.set("scope", [...scopes].join(" "));
}

async function boundedFetch(url: string, init: RequestInit): Promise<Response> {
  const tooLong = () => new Error(`an answer of ${new URL(url).origin} is over ${LIMITS.mcpBodyBytes} bytes`);
  const watch = { limit: LIMITS.mcpBodyBytes, tooLong, failed: () => {}, ended: () => {} };
  return watchAnswer(await sendDirectly(url, init), watch);
}

/** The redirect: an HTTP server on this machine, for one answer. */
class Redirect implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #answer = Promise.withResolvers<URLSearchParams>();
  readonly #state: string;

  private constructor(port: number, state: string) {
    this.#state = state;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port, onListen: () => {}, onError: () => new Response(null, { status: 500 }) },
      (request) => this.#take(request),
    );
  }

  /** Listens on the port that is set, else on the last one, else on a free one. */
  static listen(set: number | undefined, last: number | undefined, state: string): Redirect {
    for (const port of set !== undefined ? [set] : [last ?? 0, 0]) {
      try {
        return new Redirect(port, state);
      } catch (error) {
        if (set !== undefined || port === 0) {
          throw new ConfigurationError(`cannot listen on port ${port} for the redirect: ${messageOf(error)}`, {
            cause: error,
          });
        }
      }
    }
    throw new ConfigurationError("there is no port for the redirect");
  }

  get port(): number {
    return this.#server.addr.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/callback`;
  }

  /** The code that the user comes back with. */
  async code(label: string, signal: AbortSignal): Promise<string> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new TimeoutError(`${label}: nobody has come back from the login within ${LIMITS.mcpLoginMs / 1000} s`));
      }, LIMITS.mcpLoginMs);
    });
    try {
      const answer = await untilAborted(Promise.race([this.#answer.promise, late]), signal);
      const code = answer.get("code");
      if (code !== null) return code;
      throw new Error([answer.get("error"), answer.get("error_description")].filter(Boolean).join(": ") || "no code");
    } finally {
      clearTimeout(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  /** Answers that do not know the state are none of ours, and change nothing. */
  #take(request: Request): Response {
    const { pathname, searchParams } = new URL(request.url);
    const text = (status: number, body: string) =>
      new Response(`${body}\n`, { status, headers: { connection: "close" } });
    if (pathname !== "/callback") return text(404, "not found");
    if (searchParams.get("state") !== this.#state) return text(400, "this answer belongs to no login");
    this.#answer.resolve(searchParams);
    const isGood = searchParams.get("code") !== null;
    return text(
      200,
      isGood ? "Logged in. This page can be closed." : "The login was refused. This page can be closed.",
    );
  }
}
