/** One container: started, used by commands, ended. */
import { ConfigurationError, ProcessError } from "../../base/errors.ts";
import { throwIfAborted, untilAborted } from "../../base/signals.ts";
import { posix } from "../../deps/path.ts";
import { inheritedEnvironment, MODEL_KEY_VARIABLES } from "../environment.ts";
import type { AcquireOptions, Command, CommandResult, SandboxLease, SandboxProcess, SpawnCommand } from "../lease.ts";
import { type ProcessSpec, runProcess, type StartedProcess, startProcess } from "../process.ts";
import { type ContainerSettings, HOME, ownerOf, runArguments } from "./_container_arguments.ts";
import { END, START } from "./_container_scripts.ts";
import { checkSources, chosenVariables, neededProgram } from "./isolation.ts";
import { LeaseLife } from "./_lease_life.ts";
import { downloadThrough, uploadThrough } from "./_transfer.ts";

/** In front of the variables that carry a command's own through the engine's program, which has an environment too. */
const CARRIER = "LAIT_VARIABLE_";

/** Statuses of an engine that has lost the container, among others. */
const LOST: readonly number[] = [1, 125, 126, 137, 255];

/** How long the engine may take to end a container before it is told to kill it. */
const STOP_MS = 5_000;

/** See the module. */
export class ContainerLease implements SandboxLease {
  readonly root: string;
  readonly home = HOME;
  readonly #name: string;
  readonly #engine: readonly string[];
  readonly #host: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, string>>;
  readonly #holder: StartedProcess;
  readonly #life = new LeaseLife();
  #ending: Promise<void> | undefined;

  private constructor(
    root: string,
    name: string,
    engine: readonly string[],
    host: Readonly<Record<string, string>>,
    variables: Readonly<Record<string, string>>,
    holder: StartedProcess,
  ) {
    this.root = root;
    this.#name = name;
    this.#engine = engine;
    this.#host = host;
    this.variables = variables;
    this.#holder = holder;
  }

  /** Starts a container and waits until commands can run in it. */
  static async acquire(acquiring: AcquireOptions, settings: ContainerSettings): Promise<ContainerLease> {
    const { signal } = acquiring;
    const engine = [await neededProgram("container", settings.engine), ...settings.engineArguments];
    throwIfAborted(signal);
    await checkSources(settings.mounts);
    const root = await Deno.realPath(acquiring.directory);
    const user = settings.user ?? await ownerOf(root);
    const name = `lait-${crypto.randomUUID()}`;
    const host = inheritedEnvironment(MODEL_KEY_VARIABLES);
    const writable = [root, ...acquiring.gitDirectories ?? []];
    const argv = [...engine, ...runArguments(name, writable, { ...settings, user })];
    // Its standard input is what keeps the container: it ends with this program, however that ends.
    const holder = await startProcess({ argv, directory: "/", environment: host, searchDirectory: "/" }, {
      pipedInput: true,
      signal,
    });
    const lease = new ContainerLease(root, name, engine, host, chosenVariables(settings), holder);
    try {
      await untilAborted(ready(holder, settings), signal);
      return lease;
    } catch (error) {
      await lease.#giveUp();
      throw error;
    }
  }

  /** Runs the engine's `exec` with a command in it; `id` names the command within the container. */
  #spec(command: Command | SpawnCommand, id: string, pipedInput: boolean): ProcessSpec {
    this.#life.check();
    const clear = command.inheritVariables === false;
    const variables = Object.entries({ ...(clear ? {} : this.variables), ...command.variables });
    const carried = variables.map(([, value], index) => [`${CARRIER}${index}`, value] as const);
    return {
      argv: [
        ...this.#engine,
        "exec",
        ...(pipedInput ? ["--interactive"] : []),
        ...carried.flatMap(([name]) => ["--env", name]),
        this.#name,
        "sh",
        "-c",
        START,
        "sh",
        id,
        this.root,
        posix.resolve(this.root, command.directory ?? "."),
        clear ? "-i" : "",
        String(variables.length),
        ...variables.map(([name]) => name),
        command.executable,
        ...command.arguments ?? [],
      ],
      directory: "/",
      environment: { ...this.#host, ...Object.fromEntries(carried) },
      searchDirectory: "/",
    };
  }

  async invoke(command: Command): Promise<CommandResult> {
    return await this.#life.run(command.signal, (signal) => this.#invoke(command, signal));
  }

  async #invoke(command: Command, signal: AbortSignal): Promise<CommandResult> {
    throwIfAborted(signal);
    const id = crypto.randomUUID();
    const spec = this.#spec(command, id, command.stdin !== undefined);
    let result: CommandResult;
    try {
      result = await runProcess(spec, { ...command, signal });
    } catch (error) {
      // The engine's program is gone; what it had started in the container is not.
      await this.#end(id);
      throw named(error, command);
    }
    const said = new RegExp(`^${id}: (.*)\n$`, "s").exec(result.stderr);
    const problem = result.status === 127 ? said?.[1] : await this.#problem(result.status);
    if (problem === undefined) return result;
    throw new ProcessError("spawn", `cannot start \`${command.executable}\`: ${problem}`, {
      details: { program: command.executable },
    });
  }

  /** What there is to say of a status that the engine gives where there is no container: undefined when there is one. */
  async #problem(status: number): Promise<string | undefined> {
    if (!LOST.includes(status)) return undefined;
    const { stdout } = await this.#run(["container", "inspect", "--format", "{{.State.Running}}", this.#name]);
    if (stdout.trim() === "true") return undefined;
    return `the container ${this.#name} was ended by somebody else; take another lease`;
  }

  async spawn(command: SpawnCommand): Promise<SandboxProcess> {
    return await this.#life.start(command.signal, (signal) => this.#spawn(command, signal));
  }

  async #spawn(command: SpawnCommand, signal: AbortSignal): Promise<SandboxProcess> {
    const id = crypto.randomUUID();
    const pipedInput = command.stdin === "piped";
    const process = await startProcess(this.#spec(command, id, pipedInput), { pipedInput, signal });
    let ending: Promise<void> | undefined;
    const end = () =>
      ending ??= (async () => {
        await this.#end(id);
        await process.end();
      })();
    return {
      stdin: process.stdin,
      stdout: process.stdout,
      stderr: process.stderr,
      status: process.status,
      end,
    };
  }

  /** Ends a command within the container, with all that it started. */
  async #end(id: string): Promise<void> {
    if (this.#ending !== undefined) return;
    await this.#run(["exec", this.#name, "sh", "-c", END, "sh", id]).catch(() => {});
  }

  async #run(args: readonly string[]): Promise<CommandResult> {
    const argv = [...this.#engine, ...args];
    const spec = { argv, directory: "/", environment: this.#host, searchDirectory: "/" };
    return await runProcess(spec, { deadlineMs: STOP_MS });
  }

  async upload(hostPath: string, sandboxPath: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await uploadThrough(this, hostPath, sandboxPath, options.signal);
  }

  async download(sandboxPath: string, hostPath: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await downloadThrough(this, sandboxPath, hostPath, options.signal);
  }

  async release(): Promise<void> {
    this.#life.end();
    this.#ending ??= this.#stop();
    await this.#ending;
    await this.#life.settled();
  }

  /** Ends what has not come up: an engine that fetches an image does not look at its input. */
  async #giveUp(): Promise<void> {
    void this.#holder.stdin!.close().catch(() => {});
    this.#ending ??= this.#holder.end().then(async () => {
      await this.#run(["rm", "--force", this.#name]).catch(() => {});
    });
    await this.release();
  }

  /** The end of the input ends the container, and with it all that runs in it. */
  async #stop(): Promise<void> {
    await this.#holder.stdin!.close().catch(() => {});
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<"late">((resolve) => {
      timer = setTimeout(() => resolve("late"), STOP_MS);
    });
    const ended = await Promise.race([this.#holder.status, late]);
    clearTimeout(timer);
    if (ended === "late") await this.#run(["rm", "--force", this.#name]).catch(() => {});
    await this.#holder.end();
  }
}

/** An error of a command says the command, not how the engine was called. */
function named(error: unknown, command: Command): unknown {
  if (!(error instanceof ProcessError) || error.kind === "spawn") return error;
  const said = JSON.stringify([command.executable, ...command.arguments ?? []]);
  const tail = error.message.slice(error.message.lastIndexOf("] ") + 2);
  return new ProcessError(error.kind, `${said} ${tail}`, {
    output: error.output,
    details: error.details,
    cause: error,
  });
}

/** Resolves once the container says that it runs. */
async function ready(holder: StartedProcess, { engine, image }: ContainerSettings): Promise<void> {
  const said = new Response(holder.stderr).text();
  const reader = holder.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await reader.read();
  void reader.cancel();
  if (value?.startsWith("ready")) return;
  const status = await holder.status;
  const why = (await said).trim().split("\n").slice(-3).join("; ") || `status ${status}`;
  throw new ConfigurationError(`${engine} cannot start a container of the image ${image}: ${why}`, {
    details: { engine, image, status },
  });
}
