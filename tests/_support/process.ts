/** Running whole programs in a place of their own: an empty directory, an empty home, nothing of the developer's. */
import { readProcessTable } from "../../lib/sandbox/process_table.ts";

/** A program's end. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A temporary directory with a home in it; removed when it is disposed. */
export class Place implements AsyncDisposable {
  /** The directory to work in; empty at first. */
  readonly directory: string;
  /** The home, and below it what XDG names. */
  readonly home: string;
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
    this.directory = `${root}/work`;
    this.home = `${root}/home`;
  }

  /** Makes one. */
  static async make(): Promise<Place> {
    const place = new Place(await Deno.realPath(await Deno.makeTempDir({ prefix: "lait-test-" })));
    await Deno.mkdir(place.directory);
    await Deno.mkdir(place.home);
    return place;
  }

  /** The environment of a program that is run here. */
  environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return {
      PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
      HOME: this.home,
      XDG_CONFIG_HOME: `${this.home}/.config`,
      XDG_DATA_HOME: `${this.home}/.local/share`,
      NO_COLOR: "1",
      LANG: "C.UTF-8",
      ...more,
    };
  }

  /** Runs a program to its end with nothing on standard input. */
  async run(
    program: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Ended> {
    const { code, stdout, stderr } = await new Deno.Command(program, {
      args: [...args],
      cwd: this.directory,
      clearEnv: true,
      env: this.environment(environment),
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  }

  /** Removes it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#root, { recursive: true });
  }
}

/** The repository's root, with a slash at its end. */
export const REPOSITORY = new URL("../../", import.meta.url).pathname;

/** Deno's cache, for programs that are run with an empty home: nothing is downloaded again. */
export async function denoCache(): Promise<{ denoDir: string; npmCache: string }> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** Whether a process runs whose command line holds the text. Those that only wait to be reaped do not count. */
export function isRunning(text: string): boolean {
  for (const entry of readProcessTable()!.values()) {
    if (entry.ended || entry.pid === Deno.pid) continue;
    try {
      if (Deno.readTextFileSync(`/proc/${entry.pid}/cmdline`).replaceAll("\0", " ").includes(text)) return true;
    } catch {
      // Ended meanwhile.
    }
  }
  return false;
}
