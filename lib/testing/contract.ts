/** The form of contract suites: cases that any test runner can run. */

/** One promise of a contract, and how it is checked. */
export interface ContractCase {
  /** What is promised. */
  readonly name: string;
  /** Checks it; rejects with an error that says what was expected and what came. */
  run(): Promise<void>;
}

/** Fails a case unless both are the same JSON. */
export function expectSame(what: string, actual: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: expected ${b}, got ${a}`);
}

/** Fails a case unless it holds. */
export function expectThat(what: string, holds: boolean): void {
  if (!holds) throw new Error(what);
}

/** What a promise rejects with; fails a case when it does not. */
export async function rejection(what: string, work: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await work;
  } catch (error) {
    return error;
  }
  throw new Error(`${what}: expected a rejection, got ${JSON.stringify(value)}`);
}
