/** Watching for silence: an agent whose model says nothing any more, and that runs no tool. */
import { timerMs } from "../base/clock.ts";
import type { HarnessEvent } from "../harness/events.ts";

/** What is done about silence. */
export interface SilenceOptions {
  /** Milliseconds after which `onSilent` is called, once. */
  readonly idleMs: number;
  /** Milliseconds after which `onWarning` is called, and again after as many. */
  readonly warningMs: number;
  readonly onSilent: () => void;
  /** Gets how long it has been silent, in milliseconds. */
  readonly onWarning: (silentMs: number) => void;
}

/** See the module. Time during which a tool runs, or waits for approval, does not count; a subagent's own does. */
export class SilenceWatch {
  readonly #options: SilenceOptions;
  readonly #busy = new Set<string>();
  #idle: ReturnType<typeof setTimeout> | undefined;
  #warning: ReturnType<typeof setInterval> | undefined;

  /** Starts watching. */
  constructor(options: SilenceOptions) {
    this.#options = options;
    this.#start();
  }

  /** Something was heard. */
  heard(event: HarnessEvent): void {
    this.stop();
    if ("callId" in event && event.callId !== undefined) {
      // Within a call that runs a subagent, the subagent's own silence counts.
      const call = `${event.subagentId ?? ""}/${event.callId}`;
      if (event.kind === "tool") this.#busy.add(call);
      if (["tool-ended", "tool-denied", "tool-result", "subagent"].includes(event.kind)) this.#busy.delete(call);
    }
    if (this.#busy.size === 0) this.#start();
  }

  /** Stops watching. */
  stop(): void {
    clearTimeout(this.#idle);
    clearInterval(this.#warning);
  }

  #start(): void {
    const { idleMs, warningMs, onSilent, onWarning } = this.#options;
    const since = Date.now();
    this.#idle = setTimeout(onSilent, timerMs(idleMs));
    this.#warning = setInterval(() => onWarning(Date.now() - since), timerMs(warningMs));
  }
}
