/** What a run of workflows is given by whoever runs them: the command, a test, a server. */
import type { EnvironmentReader } from "../../base/environment.ts";
import type { HarnessEvent } from "../../harness/events.ts";
import type { ProjectSession } from "../../project/open.ts";
import type { Project } from "../../project/project.ts";
import type { SandboxLease } from "../../sandbox/lease.ts";

/** Where a step runs: what tells it from all others that run at the moment. */
export interface StepPlace {
  /** What stands in front of the lines about it: the branches, items and called workflows that it is in. */
  readonly prefix: string;
  /** Its id, or its number and kind. */
  readonly label: string;
}

/** What happens in a run, for people who watch. */
export type WorkflowEvent =
  /** A workflow with a name begins; `child` when a step has called it. */
  | { readonly kind: "start"; readonly prefix: string; readonly title: string; readonly child: boolean }
  | {
    readonly kind: "step";
    readonly prefix: string;
    readonly number: number;
    readonly label: string;
    readonly skipped: boolean;
  }
  | {
    readonly kind: "step-ended";
    readonly prefix: string;
    readonly number: number;
    readonly label: string;
    readonly failed: boolean;
  }
  /** So many of a step's items are done. */
  | ({ readonly kind: "progress"; readonly done: number; readonly total: number } & StepPlace)
  /** Something about the step that was last told with this prefix. */
  | { readonly kind: "detail"; readonly prefix: string; readonly text: string };

/** A question for a person. */
export interface Question {
  readonly text: string;
  readonly choices: readonly string[] | undefined;
  readonly multiline: boolean;
}

/** See the module. */
export interface WorkflowHost {
  readonly project: Project;
  readonly environment: EnvironmentReader;
  /** What paths of commands, attachments and written files start from. */
  readonly directory: string;
  /** The session of a project; the same for the same project. */
  session(project: Project): ProjectSession;
  /** Where commands run. */
  lease(): Promise<SandboxLease>;
  /** Asks a person; undefined when nobody is there. */
  ask(question: Question, signal: AbortSignal): Promise<string | undefined>;
  /** Hears what happens. */
  tell(event: WorkflowEvent): void;
  /** Hears the events of a model step. */
  observe(event: HarnessEvent, step: StepPlace): void;
}
