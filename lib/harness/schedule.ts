/** Running work side by side, in batches that keep their order. */
import { runTogether, type TogetherOptions } from "../base/together.ts";

/** How a list of work is run. */
export interface BatchOptions<Item, Result> extends TogetherOptions<Item, Result> {
  /** Whether an item may run beside its neighbours; any other runs alone. */
  readonly together: (item: Item) => boolean;
}

/** Runs every item, batch after batch, and gives the results in the items' order; for failures see `runTogether`. */
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
