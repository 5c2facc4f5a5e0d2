/** Work that goes on, so that an end can wait for all of it. */

/** A set of promises that empties itself. */
export class PendingWork {
  readonly #live = new Set<Promise<unknown>>();

  /** Keeps a promise until it settles, and gives it back. */
  async track<T>(work: Promise<T>): Promise<T> {
    this.#live.add(work);
    try {
      return await work;
    } finally {
      this.#live.delete(work);
    }
  }

  /** Resolves when nothing is left, also of what came meanwhile; never rejects. */
  async settled(): Promise<void> {
    while (this.#live.size > 0) await Promise.allSettled([...this.#live]);
  }
}
