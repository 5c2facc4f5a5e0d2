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

/** One question with everything that belongs to it. */
export interface Question {
  readonly project: Project;
  readonly settings: RequestSettings;
  /** The agents of the project, when they have been looked at already. */
  readonly agents?: ProjectAgents;
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

/** Asks, and prints the answer, what happens on the way, and the usage. */
export async function ask(io: Io, log: Log, question: Question, options: AskOptions): Promise<TurnResult> {
  const { project, settings, messages, responseFormat, label, signal } = question;
  describeRequest(log, project, settings);
  const sink = await answerSink(io, options.output);
  const progress = createProgress(io, { quiet: options.quiet, model: settings.model.name });
  const session = new ProjectSession(project, {
    environment: io.environment,
    signal,
    note: (message) => {
      progress.pause();
      say(io, "note", message);
    },
    ...(question.agents === undefined ? {} : { agents: question.agents }),
    ...(log.everything ? { wireLog: (text: string) => log.trace(text) } : {}),
    mcp: createMcpHost(io, log, project, () => progress.pause()),
    ...(options.approveTools ? { approve: createTerminalApprover(io, () => progress.pause()) } : {}),
  });
  const showUsage = options.showUsage && !options.quiet;
  const printer = options.stream ? new StreamPrinter(io, sink, options) : undefined;
  const meter = new UsageMeter((model) => session.pricing(model));
  const observers: (HarnessObserver | undefined)[] = [
    (event) => progress.observe(event),
    printer?.observe,
    meter.observe,
    printMessages(io, progress),
    logEvents(log),
  ];
  let result: TurnResult;
  let lease: SandboxLease | undefined;
  try {
    const waited = mcpServersOf(project, settings);
    if (waited.length > 0) progress.wait(`the MCP server${waited.length > 1 ? "s" : ""} ${waited.join(", ")}`);
    const agent = await session.agent(settings, { streaming: options.stream, wantUsage: showUsage });
    lease = await session.lease();
    result = await runTurn(agent, {
      lease,
      messages,
      signal,
      label,
      observe: observers.filter((observer) => observer !== undefined),
      ...(responseFormat === undefined ? {} : { responseFormat }),
    });
    if (printer === undefined) {
      await printAnswer(io, sink, options.wholeRun ? wholeRun(result, meter) : result, options);
    } else printer.end();
    session.checkScripts();
  } finally {
    progress.stop();
    printer?.breakLine();
    try {
      await sink.finish();
    } finally {
      await session.close();
      await lease?.release();
    }
  }
  if (showUsage) io.stderr.write(`${meter.summary()}\n`);
  return result;
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
