/** `lait [PROMPT]`: one prompt, one answer. */
import { ConfigurationError } from "../../base/errors.ts";
import type { Command } from "../../deps/commander.ts";
import type { HarnessEvent } from "../../harness/events.ts";
import { runTurn, type TurnResult } from "../../harness/turn.ts";
import { ProjectSession } from "../../project/open.ts";
import { openProject, type Project } from "../../project/project.ts";
import { type RequestSettings, resolveSettings } from "../../project/settings.ts";
import { createTerminalApprover } from "../approver.ts";
import { addChatOptions, callerSettings, type ChatOptions } from "../chat_options.ts";
import type { CommandContext } from "../command.ts";
import { readPrompt } from "../input.ts";
import { Log } from "../log.ts";
import { answerSink } from "../output.ts";
import { printAnswer, StreamPrinter } from "../printer.ts";
import { commandText, createProgress } from "../progress.ts";
import { UsageMeter } from "../usage_meter.ts";

/** Adds what a prompt takes. */
export function define(command: Command): void {
  command.argument(
    "[PROMPT]",
    "what to ask; - reads it from standard input, which is also added to it when it is piped",
  );
  addChatOptions(command);
}

/** Asks and prints. */
export async function run({ io, line, signal }: CommandContext): Promise<void> {
  const options = line.options as unknown as ChatOptions & CommandContext["line"]["options"];
  const caller = callerSettings(options, io.environment);
  const prompt = await readPrompt(io, { positional: line.words[0], noStdin: !options.stdin, signal });
  if (prompt === undefined) {
    throw new ConfigurationError('a PROMPT is required: lait "your question", or pipe one in');
  }
  const log = new Log(io, options.verbose);
  const project = await openProject({
    directory: io.directory,
    environment: io.environment,
    ...(options.config === undefined ? {} : options.config === false ? { noConfig: true } : { config: options.config }),
  });
  const settings = resolveSettings(project, caller, io.environment);
  describeRequest(log, project, settings);
  const quiet = options.quiet ?? false;
  const progress = createProgress(io, { quiet, model: settings.model.name });
  const session = new ProjectSession(project, {
    environment: io.environment,
    signal,
    ...(options.approveTools ? { approve: createTerminalApprover(io, () => progress.pause()) } : {}),
  });
  const showUsage = (options.showUsage ?? false) && !quiet;
  const agent = await session.agent(settings, { streaming: options.stream ?? false, wantUsage: showUsage });
  const lease = await session.lease();
  const sink = answerSink(io, options.output);
  const printing = { showReasoning: (options.showReasoning ?? false) && !quiet, json: options.json ?? false };
  const printer = options.stream ? new StreamPrinter(io, sink, printing) : undefined;
  const meter = new UsageMeter((model) => model === settings.model.name ? settings.pricing : undefined);
  const messages = (event: HarnessEvent) => {
    if (event.kind !== "warning" && event.kind !== "notice" && event.kind !== "model-retry") return;
    progress.pause();
    io.stderr.write(`${event.kind === "notice" ? "note" : "warning"}: ${event.message}\n`);
  };
  const observers = [
    (event: HarnessEvent) => progress.observe(event),
    printer?.observe,
    meter.observe,
    messages,
    logEvents(log),
  ];
  let result: TurnResult;
  try {
    result = await runTurn(agent, {
      lease,
      prompt,
      signal,
      label: "chat",
      observe: observers.filter((observer) => observer !== undefined),
    });
    if (printer === undefined) await printAnswer(io, sink, result, printing);
    session.checkScripts();
  } finally {
    progress.stop();
    printer?.end();
    await sink.finish();
    await lease.release();
  }
  if (showUsage) io.stderr.write(`${meter.summary()}\n`);
}

function describeRequest(log: Log, project: Project, { model, alias, endpoint, tools }: RequestSettings): void {
  if (!log.verbose) return;
  log.debug(`configuration: ${project.layers.map(({ file }) => file).join(", ") || "none"}`);
  const name = alias === undefined ? model.name : `${model.name} (alias ${alias})`;
  const { name: _, ...sampling } = model;
  log.debug(`model: ${name}, settings: ${JSON.stringify(sampling)}`);
  log.debug(
    endpoint.kind === "script"
      ? `script: ${endpoint.path}`
      : `base URL: ${endpoint.baseUrl}, key: ${endpoint.key.kind}`,
  );
  log.debug(`tools: ${tools.join(", ") || "none"}`);
}

function logEvents(log: Log): ((event: HarnessEvent) => void) | undefined {
  if (!log.verbose) return undefined;
  return (event) => {
    if (event.kind === "step") log.debug(`step ${event.index}: asking the model`);
    else if (event.kind === "tool") log.debug(`tool ${event.name} called with ${event.arguments}`);
    else if (event.kind === "tool-started" && event.preview) log.debug(`running ${commandText(event.preview)}`);
    else if (event.kind === "tool-result") {
      log.debug(`tool ${event.name} gave ${event.characters} characters${event.isError ? " (an error)" : ""}`);
      log.trace(event.preview);
    }
  };
}
