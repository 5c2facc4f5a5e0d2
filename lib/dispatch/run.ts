/** One dispatch on a workspace, from its brief to its result. Whether the sandbox is its own is not its business. */
import { LaitError, messageOf } from "../base/errors.ts";
import { SteeringQueue, steeringQueue } from "../harness/steering.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import { renderBrief } from "./brief.ts";
import type { DispatchSettings } from "./dispatch_options.ts";
import { type DispatchObservation, type DispatchPhase, DispatchStream } from "./observation.ts";
import { type DispatchTurn, type PassContext, runPass } from "./pass.ts";
import { type DispatchUsage, UsageMeter } from "./prices.ts";
import { type RecoveryDetails, withRecovery } from "./recovery.ts";
import { redactor } from "./redact.ts";
import { costOf, readDiff, ReportCollector, type ReportOptions, type RunReport, writeReport } from "./report.ts";
import type { SandboxDispatchResult } from "./result.ts";
import { Watchdog } from "./watchdog.ts";
import type { GitWorkspace } from "./workspace.ts";
import { stageLimits } from "./workspace_options.ts";

/** Gives the sandbox for a pass. */
export type SandboxForPass = (pass: number) => Promise<SandboxLease>;

/** See the module. */
export class DispatchRun<T> {
  readonly #settings: DispatchSettings<T>;
  readonly #stream: DispatchStream;
  readonly #collector = new ReportCollector();
  readonly #meter = new UsageMeter();
  readonly #turns: DispatchTurn[] = [];
  readonly #startedAt = performance.now();
  readonly #redact;
  readonly #steering: SteeringQueue;
  readonly #detach: () => void;
  #stopped: PassContext<T>["stopped"];
  #durationMs: number | undefined;

  /** Begins; the steering belongs to it until it ends. */
  constructor(settings: DispatchSettings<T>) {
    this.#settings = settings;
    this.#redact = redactor(settings.redact);
    this.#steering = settings.steering === undefined ? new SteeringQueue() : steeringQueue(settings.steering)!;
    this.#detach = this.#steering.attach();
    const heard = (observation: DispatchObservation) => this.#collector.heard(observation);
    this.#stream = new DispatchStream(settings.observe, this.#redact, [heard]);
  }

  /** Says that a stage begins. */
  phase(name: DispatchPhase, workspace?: GitWorkspace): void {
    const place = workspace === undefined ? {} : { branch: workspace.branch, directory: workspace.directory };
    this.#stream.emit({ kind: "phase", name, ...place });
  }

  /** Warns: in the events, in the report, and to the caller. */
  readonly warn = (message: string): void => {
    this.#stream.emit({ kind: "warning", message });
    try {
      this.#settings.warn?.(this.#redact(message));
    } catch (error) {
      this.#stream.errors.push(error);
    }
  };

  /** Whether the agent has begun, so that there may be work worth keeping. */
  get begun(): boolean {
    return this.#turns.length > 0 || this.#stream.pass > 0;
  }

  /** The tokens so far. */
  get usage(): DispatchUsage {
    return this.#meter.usage(this.#settings.prices !== undefined);
  }

  /** Runs the passes and collects what came of them. */
  async work(workspace: GitWorkspace, sandboxFor: SandboxForPass): Promise<SandboxDispatchResult<T>> {
    const settings = this.#settings;
    const since = await workspace.head();
    const { value, completion } = await this.#passes(workspace, sandboxFor);
    this.phase("collect");
    const commits = await workspace.commits(since);
    const { collectMs } = stageLimits("dispatch", workspace.options.limits);
    const diff = await readDiff(workspace, since, collectMs, this.warn);
    const last = this.#turns.at(-1);
    const result = {
      text: textOf(this.#turns),
      value: value as T,
      completed: completion !== undefined || settings.response !== undefined,
      ...(completion === undefined ? {} : { completion }),
      turns: Object.freeze([...this.#turns]),
      usage: this.usage,
      ...(last?.conversation === undefined ? {} : { conversation: last.conversation }),
      ...(last?.transcript === undefined ? {} : { transcript: last.transcript }),
      branch: workspace.branch,
      directory: workspace.directory,
      commits: Object.freeze(commits),
    };
    const report = (options?: ReportOptions) => {
      const whole: RunReport = {
        version: 1,
        completed: result.completed,
        text: result.text,
        branch: result.branch,
        commits,
        durationMs: this.#durationMs ?? this.#elapsed(),
        usage: result.usage,
        cost: costOf(result.usage, settings.prices),
        diff,
        ...this.#collector.collected,
      };
      return writeReport(whole, this.#redact, options);
    };
    return { ...result, report };
  }

  async #passes(workspace: GitWorkspace, sandboxFor: SandboxForPass) {
    const { settings, stream } = { settings: this.#settings, stream: this.#stream };
    const { passes, markers, response } = settings;
    const context: PassContext<T> = {
      settings,
      repository: workspace.repository,
      stream,
      meter: this.#meter,
      steering: this.#steering,
      watchdog: settings.watchdog === undefined ? undefined : new Watchdog(settings.watchdog),
      redact: this.#redact,
      turns: this.#turns,
      stopped: undefined,
    };
    for (let pass = 1;; pass++) {
      const lease = await sandboxFor(pass);
      this.phase("brief");
      const prompt = await this.#prompt(workspace, lease);
      settings.signal?.throwIfAborted();
      stream.pass = pass;
      this.phase("agent", workspace);
      stream.emit({ kind: "prompt", text: prompt });
      let value: T | undefined;
      try {
        value = await runPass(context, lease, prompt);
      } finally {
        this.#stopped = context.stopped;
      }
      const answer = this.#turns.at(-1)?.text ?? "";
      const completion = markers.find((marker) => answer.includes(marker));
      if (pass >= passes || completion !== undefined || response !== undefined) return { value, completion };
    }
  }

  async #prompt(workspace: GitWorkspace, lease: SandboxLease): Promise<string> {
    const { brief, expansionMs, signal, diagnostic } = this.#settings;
    return await renderBrief(brief, {
      lease,
      builtins: { WORK_BRANCH: workspace.branch, BASE_BRANCH: workspace.baseBranch },
      expansionMs,
      signal,
      diagnostic,
    });
  }

  #elapsed(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  /** Ends well, after the cleaning up; the errors of the observer are known only now. */
  finish<R extends SandboxDispatchResult<T>>(result: R): R {
    this.#detach();
    this.#durationMs = this.#elapsed();
    this.#stream.emit({ kind: "finished", usage: this.usage, durationMs: this.#durationMs });
    const { errors } = this.#stream;
    return Object.freeze({ ...result, ...(errors.length === 0 ? {} : { observerErrors: errors }) });
  }

  /** Ends with an error, after the cleaning up; the error learns what there is to recover. */
  fail(error: unknown, work: Pick<RecoveryDetails, "branch" | "directory"> | undefined): void {
    this.#detach();
    const { usage, durationMs } = { usage: this.usage, durationMs: this.#elapsed() };
    const reason = this.#settings.signal?.aborted ? "aborted" : this.#stopped;
    if (work !== undefined) {
      const conversation = this.#turns.findLast((turn) => turn.conversation !== undefined)?.conversation;
      withRecovery(error, {
        ...work,
        text: textOf(this.#turns),
        turns: [...this.#turns],
        usage,
        ...(conversation === undefined ? {} : { conversation }),
      });
    }
    if (reason !== undefined) this.#stream.emit({ kind: "stopped", reason, usage, durationMs });
    else {
      const code = error instanceof LaitError ? error.code : "process";
      this.#stream.emit({ kind: "failure", code, message: messageOf(error), usage, durationMs });
    }
  }
}

function textOf(turns: readonly DispatchTurn[]): string {
  return turns.map(({ text }) => text).filter((text) => text !== "").join("\n");
}
