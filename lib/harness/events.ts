/** What a turn tells while it runs. Printers, meters, traces and histories subscribe to it; the loop knows none of them. */
import type { Usage } from "../model/usage.ts";
import type { Served } from "../model/provider.ts";

/** Whose event it is. */
export interface EventScope {
  /** The label for people: `chat`, an agent's name, a step's id. */
  readonly label: string;
  /** The labels from the outermost run to this one. */
  readonly path: readonly string[];
}

/** How a call was decided. */
export type CallDecision = "allowed" | "denied";

/** What happened; see `HarnessEvent` for the fields that every event has. */
export type HarnessEventBody =
  | { readonly kind: "conversation"; readonly id: string }
  | { readonly kind: "steer"; readonly text: string; readonly mode: "injected" | "resumed" }
  | { readonly kind: "instructions-loaded"; readonly count: number }
  | { readonly kind: "skills-loaded"; readonly names: readonly string[] }
  | { readonly kind: "compaction"; readonly strategy: string; readonly messages: number }
  | { readonly kind: "hook"; readonly phase: string; readonly name: string; readonly changed: boolean }
  | { readonly kind: "stop-prevented"; readonly message: string }
  | {
    readonly kind: "subagent";
    readonly id: string;
    readonly callId: string;
    readonly name: string;
    readonly status: "started" | "finished" | "failed";
    /** The transcript of its run, where one is kept. */
    readonly conversation?: string;
  }
  | { readonly kind: "response-repair"; readonly attempt: number; readonly message: string }
  | { readonly kind: "step"; readonly index: number }
  | { readonly kind: "model-retry"; readonly attempt: number; readonly message: string }
  | { readonly kind: "notice"; readonly message: string }
  | { readonly kind: "detail"; readonly message: string }
  | { readonly kind: "warning"; readonly message: string; readonly callId?: string }
  | { readonly kind: "text-delta"; readonly text: string }
  | { readonly kind: "reasoning-delta"; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  | {
    readonly kind: "usage";
    /** Zero counts with `complete: false` when the provider reported none. */
    readonly tokens: Usage;
    readonly reported: boolean;
    readonly model: string;
    readonly source: Served["source"];
    /** Milliseconds since the epoch. */
    readonly startedAt: number;
    readonly endedAt: number;
  }
  | {
    readonly kind: "tool";
    readonly callId: string;
    readonly name: string;
    readonly input: unknown;
    /** As the model wrote them. */
    readonly arguments: string;
    /** The step that asked, from 1. */
    readonly round: number;
  }
  | { readonly kind: "tool-denied"; readonly callId: string; readonly name: string; readonly reason: string }
  | {
    readonly kind: "tool-started";
    readonly callId: string;
    readonly name: string;
    /** The argv that runs, where the tool can tell. */
    readonly preview?: readonly string[];
  }
  /** A call has stopped running; its result follows when all calls of the answer have. */
  | { readonly kind: "tool-ended"; readonly callId: string; readonly name: string; readonly isError: boolean }
  | {
    readonly kind: "tool-output";
    readonly callId: string;
    readonly channel: "stdout" | "stderr";
    readonly text: string;
  }
  | { readonly kind: "tool-text"; readonly callId: string; readonly text: string }
  | { readonly kind: "tool-raw"; readonly callId: string; readonly value: unknown }
  | {
    readonly kind: "tool-result";
    readonly callId: string;
    readonly name: string;
    readonly isError: boolean;
    /** The first 2,000 characters of what the model gets. */
    readonly preview: string;
    /** The whole length, before anything was cut. */
    readonly characters: number;
    readonly decision: CallDecision;
    readonly reason?: string;
  }
  | { readonly kind: "result"; readonly text: string }
  | { readonly kind: "finished"; readonly usage: Usage }
  | { readonly kind: "failure"; readonly code: string; readonly message: string; readonly usage: Usage }
  | { readonly kind: "stopped"; readonly reason: string; readonly usage: Usage };

/** One event. A turn ends with exactly one of `finished`, `failure` and `stopped`; nothing comes after it. */
export type HarnessEvent = HarnessEventBody & {
  /** Counts up from 0 within a turn. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly scope: EventScope;
  /** The subagent's run whose event it is; absent for the outermost. */
  readonly subagentId?: string;
};

/** Whoever listens. What it throws is ignored: an observer never changes the outcome. */
export type HarnessObserver = (event: HarnessEvent) => void;

const TERMINAL: readonly string[] = ["finished", "failure", "stopped"];

/** Numbers events and hands them on until the terminal one. */
export class EventStream {
  readonly #observers: readonly HarnessObserver[];
  readonly #scope: EventScope;
  readonly #subagentId: string | undefined;
  readonly #state: { seq: number; ended: boolean };

  /** A stream for one turn. */
  constructor(
    scope: EventScope,
    observers: readonly HarnessObserver[],
    inner?: { readonly subagentId: string | undefined; readonly state: { seq: number; ended: boolean } },
  ) {
    this.#scope = Object.freeze({ label: scope.label, path: Object.freeze([...scope.path]) });
    this.#observers = observers;
    this.#subagentId = inner?.subagentId;
    this.#state = inner?.state ?? { seq: 0, ended: false };
  }

  /** The stream of a subagent's run: part of this one, without an end of its own. */
  child(label: string, subagentId: string): EventStream {
    const scope = { label, path: [...this.#scope.path, label] };
    return new EventStream(scope, this.#observers, { subagentId, state: this.#state });
  }

  /** This stream under another label. */
  labelled(change: (label: string) => string): EventStream {
    const label = change(this.#scope.label);
    const scope = { label, path: [...this.#scope.path.slice(0, -1), label] };
    return new EventStream(scope, this.#observers, { subagentId: this.#subagentId, state: this.#state });
  }

  /** Tells every observer. After a terminal event it does nothing. */
  emit(body: HarnessEventBody): void {
    if (this.#state.ended) return;
    const terminal = TERMINAL.includes(body.kind);
    if (this.#subagentId !== undefined && (terminal || body.kind === "result")) return;
    this.#state.ended = terminal;
    const event: HarnessEvent = Object.freeze({
      ...body,
      seq: this.#state.seq++,
      at: Date.now(),
      scope: this.#scope,
      ...(this.#subagentId === undefined ? {} : { subagentId: this.#subagentId }),
    });
    for (const observe of this.#observers) {
      try {
        observe(event);
      } catch {
        // By contract.
      }
    }
  }
}
