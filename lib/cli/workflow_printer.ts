/** What a person sees of a workflow on standard error: a line for each step, and on a terminal what runs at the moment. */
import { visible } from "../base/text.ts";
import type { HarnessEvent } from "../harness/events.ts";
import type { StepPlace, WorkflowEvent } from "../workflow/run/host.ts";
import type { Io } from "./io.ts";
import { LiveBlock, seconds } from "./live_block.ts";
import { oneLine } from "./say.ts";

/** Before this, a step is not worth a line that changes. */
const QUIET_MS = 300;

/** A step that runs. */
interface Running {
  readonly place: StepPlace;
  readonly since: number;
  /** How far a loop over items is. */
  progress: string;
  /** The tools that run for it, by call. */
  readonly tools: Map<string, string>;
}

/** See the module. */
export class WorkflowPrinter {
  readonly #quiet: boolean;
  readonly #block: LiveBlock;
  readonly #running = new Map<string, Running>();
  /** Who has the terminal for themselves, and what is to be written when they are done. */
  #holders = 0;
  #held: string[] = [];

  /** A printer; a quiet one prints nothing. */
  constructor(io: Pick<Io, "stderr" | "environment">, quiet: boolean) {
    this.#quiet = quiet;
    this.#block = new LiveBlock(io, !quiet, () => this.#lines());
  }

  /** Prints what happens. */
  tell(event: WorkflowEvent): void {
    if (this.#quiet) return;
    switch (event.kind) {
      case "start": {
        const title = oneLine(event.title);
        this.write(event.child ? `${event.prefix}    -> ${title}\n` : `==> ${title}\n`);
        break;
      }
      case "step":
        this.#line(`${event.prefix}[${event.number}] ${event.label}${event.skipped ? " (skipped)" : ""}`);
        if (!event.skipped) {
          this.#running.set(keyOf(event), { place: event, since: Date.now(), progress: "", tools: new Map() });
          if (this.#holders === 0) this.#block.start();
        }
        break;
      case "step-ended":
        this.#running.delete(keyOf(event));
        if (this.#running.size === 0) this.#block.stop();
        break;
      case "progress": {
        const step = this.#running.get(keyOf(event));
        if (step !== undefined) step.progress = ` ${event.done}/${event.total}`;
        break;
      }
      case "detail":
        this.#line(`${event.prefix}    -> ${event.text}`);
    }
  }

  /** Looks at the events of a model step: which tool runs. */
  observe(event: HarnessEvent, place: StepPlace): void {
    const tools = this.#running.get(keyOf(place))?.tools;
    if (event.kind === "tool-started") tools?.set(event.callId, event.name);
    if (event.kind === "tool-ended") tools?.delete(event.callId);
  }

  /** Writes lines; after the answer, while a person is asked. */
  write(text: string): void {
    if (this.#holders === 0) this.#block.write(text);
    else this.#held.push(text);
  }

  /** Leaves the terminal to somebody, such as a question, until as many calls of `release` as there were of this. */
  hold(): void {
    this.#holders += 1;
    this.#block.stop();
  }

  /** Takes the terminal back. */
  release(): void {
    this.#holders = Math.max(0, this.#holders - 1);
    if (this.#holders > 0) return;
    for (const text of this.#held.splice(0)) this.#block.write(text);
    if (this.#running.size > 0) this.#block.start();
  }

  /** The same surroundings, with everything on standard error written by `write`. */
  around(io: Io): Io {
    return { ...io, stderr: { isTerminal: io.stderr.isTerminal, write: (text) => this.write(text) } };
  }

  /** Leaves the terminal for good, as it is: an interruption has been told on it. */
  abandon(): void {
    this.#block.abandon();
    this.#holders = 0;
    this.#held = [];
  }

  /** Ends it. */
  stop(): void {
    this.#running.clear();
    this.#holders = 0;
    this.release();
    this.#block.stop();
  }

  #line(text: string): void {
    this.write(`${visible(text)}\n`);
  }

  /** The steps that have run for a while, the outermost and the oldest first. */
  #lines(): readonly string[] {
    const now = Date.now();
    return [...this.#running.values()].filter(({ since }) => now - since >= QUIET_MS)
      .map(({ place, since, progress, tools }) => {
        const using = tools.size === 0 ? "" : ` · ${[...new Set(tools.values())].join(", ")}`;
        return `… ${place.prefix}${place.label}${progress}${using} ${seconds(now - since)}`;
      });
  }
}

function keyOf({ prefix, label }: StepPlace): string {
  return `${prefix}\0${label}`;
}
