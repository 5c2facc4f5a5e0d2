/** A workflow as its file defines it: checked, typed, frozen. Running, planning, drawing and linting all start from it. */
import type { Place } from "../base/diagnostic.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { JqProgram } from "../jq/jq.ts";
import type { Config } from "../project/config_shape.ts";
import type { AgentFields } from "../project/agents/agent_shape.ts";
import type { CallerSettings } from "../project/settings.ts";
import type { JsonSchema } from "../schema/schema.ts";
import type { Template } from "../source/template/template.ts";
import type { Kind } from "./kinds/kind.ts";

/** A jq expression that was compiled. */
export interface Expression {
  /** As the file has it. */
  readonly source: string;
  readonly place: Place | undefined;
  readonly program: JqProgram;
  /** The globals that it reads. */
  readonly globals: readonly string[];
}

/** A schema: written there, in a file of its own, or the name of one of `schemas:`. */
export type SchemaSource =
  | { readonly kind: "inline"; readonly schema: JsonSchema; readonly name?: string }
  | { readonly kind: "file"; readonly path: string; readonly name?: string };

/** A named input. */
export interface InputDefinition {
  readonly name: string;
  readonly schema: JsonObject;
  readonly description: string | undefined;
  /** Undefined when it must be given. */
  readonly default: JsonValue | undefined;
}

/** How often, and how, a step is tried again. */
export interface Retry {
  readonly maxAttempts: number;
  readonly delaySeconds: number;
  readonly backoff: number;
}

/** What holds for the model steps of a file that say nothing else. */
export interface WorkflowDefaults {
  readonly settings: CallerSettings;
  readonly system?: Template;
  readonly retry?: Retry;
  readonly timeout?: number;
}

/** An agent that is defined in the workflow itself. */
export interface InlineAgent {
  readonly name: string;
  readonly fields: AgentFields;
  readonly system: Template;
}

/** One step. */
export interface Step {
  readonly kind: Kind;
  /** What the kind's own fields say; its type is the kind's business. */
  readonly body: unknown;
  readonly id: string | undefined;
  /** Its place in its list, from 1. */
  readonly position: number;
  readonly place: Place;
  /** Where it stands, for messages: `steps[2] (id 'fetch').on_error[0]`. */
  readonly where: string;
  readonly when: Expression | undefined;
  readonly input: Expression | undefined;
  readonly output: Expression | undefined;
  readonly retry: Retry | undefined;
  /** Seconds for one attempt. */
  readonly timeout: number | undefined;
  readonly onError: readonly Step[] | undefined;
}

/** A workflow file. */
export interface WorkflowDefinition {
  /** The file as messages show it. */
  readonly shown: string;
  /** The file, links followed. */
  readonly realPath: string;
  /** What paths in the file start from. */
  readonly directory: string;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly inputs: readonly InputDefinition[];
  readonly inputSchema: SchemaSource | undefined;
  readonly output: Expression | undefined;
  /** Seconds for one run. */
  readonly timeout: number | undefined;
  readonly defaults: WorkflowDefaults;
  /** `models:`, as a configuration that is stronger than the project's. */
  readonly models: Pick<Config, "models"> | undefined;
  readonly schemas: ReadonlyMap<string, SchemaSource>;
  readonly agents: ReadonlyMap<string, InlineAgent>;
  readonly steps: readonly Step[];
}

/** Every step of a list, and those within them, in the order of the file. */
export function* allSteps(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    for (const { steps } of step.kind.bodies(step.body)) yield* allSteps(steps);
    if (step.onError !== undefined) yield* allSteps(step.onError);
  }
}

/** What a step is called where its number within a run does not matter. */
export function positionLabel({ id, position }: Step): string {
  return id ?? `step-${position}`;
}
