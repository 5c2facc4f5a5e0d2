/** Where steps run: the values that were recorded, the loop around, the counter, and how all of it ends. */
import { type JsonValue, setOwn } from "../../base/json.ts";
import type { Project } from "../../project/project.ts";
import type { WorkflowDefaults, WorkflowDefinition } from "../definition.ts";
import type { WorkflowHost } from "./host.ts";

/** The values of steps by their ids. */
export type Records = Readonly<Record<string, JsonValue>>;

/** The innermost iteration. */
export interface Loop {
  readonly index: number;
  readonly item?: JsonValue;
}

/** One run of one workflow file. */
export interface FileRun {
  readonly host: WorkflowHost;
  readonly definition: WorkflowDefinition;
  /** The configuration with the models of this file and of those that called it. */
  readonly project: Project;
  /** The bound inputs. */
  readonly inputs: Readonly<Record<string, JsonValue>>;
  /** `default:` of this file and of those that called it, the nearest first. */
  readonly defaults: readonly WorkflowDefaults[];
  /** The files from the root to this one, links followed. */
  readonly chain: readonly string[];
  /** Whether the file was called from among several at once. */
  readonly concurrent: "branch" | "items" | undefined;
  /** Files that were read already, by their path; one map for the whole run. */
  readonly files: Map<string, Promise<WorkflowDefinition>>;
  /** Opens other workflow files. */
  readonly calls: WorkflowCalls;
}

/** What a workflow is started with. */
export interface WorkflowStart {
  readonly value: JsonValue;
  /** Named inputs, typed already. */
  readonly inputs: Readonly<Record<string, JsonValue>>;
}

/** Another workflow file, found and checked for being called from here. */
export interface CalledWorkflow {
  /** Binds the inputs, checks the value, runs it, and gives its result. */
  run(start: WorkflowStart, from: Scope): Promise<JsonValue>;
}

/** See `FileRun.calls`. */
export interface WorkflowCalls {
  /**
   * Opens what a reference of this file means.
   *
   * @throws LaitError when it is unknown, calls itself, or may not stand where it is called from
   */
  open(reference: string, from: Scope): Promise<CalledWorkflow>;
}

/** See the module. */
export class Scope {
  readonly file: FileRun;
  readonly signal: AbortSignal;
  /** What stands in front of its progress lines. */
  readonly prefix: string;
  readonly loop: Loop | null;
  /** Whether it is one of several at once. */
  readonly concurrent: "branch" | "items" | undefined;
  /** The number of the last step. */
  counter: number;
  #records: Record<string, JsonValue>;
  /** Whether `#records` may be changed: nobody else has it. */
  #own = false;

  /** A scope; records are copied when they change. */
  constructor(options: {
    readonly file: FileRun;
    readonly signal: AbortSignal;
    readonly prefix?: string;
    readonly loop?: Loop | null;
    readonly concurrent?: "branch" | "items" | undefined;
    readonly counter?: number;
    readonly records?: Records;
  }) {
    this.file = options.file;
    this.signal = options.signal;
    this.prefix = options.prefix ?? "";
    this.loop = options.loop ?? null;
    this.concurrent = options.concurrent;
    this.counter = options.counter ?? 0;
    this.#records = (options.records ?? {}) as Record<string, JsonValue>;
  }

  /** The values so far. Never changes once it was given out. */
  get records(): Records {
    this.#own = false;
    return this.#records;
  }

  /** Records a value. */
  record(id: string, value: JsonValue): void {
    if (!this.#own) this.#records = { ...this.#records };
    this.#own = true;
    setOwn(this.#records, id, value);
  }

  /** The same place with another signal or loop: what is recorded there comes back by `take`. */
  inner(change: { readonly signal?: AbortSignal; readonly loop?: Loop }): Scope {
    const { file, prefix, concurrent, counter } = this;
    const { signal = this.signal, loop = this.loop } = change;
    return new Scope({ file, signal, prefix, loop, concurrent, counter, records: this.records });
  }

  /** A scope of its own, whose records nobody takes back. */
  fork(change: {
    readonly signal: AbortSignal;
    readonly prefix: string;
    readonly loop?: Loop;
    readonly concurrent: "branch" | "items";
  }): Scope {
    const { file } = this;
    const stricter = this.concurrent === "items" ? "items" : change.concurrent;
    return new Scope({
      file,
      signal: change.signal,
      prefix: `${this.prefix}${change.prefix}`,
      loop: change.loop ?? this.loop,
      concurrent: stricter,
      records: this.records,
    });
  }

  /** Takes over what an inner scope has recorded and counted. */
  take(inner: Scope): void {
    this.#records = inner.records as Record<string, JsonValue>;
    this.#own = false;
    this.counter = inner.counter;
  }

  /** What templates and expressions see besides their input. */
  get globals(): { readonly steps: Records; readonly inputs: FileRun["inputs"]; readonly loop: JsonValue } {
    return { steps: this.records, inputs: this.file.inputs, loop: this.loop as JsonValue };
  }
}
