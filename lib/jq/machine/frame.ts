/** What the machine keeps on the heap: frames of calls, and forks to go back to. */
import type { JsonValue } from "../../base/json.ts";
import type { Machine } from "./machine.ts";

/** An expression with exactly one output and no way to go on but that: evaluated by JavaScript itself. */
export type Simple = (input: JsonValue, frame: Frame) => JsonValue;

/** Where a value stands in the input; a list from its end. Undefined: at the root. */
export interface Path {
  readonly up: Path | undefined;
  readonly key: JsonValue;
  readonly length: number;
}

/** A function's code: a version that makes values, one that makes paths too; each compiled when first called. */
export interface Routine {
  readonly slots: number;
  /** Where its code starts. */
  entry(paths: boolean): number;
}

/** A filter given to a function, with the frame that its names are in. */
export class Closure {
  /** Joins code and frame. */
  constructor(
    readonly routine: Routine,
    readonly frame: Frame,
    /** The filter as an evaluator in that same frame, where it can be one. */
    readonly simple: Simple | undefined,
  ) {}
}

/** A call: its variables and temporary values, and where it goes back to. */
export class Frame {
  readonly slots: unknown[];
  /** Creates a frame for a call from `caller`, which goes on at `back`. */
  constructor(
    readonly machine: Machine,
    /** The frame in which the function was defined. */
    readonly outer: Frame | undefined,
    readonly caller: Frame | undefined,
    readonly back: number,
    readonly depth: number,
    slots: number,
  ) {
    this.slots = slots === 0 ? NO_SLOTS : new Array(slots);
  }
}

const NO_SLOTS: unknown[] = [];

/** How a fork goes on. */
export const enum Resume {
  /** At its address, once. */
  Jump,
  /** With the next of its items. */
  Items,
  /** With the next of its items, and their paths. */
  ItemsWithPaths,
  /** With the next number. */
  Range,
  /** With what its source gives next. */
  Pull,
  /** Not at all; errors from above it go to its address. */
  Try,
  /** Not at all; errors from above it pass by the `try` at its index. */
  TryLeft,
}

/** A place to go back to, with the state that was. */
export interface Fork {
  readonly resume: Resume;
  readonly address: number;
  readonly frame: Frame;
  readonly current: JsonValue;
  readonly path: Path | undefined;
  readonly pathValue: JsonValue;
  readonly items: readonly JsonValue[] | undefined;
  readonly source: Iterator<JsonValue> | undefined;
  readonly keys: readonly string[] | undefined;
  /** Index of the next item, or the next number, or the index of a fork. */
  next: number;
  readonly end: number;
  readonly step: number;
}

/** How many forks there may be: each takes about a hundred bytes. */
export const MOST_FORKS = 500_000;
