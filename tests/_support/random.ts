/** Random choices that are the same each time. */
export class Random {
  #state: number;

  /** Starts from a seed. */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 to 1, without 1. */
  next(): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** One of the items. */
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** The text with a few pieces cut out, doubled, moved or replaced by what parsers stumble over. */
  mutate(text: string, pieces: readonly string[]): string {
    let result = text;
    for (let count = 1 + this.below(4); count > 0; count--) {
      const from = this.below(result.length + 1);
      const to = Math.min(result.length, from + this.below(12));
      const part = result.slice(from, to);
      const replacement = this.pick([
        "",
        part + part,
        this.pick(pieces),
        part + this.pick(pieces),
        part.toUpperCase(),
        [...part].reverse().join(""),
      ]);
      result = result.slice(0, from) + replacement + result.slice(to);
    }
    return result;
  }
}
