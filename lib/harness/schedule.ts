/** Running work side by side: in batches that keep their order, a few at a time, all stopped by the first failure. */
import { anySignal, throwIfAborted } from "../base/signals.ts";

/** How a list of work is run. */
export interface BatchOptions<Item, Result> {
  /** How many run at once. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Whether an item may run beside its neighbours; any other runs alone. */
  readonly together: (item: Item) => boolean;
  /** Runs one; the signal aborts when another one failed. */
  readonly run: (item: Item, signal: AbortSignal) => Promise<Result>;
}

/**
 * Runs every item and gives the results in the items' order. The first failure aborts what runs beside it, starts
 * nothing more, waits until all of it has stopped, and is thrown.
 */
export async function runBatches<Item, Result>(
  items: readonly Item[],
  options: BatchOptions<Item, Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length;) {
    let end = start + 1;
    if (options.together(items[start]!)) {
      while (end < items.length && options.together(items[end]!)) end += 1;
    }
    results.push(...await runTogether(items.slice(start, end), options));
    start = end;
  }
  return results;
}

async function runTogether<Item, Result>(
  items: readonly Item[],
  { concurrency, signal, run }: BatchOptions<Item, Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  const failed = new AbortController();
  const both = anySignal(signal, failed.signal);
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const worker = async () => {
    while (next < items.length && failure === undefined && !signal.aborted) {
      const index = next++;
      try {
        results[index] = await run(items[index]!, both);
      } catch (error) {
        failure ??= { error };
        failed.abort(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  throwIfAborted(signal);
  if (failure !== undefined) throw (failure as { error: unknown }).error;
  return results;
}
