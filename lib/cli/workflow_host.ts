/** What workflows are given by the command: the terminal, the project's models, this machine. */
import { UsageMeter } from "./usage_meter.ts";
import type { HarnessEvent } from "../harness/events.ts";
import { ProjectSession } from "../project/open.ts";
import type { Project } from "../project/project.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import type { Question, StepPlace, WorkflowEvent, WorkflowHost } from "../workflow/run/host.ts";
import { createTerminalApprover } from "./approver.ts";
import type { ApproveTool } from "../tool/approval.ts";
import type { Io } from "./io.ts";
import type { Log } from "./log.ts";
import { createMcpHost } from "./mcp_host.ts";
import { say } from "./say.ts";
import { visible, withoutLineEnding } from "../base/text.ts";
import type { WorkflowPrinter } from "./workflow_printer.ts";

/** What the host is made of. */
export interface CommandHostOptions {
  readonly io: Io;
  readonly log: Log;
  readonly project: Project;
  readonly printer: WorkflowPrinter;
  readonly signal: AbortSignal;
  readonly approveTools: boolean;
}

/** See the module; sessions and the lease are made when they are first needed. */
export class CommandHost implements WorkflowHost {
  readonly project: Project;
  readonly environment;
  readonly directory: string;
  /** Counts the tokens of the run. */
  readonly meter = new UsageMeter((model) => this.#pricing(model));
  readonly #options: CommandHostOptions;
  readonly #sessions = new Map<Project, ProjectSession>();
  /** One for all sessions: a person is asked one thing at a time. */
  readonly #approve: ApproveTool | undefined;
  #lease: Promise<SandboxLease> | undefined;

  /** A host for one run. */
  constructor(options: CommandHostOptions) {
    this.#options = options;
    this.project = options.project;
    this.environment = options.io.environment;
    this.directory = options.io.directory;
    const { io, printer, approveTools } = options;
    this.#approve = approveTools
      ? createTerminalApprover(io, () => printer.hold(), () => printer.release())
      : undefined;
  }

  /** What the tokens of a model cost, by whichever session knows. */
  #pricing(model: string): ReturnType<ProjectSession["pricing"]> {
    for (const session of this.#sessions.values()) {
      const pricing = session.pricing(model);
      if (pricing !== undefined) return pricing;
    }
    return undefined;
  }

  session(project: Project): ProjectSession {
    const known = this.#sessions.get(project);
    if (known !== undefined) return known;
    const { io, log, printer, signal } = this.#options;
    const session = new ProjectSession(project, {
      environment: io.environment,
      signal,
      note: (message) => this.#say("note", message),
      ...(log.everything ? { wireLog: (text: string) => log.trace(text) } : {}),
      mcp: createMcpHost(io, log, project, () => printer.hold(), () => printer.release()),
      ...(this.#approve === undefined ? {} : { approve: this.#approve }),
    });
    this.#sessions.set(project, session);
    return session;
  }

  async lease(): Promise<SandboxLease> {
    this.#lease ??= this.session(this.project).lease();
    return await this.#lease;
  }

  async ask({ text, choices, multiline }: Question, signal: AbortSignal): Promise<string | undefined> {
    const { io, printer } = this.#options;
    if (!io.stdin.isTerminal) return undefined;
    const lines = text.split("\n").map(visible);
    if (choices !== undefined) lines.push(`choices: ${choices.map(visible).join(", ")}`);
    printer.hold();
    try {
      io.stderr.write(`${lines.join("\n")}\n`);
      if (multiline) return withoutLineEnding(await io.stdin.readAll(signal));
      return await io.stdin.readLine(signal) ?? "";
    } finally {
      printer.release();
    }
  }

  tell(event: WorkflowEvent): void {
    this.#options.printer.tell(event);
  }

  observe(event: HarnessEvent, step: StepPlace): void {
    const { printer, log } = this.#options;
    printer.observe(event, step);
    this.meter.observe(event);
    if (event.kind === "warning") this.#say("warning", event.message);
    if (event.kind === "notice" || event.kind === "model-retry") this.#say("note", event.message);
    if (log.verbose && event.kind === "detail") log.debug(event.message);
    if (log.verbose && event.kind === "step") log.debug(`${event.scope.label}: asking the model (${event.index})`);
    if (log.verbose && event.kind === "tool") {
      log.debug(`${event.scope.label}: tool ${event.name} called with ${event.arguments}`);
    }
  }

  #say(kind: "note" | "warning", message: string): void {
    const { io, printer } = this.#options;
    say(printer.around(io), kind, message);
  }

  /** For the end of a successful run: scripts whose answers were not all used are an error. */
  checkScripts(): void {
    for (const session of this.#sessions.values()) session.checkScripts();
  }

  /** Ends what was started. */
  async close(): Promise<void> {
    for (const session of this.#sessions.values()) await session.close();
    await (await this.#lease?.catch(() => undefined))?.release();
  }
}
