/** Running steps one after the other: conditions, attempts, deadlines, `on_error`, records. */
import { ContextError, LaitError, messageChain, messageOf } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { systemClock } from "../../base/clock.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Expression, Retry, Step } from "../definition.ts";
import type { Outcome } from "../kinds/kind.ts";
import type { Template } from "../../source/template/template.ts";
import { evaluate } from "./evaluate.ts";
import type { StepPlace } from "./host.ts";
import type { Loop, Scope } from "./scope.ts";
import { withinSeconds } from "./time_limit.ts";

/** Runs a list; a step that ends the loop or the workflow ends it. */
export async function runSteps(steps: readonly Step[], value: JsonValue, scope: Scope): Promise<Outcome> {
  let current = value;
  for (const step of steps) {
    const outcome = await runStep(step, current, scope);
    if (outcome.flow !== undefined) return outcome;
    current = outcome.value;
  }
  return { value: current };
}

/** Runs one step on the value that flows into it. */
export async function runStep(step: Step, value: JsonValue, scope: Scope): Promise<Outcome> {
  scope.signal.throwIfAborted();
  const number = ++scope.counter;
  const label = step.id ?? `step-${number} (${step.kind.name})`;
  const { host } = scope.file;
  const told = { prefix: scope.prefix, number, label };
  // A condition that fails is no attempt: nothing catches it.
  if (step.when !== undefined && !await new StepRun(step, label, scope, value).holds(step.when, "when")) {
    host.tell({ kind: "step", ...told, skipped: true });
    return { value };
  }
  host.tell({ kind: "step", ...told, skipped: false });
  let failed = true;
  try {
    const outcome = await new Attempts(step, label, value, scope).run();
    failed = false;
    if (step.id !== undefined) scope.record(step.id, outcome.value);
    return outcome;
  } finally {
    host.tell({ kind: "step-ended", ...told, failed });
  }
}

const ONCE: Retry = Object.freeze({ maxAttempts: 1, delaySeconds: 0, backoff: 1 });

/** How often a step is tried, and how long an attempt may take. */
export function attemptSettings(step: Step, scope: Pick<Scope, "file">): { retry: Retry; timeout: number | undefined } {
  const defaults = step.kind.takesDefaults ? scope.file.defaults : [];
  return {
    retry: step.retry ?? defaults.find(({ retry }) => retry !== undefined)?.retry ?? ONCE,
    timeout: step.timeout ?? defaults.find(({ timeout }) => timeout !== undefined)?.timeout,
  };
}

class Attempts {
  readonly #step: Step;
  readonly #label: string;
  readonly #value: JsonValue;
  readonly #scope: Scope;

  constructor(step: Step, label: string, value: JsonValue, scope: Scope) {
    this.#step = step;
    this.#label = label;
    this.#value = value;
    this.#scope = scope;
  }

  async run(): Promise<Outcome> {
    const { retry, timeout } = attemptSettings(this.#step, this.#scope);
    const { signal } = this.#scope;
    let wait = retry.delaySeconds * 1000;
    for (let attempt = 1;; attempt++) {
      try {
        const late = `step '${this.#label}' timed out after ${timeout}s (attempt ${attempt}/${retry.maxAttempts})`;
        return await withinSeconds(timeout, signal, late, (limited) => this.#attempt(limited));
      } catch (error) {
        // Whoever cancelled it has the say.
        signal.throwIfAborted();
        if (attempt >= retry.maxAttempts) return await this.#onError(error);
        const pause = Math.min(wait, LIMITS.retryWaitMs);
        this.#tell(
          `attempt ${attempt}/${retry.maxAttempts} failed: ${messageChain(error)}; ` +
            `retrying in ${(pause / 1000).toFixed(1)}s`,
        );
        await systemClock.sleep(pause, signal);
        wait = Math.min(wait * retry.backoff, LIMITS.retryWaitMs);
      }
    }
  }

  async #attempt(signal: AbortSignal): Promise<Outcome> {
    const step = this.#step;
    const scope = this.#scope.inner({ signal });
    const before = new StepRun(step, this.#label, scope, this.#value);
    const input = step.input === undefined ? this.#value : await before.evaluate(step.input, "input");
    const run = new StepRun(step, this.#label, scope, input);
    let outcome = await this.#kind(run);
    // What passes through on its way out is not shaped by those that it passes.
    if (step.output !== undefined && (outcome.flow === undefined || step.kind.ends)) {
      outcome = { ...outcome, value: await run.evaluate(step.output, "output", outcome.value) };
    }
    this.#scope.take(scope);
    return outcome;
  }

  async #kind(run: StepRun): Promise<Outcome> {
    const { kind, body } = this.#step;
    try {
      return await kind.run(body, run);
    } catch (error) {
      run.signal.throwIfAborted();
      // Steps within say themselves which they are.
      if (kind.bodies(body).length > 0) throw error;
      const own = error instanceof ContextError && error.message.startsWith(`step '${this.#label}'`);
      throw own ? error : new ContextError(`step '${this.#label}'`, asLait(error));
    }
  }

  async #onError(error: unknown): Promise<Outcome> {
    const { onError } = this.#step;
    if (onError === undefined) throw error;
    const message = messageChain(error);
    this.#tell(`step failed, running 'on_error': ${message}`);
    const outcome = await runSteps(onError, { error: message, input: this.#value }, this.#scope);
    return outcome;
  }

  #tell(text: string): void {
    this.#scope.file.host.tell({ kind: "detail", prefix: this.#scope.prefix, text });
  }
}

function asLait(error: unknown): unknown {
  return error instanceof LaitError ? error : new LaitError("tool", messageOf(error), { cause: error });
}

/** One attempt at one step, as its kind sees it. */
export class StepRun {
  readonly step: Step;
  /** Its id, or its number and kind. */
  readonly label: string;
  /** The scope of the attempt: what is recorded in it counts when the attempt succeeds. */
  readonly scope: Scope;
  /** What flows into the step, shaped by its `input`. */
  readonly input: JsonValue;

  /** An attempt. */
  constructor(step: Step, label: string, scope: Scope, input: JsonValue) {
    this.step = step;
    this.label = label;
    this.scope = scope;
    this.input = input;
  }

  /** Ends what the attempt does. */
  get signal(): AbortSignal {
    return this.scope.signal;
  }

  /** Where it runs. */
  get place(): StepPlace {
    return { prefix: this.scope.prefix, label: this.label };
  }

  /** An error of the step itself. */
  fail(message: string): LaitError {
    return new ContextError(`step '${this.label}'`, new LaitError("tool", message));
  }

  /** The value of an expression; `field` is what it is called in errors. */
  async evaluate(expression: Expression, field: string, input: JsonValue = this.input): Promise<JsonValue> {
    try {
      return await evaluate(expression, input, this.scope.globals, this.signal);
    } catch (error) {
      if (this.signal.aborted) throw error;
      throw new ContextError(`step '${this.label}': '${field}'`, error);
    }
  }

  /** Whether a condition holds: only false and null do not. */
  async holds(expression: Expression, field: string, input?: JsonValue): Promise<boolean> {
    const value = await this.evaluate(expression, field, input);
    return value !== false && value !== null;
  }

  /** The text of a template. */
  render(template: Template): string {
    const { steps, inputs, loop } = this.scope.globals;
    return template.render({ input: this.input, steps, inputs, loop });
  }

  /** Runs steps in the same scope, or in a loop there. */
  async steps(steps: readonly Step[], value: JsonValue, loop?: Loop): Promise<Outcome> {
    if (loop === undefined) return await runSteps(steps, value, this.scope);
    const inner = this.scope.inner({ loop });
    const outcome = await runSteps(steps, value, inner);
    this.scope.take(inner);
    return outcome;
  }

  /** Runs steps in a scope of their own. */
  async apart(
    steps: readonly Step[],
    value: JsonValue,
    how: {
      readonly prefix: string;
      readonly concurrent: "branch" | "items";
      readonly signal: AbortSignal;
      readonly loop?: Loop;
    },
  ): Promise<Outcome> {
    return await runSteps(steps, value, this.scope.fork(how));
  }

  /** Tells how many of the step's items are done. */
  progress(done: number, total: number): void {
    this.scope.file.host.tell({ kind: "progress", ...this.place, done, total });
  }

  /** Tells people what the step does. */
  tell(text: string): void {
    this.scope.file.host.tell({ kind: "detail", prefix: this.scope.prefix, text });
  }
}
