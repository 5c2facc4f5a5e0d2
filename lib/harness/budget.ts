/** The limits of one turn, and the tokens that count against them. */
import { ConfigurationError, LimitError } from "../base/errors.ts";
import { addUsage, NO_USAGE, type Usage } from "../model/usage.ts";
import type { HarnessLimits, LoopProfile } from "./harness.ts";

/** Counts steps, calls and tokens of a turn. */
export class TurnBudget {
  readonly #limits: HarnessLimits & { readonly maxSteps: number };
  readonly #stepsLimit: LoopProfile["stepsLimit"];
  readonly #parent: TurnBudget | undefined;
  #usage: Usage = NO_USAGE;
  #calls = 0;

  /** A budget with nothing spent. What is spent from it is spent from its parent's, too. */
  constructor(
    limits: HarnessLimits & { readonly maxSteps: number },
    stepsLimit: LoopProfile["stepsLimit"],
    parent?: TurnBudget,
  ) {
    this.#limits = limits;
    this.#stepsLimit = stepsLimit;
    this.#parent = parent;
  }

  /** The tokens so far. */
  get usage(): Usage {
    return this.#usage;
  }

  /** Before the step with this number, from 1. */
  checkStep(step: number): void {
    const { maxSteps } = this.#limits;
    if (step > maxSteps) {
      const { name, advice } = this.#stepsLimit;
      throw new LimitError(
        "maxSteps",
        `${name} (${maxSteps}) was reached and the model still asks for tools; ${advice}`,
        { details: { maxSteps } },
      );
    }
    this.checkTokens();
  }

  /** After an answer; undefined when the provider reported no tokens. */
  addUsage(usage: Usage | undefined): void {
    if (this.#limits.usage !== undefined && (usage === undefined || usage.complete === false)) {
      throw new ConfigurationError("limits.usage needs a provider that reports its tokens, and this one did not");
    }
    if (usage !== undefined) this.#usage = addUsage(this.#usage, usage);
    this.#parent?.addUsage(usage);
    this.checkTokens();
  }

  /** When an answer asks for this many calls. */
  addCalls(count: number): void {
    this.#calls += count;
    const { maxToolCalls } = this.#limits;
    if (maxToolCalls !== undefined && this.#calls > maxToolCalls) {
      throw new LimitError(
        "maxToolCalls",
        `the model asked for ${this.#calls} tool calls, limits.maxToolCalls is ${maxToolCalls}`,
      );
    }
  }

  /**
   * Fails when the tokens of this budget, or of one above it, are used up.
   *
   * @throws LimitError
   */
  checkTokens(): void {
    this.#parent?.checkTokens();
    for (const [name, limit] of Object.entries(this.#limits.usage ?? {})) {
      const spent = this.#usage[name as "input" | "cached" | "cacheCreated" | "output"] ?? 0;
      if (spent > limit) {
        throw new LimitError("usage", `the turn has used ${spent} ${name} tokens, limits.usage.${name} is ${limit}`);
      }
    }
  }
}
