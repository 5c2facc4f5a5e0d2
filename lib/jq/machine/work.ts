/** Long steps in parts. */
import type { JsonValue } from "../../base/json.ts";

/** A long step: yields every now and then, so that others may have their turn, and returns what it makes. */
export type Work<T> = Generator<undefined, T, undefined>;

/** Where the inputs of `input` and `inputs` come from. */
export interface InputSource {
  /** The next value, null at the end; undefined while it is still to come. */
  take(): { readonly value: JsonValue } | null | undefined;
  /** Resolves when there is something to take, or the end. */
  wait(): Promise<void>;
}

/** Units of work (a value looked at, a comparison) between two yields: well below a millisecond. */
export const UNITS = 2048;

/** Does all the work at once. */
export function atOnce<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** Milliseconds that a part of a long step takes. */
const PART = 5;

/** Works for a while: the result once it is there. */
export function advance<T>(work: Work<T>): { readonly value: T } | undefined {
  const end = performance.now() + PART;
  do {
    const { done, value } = work.next();
    if (done === true) return { value };
  } while (performance.now() < end);
  return undefined;
}

/** What is thrown to leave an operation in whose middle there is a long step. It is run again once that is done. */
export const INTERRUPTED = Symbol("interrupted");

type Result = { readonly value: unknown } | { readonly error: unknown };

/**
 * The long steps of one operation. They stand deep in functions of JavaScript, which cannot be paused: when one takes
 * long the operation is left, the step goes on in parts, and then the operation is run again from its start, with the
 * results of the steps that it has been through. So an operation does nothing lasting before its last long step.
 */
export class LongSteps {
  readonly #results = new Map<number, Result>();
  #next = 0;
  #open: { readonly index: number; readonly work: Work<unknown> } | undefined;

  /** Creates the steps of the operation at an address. */
  constructor(readonly address: number) {}

  /** The operation starts again. */
  restart(): void {
    this.#next = 0;
  }

  /** The result of the operation's next step; leaves the operation when it takes long. */
  perform<T>(work: Work<T>): T {
    const index = this.#next++;
    const known = this.#results.get(index) as Result | undefined;
    if (known !== undefined) {
      if ("error" in known) throw known.error;
      return known.value as T;
    }
    const result = advance(work);
    if (result !== undefined) return result.value;
    this.#open = { index, work };
    throw INTERRUPTED;
  }

  /** Goes on with the step that takes long. Returns whether the operation can be run again. */
  advance(): boolean {
    const open = this.#open;
    if (open === undefined) return true;
    let result: Result | undefined;
    try {
      result = advance(open.work);
    } catch (error) {
      result = { error };
    }
    if (result === undefined) return false;
    this.#results.set(open.index, result);
    this.#open = undefined;
    return true;
  }
}
