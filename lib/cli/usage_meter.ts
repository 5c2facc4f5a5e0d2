/** Counting tokens over a whole command, and the summary of `--show-usage`. */
import type { HarnessEvent } from "../harness/events.ts";
import { addUsage, costOf, NO_USAGE, type Pricing, type Usage } from "../model/usage.ts";

interface Line {
  usage: Usage;
  requests: number;
  cost: number | undefined;
}

/** Adds up the `usage` events of turns, by their labels. */
export class UsageMeter {
  readonly #lines = new Map<string, Line>();
  readonly #pricing: (model: string) => Pricing | undefined;

  /** `pricing` tells what a model's tokens cost; undefined: nothing is said about cost. */
  constructor(pricing: (model: string) => Pricing | undefined) {
    this.#pricing = pricing;
  }

  /** Hears a turn's events. What a cache answered counts nothing. */
  readonly observe = (event: HarnessEvent): void => {
    if (event.kind !== "usage" || !event.reported || event.source === "cache") return;
    const line = this.#lines.get(event.scope.label) ?? { usage: NO_USAGE, requests: 0, cost: undefined };
    const pricing = this.#pricing(event.model);
    const cost = pricing === undefined ? undefined : costOf(event.tokens, pricing);
    this.#lines.set(event.scope.label, {
      usage: addUsage(line.usage, event.tokens),
      requests: line.requests + 1,
      cost: cost === undefined ? line.cost : (line.cost ?? 0) + cost,
    });
  };

  /** The tokens of everything; undefined when none were reported. */
  get total(): Usage | undefined {
    const lines = [...this.#lines.values()];
    return lines.length === 0 ? undefined : lines.map(({ usage }) => usage).reduce(addUsage);
  }

  /** The summary's lines, without a line ending at the end. */
  summary(): string {
    const lines = [...this.#lines.entries()];
    if (lines.length === 0) return "usage: (the server reported none)";
    if (lines.length === 1) return `usage: ${lineText(lines[0]![1])}`;
    const costs = lines.map(([, { cost }]) => cost).filter((cost) => cost !== undefined);
    const total: Line = {
      usage: lines.map(([, { usage }]) => usage).reduce(addUsage),
      requests: lines.reduce((sum, [, { requests }]) => sum + requests, 0),
      cost: costs.length === 0 ? undefined : costs.reduce((a, b) => a + b),
    };
    return ["usage:", ...lines.map(([label, line]) => `  ${label}: ${lineText(line)}`), `  total: ${lineText(total)}`]
      .join("\n");
  }
}

function lineText({ usage, requests, cost }: Line): string {
  const tokens = `prompt=${usage.input} completion=${usage.output} total=${usage.input + usage.output}`;
  const times = requests > 1 ? ` (${requests} requests)` : "";
  return `${tokens}${times}${cost === undefined ? "" : ` ($${cost.toFixed(4)})`}`;
}
