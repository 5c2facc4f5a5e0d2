/** The host itself as a sandbox: no wall. For what the user asked to run on this machine. */
import { ConfigurationError } from "../../base/errors.ts";
import { checkKeys } from "../../base/options.ts";
import { isAbsolute, resolve } from "../../deps/path.ts";
import { readEnvironment } from "../../base/environment.ts";
import { inheritedEnvironment, MODEL_KEY_VARIABLES } from "../environment.ts";
import type { Command, CommandResult, SandboxLease, SandboxProcess, SandboxProvider, SpawnCommand } from "../lease.ts";
import { type ProcessSpec, runProcess, startProcess } from "../process.ts";
import { LeaseLife } from "./_lease_life.ts";
import { copyOnHost } from "./_transfer.ts";

/** Names that say that a variable holds a secret, or leads to one. */
const SECRET =
  /(?:^|_)(?:KEY|KEYS|TOKEN|TOKENS|SECRET|SECRETS|PASSWD|PASSPHRASE|CREDENTIAL|CREDENTIALS|PAT|AUTH)(?:$|_)|PASSWORD|APIKEY|^SSH_AUTH_SOCK$|^KUBECONFIG$/i;

/** Options of {@link createLocalSandboxProvider}. */
export interface LocalSandboxOptions {
  /** Variables that children get on top of the inherited environment. Default: none. */
  readonly variables?: Readonly<Record<string, string>>;
  /**
   * Which variables of this program children inherit whose names say that they hold a secret (`…_TOKEN`, `…_KEY`,
   * `…PASSWORD…`, `SSH_AUTH_SOCK` and the like): those named here, or `"all"` of them but the model keys. The other
   * variables they inherit anyway. Default: none.
   */
  readonly inherit?: "all" | readonly string[];
  /**
   * Names of variables that children do not inherit, besides `OPENAI_API_KEY` and `ANTHROPIC_API_KEY`. Default: none.
   */
  readonly withhold?: readonly string[];
}

/**
 * A provider whose commands run on this machine with the rights of this process. Children inherit the environment
 * without the model keys, and without what its name calls a secret.
 *
 * @example
 * ```ts
 * import { createLocalSandboxProvider } from "./local.ts";
 * const lease = await createLocalSandboxProvider().acquire({ directory: Deno.cwd() });
 * const { stdout } = await lease.invoke({ executable: "echo", arguments: ["hello"] });
 * console.assert(stdout === "hello\n");
 * await lease.release();
 * ```
 */
export function createLocalSandboxProvider(options: LocalSandboxOptions = {}): SandboxProvider {
  checkKeys("createLocalSandboxProvider", options, ["variables", "inherit", "withhold"]);
  const { variables = {}, inherit = [], withhold = [] } = options;
  if (inherit !== "all" && !Array.isArray(inherit)) {
    throw new ConfigurationError('createLocalSandboxProvider: inherit must be "all" or a list of names');
  }
  const withheld = [...MODEL_KEY_VARIABLES.filter((name) => !inherit.includes(name)), ...withhold];
  return Object.freeze({
    name: "local",
    placement: "host" as const,
    acquire: ({ directory }: { directory: string }) =>
      Promise.resolve(new LocalLease(resolve(directory), { ...variables }, withheld, inherit)),
  });
}

class LocalLease implements SandboxLease {
  readonly root: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly #withheld: readonly string[];
  readonly #inherit: "all" | readonly string[];
  readonly #life = new LeaseLife();

  constructor(
    root: string,
    variables: Readonly<Record<string, string>>,
    withheld: readonly string[],
    inherit: "all" | readonly string[],
  ) {
    this.root = root;
    this.variables = variables;
    this.#withheld = withheld;
    this.#inherit = inherit;
  }

  get home(): string {
    return readEnvironment("HOME") ?? readEnvironment("USERPROFILE") ?? this.root;
  }

  #spec(command: Command | SpawnCommand): ProcessSpec {
    this.#life.check();
    const { directory } = command;
    const inherited = command.inheritVariables === false ? {} : { ...this.#inherited(), ...this.variables };
    return {
      argv: [command.executable, ...command.arguments ?? []],
      directory: directory === undefined
        ? this.root
        : isAbsolute(directory)
        ? directory
        : resolve(this.root, directory),
      environment: { ...inherited, ...command.variables },
      searchDirectory: this.root,
    };
  }

  #inherited(): Record<string, string> {
    const all = inheritedEnvironment(this.#withheld);
    const inherit = this.#inherit;
    if (inherit === "all") return all;
    return Object.fromEntries(Object.entries(all).filter(([name]) => !SECRET.test(name) || inherit.includes(name)));
  }

  async invoke(command: Command): Promise<CommandResult> {
    return await this.#life.run(
      command.signal,
      (signal) => runProcess(this.#spec(command), { ...command, signal }),
    );
  }

  async spawn(command: SpawnCommand): Promise<SandboxProcess> {
    const pipedInput = command.stdin === "piped";
    return await this.#life.start(
      command.signal,
      (signal) => startProcess(this.#spec(command), { pipedInput, signal }),
    );
  }

  async upload(hostPath: string, sandboxPath: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await this.#copy(hostPath, resolve(this.root, sandboxPath), options.signal);
  }

  async download(sandboxPath: string, hostPath: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await this.#copy(resolve(this.root, sandboxPath), hostPath, options.signal);
  }

  async #copy(from: string, to: string, signal: AbortSignal | undefined): Promise<void> {
    await this.#life.run(signal, (bound) => copyOnHost(from, to, bound));
  }

  async release(): Promise<void> {
    this.#life.end();
    await this.#life.settled();
  }
}
