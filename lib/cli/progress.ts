/** What a person at a terminal sees on standard error while a command works. Piped, there is nothing. */
import type { HarnessEvent } from "../harness/events.ts";
import type { Io } from "./io.ts";
import { fitted, LiveBlock, seconds } from "./live_block.ts";

/** Before this, a wait is not worth a line. */
const QUIET_MS = 300;

/** A line that shows what is waited for, and lines of what was done. */
export interface Progress {
  /** Hears a turn's events. */
  observe(event: HarnessEvent): void;
  /** Shows that something is waited for before the model is asked. */
  wait(what: string): void;
  /** Takes the live line away until the next event: something else is written to the terminal. */
  pause(): void;
  /** Ends it. */
  stop(): void;
}

/** Progress on a terminal that can redraw a line; anywhere else, none. */
export function createProgress(io: Io, options: { quiet: boolean; model: string }): Progress {
  const able = io.stderr.isTerminal && io.environment("TERM") !== "dumb";
  return able && !options.quiet
    ? new LiveProgress(io, options.model)
    : { observe() {}, wait() {}, pause() {}, stop() {} };
}

interface RunningCall {
  readonly name: string;
  readonly preview: string;
  readonly startedAt: number;
}

class LiveProgress implements Progress {
  readonly #io: Io;
  readonly #model: string;
  readonly #running = new Map<string, RunningCall>();
  readonly #block: LiveBlock;
  #waitingSince: number | undefined;
  #waitingFor: string;

  constructor(io: Io, model: string) {
    this.#io = io;
    this.#model = model;
    this.#waitingFor = model;
    this.#block = new LiveBlock(io, true, () => this.#lines());
  }

  wait(what: string): void {
    this.#waitingFor = what;
    this.#waitingSince = Date.now();
    this.#block.start();
  }

  observe(event: HarnessEvent): void {
    switch (event.kind) {
      case "step":
        this.#waitingFor = this.#model;
        this.#waitingSince = event.at;
        this.#block.start();
        break;
      case "text-delta":
      case "reasoning-delta":
      case "usage":
        this.#waitingSince = undefined;
        if (this.#running.size === 0) this.pause();
        break;
      case "tool-started":
        this.#running.set(callKey(event), {
          name: event.name,
          preview: event.preview === undefined ? "" : ` ${commandText(event.preview)}`,
          startedAt: event.at,
        });
        this.#block.start();
        break;
      case "tool-denied":
        this.#line(`✗ ${event.name}: ${event.reason}`);
        break;
      case "tool-ended":
        this.#ended(event);
        break;
      case "finished":
      case "failure":
      case "stopped":
        this.stop();
    }
  }

  pause(): void {
    this.#block.stop();
  }

  stop(): void {
    this.#running.clear();
    this.#waitingSince = undefined;
    this.pause();
  }

  #ended(event: Extract<HarnessEvent, { kind: "tool-ended" }>): void {
    const call = this.#running.get(callKey(event));
    this.#running.delete(callKey(event));
    if (call === undefined) return;
    const mark = event.isError ? "✗" : "✓";
    this.#line(`${mark} ${call.name}${call.preview} ${seconds(event.at - call.startedAt)}`);
    if (this.#running.size > 0) this.#block.start();
  }

  #line(text: string): void {
    this.pause();
    this.#io.stderr.write(`${fitted(text)}\n`);
  }

  /** What is waited for, once that is worth a line. */
  #lines(): readonly string[] {
    const now = Date.now();
    const calls = [...this.#running.values()];
    const since = calls[0]?.startedAt ?? this.#waitingSince;
    if (since === undefined || now - since < QUIET_MS) return [];
    const more = calls.length > 1 ? ` and ${calls.length - 1} more` : "";
    const what = calls.length > 0
      ? `running ${calls[0]!.name}${calls[0]!.preview}${more}`
      : `waiting for ${this.#waitingFor}`;
    return [`… ${what} ${seconds(now - since)}`];
  }
}

/** Calls of different runs may have one id. */
function callKey({ subagentId = "", callId }: { readonly subagentId?: string; readonly callId: string }): string {
  return `${subagentId} ${callId}`;
}

/** An argv as a quoted list: `["rg", "-n", "TODO"]`. */
export function commandText(argv: readonly string[]): string {
  return `[${argv.map((word) => JSON.stringify(word)).join(", ")}]`;
}
