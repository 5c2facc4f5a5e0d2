/** What a person at a terminal sees on standard error while a command works. Piped, there is nothing. */
import { visible } from "../base/text.ts";
import type { HarnessEvent } from "../harness/events.ts";
import type { Io } from "./io.ts";

const REFRESH_MS = 100;
/** Before this, a wait is not worth a line. */
const QUIET_MS = 300;
const ERASE_LINE = "\r\x1b[2K";

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
  #timer: ReturnType<typeof setInterval> | undefined;
  #waitingSince: number | undefined;
  #waitingFor: string;
  #shown = false;

  constructor(io: Io, model: string) {
    this.#io = io;
    this.#model = model;
    this.#waitingFor = model;
  }

  wait(what: string): void {
    this.#waitingFor = what;
    this.#waitingSince = Date.now();
    this.#start();
  }

  observe(event: HarnessEvent): void {
    switch (event.kind) {
      case "step":
        this.#waitingFor = this.#model;
        this.#waitingSince = event.at;
        this.#start();
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
        this.#start();
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
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#shown) this.#io.stderr.write(ERASE_LINE);
    this.#shown = false;
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
    if (this.#running.size > 0) this.#start();
  }

  #line(text: string): void {
    this.pause();
    this.#io.stderr.write(`${this.#fit(text)}\n`);
  }

  #start(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#draw(), REFRESH_MS);
    Deno.unrefTimer(this.#timer as unknown as number);
  }

  #draw(): void {
    const now = Date.now();
    const calls = [...this.#running.values()];
    const since = calls[0]?.startedAt ?? this.#waitingSince;
    if (since === undefined || now - since < QUIET_MS) return;
    const more = calls.length > 1 ? ` and ${calls.length - 1} more` : "";
    const what = calls.length > 0
      ? `running ${calls[0]!.name}${calls[0]!.preview}${more}`
      : `waiting for ${this.#waitingFor}`;
    this.#io.stderr.write(`${ERASE_LINE}${this.#fit(`… ${what} ${seconds(now - since)}`)}`);
    this.#shown = true;
  }

  /** The text on one line of the terminal, nothing in it able to move the cursor. */
  #fit(text: string): string {
    return withinCells(visible(text), Math.max(20, terminalWidth() - 2));
  }
}

/** Calls of different runs may have one id. */
function callKey({ subagentId = "", callId }: { readonly subagentId?: string; readonly callId: string }): string {
  return `${subagentId} ${callId}`;
}

/** The columns of the terminal. */
export function terminalWidth(): number {
  try {
    return Deno.consoleSize().columns || 80;
  } catch {
    return 80;
  }
}

/** East Asian wide and full-width characters, and emoji, take two cells of a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** The text cut to so many cells, with `…` behind it when something was cut: a line that wraps cannot be erased. */
export function withinCells(text: string, most: number): string {
  let cells = 0;
  let length = 0;
  for (const character of text) {
    cells += WIDE.test(character) ? 2 : 1;
    if (cells > most) return `${text.slice(0, length)}…`;
    length += character.length;
  }
  return text;
}

/** A duration as people read it: `1.5s`. */
export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)}s`;
}

/** An argv as a quoted list: `["rg", "-n", "TODO"]`. */
export function commandText(argv: readonly string[]): string {
  return `[${argv.map((word) => JSON.stringify(word)).join(", ")}]`;
}
