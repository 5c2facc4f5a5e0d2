/** Evaluations: the machine run in slices, with limits before, between and after them. */
import type { JsonValue } from "../base/json.ts";
import type { FunctionScope } from "./compile/scope.ts";
import { JqError, JqLimitError } from "./errors.ts";
import type { JqLimits } from "./limits.ts";
import { untilAborted } from "../base/signals.ts";
import { advance, type InputSource, type Work } from "./machine/work.ts";
import { Machine, type Op, State } from "./machine/machine.ts";
import { Raised } from "./values/kinds.ts";
import { measure, type Measures, measuring, withoutOddNumbers } from "./values/measure.ts";
import { serialize } from "./values/text.ts";

/** How an expression is evaluated. */
export interface EvaluateOptions {
  /** Ends the evaluation with its reason. */
  readonly signal?: AbortSignal;
  /** Limits of this evaluation, over those of the compilation. */
  readonly limits?: Partial<JqLimits>;
  /** What `input` and `inputs` read, where the expression was compiled with them. Default: there are no more. */
  readonly inputs?: InputSource;
}

/** A program that can be evaluated. */
export interface Prepared {
  readonly code: readonly Op[];
  readonly entry: number;
  readonly owner: FunctionScope;
  readonly globals: readonly string[];
  readonly limits: JqLimits;
}

type Globals = Readonly<Record<string, JsonValue>>;

/** Milliseconds after which others may run. */
const SLICE = 8;

/** Operations between two looks at the clock: some microseconds, where none of them is a long one. */
const STRIDE = 500;

/** One evaluation. */
class Evaluation {
  readonly #machine: Machine;
  readonly #limits: JqLimits;
  readonly #signal: AbortSignal | undefined;
  /** Undefined until the first look at the clock: most evaluations end before. */
  #started: number | undefined;
  #sliceStart = 0;
  #calls = 0;
  /** The work of looking at an output. */
  #measured: Work<boolean> | undefined;

  constructor(prepared: Prepared, input: JsonValue, globals: Globals | undefined, options: EvaluateOptions) {
    const limits = options.limits === undefined ? prepared.limits : { ...prepared.limits, ...options.limits };
    options.signal?.throwIfAborted();
    this.#limits = limits;
    this.#signal = options.signal;
    requireSize(input, limits, "the input");
    const values = prepared.globals.map((name) => {
      const value = globals !== undefined && Object.hasOwn(globals, name) ? globals[name]! : null;
      // Without bounds there is nothing to walk through it for, at every evaluation.
      if (limits.valueBytes !== Infinity || limits.inputBytes !== Infinity) requireSize(value, limits, `$${name}`);
      return value;
    });
    this.#machine = new Machine(prepared.code, limits, prepared.entry, prepared.owner.slots, input, values);
    this.#machine.source = options.inputs;
  }

  /** Whether time is up for this slice; ends the evaluation when it is up for good. */
  #isSliceOver(): boolean {
    const now = performance.now();
    if (this.#started === undefined) {
      this.#started = now;
      this.#sliceStart = now;
    }
    if (now - this.#started > this.#limits.milliseconds) {
      throw new JqLimitError("milliseconds", `the expression takes longer than ${this.#limits.milliseconds} ms`);
    }
    return now - this.#sliceStart > SLICE;
  }

  /** Runs to the next output. Undefined when the slice is over before, null when there are no more outputs. */
  next(): { readonly value: JsonValue } | null | undefined {
    const machine = this.#machine;
    try {
      // Outputs that come one behind another take time, too.
      if ((++this.#calls & 63) === 0 && this.#isSliceOver()) return undefined;
      if (this.#measured !== undefined) return this.#finish(machine.current);
      if (machine.state === State.Output) machine.state = State.Running;
      for (;;) {
        const state = machine.run(STRIDE);
        if (state === State.Output) return this.#finish(machine.current);
        if (state === State.Done) return null;
        if (machine.isWaiting || this.#isSliceOver()) return undefined;
      }
    } catch (error) {
      machine.state = State.Done;
      if (error instanceof Raised) throw toError(error.value);
      if (error instanceof RangeError) {
        throw new JqLimitError(
          "workingBytes",
          `the expression asks for more than this machine can do: ${error.message}`,
        );
      }
      throw error;
    }
  }

  /** The output as it is given away; undefined when it is so big that looking at it takes a while. */
  #finish(value: JsonValue): { readonly value: JsonValue } | undefined {
    if (typeof value === "boolean" || value === null) return { value };
    if (typeof value === "number") return { value: Number.isFinite(value) ? value : withoutOddNumbers(value) };
    this.#measured ??= measuring(value, measuresOf(this.#limits, "the result"));
    const result = advance(this.#measured);
    if (result === undefined) return undefined;
    this.#measured = undefined;
    return { value: result.value ? withoutOddNumbers(value) : value };
  }

  /** Lets others run, and ends when that was asked for. */
  async giveWay(): Promise<void> {
    if (this.#machine.isWaiting) await untilAborted(this.#machine.source!.wait(), this.#signal);
    else await new Promise((resolve) => setTimeout(resolve, 0));
    this.#signal?.throwIfAborted();
    this.#sliceStart = performance.now();
  }

  /** Ends between two outputs, when that was asked for. */
  requireWanted(): void {
    this.#signal?.throwIfAborted();
  }

  /** Counts what is collected of the outputs. */
  hold(outputs: JsonValue[], output: JsonValue): void {
    this.#machine.held = outputs;
    this.#machine.charge(24);
    outputs.push(output);
  }

  /** Goes on without giving way. */
  goOn(): void {
    this.#sliceStart = performance.now();
  }
}

/** Refuses a value that is too big; returns whether it has numbers that are not JSON's. */
function requireSize(value: JsonValue, limits: JqLimits, what: string): boolean {
  if (typeof value !== "string" && (typeof value !== "object" || value === null)) return false;
  return measure(value, measuresOf(limits, what));
}

function measuresOf(limits: JqLimits, what: string): Measures {
  const isResult = what === "the result";
  return {
    depth: limits.depth,
    textBytes: isResult ? limits.resultBytes : limits.inputBytes,
    memoryBytes: limits.valueBytes,
    names: { textBytes: isResult ? "resultBytes" : "inputBytes", memoryBytes: "valueBytes" },
    what,
  };
}

function toError(value: JsonValue): JqError {
  const odd = typeof value === "object" && value !== null ? withoutOddNumbers(value) : value;
  if (typeof value === "string") return new JqError(odd, value);
  return new JqError(odd, `${serialize(value, { maxDepth: 20, enough: 1000 }).slice(0, 1000)} (not a string)`);
}

/** See `JqProgram.evaluate`. */
export async function* evaluateEach(
  prepared: Prepared,
  input: JsonValue,
  globals: Globals | undefined,
  options: EvaluateOptions = {},
): AsyncGenerator<JsonValue, void, undefined> {
  const evaluation = new Evaluation(prepared, input, globals, options);
  for (;;) {
    const output = evaluation.next();
    if (output === null) return;
    if (output === undefined) await evaluation.giveWay();
    else {
      yield output.value;
      evaluation.requireWanted();
    }
  }
}

/** See `JqProgram.collect`. */
export function evaluateAll(
  prepared: Prepared,
  input: JsonValue,
  globals: Globals | undefined,
  options: EvaluateOptions & { readonly most?: number } = {},
): JsonValue[] | Promise<JsonValue[]> {
  const { most = Infinity } = options;
  const evaluation = new Evaluation(prepared, input, globals, options);
  const outputs: JsonValue[] = [];
  while (outputs.length < most) {
    const output = evaluation.next();
    if (output === null) break;
    if (output === undefined) return collectRest(evaluation, outputs, most);
    evaluation.hold(outputs, output.value);
  }
  return outputs;
}

async function collectRest(evaluation: Evaluation, outputs: JsonValue[], most: number): Promise<JsonValue[]> {
  await evaluation.giveWay();
  while (outputs.length < most) {
    const output = evaluation.next();
    if (output === null) break;
    if (output === undefined) await evaluation.giveWay();
    else evaluation.hold(outputs, output.value);
  }
  return outputs;
}

/** See `JqProgram.evaluateSync`. */
export function* evaluateNow(
  prepared: Prepared,
  input: JsonValue,
  globals: Globals | undefined,
  options: Pick<EvaluateOptions, "limits"> = {},
): Generator<JsonValue, void, undefined> {
  const evaluation = new Evaluation(prepared, input, globals, options);
  for (;;) {
    const output = evaluation.next();
    if (output === null) return;
    if (output === undefined) evaluation.goOn();
    else yield output.value;
  }
}
