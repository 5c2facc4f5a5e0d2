/** How long a lease is good for: what is begun in it ends with it at the latest, and its end waits for all of that. */
import { ConfigurationError } from "../../base/errors.ts";
import { PendingWork } from "../../base/pending.ts";
import { linkedController, onAbort } from "../../base/signals.ts";
import type { SandboxProcess } from "../lease.ts";

/** See the module. */
export class LeaseLife {
  readonly #released = new AbortController();
  readonly #pending = new PendingWork();

  /** @throws ConfigurationError once the lease was released */
  check(): void {
    if (this.#released.signal.aborted) throw new ConfigurationError("the sandbox lease was released");
  }

  /** Runs work whose signal aborts with the caller's, and when the lease is released. */
  async run<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { controller, release } = this.#linked(signal);
    try {
      return await this.#pending.track(work(controller.signal));
    } finally {
      release();
    }
  }

  /** Starts a process under such a signal, which also ends it. */
  async start(
    signal: AbortSignal | undefined,
    begin: (signal: AbortSignal) => Promise<SandboxProcess>,
  ): Promise<SandboxProcess> {
    const { controller, release } = this.#linked(signal);
    let process: SandboxProcess;
    try {
      process = await begin(controller.signal);
    } catch (error) {
      release();
      throw error;
    }
    const forget = onAbort(controller.signal, () => void process.end());
    this.#pending.track(process.status.finally(() => {
      forget();
      release();
    }));
    return process;
  }

  /** Ends what runs, and lets nothing begin any more. */
  end(): void {
    this.#released.abort(new ConfigurationError("the sandbox lease was released"));
  }

  /** Resolves when everything that was begun has ended. */
  async settled(): Promise<void> {
    await this.#pending.settled();
  }

  #linked(signal: AbortSignal | undefined): ReturnType<typeof linkedController> {
    return linkedController(...(signal === undefined ? [] : [signal]), this.#released.signal);
  }
}
