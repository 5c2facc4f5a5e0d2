/** The time limit of a workflow, or of an attempt at a step. */
import { timerMs } from "../../base/clock.ts";
import { TimeoutError } from "../../base/errors.ts";
import { linkedController } from "../../base/signals.ts";

/**
 * Runs work below a signal, which it is given, or one that also aborts after `seconds`; undefined sets no limit.
 *
 * @throws the work's error; TimeoutError with `message` once the time is up; the signal's reason when it aborts
 */
export async function withinSeconds<T>(
  seconds: number | undefined,
  outer: AbortSignal,
  message: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (seconds === undefined) return await work(outer);
  const { controller: limit, release } = linkedController(outer);
  const late = new TimeoutError(message);
  const timer = setTimeout(() => limit.abort(late), timerMs(seconds * 1000));
  try {
    return await work(limit.signal);
  } catch (error) {
    outer.throwIfAborted();
    throw limit.signal.aborted ? late : error;
  } finally {
    clearTimeout(timer);
    release();
  }
}
