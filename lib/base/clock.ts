/** Time, so that tests can bring their own. */
import { abortError, onAbort } from "./signals.ts";

/** The longest that a timer can wait, in milliseconds, which is 24 days; one that is set to more fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A duration, cut to what a timer can wait. */
export function timerMs(ms: number): number {
  return Math.min(ms, LONGEST_TIMER_MS);
}

/** What tells the time and waits. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Waits `ms` milliseconds; rejects when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        forget();
        resolve();
      }, ms);
      const forget = onAbort(signal, () => {
        clearTimeout(timer);
        reject(abortError(signal!));
      });
    }),
};
