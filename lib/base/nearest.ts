/** "Did you mean": the candidate nearest to a word that was not found. */

/**
 * The number of single-character edits between two words (insert, delete, replace, swap of neighbours).
 *
 * @example
 * ```ts
 * import { editDistance } from "./nearest.ts";
 * console.assert(editDistance("modle", "model") === 1);
 * ```
 */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(current[j - 1]! + 1, previous[j]! + 1, previous[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, beforePrevious[j - 2]! + 1);
      }
      current.push(best);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length]!;
}

/**
 * The candidate nearest to `word`, or undefined when none is near: at most two edits, and at most a third of the
 * longer word.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > 2) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    const allowed = Math.min(2, Math.floor(Math.max(word.length, candidate.length) / 3));
    if (distance <= allowed && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** ``did you mean `x`?`` when a candidate is near, else undefined. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const match = nearest(word, candidates);
  return match === undefined ? undefined : `did you mean \`${match}\`?`;
}
