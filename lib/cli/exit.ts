/** How a command ends: exit codes by the class of the error, and the error's lines on standard error. */
import {
  CancelledError,
  ContextError,
  DiagnosticError,
  LaitError,
  messageChain,
  ModelError,
  TimeoutError,
  ToolFailure,
  UsageError,
} from "../base/errors.ts";
import { formatDiagnostic } from "../base/diagnostic.ts";
import { missingRight } from "../base/rights.ts";
import { PRODUCT_NAME } from "../base/product.ts";
import { ClosedOutput, Interruption } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { say } from "./say.ts";

/** Every exit code, once. */
export const EXIT = Object.freeze({
  success: 0,
  failure: 1,
  usage: 2,
  file: 3,
  model: 4,
  timeout: 5,
});

/** The exit code for what a command threw. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof Interruption) return error.exitCode;
  if (error instanceof ClosedOutput) return EXIT.success;
  if (error instanceof ContextError) return exitCodeOf(error.cause);
  // A tool that ends the run says why: that is what counts.
  if (error instanceof ToolFailure && error.cause !== undefined) return exitCodeOf(error.cause);
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof DiagnosticError) return error.structural ? EXIT.failure : EXIT.file;
  if (error instanceof ModelError) return EXIT.model;
  if (error instanceof TimeoutError || error instanceof CancelledError) return EXIT.timeout;
  if (error instanceof DOMException && error.name === "AbortError") return EXIT.timeout;
  return EXIT.failure;
}

/** Says on standard error what went wrong; nothing for an interruption, which has been announced. */
export function reportError(io: Io, error: unknown, verbose: boolean): void {
  if (error instanceof Interruption || error instanceof ClosedOutput) return;
  if (error instanceof Deno.errors.NotCapable) {
    say(io, PRODUCT_NAME, missingRight(error));
    return;
  }
  const unexpected = !(error instanceof LaitError);
  const messages = error instanceof DiagnosticError
    ? error.diagnostics.map(formatDiagnostic)
    : [unexpected ? `unexpected error: ${messageChain(error)}` : messageChain(error)];
  if (error instanceof UsageError && error.hint !== undefined) messages.push(error.hint);
  for (const message of messages) say(io, PRODUCT_NAME, message);
  if (unexpected && verbose && error instanceof Error) io.stderr.write(`${error.stack ?? ""}\n`);
}
