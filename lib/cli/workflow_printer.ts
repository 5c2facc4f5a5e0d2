/** What a person sees of a workflow on standard error: a line for each step, and on a terminal what runs at the moment. */
import { visible } from "../base/text.ts";
import type { WorkflowEvent } from "../workflow/run/host.ts";
import type { HarnessEvent } from "../harness/events.ts";
import type { Io } from "./io.ts";
import { banner } from "./say.ts";

const ERASE_LINE = "\r\x1b[2K";
const REFRESH_MS = 100;
/** Before this, a step is not worth a line. */
const QUIET_MS = 300;

interface Running {
  readonly text: string;
  readonly since: number;
}

/** See the module. */
export class WorkflowPrinter {
  readonly #io: Io;
  readonly #quiet: boolean;
  readonly #live: boolean;
  readonly #running = new Map<string, Running>();
  readonly #tools = new Map<string, string>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #shown = false;

  /** A printer; a quiet one prints nothing. */
  constructor(io: Io, quiet: boolean) {
    this.#io = io;
    this.#quiet = quiet;
    this.#live = !quiet && io.stderr.isTerminal && io.environment("TERM") !== "dumb";
  }

  /** Prints what happens. */
  tell(event: WorkflowEvent): void {
    if (this.#quiet) return;
    switch (event.kind) {
      case "start":
        this.pause();
        if (event.child) this.#line(`${event.prefix}    -> ${event.title}`);
        else banner(this.#io, event.title);
        break;
      case "step":
        this.#line(`${event.prefix}[${event.number}] ${event.label}${event.skipped ? " (skipped)" : ""}`);
        if (!event.skipped) {
          this.#running.set(keyOf(event), { text: `${event.prefix}${event.label}`.trim(), since: Date.now() });
          this.#start();
        }
        break;
      case "step-ended":
        this.#running.delete(keyOf(event));
        if (this.#running.size === 0) this.pause();
        break;
      case "detail":
        this.#line(`${event.prefix}    -> ${event.text}`);
    }
  }

  /** Looks at the events of model steps: which tool runs. */
  observe(event: HarnessEvent): void {
    if (event.kind === "tool-started") this.#tools.set(event.callId, event.name);
    if (event.kind === "tool-ended") this.#tools.delete(event.callId);
  }

  /** Takes the live line away until the next event. */
  pause(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#shown) this.#io.stderr.write(ERASE_LINE);
    this.#shown = false;
  }

  /** Ends it. */
  stop(): void {
    this.#running.clear();
    this.pause();
  }

  #line(text: string): void {
    const live = this.#timer !== undefined;
    this.pause();
    this.#io.stderr.write(`${visible(text)}\n`);
    if (live && this.#running.size > 0) this.#start();
  }

  #start(): void {
    if (!this.#live || this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#draw(), REFRESH_MS);
    Deno.unrefTimer(this.#timer as unknown as number);
  }

  #draw(): void {
    const now = Date.now();
    const steps = [...this.#running.values()].filter(({ since }) => now - since >= QUIET_MS);
    if (steps.length === 0) return;
    const shown = steps.slice(-3).map(({ text, since }) => `${text} ${((now - since) / 1000).toFixed(1)}s`);
    const more = steps.length > 3 ? ` and ${steps.length - 3} more` : "";
    const tools = [...new Set(this.#tools.values())];
    const using = tools.length === 0 ? "" : ` (${tools.slice(0, 2).join(", ")})`;
    const width = terminalWidth() - 2;
    const line = visible(`… ${shown.join(", ")}${more}${using}`);
    this.#io.stderr.write(`${ERASE_LINE}${line.length > width ? `${line.slice(0, width - 1)}…` : line}`);
    this.#shown = true;
  }
}

function keyOf({ prefix, number, label }: { prefix: string; number: number; label: string }): string {
  return `${prefix}\0${number}\0${label}`;
}

function terminalWidth(): number {
  try {
    return Deno.consoleSize().columns || 80;
  } catch {
    return 80;
  }
}
