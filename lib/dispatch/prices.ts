/** Tokens by model, and what they cost. */
import { ConfigurationError } from "../base/errors.ts";
import { checkKeys, checkOneOf } from "../base/options.ts";
import { addUsage, NO_USAGE, type Usage } from "../model/usage.ts";

/** The tokens of a dispatch. */
export interface DispatchUsage extends Usage {
  /** The same by the name of the model that answered; present when prices were given. */
  readonly models?: Readonly<Record<string, Usage>>;
}

/** What the tokens of one model cost, for a million of each. */
export interface ModelPrice {
  /** Tokens sent. */
  readonly input: number;
  /** Tokens of the answers. */
  readonly output: number;
  /** Tokens read from the provider's cache. Default: as `input`. */
  readonly cached?: number;
  /** Tokens written to the provider's cache. Default: as `input`. */
  readonly cacheCreated?: number;
}

/** Prices by the model's name. */
export interface ModelPriceTable {
  /** What the prices are in. */
  readonly currency: "EUR" | "USD";
  /** The price of each model. */
  readonly models: Readonly<Record<string, ModelPrice>>;
}

/** What a dispatch cost. */
export interface UsageCost {
  /** As in the table. */
  readonly currency: "EUR" | "USD";
  /** How much. */
  readonly amount: number;
  /** False when a model has no price or did not report all its tokens; the amount is a lower bound then. */
  readonly complete: boolean;
}

/** Refuses a table that is none. */
export function checkPrices(what: string, prices: ModelPriceTable): void {
  checkKeys(what, prices, ["currency", "models"]);
  checkOneOf(`${what}.currency`, prices.currency ?? null, ["EUR", "USD"]);
  if (typeof prices.models !== "object" || prices.models === null) {
    throw new ConfigurationError(`${what}.models must be an object of prices by model`);
  }
  for (const [model, price] of Object.entries(prices.models)) {
    const name = `${what}.models[${JSON.stringify(model)}]`;
    checkKeys(name, price, ["input", "output", "cached", "cacheCreated"]);
    for (const key of ["input", "output", "cached", "cacheCreated"] as const) {
      const value = price[key];
      if (value === undefined && (key === "cached" || key === "cacheCreated")) continue;
      if (typeof value !== "number" || !Number.isFinite(value) || value < 0) {
        throw new ConfigurationError(`${name}.${key} must be a number of at least 0 (got ${String(value)})`);
      }
    }
  }
}

/**
 * What a usage costs.
 *
 * @throws ConfigurationError for a table that is none
 *
 * @example
 * ```ts
 * import { calculateUsageCost } from "./prices.ts";
 * const tokens = { input: 1_000_000, cached: 0, output: 0 };
 * const cost = calculateUsageCost({ ...tokens, models: { small: tokens } }, {
 *   currency: "USD",
 *   models: { small: { input: 2, output: 8 } },
 * });
 * console.assert(cost.amount === 2 && cost.complete);
 * ```
 */
export function calculateUsageCost(usage: DispatchUsage, prices: ModelPriceTable): UsageCost {
  checkPrices("calculateUsageCost: prices", prices);
  let amount = 0;
  let complete = usage.complete !== false && usage.models !== undefined;
  let attributed: Usage = NO_USAGE;
  for (const [model, tokens] of Object.entries(usage.models ?? {})) {
    attributed = addUsage(attributed, tokens);
    const price = Object.hasOwn(prices.models, model) ? prices.models[model] : undefined;
    if (price === undefined || tokens.complete === false) complete = false;
    if (price !== undefined) amount += costOf(tokens, price);
  }
  // Tokens of requests that no model is known for.
  if (attributed.input < usage.input || attributed.output < usage.output) complete = false;
  return { currency: prices.currency, amount, complete };
}

function costOf({ input, cached, cacheCreated = 0, output }: Usage, price: ModelPrice): number {
  const plain = Math.max(0, input - cached - cacheCreated);
  const million = plain * price.input + cached * (price.cached ?? price.input) +
    cacheCreated * (price.cacheCreated ?? price.input) + output * price.output;
  return million / 1e6;
}

/** Adds the tokens of requests up. */
export class UsageMeter {
  readonly #models = new Map<string, Usage>();
  #total: Usage = NO_USAGE;

  /** Counts a request. */
  add(model: string, tokens: Usage): void {
    this.#total = addUsage(this.#total, tokens);
    this.#models.set(model, addUsage(this.#models.get(model) ?? NO_USAGE, tokens));
  }

  /** The sum; by model too, when asked for. */
  usage(byModel: boolean): DispatchUsage {
    return byModel ? { ...this.#total, models: Object.fromEntries(this.#models) } : this.#total;
  }
}
