/** What an expression may use. */

/** Limits of a compilation and of an evaluation. `Infinity` lifts one. */
export interface JqLimits {
  /** UTF-8 bytes of the source. Default: 64 KiB. */
  readonly sourceBytes: number;
  /** How deep brackets, and operators within each other, may be nested in the source. Default: 1 024. */
  readonly sourceDepth: number;
  /** How deep any value may be nested. Default: 1 024. */
  readonly depth: number;
  /** UTF-8 bytes of the input as JSON text. Default: 64 MiB. */
  readonly inputBytes: number;
  /** UTF-8 bytes of an output as JSON text. Default: 16 MiB. */
  readonly resultBytes: number;
  /** Estimated bytes in memory of the input, of each global, and of an output. Default: 64 MiB. */
  readonly valueBytes: number;
  /** Estimated bytes in memory of what an evaluation holds on to besides its input and its globals. Default: 64 MiB. */
  readonly workingBytes: number;
  /** Calls within calls; one in tail position does not count. Default: 100 000. */
  readonly callDepth: number;
  /** How long one evaluation may run, in milliseconds. Default: no limit. */
  readonly milliseconds: number;
}

const MIB = 1024 * 1024;

/** The limits that hold where a caller says nothing else. */
export const JQ_LIMITS: JqLimits = Object.freeze({
  sourceBytes: 64 * 1024,
  sourceDepth: 1024,
  depth: 1024,
  inputBytes: 64 * MIB,
  resultBytes: 16 * MIB,
  valueBytes: 64 * MIB,
  workingBytes: 64 * MIB,
  callDepth: 100_000,
  milliseconds: Infinity,
});
