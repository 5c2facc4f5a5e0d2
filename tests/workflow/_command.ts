/** Running the command on workflow files within the test's process: a directory of its own, streams that are kept. */
import { main } from "../../lib/cli/main.ts";
import type { Io } from "../../lib/cli/io.ts";
import { Place } from "../_support/process.ts";

/** What a command came to. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A directory with files, to run commands in. */
export class Flow implements AsyncDisposable {
  readonly #place: Place;

  private constructor(place: Place) {
    this.#place = place;
  }

  /** Makes one; `flow.yml` is the file that `run` runs. */
  static async make(flow: string, files: Readonly<Record<string, string>> = {}): Promise<Flow> {
    const made = new Flow(await Place.make());
    for (const [path, text] of Object.entries({ "flow.yml": flow, ...files })) await made.write(path, text);
    return made;
  }

  /** Where commands run. */
  get directory(): string {
    return this.#place.directory;
  }

  /** Writes a file. */
  async write(path: string, text: string): Promise<void> {
    const whole = `${this.directory}/${path}`;
    await Deno.mkdir(whole.slice(0, whole.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(whole, text);
  }

  /** Reads a file. */
  read(path: string): Promise<string> {
    return Deno.readTextFile(`${this.directory}/${path}`);
  }

  /** Runs a command line; what is piped in is nothing unless `stdin` says. */
  async lait(args: readonly string[], options: { stdin?: string; env?: Record<string, string> } = {}): Promise<Ran> {
    let stdout = "";
    let stderr = "";
    const variables: Record<string, string> = { PATH: Deno.env.get("PATH")!, HOME: this.#place.home, ...options.env };
    const io: Io = {
      stdout: {
        isTerminal: false,
        write: (text) => void (stdout += text),
        flush: () => Promise.resolve(),
        onClosed: () => {},
      },
      stderr: { isTerminal: false, write: (text) => void (stderr += text) },
      stdin: {
        isTerminal: false,
        readAll: () => Promise.resolve(options.stdin ?? ""),
        readLine: () => Promise.resolve(undefined),
        readSome: () => Promise.resolve(undefined),
        unread: () => {},
      },
      environment: (name) => variables[name],
      directory: this.directory,
    };
    const code = await main(args, io);
    return { code, stdout, stderr };
  }

  /** Runs `flow.yml`. */
  async run(...args: string[]): Promise<Ran> {
    return await this.lait(["run", "flow.yml", ...args]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#place[Symbol.asyncDispose]();
  }
}

/** Runs a workflow once. */
export async function flow(text: string, ...args: string[]): Promise<Ran> {
  await using made = await Flow.make(text);
  return await made.run(...args);
}
