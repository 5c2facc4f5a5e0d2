/** What a dispatch tells while it runs: the events of its turns, and its own. */
import type { HarnessEvent, HarnessEventBody } from "../harness/events.ts";
import type { EventScope } from "../harness/events.ts";
import type { Usage } from "../model/usage.ts";
import type { DispatchUsage } from "./prices.ts";
import type { Redact } from "./redact.ts";

/** The stages of a dispatch. */
export type DispatchPhase =
  | "workspace"
  | "sandbox"
  | "hooks"
  | "brief"
  | "agent"
  | "collect"
  | "guard"
  | "integrate"
  | "close";

/** Why a dispatch was stopped. */
export type DispatchStopReason = "aborted" | "idle-timeout" | "deadline" | "stuck";

/** What happened; see {@link DispatchObservation} for the fields that all have. */
export type DispatchEvent =
  | Exclude<HarnessEventBody, { readonly kind: "finished" | "failure" | "stopped" }>
  /** A stage begins. `branch` and `directory` are known once the workspace is open. */
  | {
    readonly kind: "phase";
    readonly name: DispatchPhase;
    readonly branch?: string;
    readonly directory?: string;
  }
  /** What the agent was told, without the form of a typed answer and texts that were sent meanwhile. */
  | { readonly kind: "prompt"; readonly text: string }
  /** A turn has ended. */
  | {
    readonly kind: "turn";
    /** From 1 within the dispatch. */
    readonly index: number;
    readonly status: "finished" | "failed" | "stopped";
    readonly durationMs: number;
    readonly usage: Usage;
  }
  /** The watchdog saw the same call too often. */
  | {
    readonly kind: "stuck";
    readonly tool: string;
    readonly repeats: number;
    readonly window: number;
    readonly action: "stop" | "warn" | "instruct";
  }
  | { readonly kind: "finished"; readonly usage: DispatchUsage; readonly durationMs: number }
  | {
    readonly kind: "failure";
    readonly code: string;
    readonly message: string;
    readonly usage: DispatchUsage;
    readonly durationMs: number;
  }
  | {
    readonly kind: "stopped";
    readonly reason: DispatchStopReason;
    readonly usage: DispatchUsage;
    readonly durationMs: number;
  };

/** One event of a dispatch. The last one is `finished`, `failure` or `stopped`; it comes once, after the cleaning up. */
export type DispatchObservation = DispatchEvent & {
  /** Counts up from 0. */
  readonly seq: number;
  /** When, in ISO 8601. */
  readonly at: string;
  /** The pass, from 1; 0 before the first. */
  readonly pass: number;
  /** Whose event it is, for those of a turn. */
  readonly scope?: EventScope;
  /** The subagent's run whose event it is. */
  readonly subagentId?: string;
};

/** Numbers the events of a dispatch, takes secrets out, and hands them on. An observer never changes the outcome. */
export class DispatchStream {
  /** What the observer threw. */
  readonly errors: unknown[] = [];
  /** The pass that runs. */
  pass = 0;
  readonly #listeners: readonly ((observation: DispatchObservation) => void)[];
  readonly #observe: ((observation: DispatchObservation) => void) | undefined;
  readonly #redact: Redact;
  #seq = 0;
  #ended = false;

  /** A stream to an observer of the user's, and to listeners of this room. */
  constructor(
    observe: ((observation: DispatchObservation) => void) | undefined,
    redact: Redact,
    listeners: readonly ((observation: DispatchObservation) => void)[] = [],
  ) {
    this.#observe = observe;
    this.#redact = redact;
    this.#listeners = listeners;
  }

  /** Tells of an event of the dispatch's own. */
  emit(body: DispatchEvent): void {
    this.#tell(body, {});
  }

  /** Passes on an event of a turn; the end of a turn is told by {@link DispatchEvent} `turn`. */
  forward(event: HarnessEvent): void {
    if (event.kind === "finished" || event.kind === "failure" || event.kind === "stopped") return;
    const { seq: _seq, at, ...body } = event;
    this.#tell(body, { at });
  }

  #tell(body: DispatchEvent, { at = Date.now() }: { at?: number }): void {
    if (this.#ended) return;
    this.#ended = body.kind === "finished" || body.kind === "failure" || body.kind === "stopped";
    const observation: DispatchObservation = Object.freeze({
      ...this.#redact(body),
      seq: this.#seq++,
      at: new Date(at).toISOString(),
      pass: this.pass,
    });
    for (const listen of this.#listeners) listen(observation);
    try {
      const outcome: unknown = this.#observe?.(observation);
      if (outcome instanceof Promise) outcome.catch((error) => void this.errors.push(error));
    } catch (error) {
      this.errors.push(error);
    }
  }
}
