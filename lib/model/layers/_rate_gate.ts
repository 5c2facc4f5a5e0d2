/** One server's rate limit, shared by all requests to it. */
import type { Clock } from "../../base/clock.ts";
import { untilAborted } from "../../base/signals.ts";

/** Ends a passage; says whether the server let the request through. */
export type LeaveGate = (passed: boolean) => void;

/**
 * Lets requests through freely until the server refuses one for its rate. From then on they go one at a time, and not
 * before the server said, until one has passed: many calls that come back together would only be refused together.
 */
export class RateGate {
  readonly #clock: Clock;
  #limited = false;
  #openAt = 0;
  #turn: Promise<void> = Promise.resolve();

  /** An open gate. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The server has refused a request and is to be left alone for `waitMs`. */
  limit(waitMs: number): void {
    this.#limited = true;
    this.#openAt = Math.max(this.#openAt, this.#clock.now() + waitMs);
  }

  /** Resolves when a request may be sent; what it gives is called when the request has passed or failed. */
  async enter(signal: AbortSignal | undefined): Promise<LeaveGate> {
    if (!this.#limited) return () => {};
    const before = this.#turn;
    let leave!: () => void;
    this.#turn = new Promise((resolve) => leave = resolve);
    try {
      await untilAborted(before, signal);
      const wait = this.#openAt - this.#clock.now();
      if (this.#limited && wait > 0) await this.#clock.sleep(wait, signal);
    } catch (error) {
      // The turn goes to whoever is next, once it would have come.
      before.then(leave);
      throw error;
    }
    return (passed) => {
      if (passed) this.#limited = false;
      leave();
    };
  }
}
