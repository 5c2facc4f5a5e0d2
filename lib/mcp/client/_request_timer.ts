/** The limit of a request: silence, and all of it. */
import { LIMITS } from "../../base/limits.ts";

/** Calls back when a request has been silent for its limit, or has taken the longest that any may. */
export class RequestTimer {
  readonly #limitMs: number | undefined;
  readonly #onLate: (ms: number) => void;
  #silence: ReturnType<typeof setTimeout> | undefined;
  readonly #total: ReturnType<typeof setTimeout> | undefined;

  /** Starts; without a limit it never calls. */
  constructor(limitMs: number | undefined, onLate: (ms: number) => void) {
    this.#limitMs = limitMs;
    this.#onLate = onLate;
    if (limitMs === undefined) return;
    const total = Math.max(limitMs, LIMITS.mcpTotalMs);
    this.#total = setTimeout(() => onLate(total), total);
    this.restart();
  }

  /** The request gave a sign of life. */
  restart(): void {
    const limit = this.#limitMs;
    if (limit === undefined) return;
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#onLate(limit), limit);
  }

  /** The request is over. */
  stop(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#total);
  }
}
