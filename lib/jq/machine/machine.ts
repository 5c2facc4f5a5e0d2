/**
 * The machine: code of small operations, frames on the heap, and forks to go back to.
 *
 * An expression's outputs come one at a time: what can go on in more than one way leaves a fork, and asking for the
 * next output goes back to the latest. So depth is bounded by memory, not by JavaScript's stack, and between any two
 * operations the machine can pause, or end.
 */
import type { JsonValue } from "../../base/json.ts";
import { JqLimitError } from "../errors.ts";
import type { JqLimits } from "../limits.ts";
import { Raised } from "../values/kinds.ts";
import { type Fork, Frame, MOST_FORKS, type Path, Resume, type Routine } from "./frame.ts";
import { containersIn, memoryOf } from "./memory.ts";
import { advance, atOnce, type InputSource, INTERRUPTED, LongSteps, type Work } from "./work.ts";

/** One operation; `pc` points behind it when it runs. */
export type Op = (machine: Machine) => void;

/** What the machine is about. */
export const enum State {
  Running,
  /** An output is in `current`. */
  Output,
  /** There are no more outputs. */
  Done,
  /** It stops here to look at the clock; then it goes on. */
  Paused,
}

/** Units of work after which the machine looks at the clock: a fraction of a millisecond. */
const TOIL = 200_000;

/** What a frame takes, its slots and a closure or two included. */
const FRAME_BYTES = 160;

/** Runs code. One machine is for one evaluation. */
export class Machine {
  state = State.Running;
  current: JsonValue;
  pc: number;
  frame: Frame;
  /** While paths are made: where `pathValue` stands. */
  path: Path | undefined = undefined;
  pathValue: JsonValue = null;
  readonly forks: Fork[] = [];
  /** What somebody collects of the outputs: it counts, too. */
  held: readonly JsonValue[] = [];
  readonly limits: JqLimits;
  readonly code: readonly Op[];
  /** What `input` and `inputs` read. */
  source: InputSource | undefined = undefined;
  /** Whether the machine can only go on once its source has more. */
  isWaiting = false;
  /** Whether the operation has changed something for good, so that it cannot be run again. */
  isChanged: (() => boolean) | undefined = undefined;
  #steps: LongSteps | undefined;
  /** Bytes that were used since the memory was last looked at, and how many may be until it is looked at again. */
  #charged = 0;
  #allowance: number;
  /** What does not count, as it was there before: the input and the globals, and, once it is needed, all in them. */
  #toiled = 0;
  #account: Work<void> | undefined;
  readonly #inputs: readonly JsonValue[];
  #given: ReadonlySet<object> | undefined;

  /** Starts at an address of the code, with the globals in the first slots. */
  constructor(
    code: readonly Op[],
    limits: JqLimits,
    entry: number,
    slots: number,
    input: JsonValue,
    globals: readonly JsonValue[],
  ) {
    this.code = code;
    this.limits = limits;
    this.pc = entry;
    this.current = input;
    this.frame = new Frame(this, undefined, undefined, -1, 0, slots);
    for (let index = 0; index < globals.length; index++) this.frame.slots[index] = globals[index];
    this.#inputs = [input, ...globals];
    this.#allowance = limits.workingBytes / 2;
  }

  /** For what values may grow to: see `Growth`. */
  get maxDepth(): number {
    return this.limits.depth;
  }

  /**
   * Runs some operations, fewer when an output comes.
   *
   * @returns what the machine is about then
   * @throws Raised when the expression fails, JqLimitError when it reaches a limit
   */
  run(operations: number): State {
    const { code } = this;
    let left = operations;
    for (;;) {
      try {
        if (this.#account !== undefined && !this.#isAccounted(this.#account)) return State.Running;
        if (this.#steps !== undefined && !this.#goOn(this.#steps)) return State.Running;
        while (this.state === State.Running && left-- > 0) code[this.pc++]!(this);
        if (this.state === State.Paused) {
          this.state = State.Running;
          if (this.#charged > this.#allowance) this.#account = this.#accounting(0);
        }
        return this.state;
      } catch (error) {
        this.isChanged = undefined;
        if (error === INTERRUPTED) continue;
        this.#steps = undefined;
        if (!(error instanceof Raised)) throw error;
        this.#recover(error);
      }
    }
  }

  #isAccounted(work: Work<void>): boolean {
    if (advance(work) === undefined) return false;
    this.#account = undefined;
    return true;
  }

  /** Goes on with a long step, and then with its operation. Returns whether that is through. */
  #goOn(steps: LongSteps): boolean {
    if (!steps.advance()) return false;
    steps.restart();
    this.pc = steps.address + 1;
    this.code[steps.address]!(this);
    this.#steps = undefined;
    return true;
  }

  /**
   * Does a step that may take long. When it does, the operation is left, and run again once the step is done: so what
   * comes before it in the operation must be without effect, or be told by `isChanged`.
   */
  perform<T>(work: Work<T>): T {
    if (this.isChanged?.() === true) return atOnce(work);
    if (this.#steps !== undefined) return this.#steps.perform(work);
    for (let part = 0; part < 4; part++) {
      const { done, value } = work.next();
      if (done === true) {
        this.toil(part * 10_000);
        return value;
      }
    }
    this.#steps = new LongSteps(this.pc - 1);
    throw INTERRUPTED;
  }

  /** Goes back to the latest `try` that the error is not past. */
  #recover(error: Raised): void {
    const { forks } = this;
    for (let fork = forks.pop(); fork !== undefined; fork = forks.pop()) {
      if (fork.resume === Resume.TryLeft) forks.length = fork.next;
      else if (fork.resume === Resume.Try) {
        this.#restore(fork);
        this.current = error.value;
        this.pc = fork.address;
        return;
      }
    }
    this.state = State.Done;
    throw error;
  }

  #restore(fork: Fork): void {
    this.frame = fork.frame;
    this.current = fork.current;
    this.path = fork.path;
    this.pathValue = fork.pathValue;
  }

  /** Leaves a fork that goes on at an address with what is now. */
  fork(
    resume: Resume,
    address: number,
    items?: readonly JsonValue[],
    keys?: readonly string[],
    next = 0,
    end = 0,
    step = 1,
  ): void {
    if (this.forks.length >= MOST_FORKS) {
      throw new JqLimitError("workingBytes", `the expression has more than ${MOST_FORKS} ways to go on at once`);
    }
    const { frame, current, path, pathValue } = this;
    const source = undefined;
    this.forks.push({ resume, address, frame, current, path, pathValue, items, source, keys, next, end, step });
  }

  /** Goes on here with each value of a source; there is time for others between them. */
  pull(source: Iterator<JsonValue>): void {
    const { pc: address, frame, current, path, pathValue } = this;
    const [items, keys] = [undefined, undefined];
    this.forks.push({
      resume: Resume.Pull,
      ...{ address, frame, current, path, pathValue, items, source, keys, next: 0, end: 0, step: 0 },
    });
    this.backtrack();
  }

  /** Goes on at the latest fork. */
  backtrack(): void {
    const { forks } = this;
    for (;;) {
      const fork = forks[forks.length - 1];
      if (fork === undefined) {
        this.state = State.Done;
        return;
      }
      switch (fork.resume) {
        case Resume.Jump:
          forks.pop();
          this.#restore(fork);
          this.pc = fork.address;
          return;
        case Resume.Items:
        case Resume.ItemsWithPaths: {
          const items = fork.items!;
          const index = fork.next++;
          if (fork.next >= items.length) forks.pop();
          if (index >= items.length) continue;
          this.#restore(fork);
          if (fork.resume === Resume.ItemsWithPaths) {
            this.#step(fork.keys === undefined ? index : fork.keys[index]!, items[index]!);
          } else this.current = items[index]!;
          this.pc = fork.address;
          return;
        }
        case Resume.Range: {
          const value = fork.next;
          fork.next += fork.step;
          if (fork.step > 0 ? fork.next >= fork.end : fork.next <= fork.end) forks.pop();
          this.#restore(fork);
          this.current = value;
          this.pc = fork.address;
          return;
        }
        case Resume.Pull: {
          this.#restore(fork);
          const { value, done } = fork.source!.next();
          if (done === true) {
            forks.pop();
            continue;
          }
          // What a match takes, roughly.
          this.charge(300);
          this.current = value;
          this.pc = fork.address;
          return;
        }
        default:
          forks.pop();
      }
    }
  }

  #step(key: JsonValue, value: JsonValue): void {
    const { path } = this;
    this.path = { up: path, key, length: path === undefined ? 1 : path.length + 1 };
    this.current = value;
    this.pathValue = value;
  }

  /** Goes to a part of the value that the path points at. */
  descend(key: JsonValue, value: JsonValue): void {
    if (this.path !== undefined && this.path.length >= this.limits.depth) throw new Raised("Path too deep");
    this.#step(key, value);
  }

  /** Forgets every fork above a height: there will be no more outputs from there. */
  cut(height: number): void {
    this.forks.length = height;
  }

  /**
   * The next input, null at the end. While it is still to come the machine waits, and the operation is run again: call
   * this first of all.
   */
  takeInput(): { readonly value: JsonValue } | null | undefined {
    const taken = this.source?.take();
    this.isWaiting = taken === undefined && this.source !== undefined;
    if (!this.isWaiting) return taken ?? null;
    this.pc--;
    this.#pause();
    return undefined;
  }

  /** Calls a routine defined in `outer`; `tail` when nothing is to be done behind the call. */
  call(routine: Routine, paths: boolean, outer: Frame | undefined, tail: boolean): Frame {
    const { frame } = this;
    const depth = tail ? frame.depth : frame.depth + 1;
    if (depth > this.limits.callDepth) {
      throw new JqLimitError(
        "callDepth",
        `the expression calls functions within functions more than ${depth - 1} deep`,
      );
    }
    this.charge(FRAME_BYTES);
    const entry = routine.entry(paths);
    const called = tail
      ? new Frame(this, outer, frame.caller, frame.back, depth, routine.slots)
      : new Frame(this, outer, frame, this.pc, depth, routine.slots);
    this.frame = called;
    this.pc = entry;
    return called;
  }

  /**
   * Counts bytes that are about to be used. Every so often everything that the evaluation holds on to is measured.
   *
   * @throws JqLimitError when that is too much
   */
  charge(bytes: number): void {
    this.#charged += bytes;
    this.toil(bytes / 8);
    // Between two operations, where it can give way, unless there is too much already.
    if (this.#charged > this.#allowance + this.limits.workingBytes / 4) atOnce(this.#accounting(bytes));
    else if (this.#charged > this.#allowance) this.#pause();
  }

  /** Counts work, such as bytes copied: after much of it the machine pauses behind the operation. */
  toil(units: number): void {
    this.#toiled += units;
    if (this.#toiled > TOIL) this.#pause();
  }

  #pause(): void {
    this.#toiled = 0;
    if (this.state === State.Running) this.state = State.Paused;
  }

  *#accounting(bytes: number): Work<void> {
    const { workingBytes } = this.limits;
    this.#charged = 0;
    this.#given ??= yield* containersIn(this.#inputs);
    const { frame, forks, current, pathValue, path } = this;
    let held = bytes;
    if (bytes <= workingBytes) {
      held += yield* memoryOf([frame, forks, current, pathValue, path, this.held], workingBytes, this.#given);
    }
    if (held > workingBytes) {
      throw new JqLimitError("workingBytes", `the expression needs more than ${workingBytes} bytes of memory`);
    }
    this.#allowance = Math.max((workingBytes - held) / 2, workingBytes / 4);
  }
}
