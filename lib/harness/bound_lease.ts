/** A lease that is lent for one tool call: what is started through it ends with the call. */
import { ConfigurationError } from "../base/errors.ts";
import { PendingWork } from "../base/pending.ts";
import { anySignal } from "../base/signals.ts";
import type { Command, CommandResult, SandboxLease, SandboxProcess, SpawnCommand } from "../sandbox/lease.ts";

/** See the module. */
export class BoundLease implements SandboxLease {
  readonly #lease: SandboxLease;
  readonly #signal: AbortSignal;
  readonly #observe: (channel: "stdout" | "stderr", text: string) => void;
  readonly #pending = new PendingWork();

  /** Lends `lease` until `signal` aborts; `observe` hears what commands write. */
  constructor(lease: SandboxLease, signal: AbortSignal, observe: (channel: "stdout" | "stderr", text: string) => void) {
    this.#lease = lease;
    this.#signal = signal;
    this.#observe = observe;
  }

  /** The sandbox's root. */
  get root(): string {
    return this.#lease.root;
  }

  /** The sandbox's home. */
  get home(): string {
    return this.#lease.home;
  }

  /** The sandbox's variables. */
  get variables(): Readonly<Record<string, string>> {
    return this.#lease.variables ?? {};
  }

  /** Runs a command within the call. */
  async invoke(command: Command): Promise<CommandResult> {
    const { observe, quiet = false } = command;
    const tell = (channel: "stdout" | "stderr", text: string) => {
      observe?.(channel, text);
      this.#observe(channel, text);
    };
    return await this.#pending.track(this.#lease.invoke({
      ...command,
      signal: this.#within(command.signal),
      ...(quiet ? {} : { observe: tell }),
    }));
  }

  /** Starts a program within the call. */
  async spawn(command: SpawnCommand): Promise<SandboxProcess> {
    const process = await this.#pending.track(this.#lease.spawn({ ...command, signal: this.#within(command.signal) }));
    void this.#pending.track(process.status).catch(() => {});
    return process;
  }

  /** Copies a file in, within the call. */
  async upload(hostPath: string, sandboxPath: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await this.#pending.track(this.#lease.upload(hostPath, sandboxPath, { signal: this.#within(options.signal) }));
  }

  /** Copies a file out, within the call. */
  async download(sandboxPath: string, hostPath: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await this.#pending.track(this.#lease.download(sandboxPath, hostPath, { signal: this.#within(options.signal) }));
  }

  /** Refused: the lease is borrowed. */
  release(): Promise<void> {
    return Promise.reject(new ConfigurationError("a tool cannot release the sandbox: it is lent for the call"));
  }

  /** Resolves when everything that was started has ended; the signal is aborted by then. */
  async settled(): Promise<void> {
    await this.#pending.settled();
  }

  #within(signal: AbortSignal | undefined): AbortSignal {
    return anySignal(signal, this.#signal);
  }
}
