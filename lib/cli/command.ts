/** The contract of a command's module under `commands/`. */
import type { Command } from "../deps/commander.ts";
import type { ParsedLine } from "./command_line.ts";
import type { Interrupts } from "./interrupt.ts";
import type { Io } from "./io.ts";

/** What a command runs with. */
export interface CommandContext {
  readonly io: Io;
  readonly line: ParsedLine;
  /** Aborts when the user interrupts, or nobody reads the output any more. */
  readonly signal: AbortSignal;
  /** Gives Ctrl-C to a function first; see `Interrupts`. */
  readonly intercept: Interrupts["intercept"];
}

/** A command. Its module is loaded only when it is called. */
export interface CommandModule {
  /** Adds arguments and options; the global ones are added by the caller. */
  define(command: Command): void;
  /** Runs it; resolves when it succeeded. What it throws decides the exit code. */
  run(context: CommandContext): Promise<void>;
}
