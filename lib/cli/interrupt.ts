/** Signals that end lait: the first cancels the run and lets it tidy up, the second ends it at once. */
import type { FileError } from "../base/errors.ts";
import { PRODUCT_NAME } from "../base/product.ts";
import { endAllProcesses, killAllProcesses } from "../sandbox/process.ts";
import type { Io } from "./io.ts";
import { say } from "./say.ts";

type EndSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

const NUMBERS: Readonly<Record<EndSignal, number>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

/** How long a cancelled run may take to tidy up before lait ends anyway. */
const TIDY_MS = 5_000;

/** The reason of a run that a signal has cancelled. */
export class Interruption extends Error {
  /** 128 and the signal's number. */
  readonly exitCode: number;

  /** Cancelled by this signal. */
  constructor(signal: EndSignal) {
    super(`interrupted by ${signal}`);
    this.name = "Interruption";
    this.exitCode = 128 + NUMBERS[signal];
  }
}

/** The reason of a run whose output nobody reads any more. */
export class ClosedOutput extends Error {
  /** Standard output was closed. */
  constructor() {
    super("standard output was closed");
    this.name = "ClosedOutput";
  }
}

/** What a command listens to, and what ends it. */
export interface Interrupts {
  /** Aborts with an `Interruption`, a `ClosedOutput`, or the failure to write to standard output. */
  readonly signal: AbortSignal;
  /**
   * Gives Ctrl-C to a function first, until the function that comes back is called. When it says true, nothing else
   * happens.
   */
  intercept(handler: () => boolean): () => void;
  /** Stops listening; what commands left running is ended when a signal came. */
  release(): Promise<void>;
}

/** Starts listening for signals and for the end of standard output. */
export function listenForInterrupts(io: Io): Interrupts {
  const controller = new AbortController();
  let interruption: Interruption | undefined;
  const handlers: (() => boolean)[] = [];
  const names: EndSignal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM", "SIGHUP"];
  const listeners = names.map((name) => {
    const listener = () => {
      if (name === "SIGINT" && interruption === undefined && handlers.at(-1)?.()) return;
      if (interruption !== undefined) {
        killAllProcesses();
        Deno.exit(new Interruption(name).exitCode);
      }
      const first = interruption = new Interruption(name);
      // On a terminal the cursor stands behind a line of progress, or behind the ^C that was typed.
      if (io.stderr.isTerminal) io.stderr.write("\n");
      say(io, PRODUCT_NAME, `${first.message}, stopping; once more to stop at once`);
      controller.abort(first);
      // A run that does not end although it was cancelled must not keep the terminal or the CI job.
      Deno.unrefTimer(setTimeout(() => {
        killAllProcesses();
        Deno.exit(first.exitCode);
      }, TIDY_MS) as unknown as number);
    };
    Deno.addSignalListener(name, listener);
    return { name, listener };
  });
  io.stdout.onClosed((failure?: FileError) => controller.abort(failure ?? new ClosedOutput()));
  return {
    signal: controller.signal,
    intercept: (handler) => {
      handlers.push(handler);
      return () => void handlers.splice(handlers.lastIndexOf(handler), 1);
    },
    release: async () => {
      // Signals are heard until all is tidy: one more ends at once, and still leaves nothing running.
      if (controller.signal.aborted) await endAllProcesses();
      for (const { name, listener } of listeners) Deno.removeSignalListener(name, listener);
    },
  };
}
