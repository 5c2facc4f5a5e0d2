/** The contract of a tool: what the model may call. */
import type { JsonObject } from "../base/json.ts";
import type { AgentModel } from "../model/provider.ts";
import type { SandboxLease } from "../sandbox/lease.ts";

/** What a tool's `execute` gives back: the text for the model, and whether it is a failure (default: no). */
export type ToolOutput = string | { readonly content: string; readonly isError?: boolean };

/** What a call touches; permission rules look at it. */
export interface ToolResources {
  /** Paths, relative to the sandbox's root. */
  readonly paths?: readonly string[];
  /** The command that is run, as text. */
  readonly command?: string;
}

/** Something a tool reports while it runs. */
export type ToolObservation =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "warning"; readonly message: string }
  | { readonly kind: "raw"; readonly value: unknown };

/** What a tool gets besides its input. */
export interface HarnessToolContext {
  /** The sandbox, lent for this call: what is started through it ends with the call. */
  readonly sandbox: SandboxLease;
  /** Aborts when the turn is cancelled, at the call's deadline, and when the call has ended. */
  readonly signal: AbortSignal;
  /** The id of the model's tool call. */
  readonly callId: string;
  /** The arguments as the model wrote them; absent when it gave a value. */
  readonly arguments?: string;
  /** The model that asked. */
  readonly model: AgentModel;
  /** Reports something to whoever observes the turn; throws once the call has ended. */
  observe(observation: ToolObservation): void;
}

/** A tool that is ready to be offered. Frozen. */
export interface HarnessTool<Input = unknown> {
  /** Marks a tool. */
  readonly kind: "tool";
  /** 1–64 letters, digits, `_` or `-`; unique in a harness. */
  readonly name: string;
  /** Shown to the model; empty when the author gave none. */
  readonly description: string;
  /** Whether neighbouring calls may run together. It guides scheduling and forbids nothing. */
  readonly readOnly: boolean;
  /** `git`: it makes sense in a Git workspace only. */
  readonly workspace?: "git";
  /** JSON Schema of the arguments; its root is an object. */
  readonly inputSchema: JsonObject;
  /** Checks the arguments of a call, which are an object by then. */
  validate(value: unknown): Promise<{ readonly value: Input } | { readonly issues: string }>;
  /** What a call touches. */
  resources(input: Input): ToolResources;
  /** The argv that a call will run, for whoever approves it; undefined when it cannot be told. */
  preview?(input: Input): readonly string[] | undefined;
  /** Runs a call. What it throws becomes an error result, or ends the turn; see `onError` and `ToolFailure`. */
  execute(input: Input, context: HarnessToolContext): ToolOutput | Promise<ToolOutput>;
}
