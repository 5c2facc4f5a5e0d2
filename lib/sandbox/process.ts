/**
 * The only place that starts a program. Argv only, a process group of its own, bounded output, a deadline, and nothing
 * left behind: an abort, a deadline or an overflow ends the whole tree, and so does the end of lait (`endAllProcesses`).
 */
import { LONGEST_TIMER_MS } from "../base/clock.ts";
import { ProcessError } from "../base/errors.ts";
import { systemClock } from "../base/clock.ts";
import { missingRight } from "../base/rights.ts";
import { LIMITS } from "../base/limits.ts";
import { onAbort, throwIfAborted } from "../base/signals.ts";
import type { CommandResult, SandboxProcess } from "./lease.ts";
import { findProgram } from "./program.ts";
import { StreamCollector } from "./stream_collector.ts";
import { endTree, killLingering, killTreeNow, type LingeringGroup, lingeringGroup } from "./tree.ts";

/** A program to start; every field is decided by the caller. */
export interface ProcessSpec {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** The working directory, absolute. */
  readonly directory: string;
  /** The child's whole environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** What a relative program path is relative to. */
  readonly searchDirectory: string;
}

/** How a collected command is bounded. */
export interface RunOptions {
  readonly stdin?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly deadlineMs?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly retain?: number | undefined;
  readonly observe?: ((channel: "stdout" | "stderr", text: string) => void) | undefined;
}

// What still runs, and what ended commands left running, so that lait's own end can end it. The one piece of state
// that belongs to the process and not to a run: the operating system keeps it per process, too.
const running = new Set<StartedProcess>();
const lingering = new Map<number, LingeringGroup>();

/** A started program; its streams are the caller's to read. */
export class StartedProcess implements SandboxProcess {
  readonly #child: Deno.ChildProcess;
  #ending: Promise<{ descendantsMayLive: boolean }> | undefined;
  /** Standard input, when it was asked for. */
  readonly stdin: WritableStream<Uint8Array> | undefined;
  /** The exit status of the direct child; 128 and the signal's number when a signal ended it. */
  readonly status: Promise<number>;

  /** Takes over a child that leads its own group. */
  constructor(child: Deno.ChildProcess, pipedInput: boolean) {
    this.#child = child;
    this.stdin = pipedInput ? child.stdin : undefined;
    running.add(this);
    this.status = child.status.then(({ code }) => {
      // While the tree is being ended, what is left of it is not the command's legacy.
      if (this.#ending === undefined) {
        running.delete(this);
        const left = lingeringGroup(child.pid);
        if (left !== undefined) lingering.set(child.pid, left);
      }
      return code;
    });
  }

  /** The process id, which is also the group's. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Standard output. */
  get stdout(): ReadableStream<Uint8Array> {
    return this.#child.stdout;
  }

  /** Standard error. */
  get stderr(): ReadableStream<Uint8Array> {
    return this.#child.stderr;
  }

  /** Ends the tree; see `endTree`. A second call waits for the first. */
  async endTree(options: { grace: boolean }): Promise<{ descendantsMayLive: boolean }> {
    this.#ending ??= endTree(this.#child, options).finally(() => running.delete(this));
    return await this.#ending;
  }

  /** Ends the tree with SIGTERM, half a second, SIGKILL. */
  async end(): Promise<void> {
    await this.endTree({ grace: true });
  }
}

/**
 * Starts a program.
 *
 * @throws ProcessError of kind `spawn`, naming the program, when it cannot be started
 */
export async function startProcess(
  spec: ProcessSpec,
  options: { pipedInput: boolean; signal?: AbortSignal | undefined },
): Promise<StartedProcess> {
  const [name = "", ...args] = spec.argv;
  throwIfAborted(options.signal);
  await checkDirectory(name, spec.directory);
  const programs = await findProgram(name, {
    path: pathOf(spec.environment),
    directory: spec.searchDirectory,
  });
  throwIfAborted(options.signal);
  let failure: unknown;
  for (const program of programs) {
    try {
      return new StartedProcess(spawn(program, args, spec, options.pipedInput), options.pipedInput);
    } catch (error) {
      failure = error;
      if (!(error instanceof Deno.errors.NotFound)) break;
    }
  }
  throw spawnError(name, failure);
}

function spawn(program: string, args: string[], spec: ProcessSpec, pipedInput: boolean): Deno.ChildProcess {
  return new Deno.Command(program, {
    args,
    cwd: spec.directory,
    env: { ...spec.environment },
    clearEnv: true,
    stdin: pipedInput ? "piped" : "null",
    stdout: "piped",
    stderr: "piped",
    ...(Deno.build.os === "windows" ? {} : { detached: true }),
  }).spawn();
}

function pathOf(environment: Readonly<Record<string, string>>): string | undefined {
  if (Deno.build.os !== "windows") return environment["PATH"];
  const key = Object.keys(environment).find((name) => name.toUpperCase() === "PATH");
  return key === undefined ? undefined : environment[key];
}

async function checkDirectory(program: string, directory: string): Promise<void> {
  try {
    if ((await Deno.stat(directory)).isDirectory) return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) return; // What lait may not look at, the start itself will tell.
  }
  throw new ProcessError(
    "spawn",
    `cannot start \`${program}\`: its working directory ${directory} is not a directory`,
    {
      details: { program, directory },
    },
  );
}

function spawnError(program: string, error: unknown): ProcessError {
  const reason = error instanceof Deno.errors.NotCapable
    ? missingRight(error)
    : error instanceof Deno.errors.NotFound
    ? "there is no such program"
    : error instanceof Deno.errors.PermissionDenied
    ? "it may not be executed"
    : error instanceof Error
    ? error.message
    : String(error);
  return new ProcessError("spawn", `cannot start \`${program}\`: ${reason}`, { cause: error, details: { program } });
}

/**
 * Runs a program to its end and collects what it writes.
 *
 * When the direct child has ended, its pipes are read on for at most two seconds, then closed: a descendant in the
 * background that holds them cannot hang the call.
 *
 * @throws ProcessError of kind `spawn`, `timeout` or `overflow`; the last two carry what was written until then
 * @throws the signal's reason when it aborts; the tree is gone by then
 */
export async function runProcess(spec: ProcessSpec, options: RunOptions): Promise<CommandResult> {
  const process = await startProcess(spec, { pipedInput: options.stdin !== undefined, signal: options.signal });
  const run = new CollectedRun(process, spec, options);
  return await run.result();
}

class CollectedRun {
  readonly #process: StartedProcess;
  readonly #spec: ProcessSpec;
  readonly #options: RunOptions;
  readonly #stdout: StreamCollector;
  readonly #stderr: StreamCollector;
  #overflowed: "stdout" | "stderr" | undefined;
  #timedOut = false;
  #ended: Promise<{ descendantsMayLive: boolean }> | undefined;
  #stopDraining: () => void = () => {};

  constructor(process: StartedProcess, spec: ProcessSpec, options: RunOptions) {
    this.#process = process;
    this.#spec = spec;
    this.#options = options;
    const { maxBytes = LIMITS.commandStreamBytes, retain, observe } = options;
    const collect = (channel: "stdout" | "stderr") =>
      new StreamCollector(process[channel], {
        maxBytes,
        retain,
        observe: observe === undefined ? undefined : (text) => observe(channel, text),
        onOverflow: () => {
          this.#overflowed ??= channel;
          this.#end({ grace: false });
        },
      });
    this.#stdout = collect("stdout");
    this.#stderr = collect("stderr");
  }

  async result(): Promise<CommandResult> {
    const { signal, deadlineMs } = this.#options;
    const forget = onAbort(signal, () => this.#end({ grace: true }));
    // A deadline beyond what timers can wait is none.
    const timer = deadlineMs === undefined || deadlineMs > LONGEST_TIMER_MS ? undefined : setTimeout(() => {
      this.#timedOut = true;
      this.#end({ grace: true });
    }, deadlineMs);
    try {
      const stopFeeding = this.#feed();
      const status = await this.#process.status;
      const exitedByItself = this.#ended === undefined;
      await this.#drain();
      stopFeeding();
      const ended = await this.#ended;
      if (signal?.aborted) throw signal.reason;
      // A deadline that passes while the pipes of an ended command are drained only ends the draining.
      if (this.#overflowed !== undefined || (this.#timedOut && !exitedByItself)) throw this.#failure(ended);
      return this.#collected(status);
    } finally {
      clearTimeout(timer);
      forget();
    }
  }

  #end(options: { grace: boolean }): void {
    this.#ended ??= this.#process.endTree(options);
    // Whatever holds the pipes after the tree is gone is nothing that can be waited for.
    this.#ended.then(() => this.#stopDraining());
  }

  /**
   * Writes standard input beside everything else. Returns what gives it up: a write to a pipe that somebody holds and
   * nobody reads cannot be taken back, so it is not waited for.
   */
  #feed(): () => void {
    if (this.#process.stdin === undefined) return () => {};
    const writer = this.#process.stdin.getWriter();
    // A program that does not read its input is fine, so a broken pipe is no failure.
    writer.write(new TextEncoder().encode(this.#options.stdin ?? "")).then(() => writer.close()).catch(() => {});
    return () => void writer.abort().catch(() => {});
  }

  /** Reads both pipes to their end, for at most the drain time; then closes them. */
  async #drain(): Promise<void> {
    const done = Promise.all([this.#stdout.done, this.#stderr.done]);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const limit = new Promise<void>((resolve) => {
      this.#stopDraining = resolve;
      timer = setTimeout(resolve, LIMITS.drainMs);
    });
    await Promise.race([done, limit]);
    clearTimeout(timer);
    await Promise.all([this.#stdout.stop(), this.#stderr.stop()]);
  }

  #collected(status: number): CommandResult {
    const stdout = this.#stdout.text();
    const stderr = this.#stderr.text();
    const undecodable = ([["stdout", stdout], ["stderr", stderr]] as const)
      .filter(([, { valid }]) => !valid).map(([channel]) => channel);
    return {
      status,
      stdout: stdout.text,
      stderr: stderr.text,
      ...(undecodable.length === 0 ? {} : { undecodable }),
    };
  }

  #failure(ended: { descendantsMayLive: boolean } | undefined): ProcessError {
    const { stdout, stderr } = this.#collected(0);
    const survivors = ended?.descendantsMayLive
      ? "; only the program itself could be ended, programs that it started may still run"
      : "";
    const argv = JSON.stringify(this.#spec.argv);
    if (this.#overflowed !== undefined) {
      const limit = this.#options.maxBytes ?? LIMITS.commandStreamBytes;
      return new ProcessError(
        "overflow",
        `${argv} was ended: it wrote more than ${limit} bytes to ${this.#overflowed}${survivors}`,
        { output: { stdout, stderr }, details: { stream: this.#overflowed, limit } },
      );
    }
    const seconds = this.#options.deadlineMs! / 1000;
    return new ProcessError("timeout", `${argv} timed out after ${seconds}s${survivors}`, {
      output: { stdout, stderr },
      details: { seconds },
    });
  }
}

/**
 * Ends everything that lait started, and what ended commands left running. For the end of lait itself: `endAllProcesses`
 * waits, `killAllProcesses` cannot.
 */
export async function endAllProcesses(): Promise<void> {
  await Promise.all([...running].map((process) => process.endTree({ grace: true })));
  const left = [...lingering.values()];
  killAllProcesses();
  for (let waited = 0; waited < LIMITS.reapMs && left.some(({ group }) => lingeringGroup(group)); waited += 10) {
    await systemClock.sleep(10);
  }
}

/** Kills at once and without waiting everything that lait started. */
export function killAllProcesses(): void {
  for (const process of running) killTreeNow(process.pid);
  for (const left of lingering.values()) killLingering(left);
  lingering.clear();
}
