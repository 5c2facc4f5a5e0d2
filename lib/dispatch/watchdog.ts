/** The watchdog: an agent that makes the same call again and again does not get on. */
import { ConfigurationError } from "../base/errors.ts";
import { checkInteger, checkKeys, checkText } from "../base/options.ts";
import type { HarnessEvent } from "../harness/events.ts";

/** Options of the watchdog. */
export interface WatchdogOptions {
  /** How much repetition is too much: `maxRepeats` equal calls among the last `window` ones. */
  readonly repetition: { readonly window: number; readonly maxRepeats: number };
  /**
   * What happens then: the dispatch is stopped (code `stuck`), a `stuck` event alone is told, or the agent is told
   * `instruction`, `maxInterventions` times at most before it is stopped.
   */
  readonly onStuck: "stop" | "warn" | { readonly instruction: string; readonly maxInterventions: number };
}

/** What the watchdog saw. */
export interface Repetition {
  readonly tool: string;
  readonly repeats: number;
  readonly window: number;
  /** Whose calls they are: a subagent's run, or the outermost agent's. */
  readonly subagentId: string | undefined;
  readonly action: "stop" | "warn" | "instruct";
}

/** Refuses options that are wrong. */
export function checkWatchdog(what: string, options: WatchdogOptions): void {
  checkKeys(what, options, ["repetition", "onStuck"]);
  checkKeys(`${what}.repetition`, options.repetition, ["window", "maxRepeats"]);
  const { window, maxRepeats } = options.repetition;
  for (const [name, value] of [["window", window], ["maxRepeats", maxRepeats]] as const) {
    checkInteger(`${what}.repetition.${name}`, value ?? null, 2);
  }
  if (maxRepeats > window) {
    throw new ConfigurationError(
      `${what}.repetition.maxRepeats must not be more than window (${maxRepeats} > ${window})`,
    );
  }
  const { onStuck } = options;
  if (onStuck === "stop" || onStuck === "warn") return;
  if (typeof onStuck !== "object" || onStuck === null) {
    throw new ConfigurationError(`${what}.onStuck must be "stop", "warn" or { instruction, maxInterventions }`);
  }
  checkKeys(`${what}.onStuck`, onStuck, ["instruction", "maxInterventions"]);
  checkText(`${what}.onStuck.instruction`, onStuck.instruction);
  checkInteger(`${what}.onStuck.maxInterventions`, onStuck.maxInterventions ?? null, 1);
}

/** Watches the calls of one dispatch. */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #recent: string[] = [];
  #interventions = 0;

  /** A watchdog that has seen nothing. */
  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** Looks at an event; gives what is to be done about it, once. */
  heard(event: HarnessEvent): Repetition | undefined {
    if (event.kind !== "tool") return undefined;
    const { window, maxRepeats } = this.#options.repetition;
    const call = JSON.stringify([event.subagentId ?? null, event.name, ordered(event.input)]);
    this.#recent = [...this.#recent, call].slice(-window);
    const repeats = this.#recent.filter((one) => one === call).length;
    if (repeats < maxRepeats) return undefined;
    this.#recent = [];
    return { tool: event.name, repeats, window, subagentId: event.subagentId, action: this.#action() };
  }

  #action(): Repetition["action"] {
    const { onStuck } = this.#options;
    if (typeof onStuck === "string") return onStuck;
    return this.#interventions++ < onStuck.maxInterventions ? "instruct" : "stop";
  }
}

/** The same value with the keys of its objects in order. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1);
  return entries.map(([key, inner]) => [key, ordered(inner)]);
}
