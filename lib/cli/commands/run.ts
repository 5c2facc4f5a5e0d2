/** `lait run`: a workflow file, from its inputs to its result. */
import { ConfigurationError, messageOf, UsageError } from "../../base/errors.ts";
import { type JsonValue, textForm } from "../../base/json.ts";
import { onAbort, untilAborted } from "../../base/signals.ts";
import { type Command, Option } from "../../deps/commander.ts";
import { openProject } from "../../project/project.ts";
import {
  type Checkpoint,
  checkpointOf,
  Checkpoints,
  checkResumable,
  newRunId,
  stateOf,
  topLevelLabels,
} from "../../workflow/checkpoint.ts";
import type { WorkflowDefinition } from "../../workflow/definition.ts";
import { planOf } from "../../workflow/plan.ts";
import { readWorkflowFile } from "../../workflow/read/workflow_file.ts";
import { bindInputs, checkInitialValue, parseInputs, valueOfText } from "../../workflow/run/inputs.ts";
import { rootRun, runFile, type RunState, titleOf } from "../../workflow/run/run_workflow.ts";
import type { CommandContext } from "../command.ts";
import type { GlobalOptions } from "../command_line.ts";
import { readPrompt } from "../input.ts";
import type { Io } from "../io.ts";
import { Log, logLevel } from "../log.ts";
import { answerSink } from "../output.ts";
import { printAnswer } from "../printer.ts";
import { projectOptions } from "../project_options.ts";
import { addRunOptions, type RunOptions } from "../run_options.ts";
import { say } from "../say.ts";
import { CommandHost } from "../workflow_host.ts";
import { WorkflowPrinter } from "../workflow_printer.ts";
import { findWorkflow } from "../workflow_reference.ts";

interface Options extends RunOptions, GlobalOptions {
  readonly input: readonly string[];
  readonly dryRun?: boolean;
  readonly checkpoint?: boolean;
  readonly resume?: string;
}

/** Adds what it takes. */
export function define(command: Command): void {
  const collect = (value: string, before: readonly string[]) => [...before, value];
  command.argument("<FILE>", "a YAML file, or the name of an entry of `workflows:`");
  command.argument("[PROMPT]", "the initial value; - reads it from standard input");
  const group = "Run options:";
  command
    .addOption(
      new Option("--input <KEY=VALUE>", "a named input; repeatable").argParser(collect).default([], "none").helpGroup(
        group,
      ),
    )
    .addOption(new Option("--dry-run", "print what would be done, and do nothing").helpGroup(group))
    .addOption(new Option("--checkpoint", "keep the state after each step, to go on from it").helpGroup(group))
    .addOption(new Option("--resume <RUN_ID>", "go on with a run that was kept").helpGroup(group));
  addRunOptions(command);
}

/** Runs the workflow and prints its result. */
export async function run({ io, line, signal }: CommandContext): Promise<void> {
  const options = line.options as unknown as Options;
  const [word, positional, more] = line.words;
  if (word === undefined) throw new UsageError("the workflow's FILE or name is missing", "lait run FILE [PROMPT]");
  if (more !== undefined) throw new UsageError("one PROMPT is expected", "quote a prompt of several words");
  if (options.dryRun && options.resume !== undefined) throw new UsageError("--dry-run and --resume exclude each other");
  if (options.cache) say(io, "warning", "--cache has no effect: this version of lait has no response cache");
  const project = await openProject({ ...projectOptions(io, line.options), signal });
  const reference = await findWorkflow(io, project, word);
  const checkpoints = new Checkpoints(io.directory);
  const before = options.resume === undefined ? undefined : await resumed(checkpoints, options.resume, reference.shown);
  const definition = await untilAborted(readWorkflowFile(reference.path, reference.shown), signal);
  const printer = new WorkflowPrinter(io, options.quiet ?? false);
  onAbort(signal, () => printer.abandon());
  const title = titleOf(definition);
  if (title !== undefined && !options.dryRun) printer.tell({ kind: "start", prefix: "", title, child: false });
  const start = before === undefined
    ? await fresh(io, definition, { positional, options, signal })
    : goneOn(io, definition, before, options.input);
  const log = new Log(printer.around(io), logLevel(options.verbose, io.environment));
  const approveTools = options.approveTools ?? false;
  const host = new CommandHost({ io, log, project, printer, signal, approveTools });
  const file = rootRun(host, definition, start.inputs);
  if (options.dryRun) {
    io.stdout.write(`${await planOf(file, start.value)}\n`);
    return;
  }
  const kept = options.checkpoint || before !== undefined
    ? new KeptRun(io, checkpoints, {
      run_id: before?.run_id ?? newRunId(),
      workflow_path: reference.shown,
      initial_input: start.value,
      inputs: start.inputs,
      top_level_labels: topLevelLabels(definition),
    }, word)
    : undefined;
  const sink = await answerSink(io, options.output);
  const { meter } = host;
  try {
    let { state } = start;
    const keep = async (next: RunState, status: Checkpoint["status"] = "failed") => {
      state = next;
      await kept?.save(next, status);
    };
    let value: JsonValue;
    try {
      await keep(state);
      const result = await runFile(file, { state, signal, keep });
      host.checkScripts();
      await keep(result.state, "completed");
      value = result.value;
    } catch (error) {
      printer.stop();
      await kept?.failed(state);
      throw error;
    }
    printer.stop();
    const text = textForm(value);
    const { total } = meter;
    await printAnswer(io, sink, {
      text,
      steps: 0,
      usage: total ?? { input: 0, cached: 0, output: 0 },
      messages: [],
      ...(total === undefined ? {} : { lastUsage: total }),
    }, {
      showReasoning: false,
      json: options.json ?? false,
      render: options.render ?? project.config.default?.render ?? false,
      structured: typeof value !== "string",
    });
  } finally {
    printer.stop();
    try {
      await sink.finish();
    } finally {
      await host.close();
    }
  }
  if (options.showUsage && !options.quiet) io.stderr.write(`${meter.summary()}\n`);
}

interface Start {
  readonly value: JsonValue;
  readonly inputs: Readonly<Record<string, JsonValue>>;
  readonly state: RunState;
}

async function fresh(
  io: Io,
  definition: WorkflowDefinition,
  { positional, options, signal }: { positional: string | undefined; options: Options; signal: AbortSignal },
): Promise<Start> {
  const text = positional === "" ? "" : await readPrompt(io, { positional, noStdin: !options.stdin, signal });
  let value: JsonValue = null;
  if (text !== undefined) {
    value = await valueOfText(definition, text);
    await checkInitialValue(definition, value);
  } else if (definition.inputs.length === 0) {
    throw new ConfigurationError('a PROMPT is required: lait run FILE "your text", or pipe one in');
  }
  const inputs = bindInputs(definition.inputs, parseInputs(definition.inputs, options.input));
  return { value, inputs, state: { completed: 0, counter: 0, value, records: {} } };
}

async function resumed(checkpoints: Checkpoints, id: string, shown: string): Promise<Checkpoint> {
  const checkpoint = await checkpoints.load(id);
  if (checkpoint.workflow_path !== shown) {
    throw new ConfigurationError(
      `the run '${id}' is of '${checkpoint.workflow_path}', not of '${shown}'; write the path as it was`,
    );
  }
  if (checkpoint.status === "completed") throw new ConfigurationError(`the run '${id}' is already completed`);
  return checkpoint;
}

function goneOn(io: Io, definition: WorkflowDefinition, before: Checkpoint, words: readonly string[]): Start {
  const warning = checkResumable(before, definition);
  if (warning !== undefined) say(io, "warning", warning);
  const inputs = words.length === 0
    ? before.inputs
    : bindInputs(definition.inputs, parseInputs(definition.inputs, words));
  const next = Math.min(before.completed_index + 1, definition.steps.length);
  io.stderr.write(`==> resuming run '${before.run_id}' from step ${next}/${definition.steps.length}\n`);
  return { value: before.initial_input, inputs, state: stateOf(before) };
}

/** A run whose state is kept. */
class KeptRun {
  readonly #io: Io;
  readonly #checkpoints: Checkpoints;
  readonly #base: Parameters<typeof checkpointOf>[0];
  readonly #typed: string;

  constructor(io: Io, checkpoints: Checkpoints, base: Parameters<typeof checkpointOf>[0], typed: string) {
    this.#io = io;
    this.#checkpoints = checkpoints;
    this.#base = base;
    this.#typed = typed;
  }

  async save(state: RunState, status: Checkpoint["status"]): Promise<void> {
    await this.#checkpoints.save(checkpointOf(this.#base, state, status));
  }

  /** Keeps the state before the failing step, and says how to go on. */
  async failed(state: RunState): Promise<void> {
    const id = this.#base.run_id;
    try {
      await this.save(state, "failed");
      const file = /^[\w./-]+$/.test(this.#typed) ? this.#typed : `'${this.#typed.replaceAll("'", "'\\''")}'`;
      say(this.#io, "note", `the run '${id}' is kept; go on with: lait run ${file} --resume ${id}`);
    } catch (error) {
      say(this.#io, "warning", `the state of the run '${id}' could not be kept: ${messageOf(error)}`);
    }
  }
}
