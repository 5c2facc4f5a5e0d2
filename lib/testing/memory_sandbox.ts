/** A sandbox that runs nothing: files in memory, and commands whose outcome was written down before. */
import { ConfigurationError, ProcessError } from "../base/errors.ts";
import { checkInteger, checkKeys, checkText } from "../base/options.ts";
import { throwIfAborted } from "../base/signals.ts";
import { posix } from "../deps/path.ts";
import type { Command, CommandResult, SandboxLease, SandboxProcess, SandboxProvider } from "../sandbox/lease.ts";
import { WALK } from "../tool/path_rule.ts";
import { REPLACE } from "../tool/toolsets/replace_script.ts";

/** A command that is expected, and what comes of it. */
export interface MemoryCommand {
  /** The program. */
  readonly executable: string;
  /** Its arguments, all of them. Default: none. */
  readonly arguments?: readonly string[];
  /** The exit status. Default: 0. */
  readonly status?: number;
  /** What it writes to standard output. Default: nothing. */
  readonly stdout?: string;
  /** What it writes to standard error. Default: nothing. */
  readonly stderr?: string;
}

/** Options of {@link createMemorySandboxProvider}. */
export interface MemorySandboxOptions {
  /** The files at first, by path relative to the root. Default: none. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** The commands that will be run, in this order. Default: none. */
  readonly commands?: readonly MemoryCommand[];
}

/** A provider whose leases share one memory; made by {@link createMemorySandboxProvider}. */
export interface MemorySandboxProvider extends SandboxProvider {
  /** What a file holds; undefined when there is none. */
  read(path: string): string | undefined;
  /** The paths of all files, relative to the root, in order. */
  paths(): string[];
  /** The commands that were expected and have not been run. */
  remaining(): readonly MemoryCommand[];
}

const ROOT = "/work";

/**
 * A sandbox for tests. `read_file`, `write_file` and `edit_file` work on its files; every other command must be the next
 * of `commands`, word for word. Another one fails as a program that is not there does, and is not counted.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { createMemorySandboxProvider } from "./memory_sandbox.ts";
 * const provider = createMemorySandboxProvider({
 *   files: { "a.txt": "hello\n" },
 *   commands: [{ executable: "npm", arguments: ["test"], status: 1, stdout: "1 failed\n" }],
 * });
 * const lease = await provider.acquire({ directory: "/any" });
 * const { status } = await lease.invoke({ executable: "npm", arguments: ["test"] });
 * console.assert(status === 1 && provider.remaining().length === 0);
 * ```
 */
export function createMemorySandboxProvider(options: MemorySandboxOptions = {}): MemorySandboxProvider {
  checkKeys("createMemorySandboxProvider", options, ["files", "commands"]);
  const files = new Map<string, Uint8Array>();
  for (const [path, content] of Object.entries(options.files ?? {})) {
    const place = absolute(path);
    if (place === ROOT || !place.startsWith(`${ROOT}/`)) {
      throw new ConfigurationError(`createMemorySandboxProvider: the file ${JSON.stringify(path)} is outside the root`);
    }
    files.set(place, typeof content === "string" ? new TextEncoder().encode(content) : content.slice());
  }
  const commands = (options.commands ?? []).map((command, index) => {
    const what = `createMemorySandboxProvider: commands[${index}]`;
    checkKeys(what, command, ["executable", "arguments", "status", "stdout", "stderr"]);
    checkText(`${what}.executable`, command.executable);
    checkInteger(`${what}.status`, command.status, 0);
    return command;
  });
  const memory: Memory = { files, commands };
  return Object.freeze({
    name: "memory",
    placement: "remote" as const,
    acquire: () => Promise.resolve(new MemoryLease(memory)),
    read: (path: string) => {
      const bytes = files.get(absolute(path));
      return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
    },
    paths: () => [...files.keys()].map((path) => path.slice(ROOT.length + 1)).toSorted(),
    remaining: () => [...commands],
  });
}

interface Memory {
  readonly files: Map<string, Uint8Array>;
  readonly commands: MemoryCommand[];
}

function absolute(path: string): string {
  return posix.resolve(ROOT, path);
}

class MemoryLease implements SandboxLease {
  readonly root = ROOT;
  readonly home = "/home/lait";
  readonly #memory: Memory;
  #released = false;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  invoke(command: Command): Promise<CommandResult> {
    return Promise.resolve().then(() => {
      this.#check(command.signal);
      const result = this.#ownScript(command) ?? this.#scripted(command.executable, command.arguments ?? []);
      for (const channel of ["stdout", "stderr"] as const) {
        if (result[channel] !== "") command.observe?.(channel, result[channel]);
      }
      if (command.retain === undefined) return result;
      const tail = (text: string) => command.retain === 0 ? "" : text.slice(-command.retain!);
      return { status: result.status, stdout: tail(result.stdout), stderr: tail(result.stderr) };
    });
  }

  spawn(command: Parameters<SandboxLease["spawn"]>[0]): Promise<SandboxProcess> {
    return Promise.resolve().then(() => {
      this.#check(command.signal);
      const { status, stdout, stderr } = this.#scripted(command.executable, command.arguments ?? []);
      return {
        stdin: command.stdin === "piped" ? new WritableStream<Uint8Array>() : undefined,
        stdout: streamOf(stdout),
        stderr: streamOf(stderr),
        status: Promise.resolve(status),
        end: () => Promise.resolve(),
      };
    });
  }

  async upload(hostPath: string, sandboxPath: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    this.#check(options.signal);
    this.#memory.files.set(absolute(sandboxPath), await Deno.readFile(hostPath));
  }

  async download(sandboxPath: string, hostPath: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    this.#check(options.signal);
    const bytes = this.#memory.files.get(absolute(sandboxPath));
    if (bytes === undefined) throw new Deno.errors.NotFound(`${sandboxPath}: no such file`);
    await Deno.writeFile(hostPath, bytes);
  }

  release(): Promise<void> {
    this.#released = true;
    return Promise.resolve();
  }

  #check(signal: AbortSignal | undefined): void {
    throwIfAborted(signal);
    if (this.#released) throw new ConfigurationError("the sandbox lease was released");
  }

  /** The scripts by which the toolsets find and replace files; there are no links here. */
  #ownScript({ executable, arguments: args = [], stdin = "" }: Command): CommandResult | undefined {
    if (executable !== "sh" || args[0] !== "-c") return undefined;
    if (args[1] === WALK) return this.#locate(args[3] ?? "", args.slice(4));
    if (args[1] !== REPLACE) return undefined;
    this.#memory.files.set(args[3]!, new TextEncoder().encode(stdin));
    return { status: 0, stdout: "", stderr: "" };
  }

  #locate(limit: string, paths: readonly string[]): CommandResult {
    const answers = paths.map((path) => {
      const place = absolute(path);
      const file = this.#memory.files.get(place);
      const isDirectory = place === ROOT || [...this.#memory.files.keys()].some((name) => name.startsWith(`${place}/`));
      const isBlocked = [...this.#memory.files.keys()].some((name) => place.startsWith(`${name}/`));
      const state = file !== undefined ? "file" : isDirectory ? "directory" : isBlocked ? "blocked" : "missing";
      const isLarge = limit !== "" && (file?.length ?? 0) > Number(limit);
      return `${state}\0n\0n\0${isLarge ? "y" : "n"}\0${place}\0`;
    });
    return { status: 0, stdout: `${ROOT}\0${answers.join("")}`, stderr: "" };
  }

  #scripted(executable: string, args: readonly string[]): CommandResult {
    const [next] = this.#memory.commands;
    const [wanted, found] = [next && [next.executable, ...next.arguments ?? []], [executable, ...args]].map((words) =>
      JSON.stringify(words)
    );
    if (next === undefined || wanted !== found) {
      throw new ProcessError("spawn", `the memory sandbox cannot run ${found}: it expected ${wanted ?? "no command"}`);
    }
    this.#memory.commands.shift();
    const { status = 0, stdout = "", stderr = "" } = next;
    return { status, stdout, stderr };
  }
}

function streamOf(text: string): ReadableStream<Uint8Array> {
  return new Blob([text]).stream();
}
