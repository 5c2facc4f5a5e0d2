/** A clock that tests wind. */
import { type Clock, systemClock } from "../../lib/base/clock.ts";
import { throwIfAborted } from "../../lib/base/signals.ts";

/** Time that passes only when somebody sleeps; it never waits. */
export class FakeClock implements Clock {
  /** Every wait so far, in milliseconds. */
  readonly sleeps: number[] = [];
  #now = Date.parse("2026-01-01T00:00:00Z");

  /** Called at the start of each wait. */
  onSleep: (ms: number) => void = () => {};

  now(): number {
    return this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(ms);
    this.onSleep(ms);
    throwIfAborted(signal);
    await systemClock.sleep(0, signal);
    this.#now += ms;
  }
}
