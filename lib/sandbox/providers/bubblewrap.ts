/** Linux namespaces as a sandbox, made by the program `bwrap` (package `bubblewrap`). */
import { readEnvironment } from "../../base/environment.ts";
import { ConfigurationError, ProcessError } from "../../base/errors.ts";
import { checkKeys } from "../../base/options.ts";
import { isAbsolute, resolve } from "../../deps/path.ts";
import type {
  AcquireOptions,
  Command,
  CommandResult,
  SandboxLease,
  SandboxProcess,
  SandboxProvider,
  SpawnCommand,
} from "../lease.ts";
import { type ProcessSpec, runProcess, startProcess } from "../process.ts";
import {
  checkEgress,
  checkMounts,
  checkSources,
  checkVariables,
  chosenVariables,
  type Egress,
  neededProgram,
  type SandboxMount,
  type SandboxVariables,
} from "./isolation.ts";
import { homeInside, wall, type WallSettings } from "./_bubblewrap_wall.ts";
import { LeaseLife } from "./_lease_life.ts";
import { downloadThrough, uploadThrough } from "./_transfer.ts";

/** Options of {@link createBubblewrapSandboxProvider}. */
export interface BubblewrapSandboxOptions extends SandboxVariables {
  /** Whether commands may use the network. Default: false; not even the machine's own loopback. */
  readonly network?: boolean;
  /** As `network: false`, said in the words of other tools. */
  readonly egress?: Egress;
  /** Directories that commands see though they are in the home directory or another hidden place. Default: none. */
  readonly mounts?: readonly SandboxMount[];
  /**
   * Absolute paths that commands find empty, besides the home directories, `/tmp`, `/var/tmp`, `/run`, `/mnt`, `/media`
   * and `/srv`: a disk with other projects, a secret in the workspace. What is not there is none to hide. Default: none.
   */
  readonly hide?: readonly string[];
}

const WHAT = "createBubblewrapSandboxProvider";

/** What bwrap, or the `env` behind it, says when there is nothing to run. */
const STARTLESS =
  /^(?:bwrap: execvp (?<program>.*)|bwrap: Can't chdir to (?<directory>.*)|env: (?<bare>.*)): (?<why>[^:]*)\n$/s;

/** Variables that act on whatever program starts next, so on `bwrap` itself, outside of the wall. */
const LOADER = /^(?:LD_|GLIBC_|GCONV_PATH$|LOCPATH$|MALLOC_|BWRAP_)/;

/**
 * A provider whose commands see this machine read-only, without the home directories, `/tmp` and `/run`; they may write
 * to the workspace, and to a home and a `/tmp` that last as long as the lease. They see no other process and no network,
 * have no privileges, and all of them end with the lease, or with this program. Linux alone.
 *
 * The environment is computed: `PATH`, `LANG` and `TERM` of this program, `HOME`, and what the options name.
 *
 * @throws ConfigurationError for a wrong option; `acquire` for a machine without bubblewrap, or one that does not allow it
 *
 * @example
 * ```ts
 * import { createBubblewrapSandboxProvider } from "./bubblewrap.ts";
 * const provider = createBubblewrapSandboxProvider({ variables: { CI: "true" } });
 * console.assert(provider.placement === "mounted");
 * ```
 */
export function createBubblewrapSandboxProvider(options: BubblewrapSandboxOptions = {}): SandboxProvider {
  checkKeys(WHAT, options, ["network", "egress", "mounts", "hide", "variables", "inherit"]);
  const { network = false, mounts = [], hide = [] } = options;
  if (typeof network !== "boolean") throw new ConfigurationError(`${WHAT}: network must be true or false`);
  checkEgress(WHAT, options.egress, options.network);
  checkMounts(`${WHAT}: mounts`, mounts);
  if (!Array.isArray(hide) || hide.some((path) => typeof path !== "string" || !isAbsolute(path))) {
    throw new ConfigurationError(`${WHAT}: hide must be a list of absolute paths`);
  }
  checkVariables(WHAT, options);
  return Object.freeze({
    name: "bubblewrap",
    placement: "mounted" as const,
    acquire: (acquiring: AcquireOptions) => BubblewrapLease.acquire(acquiring, { ...options, network, mounts, hide }),
  });
}

type Settings = WallSettings & SandboxVariables;

class BubblewrapLease implements SandboxLease {
  readonly root: string;
  readonly home: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly #private: string;
  readonly #argv: readonly string[];
  readonly #environment: Readonly<Record<string, string>>;
  readonly #life = new LeaseLife();
  #removing: Promise<void> | undefined;

  private constructor(
    root: string,
    home: string,
    own: string,
    argv: readonly string[],
    environment: Readonly<Record<string, string>>,
    variables: Readonly<Record<string, string>>,
  ) {
    this.root = root;
    this.home = home;
    this.variables = variables;
    this.#private = own;
    this.#argv = argv;
    this.#environment = environment;
  }

  static async acquire(acquiring: AcquireOptions, settings: Settings): Promise<BubblewrapLease> {
    const program = await findBubblewrap();
    acquiring.signal?.throwIfAborted();
    const root = await Deno.realPath(acquiring.directory);
    await checkSources(settings.mounts);
    const home = await homeInside();
    const own = await Deno.makeTempDir({ prefix: "lait-sandbox-" });
    try {
      for (const name of ["home", "tmp"]) await Deno.mkdir(`${own}/${name}`, { mode: 0o700 });
      await Deno.writeTextFile(`${own}/empty`, "");
      const git = await Promise.all((acquiring.gitDirectories ?? []).map((path) => Deno.realPath(path)));
      const writable = [root, ...git];
      const argv = [program, ...await wall({ home, own, writable, settings })];
      const passed = ["PATH", "LANG", "TERM"].flatMap((name) => {
        const value = readEnvironment(name);
        return value === undefined ? [] : [[name, value] as const];
      });
      const variables = chosenVariables(settings);
      const environment = { ...Object.fromEntries(passed), HOME: home, ...variables };
      const lease = new BubblewrapLease(root, home, own, argv, environment, variables);
      await lease.#probe(acquiring.signal);
      return lease;
    } catch (error) {
      await Deno.remove(own, { recursive: true }).catch(() => {});
      throw error;
    }
  }

  /** Starts something small, so that a machine that does not allow it says so at once. */
  async #probe(signal: AbortSignal | undefined): Promise<void> {
    const { status, stderr } = await this.invoke({
      executable: "true",
      ...(signal === undefined ? {} : { signal }),
    });
    if (status === 0) return;
    const hint = /namespace|permitted|denied|uid map/i.test(stderr)
      ? "; it needs user namespaces (kernel.unprivileged_userns_clone=1, or an AppArmor profile for bwrap)"
      : "";
    throw new ConfigurationError(`bubblewrap cannot make a sandbox on this machine: ${stderr.trim()}${hint}`);
  }

  #spec(command: Command | SpawnCommand): ProcessSpec {
    this.#life.check();
    const inherited = command.inheritVariables === false ? {} : this.#environment;
    const all = Object.entries({ ...inherited, ...command.variables });
    const forLoader = all.filter(([name]) => LOADER.test(name));
    // bwrap sets PWD, whatever it is told.
    const bare = command.inheritVariables === false && all.every(([name]) => name !== "PWD")
      ? ["env", "-u", "PWD"]
      : [];
    return {
      argv: [
        ...this.#argv,
        "--chdir",
        resolve(this.root, command.directory ?? "."),
        ...forLoader.flatMap(([name, value]) => ["--setenv", name, value]),
        "--",
        ...bare,
        programOf(this.root, command.executable),
        ...command.arguments ?? [],
      ],
      // The wall itself starts outside; which directory that is does not matter to what is inside.
      directory: this.root,
      environment: Object.fromEntries(all.filter(([name]) => !LOADER.test(name))),
      searchDirectory: this.root,
    };
  }

  async invoke(command: Command): Promise<CommandResult> {
    const result = await this.#life.run(
      command.signal,
      (signal) => runProcess(this.#spec(command), { ...command, signal }),
    );
    throwIfStartless(command, this.root, result);
    return result;
  }

  async spawn(command: SpawnCommand): Promise<SandboxProcess> {
    const pipedInput = command.stdin === "piped";
    return await this.#life.start(
      command.signal,
      (signal) => startProcess(this.#spec(command), { pipedInput, signal }),
    );
  }

  async upload(hostPath: string, sandboxPath: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await uploadThrough(this, hostPath, sandboxPath, options.signal);
  }

  async download(sandboxPath: string, hostPath: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await downloadThrough(this, sandboxPath, hostPath, options.signal);
  }

  async release(): Promise<void> {
    this.#life.end();
    await this.#life.settled();
    this.#removing ??= Deno.remove(this.#private, { recursive: true }).catch(() => {});
    await this.#removing;
  }
}

/** A path is taken from the root, wherever the command runs. */
function programOf(root: string, executable: string): string {
  return executable.includes("/") ? resolve(root, executable) : executable;
}

function throwIfStartless(command: Command, root: string, { status, stdout, stderr }: CommandResult): void {
  const { program, directory, bare, why } = STARTLESS.exec(stderr)?.groups ?? {};
  if (why === undefined || stdout !== "") return;
  const { executable } = command;
  const [sought, where] = [programOf(root, executable), resolve(root, command.directory ?? ".")];
  // A command may say the like of itself, with a bwrap or an env of its own.
  const start = status === 1 && (program === sought || directory === where);
  const bareStart = [126, 127].includes(status) && command.inheritVariables === false && bare?.includes(sought);
  if (!start && !bareStart) return;
  const what = directory !== undefined
    ? `its working directory ${directory} is not there in the sandbox`
    : /^No such file/.test(why)
    ? "there is no such program in the sandbox"
    : `${why} (in the sandbox)`;
  throw new ProcessError("spawn", `cannot start \`${executable}\`: ${what}`, { details: { program: executable } });
}

async function findBubblewrap(): Promise<string> {
  if (Deno.build.os !== "linux") {
    throw new ConfigurationError("the bubblewrap sandbox is for Linux; use createContainerSandboxProvider here");
  }
  return await neededProgram("bubblewrap", "bwrap");
}
