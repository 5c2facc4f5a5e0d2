/** What a kind of step is: how its fields are read, how it runs, how it is shown. One file for each kind stands beside. */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { Step } from "../definition.ts";
import type { PlanWriter } from "../plan.ts";
import type { FieldReader } from "../read/fields.ts";
import type { StepRun } from "../run/steps.ts";
import type { FieldSchemas } from "../schema_parts.ts";

/** The names of the kinds; each is the key that makes a step one of it. */
export type KindName =
  | "prompt"
  | "agent"
  | "run"
  | "decide"
  | "workflow"
  | "jq"
  | "ask"
  | "write"
  | "group"
  | "switch"
  | "parallel"
  | "for_each"
  | "while"
  | "until"
  | "stop"
  | "break";

/** What a step came to: a value, and whether it ends the loop or the workflow around it. */
export interface Outcome {
  readonly value: JsonValue;
  readonly flow?: "stop" | "break";
}

/** A list of steps within a step. */
export interface Body {
  /** What it is called: `branch 'left'`, `case 1`. */
  readonly title: string;
  readonly steps: readonly Step[];
  /**
   * How it runs: in the scope around it, as a loop in that scope, as one of several at once (`branch`), or many times at
   * once (`items`).
   */
  readonly scope: "same" | "loop" | "branch" | "items";
}

/** A kind of step. */
export interface Kind<B = unknown> {
  readonly name: KindName;
  /** The schema of its own key, for editors. */
  readonly schema: JsonObject;
  /** Its fields besides its own key and those that every step has, with their schemas. */
  readonly fields: FieldSchemas;
  /** Which of them must be there. Default: none. */
  readonly required?: readonly string[];
  /** Whether `default.retry` and `default.timeout` are for it. Default: false. */
  readonly takesDefaults?: boolean;
  /** Whether `retry`, `timeout` and `on_error` make no sense for it. Default: false. */
  readonly ends?: boolean;
  /** Reads its fields; faults go to the reader. */
  read(reader: FieldReader): B;
  /** The lists of steps within. */
  bodies(body: B): readonly Body[];
  /** Runs it once on the step's input. */
  run(body: B, step: StepRun): Promise<Outcome> | Outcome;
  /** Tells what it would do. */
  plan(body: B, writer: PlanWriter): void;
  /** A line or two about it for a drawing. */
  detail(body: B): readonly string[];
}
