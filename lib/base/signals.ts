/** Abort signals: waiting that can be cancelled. */

/** What a wait rejects with when its signal aborts: exactly the reason that the signal was given. */
export function abortError(signal: AbortSignal): unknown {
  return signal.reason;
}

/** Throws when the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

/** Calls `listener` once when the signal aborts, at once when it already has. Returns a function that takes it back. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {};
  if (signal.aborted) {
    listener();
    return () => {};
  }
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}

/** The promise's value, or a rejection as soon as the signal aborts. The promise itself goes on unobserved. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const forget = onAbort(signal, () => reject(abortError(signal)));
    promise.then(resolve, reject).finally(forget);
  });
}

/** One signal that aborts with the first of the given ones; undefined entries are left out. */
export function anySignal(...signals: (AbortSignal | undefined)[]): AbortSignal {
  const given = signals.filter((signal) => signal !== undefined);
  return given.length === 1 ? given[0]! : AbortSignal.any(given);
}

/**
 * A controller that also aborts with the first of `outers`, for work that comes often below signals that live long:
 * unlike with `AbortSignal.any`, nothing is left of it at them once `release` was called.
 */
export function linkedController(
  ...outers: readonly AbortSignal[]
): { readonly controller: AbortController; release(): void } {
  const controller = new AbortController();
  const forgets = outers.map((outer) => onAbort(outer, () => controller.abort(abortError(outer))));
  return { controller, release: () => forgets.forEach((forget) => forget()) };
}
