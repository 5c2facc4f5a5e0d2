/**
 * The contract between lait and a place where programs run: a lease on a sandbox. Tools, workflow steps and dispatch
 * start programs through a lease only.
 */

/** A program to run. Arguments are passed as they are; no shell is involved unless `executable` is one. */
export interface Command {
  /** A name, looked up in the child's `PATH`; or a path, relative to the lease's root. */
  readonly executable: string;
  /** The arguments behind the program's name. Default: none. */
  readonly arguments?: readonly string[];
  /** Text for standard input, which is closed behind it. Default: the null device. */
  readonly stdin?: string;
  /** The working directory, relative to the lease's root. Default: the root. */
  readonly directory?: string;
  /** Variables for the child, over the inherited ones. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Whether the child inherits the lease's environment. With `false` it sees `variables` and nothing else. Default: true. */
  readonly inheritVariables?: boolean;
  /** Ends the command's whole process tree when it aborts; `invoke` then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Milliseconds after which the process tree is ended and `invoke` rejects with a `ProcessError` of kind `timeout`. */
  readonly deadlineMs?: number;
  /** Bytes each stream may have; one more ends the tree and rejects (`overflow`). Default: 16 MiB. Not used with `retain`. */
  readonly maxBytes?: number;
  /** Keep only the last this many characters of each stream, however much is written. */
  readonly retain?: number;
  /** Called with decoded output as it arrives. */
  readonly observe?: (channel: "stdout" | "stderr", text: string) => void;
  /**
   * Whether the output is nothing that people should see: a tool call that runs the command then tells no `tool-output`
   * of it. Default: false.
   */
  readonly quiet?: boolean;
}

/** How a command ended. A status other than 0 is a result, not an error. */
export interface CommandResult {
  /** The exit status; 128 and the signal's number when a signal ended the command. */
  readonly status: number;
  /** Standard output. Bytes that are not UTF-8 are replaced, and `undecodable` names the stream. */
  readonly stdout: string;
  /** Standard error. */
  readonly stderr: string;
  /** Streams that held bytes which are not UTF-8. Absent when there was none. */
  readonly undecodable?: readonly ("stdout" | "stderr")[];
}

/** A program that runs, for callers that talk to it while it does. */
export interface SandboxProcess {
  /** Standard input, when the command was spawned with `stdin: "piped"`. */
  readonly stdin: WritableStream<Uint8Array> | undefined;
  /** Standard output. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** Standard error. */
  readonly stderr: ReadableStream<Uint8Array>;
  /** The exit status, when the direct child has ended. */
  readonly status: Promise<number>;
  /** Ends the whole process tree: SIGTERM, half a second, SIGKILL. Resolves when it is gone. */
  end(): Promise<void>;
}

/** What `spawn` takes: a command whose output the caller reads, so without the options that collect it. */
export interface SpawnCommand
  extends Omit<Command, "stdin" | "maxBytes" | "retain" | "observe" | "quiet" | "deadlineMs"> {
  /** `piped` gives the caller the child's standard input. Default: the null device. */
  readonly stdin?: "piped";
}

/** A sandbox that is held for a while. */
export interface SandboxLease {
  /** The directory in which commands run, as the sandbox sees it. */
  readonly root: string;
  /** The home directory, as the sandbox sees it. */
  readonly home: string;
  /** Variables that the sandbox was given for its commands, besides inherited ones. Default: none. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Runs a command to its end. */
  invoke(command: Command): Promise<CommandResult>;
  /** Starts a command and hands over its streams. */
  spawn(command: SpawnCommand): Promise<SandboxProcess>;
  /** Copies a file of the host into the sandbox. */
  upload(hostPath: string, sandboxPath: string, options?: { signal?: AbortSignal }): Promise<void>;
  /** Copies a file of the sandbox to the host. */
  download(sandboxPath: string, hostPath: string, options?: { signal?: AbortSignal }): Promise<void>;
  /** Gives the sandbox back: everything that it still runs is ended. */
  release(): Promise<void>;
}

/** What makes leases. */
export interface SandboxProvider {
  /** The provider's name, for messages. */
  readonly name: string;
  /** Where commands run: `host` is this machine without a wall. */
  readonly placement: "mounted" | "remote" | "host";
  /** Takes a lease on a sandbox whose root is a directory of this machine. */
  acquire(options: AcquireOptions): Promise<SandboxLease>;
}

/** What a lease is taken on. */
export interface AcquireOptions {
  /** The root: an absolute path of this machine. A sandbox that mounts shows it under the same path. */
  readonly directory: string;
  /**
   * Directories outside the root that commands need for Git, by absolute path: a worktree's own and its repository's.
   * They can be written, and stand under the same path. Default: none.
   */
  readonly gitDirectories?: readonly string[];
  /** Gives up. */
  readonly signal?: AbortSignal;
}
