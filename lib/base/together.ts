/** Work that runs side by side, all of it stopped by the first failure. */
import { linkedController, throwIfAborted } from "./signals.ts";

/** How work runs side by side. */
export interface TogetherOptions<Item, Result> {
  /** How many run at once. Default: all. */
  readonly concurrency?: number;
  readonly signal: AbortSignal;
  /** Runs one; the signal aborts when another one failed. */
  readonly run: (item: Item, signal: AbortSignal) => Promise<Result>;
}

/**
 * Runs every item and gives the results in the items' order. The first failure aborts what runs beside it, starts
 * nothing more, waits until all of it has stopped, and is thrown.
 *
 * @throws the signal's reason when it aborts; else the first failure
 */
export async function runTogether<Item, Result>(
  items: readonly Item[],
  { concurrency = Infinity, signal, run }: TogetherOptions<Item, Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  const { controller, release } = linkedController(signal);
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const worker = async () => {
    while (next < items.length && failure === undefined && !signal.aborted) {
      const index = next++;
      try {
        results[index] = await run(items[index]!, controller.signal);
      } catch (error) {
        failure ??= { error };
        controller.abort(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  release();
  throwIfAborted(signal);
  if (failure !== undefined) throw (failure as { error: unknown }).error;
  return results;
}
