/**
 * Running the command as a whole process: a fresh directory, a home of its own, an environment that holds nothing else,
 * and, where a test wants one, a pseudo-terminal.
 */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { readProcessTable } from "../../lib/sandbox/process_table.ts";
import { denoCache, Place, REPOSITORY } from "../_support/process.ts";

const LAIT = [Deno.execPath(), "run", "-A", `${REPOSITORY}cli.ts`];
/** A process that takes longer than this hangs, and is ended. */
const HUNG_MS = 40_000;
/** What a process may take to tidy up when its test is over before it has ended. */
const TIDY_MS = 3_000;

/** Where Deno keeps its cache: the command's own HOME is empty. */
const { denoDir } = await denoCache();

/** How a process is run. */
export interface RunOptions {
  /** What is piped in. Default: the null device. `open`: a pipe that stays open, see `LaitProcess.stdin`. */
  readonly stdin?: string | Uint8Array | "open";
  /** Variables on top of the minimal environment; undefined takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The working directory, relative to the workspace's. */
  readonly directory?: string;
}

/** What a process came to. */
export interface RunResult {
  readonly code: number;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A directory to run lait in, with a home beside it. Use it with `await using`. */
export class Workspace implements AsyncDisposable {
  readonly #place: Place;
  readonly #started: LaitProcess[] = [];

  private constructor(place: Place) {
    this.#place = place;
  }

  /** A workspace with these files; a path that starts with `~/` is below the home. */
  static async create(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
    const workspace = new Workspace(await Place.make());
    for (const [path, text] of Object.entries(files)) await workspace.write(path, text);
    return workspace;
  }

  /** The directory that lait runs in. */
  get directory(): string {
    return this.#place.directory;
  }

  /** The home directory. */
  get home(): string {
    return this.#place.home;
  }

  /** The absolute path of a file of the workspace. */
  path(name: string): string {
    return name.startsWith("~/") ? join(this.home, name.slice(2)) : join(this.directory, name);
  }

  async write(name: string, text: string): Promise<void> {
    await Deno.mkdir(dirname(this.path(name)), { recursive: true });
    await Deno.writeTextFile(this.path(name), text);
  }

  async read(name: string): Promise<string> {
    return await Deno.readTextFile(this.path(name));
  }

  async exists(name: string): Promise<boolean> {
    return await Deno.stat(this.path(name)).then(() => true, () => false);
  }

  /** Starts lait. */
  start(args: readonly string[], options: RunOptions = {}): LaitProcess {
    return this.startProgram([...LAIT, ...args], options);
  }

  /** Runs lait to its end. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    return await this.start(args, options).ended();
  }

  /** Runs a shell line in which `lait` is the command; its status is the line's. */
  async shell(line: string, options: RunOptions = {}): Promise<RunResult> {
    const functions = `lait() { ${shellWords(LAIT)} "$@"; }\n`;
    return await this.startProgram(["sh", "-c", functions + line], options).ended();
  }

  /** Starts lait on a pseudo-terminal: all that it writes arrives on `stdout`; `redirect` is a shell's `>file`. */
  terminal(args: readonly string[], options: Omit<RunOptions, "stdin"> & { redirect?: string } = {}): LaitProcess {
    const line = `exec ${shellWords([...LAIT, ...args])} ${options.redirect ?? ""}`;
    return this.startProgram(["script", "-qec", line, "/dev/null"], { ...options, stdin: "open" });
  }

  /** Starts any program as lait is started. */
  startProgram([program, ...args]: readonly string[], options: RunOptions): LaitProcess {
    const { stdin, directory = "." } = options;
    const environment = Object.entries({
      ...this.#place.environment(),
      DENO_DIR: denoDir,
      DENO_NO_UPDATE_CHECK: "1",
      TERM: "xterm",
      SHELL: "/bin/sh",
      ...options.env,
    });
    const child = new Deno.Command(program!, {
      args,
      cwd: this.path(directory),
      clearEnv: true,
      env: Object.fromEntries(environment.filter((entry): entry is [string, string] => entry[1] !== undefined)),
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
      detached: true,
    }).spawn();
    const process = new LaitProcess(child, stdin);
    this.#started.push(process);
    return process;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#started) await process.kill();
    await this.#place[Symbol.asyncDispose]();
  }
}

/** A running lait. */
export class LaitProcess {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array> | undefined;
  readonly #streams: Promise<unknown>;
  #stdout = "";
  #stderr = "";
  #over = false;

  constructor(child: Deno.ChildProcess, stdin: RunOptions["stdin"]) {
    this.#child = child;
    this.#input = stdin === undefined ? undefined : child.stdin.getWriter();
    if (stdin !== undefined && stdin !== "open") {
      const bytes = typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin;
      this.#input!.write(bytes).then(() => this.#input!.close()).catch(() => {}); // It may not read its input.
    }
    this.#streams = Promise.all([
      collect(child.stdout, (text) => this.#stdout += text),
      collect(child.stderr, (text) => this.#stderr += text),
    ]);
  }

  /** The process id. */
  get pid(): number {
    return this.#child.pid;
  }

  /** What has come on standard output so far; from a terminal, everything. */
  get stdout(): string {
    return this.#stdout;
  }

  /** What has come on standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Types on the terminal, or writes to the open pipe. */
  async type(text: string): Promise<void> {
    await this.typeBytes(new TextEncoder().encode(text));
  }

  /** Types bytes, which need not be whole letters. */
  async typeBytes(bytes: Uint8Array): Promise<void> {
    await this.#input!.write(bytes);
  }

  /** Sends a signal. */
  signal(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Waits until a pattern has come `times` times on standard output (a terminal's everything) or standard error. */
  async saw(pattern: RegExp, times = 1): Promise<void> {
    const all = new RegExp(pattern.source, `${pattern.flags.replace("g", "")}g`);
    const seen = () => [...`${this.#stdout}\n${this.#stderr}`.matchAll(all)].length >= times;
    await until(() => seen() || this.#over, `${pattern} in the output`);
    assert(seen(), `lait ended before ${pattern} came ${times} times: ${this.#stdout}${this.#stderr}`);
  }

  /** The end. Whatever happened, there is no stack trace and no unexpected error in what was said. */
  async ended(): Promise<RunResult> {
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      void this.kill();
    }, HUNG_MS);
    const { code, signal } = await this.#child.status;
    clearTimeout(timer);
    await this.#streams;
    await this.#close();
    assert(!hung, `lait hung; until then it said: ${this.#stdout}${this.#stderr}`);
    for (const text of [this.#stdout, this.#stderr]) {
      assert.doesNotMatch(text, /^\s+at .*:\d+:\d+|unexpected error|Uncaught|\(node:\d+\)|Stack backtrace/m);
    }
    return { code, signal, stdout: this.#stdout, stderr: this.#stderr };
  }

  /** Ends it, with all that it was started with, if it still runs. */
  async kill(): Promise<void> {
    if (this.#over) return;
    this.#signalGroup("SIGTERM");
    const timer = setTimeout(() => this.#signalGroup("SIGKILL"), TIDY_MS);
    await this.#child.status;
    await this.#streams;
    clearTimeout(timer);
    await this.#close();
  }

  #signalGroup(signal: Deno.Signal): void {
    try {
      Deno.kill(-this.pid, signal);
    } catch {
      // Ended already.
    }
  }

  async #close(): Promise<void> {
    this.#over = true;
    await this.#input?.close().catch(() => {});
  }
}

async function collect(stream: ReadableStream<Uint8Array>, add: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) add(decoder.decode(chunk, { stream: true }));
}

/** Words quoted for a POSIX shell. */
export function shellWords(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
}

/** Waits until something holds. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; !await holds(); tries++) {
    if (tries > 1_000) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}

/** The running processes whose command lines hold a text. */
export function running(text: string): { readonly pid: number; readonly command: string }[] {
  const entries = [...readProcessTable()!.values()].filter(({ pid, ended }) => !ended && pid !== Deno.pid);
  return entries.map(({ pid }) => ({ pid, command: commandLine(pid) })).filter(({ command }) => command.includes(text));
}

function commandLine(pid: number): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
  } catch {
    return ""; // Ended meanwhile.
  }
}

let marks = 3_000 + Math.floor(Math.random() * 500_000);

/** Seconds that no other test sleeps, so that a `sleep` can be told from all others. */
export function uniqueSeconds(): string {
  return `${++marks}.125`;
}

/** What a terminal shows after this output: lines, with `\r`, "up" and "erase line" carried out. */
export function screen(output: string): string[] {
  const lines = [""];
  let [row, column] = [0, 0];
  // deno-lint-ignore no-control-regex
  for (const [part, up] of output.matchAll(/\x1b\[(\d+)A|\x1b\[2K|\r|\n|[^\x1b\r\n]+|\x1b/g)) {
    if (up !== undefined) row = Math.max(0, row - Number(up));
    else if (part === "\x1b[2K") lines[row] = "";
    else if (part === "\r") column = 0;
    else if (part === "\n") {
      row += 1;
      lines[row] ??= "";
    } else {
      const line = lines[row]!;
      lines[row] = line.slice(0, column).padEnd(column) + part + line.slice(column + part.length);
      column += part.length;
    }
  }
  return lines;
}

/** A configuration with one model server and these tools, as YAML: JSON is YAML. */
export function configWith(
  tools: Readonly<Record<string, unknown>>,
  rest: Readonly<Record<string, unknown>> = {},
): string {
  return JSON.stringify({ default: { model: "m", tools: Object.keys(tools) }, tools, ...rest }, null, 2);
}
