/** Logins at MCP servers: what is kept of them on disk, and how the SDK's OAuth works with it. */
import { ConfigurationError, FileError } from "../../base/errors.ts";
import { fileProblem, readTextBounded, replaceFile } from "../../base/files.ts";
import { lockFile } from "../../base/locks.ts";
import { isJsonObject } from "../../base/json.ts";
import { PRODUCT_NAME } from "../../base/product.ts";
import { dirname, join } from "../../deps/path.ts";
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthTokens,
} from "../../deps/mcp.ts";

/** How a server is logged in at. */
export interface OAuthSettings {
  /** The server's name in the configuration. */
  readonly name: string;
  readonly url: string;
  /** The file that keeps the login: only its owner may read it. */
  readonly file: string;
  /** A client that is registered already. Default: one is registered when it is needed. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** What is asked for when the server does not say. */
  readonly scope?: string;
  /** The port of the redirect. Default: the last one, else any free one. */
  readonly redirectPort?: number;
}

/** What is kept of a login. */
interface Kept {
  /** The address that it is for: nothing of it is sent to another one. */
  readonly url: string;
  readonly client?: OAuthClientInformationMixed;
  readonly tokens?: OAuthTokens;
  readonly redirectPort?: number;
  /** What a run was asked for and did not have: for the next login. */
  readonly wanted?: { readonly scope?: string; readonly resourceMetadataUrl?: string };
}

/** The login of one server on disk. */
export class LoginFile {
  readonly #settings: OAuthSettings;

  /** The login that the settings name; nothing is read yet. */
  constructor(settings: OAuthSettings) {
    this.#settings = settings;
  }

  /** What is kept for the server's address. */
  async read(): Promise<Partial<Kept>> {
    const { file, url } = this.#settings;
    try {
      await Deno.stat(file);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return {};
    }
    let kept: unknown;
    try {
      const text = await readTextBounded(file);
      kept = text === "" ? text : JSON.parse(text);
    } catch (error) {
      if (error instanceof FileError) throw error;
    }
    if (kept === "") return {}; // It has just been made.
    if (!isJsonObject(kept)) throw new FileError(`${file} is no login that ${PRODUCT_NAME} has kept; remove it`);
    return kept["url"] === url ? kept as unknown as Kept : {};
  }

  /** Changes what is kept; undefined takes a part away. */
  async change(changes: { readonly [Part in keyof Omit<Kept, "url">]?: Kept[Part] | undefined }): Promise<void> {
    const { file, url } = this.#settings;
    await this.#prepare();
    // Another process may be changing it, too.
    const lock = await lockFile(join(dirname(file), ".lock"));
    try {
      const kept = Object.entries({ ...await this.read(), ...changes, url }).filter(([, value]) => value !== undefined);
      // The file keeps the mode that it is made with.
      (await Deno.open(file, { write: true, create: true, mode: 0o600 })).close();
      if (Deno.build.os !== "windows") await Deno.chmod(file, 0o600);
      await replaceFile(file, `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`);
    } catch (error) {
      if (error instanceof FileError) throw error;
      throw new FileError(`cannot write ${file}: ${fileProblem(error)}`, { cause: error });
    } finally {
      lock.release();
    }
  }

  async #prepare(): Promise<void> {
    const { file } = this.#settings;
    try {
      await Deno.mkdir(dirname(file), { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new FileError(`cannot write ${file}: ${fileProblem(error)}`, { cause: error });
    }
  }

  /** Removes it; false when there was none. */
  async remove(): Promise<boolean> {
    try {
      await Deno.remove(this.#settings.file);
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw new FileError(`cannot remove ${this.#settings.file}: ${fileProblem(error)}`, { cause: error });
    }
  }
}

/** What differs between a run, which asks nobody, and a login. */
export interface OAuthFlow {
  readonly redirectUrl: string;
  /** Whether tokens that are kept count. */
  readonly useTokens: boolean;
  readonly state?: string;
  /** Shows the address at which the user says yes; a run throws. Gets where the server describes itself, too. */
  readonly redirect: (url: URL, resourceMetadataUrl: string | undefined) => void | Promise<void>;
}

/** The SDK's view of a login. */
export class StoredOAuth implements OAuthClientProvider {
  readonly #settings: OAuthSettings;
  readonly #file: LoginFile;
  readonly #flow: OAuthFlow;
  #verifier = "";
  #resourceMetadataUrl: string | undefined;
  #given: string | undefined;

  /** A login by these settings. */
  constructor(settings: OAuthSettings, flow: OAuthFlow) {
    this.#settings = settings;
    this.#file = new LoginFile(settings);
    this.#flow = flow;
  }

  /** For the SDK. */
  get redirectUrl(): string {
    return this.#flow.redirectUrl;
  }

  /** What a new client is registered as. */
  get clientMetadata(): OAuthClientMetadata {
    const { scope, clientSecret } = this.#settings;
    return {
      client_name: PRODUCT_NAME,
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: clientSecret === undefined ? "none" : "client_secret_basic",
      ...(scope === undefined ? {} : { scope }),
    };
  }

  /** For the SDK. */
  state(): string {
    return this.#flow.state ?? crypto.randomUUID();
  }

  /** The client of the configuration, else the one that was registered. */
  async clientInformation(): Promise<OAuthClientInformationMixed | undefined> {
    const { clientId, clientSecret } = this.#settings;
    if (clientId === undefined) return (await this.#file.read()).client;
    return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
  }

  /** For the SDK. */
  async saveClientInformation(client: OAuthClientInformationMixed): Promise<void> {
    if (this.#settings.clientId === undefined) await this.#file.change({ client });
  }

  /** The tokens as they are on disk now: another process may have renewed them. */
  async tokens(): Promise<OAuthTokens | undefined> {
    if (!this.#flow.useTokens) return undefined;
    const { tokens } = await this.#file.read();
    this.#given = JSON.stringify(tokens);
    return tokens;
  }

  /** For the SDK. */
  async saveTokens(tokens: OAuthTokens): Promise<void> {
    await this.#file.change({ tokens, ...(this.#flow.useTokens ? {} : { wanted: undefined }) });
  }

  /** For the SDK. */
  async redirectToAuthorization(url: URL): Promise<void> {
    await this.#flow.redirect(url, this.#resourceMetadataUrl);
  }

  /** For the SDK; asked for anew each time. */
  saveDiscoveryState({ resourceMetadataUrl }: { readonly resourceMetadataUrl?: string }): void {
    this.#resourceMetadataUrl = resourceMetadataUrl;
  }

  /** For the SDK. */
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  /** For the SDK. */
  codeVerifier(): string {
    return this.#verifier;
  }

  /** Tokens that another process has renewed meanwhile are not thrown away. */
  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    if (scope === "verifier" || scope === "discovery") return;
    if (scope !== "tokens") await this.#file.change({ client: undefined });
    if (scope === "client") return;
    const { tokens } = await this.#file.read();
    if (tokens !== undefined && JSON.stringify(tokens) === this.#given) await this.#file.change({ tokens: undefined });
  }
}

/** OAuth as a run uses it: with the tokens that are there, renewed when they are old; nobody is sent to a browser. */
export function runOAuth(settings: OAuthSettings): OAuthClientProvider {
  return new StoredOAuth(settings, {
    redirectUrl: "http://127.0.0.1/callback",
    useTokens: true,
    redirect: async (url, resourceMetadataUrl) => {
      const scope = url.searchParams.get("scope");
      const file = new LoginFile(settings);
      const { tokens } = await file.read();
      await file.change({
        wanted: {
          ...(scope === null ? {} : { scope }),
          ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
        },
      });
      throw new ConfigurationError(
        `mcp_servers.${settings.name}: the server wants ${tokens === undefined ? "a" : "another"} login` +
          `${scope === null ? "" : ` (${scope})`}; run \`${PRODUCT_NAME} mcp login ${settings.name}\``,
      );
    },
  });
}
