/**
 * Running the command within the test's own process, on a directory of its own: everything is real but the streams. For
 * what needs a process (signals, terminals, memory) there is `Workspace`.
 */
import { dirname, join } from "node:path";
import { BufferedInput, type Io } from "../../lib/cli/io.ts";
import { main } from "../../lib/cli/main.ts";
import { Place } from "../_support/process.ts";

/** What a command came to. */
export interface FlowResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a command is run. */
export interface FlowOptions {
  /** What is piped in. Default: nothing. */
  readonly stdin?: string;
  /** Variables that lait sees besides a home. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A directory with files. Use it with `await using`. */
export class Flow implements AsyncDisposable {
  readonly #place: Place;

  private constructor(place: Place) {
    this.#place = place;
  }

  /** A directory with these files. */
  static async create(files: Readonly<Record<string, string>> = {}): Promise<Flow> {
    const flow = new Flow(await Place.make());
    for (const [path, text] of Object.entries(files)) await flow.write(path, text);
    return flow;
  }

  /** A directory with a workflow, `flow.yml`, which `run` runs. */
  static async make(flow: string, files: Readonly<Record<string, string>> = {}): Promise<Flow> {
    return await Flow.create({ "flow.yml": flow, ...files });
  }

  /** Where commands run. */
  get directory(): string {
    return this.#place.directory;
  }

  /** The absolute path of a file. */
  path(name: string): string {
    return join(this.#place.directory, name);
  }

  async write(name: string, text: string): Promise<void> {
    await Deno.mkdir(dirname(this.path(name)), { recursive: true });
    await Deno.writeTextFile(this.path(name), text);
  }

  async read(name: string): Promise<string> {
    return await Deno.readTextFile(this.path(name));
  }

  /** The names in a folder, sorted; none when there is no such folder. */
  async names(folder: string): Promise<string[]> {
    try {
      return (await Array.fromAsync(Deno.readDir(this.path(folder)))).map(({ name }) => name).toSorted();
    } catch {
      return [];
    }
  }

  /** Runs `lait` with these words. */
  async lait(words: readonly string[], { stdin = "", env = {} }: FlowOptions = {}): Promise<FlowResult> {
    let [stdout, stderr] = ["", ""];
    let rest = new TextEncoder().encode(stdin);
    const variables: Record<string, string> = { ...this.#place.environment(), ...env };
    const io: Io = {
      stdout: {
        isTerminal: false,
        write: (text) => void (stdout += text),
        flush: () => Promise.resolve(),
        onClosed: () => {},
      },
      stderr: { isTerminal: false, write: (text) => void (stderr += text) },
      stdin: new BufferedInput({
        read: (buffer) => {
          const piece = rest.subarray(0, buffer.length);
          buffer.set(piece);
          rest = rest.subarray(piece.length);
          return Promise.resolve(piece.length === 0 ? null : piece.length);
        },
      }, false),
      environment: (name) => variables[name],
      directory: this.#place.directory,
    };
    const code = await main(words, io);
    return { code, stdout, stderr };
  }

  /** Runs `flow.yml`. */
  async run(...words: readonly string[]): Promise<FlowResult> {
    return await this.lait(["run", "flow.yml", ...words]);
  }

  /** Writes a workflow as `w.yml` and runs it; `words` stand behind the file. */
  async runText(text: string, words: readonly string[] = [], options: FlowOptions = {}): Promise<FlowResult> {
    await this.write("w.yml", text);
    return await this.lait(["run", "w.yml", ...words], options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#place[Symbol.asyncDispose]();
  }
}

/** Runs one workflow in a directory of its own. */
export async function run(text: string, words: readonly string[] = [], options: FlowOptions = {}): Promise<FlowResult> {
  await using flow = await Flow.create();
  return await flow.runText(text, words, options);
}

/** The result of a workflow that succeeds. */
export async function result(text: string, words: readonly string[] = [], options: FlowOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await run(text, words, options);
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
  if (!stdout.endsWith("\n")) throw new Error(`no line ending behind ${stdout}`);
  return stdout.slice(0, -1);
}

/** What a workflow that fails says; its code must be this one, and nothing may stand on standard output. */
export async function failure(
  code: number,
  text: string,
  words: readonly string[] = ["x"],
  options: FlowOptions = {},
): Promise<string> {
  const ended = await run(text, words, options);
  if (ended.code !== code) throw new Error(`exit code ${ended.code}, not ${code}: ${ended.stderr}${ended.stdout}`);
  if (ended.stdout !== "") throw new Error(`standard output has ${ended.stdout}`);
  return ended.stderr;
}
