/** Running one turn for a command, and everything that is printed around it. */
import type { HarnessEvent, HarnessObserver } from "../harness/events.ts";
import { runTurn, type TurnResult } from "../harness/turn.ts";
import type { ModelMessage } from "../model/message.ts";
import type { ResponseFormat } from "../model/provider.ts";
import type { ProjectAgents } from "../project/agents/agents.ts";
import { sortTools } from "../project/mcp.ts";
import { ProjectSession } from "../project/open.ts";
import type { Project } from "../project/project.ts";
import type { RequestSettings } from "../project/settings.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import { createTerminalApprover } from "./approver.ts";
import type { GlobalOptions } from "./command_line.ts";
import type { Io } from "./io.ts";
import type { Log } from "./log.ts";
import { createMcpHost } from "./mcp_host.ts";
import { answerSink } from "./output.ts";
import { printAnswer, type PrintOptions, StreamPrinter } from "./printer.ts";
import { commandText, createProgress, type Progress } from "./progress.ts";
import type { RunOptions } from "./run_options.ts";
import { say } from "./say.ts";
import { UsageMeter } from "./usage_meter.ts";

/** How an answer is asked for and shown. */
export interface AskOptions extends PrintOptions {
  readonly stream: boolean;
  readonly output: string | undefined;
  readonly quiet: boolean;
  readonly showUsage: boolean;
  readonly approveTools: boolean;
  /** Whether JSON tells the tokens of the whole run and no reasoning, instead of those of the last answer. */
  readonly wholeRun?: boolean;
}

/** What questions are asked in. */
export interface AskerOptions {
  readonly project: Project;
  /** The agents of the project, when they have been looked at already. */
  readonly agents?: ProjectAgents;
  /** Aborts when the invocation ends. */
  readonly signal: AbortSignal;
  readonly approveTools: boolean;
}

/** One question with everything that belongs to it. */
export interface Question {
  readonly settings: RequestSettings;
  /** The conversation, which ends with the user's message. */
  readonly messages: readonly ModelMessage[];
  readonly responseFormat: ResponseFormat | undefined;
  /** The label of usage and events: `chat`, an agent's name. */
  readonly label: string;
  readonly signal: AbortSignal;
}

/** The options of a command that runs what a file defines: nothing is streamed, and JSON tells the whole run's tokens. */
export function quietOptions(
  options: RunOptions & GlobalOptions,
  project: Project,
): Omit<AskOptions, "structured"> {
  return {
    stream: false,
    output: options.output,
    quiet: options.quiet ?? false,
    showUsage: options.showUsage ?? false,
    approveTools: options.approveTools ?? false,
    showReasoning: false,
    json: options.json ?? false,
    render: options.render ?? project.config.default?.render ?? false,
    wholeRun: true,
  };
}

/** Asks one question in an invocation of its own. */
export async function ask(
  io: Io,
  log: Log,
  question: Question & Pick<AskerOptions, "project" | "agents">,
  options: AskOptions,
): Promise<TurnResult> {
  const asker = new Asker(io, log, { ...question, approveTools: options.approveTools });
  try {
    const result = await asker.ask(question, options);
    asker.checkScripts();
    return result;
  } finally {
    await asker.close();
  }
}

/** Asks questions within one invocation: they share keys, servers, approvals, the sandbox and the count of tokens. */
export class Asker {
  readonly #io: Io;
  readonly #log: Log;
  readonly #project: Project;
  readonly #session: ProjectSession;
  readonly #meter: UsageMeter;
  #progress: Progress | undefined;
  #lease: SandboxLease | undefined;

  /** Nothing runs by making one. */
  constructor(io: Io, log: Log, { project, agents, signal, approveTools }: AskerOptions) {
    this.#io = io;
    this.#log = log;
    this.#project = project;
    const pause = () => this.#progress?.pause();
    this.#session = new ProjectSession(project, {
      environment: io.environment,
      signal,
      note: (message) => {
        pause();
        say(io, "note", message);
      },
      ...(agents === undefined ? {} : { agents }),
      ...(log.everything ? { wireLog: (text: string) => log.trace(text) } : {}),
      mcp: createMcpHost(io, log, project, pause),
      ...(approveTools ? { approve: createTerminalApprover(io, pause) } : {}),
    });
    this.#meter = new UsageMeter((model) => this.#session.pricing(model));
  }

  /** Asks, and prints the answer, what happens on the way, and the usage. */
  async ask(question: Question, options: AskOptions): Promise<TurnResult> {
    const { settings, messages, responseFormat, label, signal } = question;
    const io = this.#io;
    describeRequest(this.#log, this.#project, settings);
    const sink = await answerSink(io, options.output);
    const progress = this.#progress = createProgress(io, { quiet: options.quiet, model: settings.model.name });
    const showUsage = options.showUsage && !options.quiet;
    const printer = options.stream ? new StreamPrinter(io, sink, options) : undefined;
    const observers: (HarnessObserver | undefined)[] = [
      (event) => progress.observe(event),
      printer?.observe,
      this.#meter.observe,
      printMessages(io, progress),
      logEvents(this.#log),
    ];
    let result: TurnResult;
    try {
      const waited = mcpServersOf(this.#project, settings);
      if (waited.length > 0) progress.wait(`the MCP server${waited.length > 1 ? "s" : ""} ${waited.join(", ")}`);
      const agent = await this.#session.agent(settings, { streaming: options.stream, wantUsage: showUsage });
      const lease = this.#lease ??= await this.#session.lease();
      result = await runTurn(agent, {
        lease,
        messages,
        signal,
        label,
        observe: observers.filter((observer) => observer !== undefined),
        ...(responseFormat === undefined ? {} : { responseFormat }),
      });
      if (printer !== undefined) printer.end();
      else await printAnswer(io, sink, options.wholeRun ? wholeRun(result, this.#meter) : result, options);
    } finally {
      progress.stop();
      printer?.breakLine();
      await sink.finish();
    }
    if (showUsage) io.stderr.write(`${this.#meter.summary()}\n`);
    return result;
  }

  /** For the end of a successful run: a script whose answers were not all used is an error. */
  checkScripts(): void {
    this.#session.checkScripts();
  }

  /** Ends what the questions have started. */
  async close(): Promise<void> {
    await this.#session.close();
    await this.#lease?.release();
  }
}

/** A result that tells of the whole run, not of its last answer. */
function wholeRun(result: TurnResult, meter: UsageMeter): TurnResult {
  const { reasoning: _, lastUsage: __, ...rest } = result;
  const { total } = meter;
  return total === undefined ? rest : { ...rest, lastUsage: total };
}

function mcpServersOf(project: Project, settings: RequestSettings): string[] {
  return sortTools(project, settings).servers.map(({ name }) => name);
}

/** Warnings and notes of a run. */
function printMessages(io: Io, progress: Progress): HarnessObserver {
  return (event) => {
    if (event.kind !== "warning" && event.kind !== "notice" && event.kind !== "model-retry") return;
    progress.pause();
    say(io, event.kind === "warning" ? "warning" : "note", event.message);
  };
}

function describeRequest(
  log: Log,
  project: Project,
  { model, alias, endpoint, tools, mcp, subagents, skills }: RequestSettings,
): void {
  if (!log.verbose) return;
  log.debug(`configuration: ${project.layers.map(({ file }) => file).join(", ") || "none"}`);
  const { name, ...sampling } = model;
  log.debug(`model: ${alias === undefined ? name : `${name} (alias ${alias})`}, settings: ${JSON.stringify(sampling)}`);
  log.debug(
    endpoint.kind === "script"
      ? `script: ${endpoint.path}`
      : `base URL: ${endpoint.baseUrl}, key: ${endpoint.key.kind}`,
  );
  log.debug(`tools: ${tools.join(", ") || "none"}; MCP servers: ${mcp.join(", ") || "none"}`);
  log.debug(`subagents: ${subagents.join(", ") || "none"}; skills: ${skills.join(", ") || "none"}`);
}

function logEvents(log: Log): ((event: HarnessEvent) => void) | undefined {
  if (!log.verbose) return undefined;
  return (event) => {
    if (event.kind === "detail") log.debug(event.message);
    else if (event.kind === "step") log.debug(`step ${event.index}: asking the model`);
    else if (event.kind === "tool") log.debug(`tool ${event.name} called with ${event.arguments}`);
    else if (event.kind === "tool-started" && event.preview) log.debug(`running ${commandText(event.preview)}`);
    else if (event.kind === "tool-result") {
      log.debug(`tool ${event.name} gave ${event.characters} characters${event.isError ? " (an error)" : ""}`);
      log.trace(event.preview);
    }
  };
}
