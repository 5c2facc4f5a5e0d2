/** Counting tokens, and what they cost. */

/** Tokens of one or more requests. */
export interface Usage {
  /** Tokens sent, cached ones included. */
  readonly input: number;
  /** Of `input`: read from the provider's cache. */
  readonly cached: number;
  /** Of `input`: written to the provider's cache. */
  readonly cacheCreated?: number;
  /** Tokens of the answers, reasoning included. */
  readonly output: number;
  /** Of `output`: spent on reasoning, where the provider says so. */
  readonly reasoning?: number;
  /** False when a part is missing or contradicts itself, so that the sum is a lower bound. Default: true. */
  readonly complete?: boolean;
}

/** No tokens at all. */
export const NO_USAGE: Usage = Object.freeze({ input: 0, cached: 0, output: 0 });

function add(a: number | undefined, b: number | undefined): number {
  return Math.min((a ?? 0) + (b ?? 0), Number.MAX_SAFE_INTEGER);
}

/** The sum of two usages; sums stop at the largest safe integer. */
export function addUsage(a: Usage, b: Usage): Usage {
  const cacheCreated = add(a.cacheCreated, b.cacheCreated);
  const reasoning = add(a.reasoning, b.reasoning);
  return {
    input: add(a.input, b.input),
    cached: add(a.cached, b.cached),
    ...(cacheCreated === 0 ? {} : { cacheCreated }),
    output: add(a.output, b.output),
    ...(reasoning === 0 ? {} : { reasoning }),
    ...(a.complete === false || b.complete === false ? { complete: false } : {}),
  };
}

/** A count; some servers write theirs as text. */
function count(given: unknown): number | undefined {
  const value = typeof given === "string" && /^\d+$/.test(given) ? Number(given) : given;
  return typeof value === "number" && Number.isFinite(value) && value >= 0
    ? Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER)
    : undefined;
}

/** The counts as a provider sent them; each may be anything. */
export interface ReportedUsage {
  readonly input: unknown;
  readonly cached?: unknown;
  readonly cacheCreated?: unknown;
  readonly output: unknown;
  readonly reasoning?: unknown;
}

/**
 * A usage from what a provider sent: counts that are missing are 0, a part is never more than its whole, and a usage
 * that had to be mended is marked incomplete.
 */
export function usageFrom(reported: ReportedUsage): Usage {
  const input = count(reported.input) ?? 0;
  const cached = count(reported.cached) ?? 0;
  const cacheCreated = count(reported.cacheCreated) ?? 0;
  const output = count(reported.output) ?? 0;
  const reasoning = count(reported.reasoning) ?? 0;
  const keptCached = Math.min(cached, input);
  const keptCreated = Math.min(cacheCreated, input - keptCached);
  const keptReasoning = Math.min(reasoning, output);
  const complete = cached + cacheCreated <= input && reasoning <= output && count(reported.input) !== undefined &&
    count(reported.output) !== undefined;
  return {
    input,
    cached: keptCached,
    ...(keptCreated === 0 ? {} : { cacheCreated: keptCreated }),
    output,
    ...(keptReasoning === 0 ? {} : { reasoning: keptReasoning }),
    ...(complete ? {} : { complete: false }),
  };
}

/** What a model's tokens cost, in US dollars a million. */
export interface Pricing {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
}

/** The cost of a usage in US dollars. */
export function costOf(usage: Usage, pricing: Pricing): number {
  return usage.input / 1e6 * pricing.inputPerMillion + usage.output / 1e6 * pricing.outputPerMillion;
}
