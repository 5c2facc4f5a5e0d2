/** Time, so that tests can bring their own. */
import { abortError, onAbort } from "./signals.ts";

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
