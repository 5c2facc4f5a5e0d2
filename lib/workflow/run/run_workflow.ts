/** Running a workflow file: the root's, step by step so that its state can be kept, and those that steps call. */
import { ConfigurationError, ContextError } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { didYouMean } from "../../base/nearest.ts";
import { untilAborted } from "../../base/signals.ts";
import { resolve } from "../../deps/path.ts";
import { shownPath } from "../../project/project.ts";
import type { WorkflowDefinition } from "../definition.ts";
import { isWorkflowPath } from "../kinds/workflow.ts";
import { inheritedFaults } from "../read/placement.ts";
import { readWorkflowFile } from "../read/workflow_file.ts";
import { evaluate } from "./evaluate.ts";
import type { WorkflowHost } from "./host.ts";
import { bindInputs, checkInitialValue } from "./inputs.ts";
import {
  type CalledWorkflow,
  type FileRun,
  type Records,
  Scope,
  type WorkflowCalls,
  type WorkflowStart,
} from "./scope.ts";
import { runStep } from "./steps.ts";
import { withinSeconds } from "./time_limit.ts";

/** What a run has come to between two steps of the file itself. */
export interface RunState {
  /** How many of the file's steps are done. */
  readonly completed: number;
  /** The number of the last step. */
  readonly counter: number;
  readonly value: JsonValue;
  readonly records: Records;
}

/** A run from where it stands. */
export interface RootRun {
  readonly state: RunState;
  readonly signal: AbortSignal;
  /** Is given the state after each step of the file; what it throws ends the run. */
  readonly keep?: (state: RunState) => Promise<void>;
}

/** What a run gave. */
export interface RunResult {
  /** The result, shaped by `output`. */
  readonly value: JsonValue;
  readonly state: RunState;
}

/** The run of a file that nobody has called. */
export function rootRun(host: WorkflowHost, definition: WorkflowDefinition, inputs: FileRun["inputs"]): FileRun {
  return {
    host,
    definition,
    project: projectWith(host.project, definition),
    inputs,
    defaults: [definition.defaults],
    chain: [definition.realPath],
    concurrent: undefined,
    files: new Map(),
    calls,
  };
}

/**
 * Runs a file's steps from a state, and shapes the result.
 *
 * @throws the error of the step that failed; TimeoutError when `timeout` has passed; the signal's reason when it aborts
 */
export async function runFile(file: FileRun, { state, signal, keep }: RootRun): Promise<RunResult> {
  const { timeout } = file.definition;
  const late = `the workflow was ended: its 'timeout' (${timeout}s) has passed`;
  return await withinSeconds(timeout, signal, late, async (limited) => {
    const scope = new Scope({
      file,
      signal: limited,
      concurrent: file.concurrent,
      counter: state.counter,
      records: state.records,
    });
    return await steps(file, scope, state, keep);
  });
}

async function steps(file: FileRun, scope: Scope, start: RunState, keep: RootRun["keep"]): Promise<RunResult> {
  let state = start;
  const { definition } = file;
  for (const step of definition.steps.slice(start.completed)) {
    const { value, flow } = await runStep(step, state.value, scope);
    state = { completed: state.completed + 1, counter: scope.counter, value, records: scope.records };
    await keep?.(state);
    if (flow === "stop") break;
  }
  scope.signal.throwIfAborted();
  return { value: await shaped(file, scope, state.value), state };
}

async function shaped(file: FileRun, scope: Scope, value: JsonValue): Promise<JsonValue> {
  const { output } = file.definition;
  if (output === undefined) return value;
  try {
    return await evaluate(output, value, { ...scope.globals, loop: null }, scope.signal);
  } catch (error) {
    scope.signal.throwIfAborted();
    throw new ContextError("'output' of the workflow", error);
  }
}

/** By the project that is called from: one that is called often has one session, whose limits and scripts it shares. */
const projects = new WeakMap<WorkflowDefinition, WeakMap<FileRun["project"], FileRun["project"]>>();

function projectWith(project: FileRun["project"], definition: WorkflowDefinition): FileRun["project"] {
  const { models, realPath } = definition;
  if (models === undefined) return project;
  const known = projects.get(definition) ?? new WeakMap<FileRun["project"], FileRun["project"]>();
  projects.set(definition, known);
  const made = known.get(project) ?? project.withModels(realPath, models);
  known.set(project, made);
  return made;
}

const calls: WorkflowCalls = {
  async open(reference, from): Promise<CalledWorkflow> {
    const { file } = from;
    const path = resolveReference(reference, file);
    const shown = shownPath(path, file.host.directory);
    const real = await Deno.realPath(path).catch(() => path);
    if (file.chain.includes(real)) {
      throw new ConfigurationError(`calling '${shown}' would create a cycle: ${[...file.chain, real].join(" → ")}`);
    }
    if (file.chain.length >= LIMITS.workflowFiles) {
      throw new ConfigurationError(`more than ${LIMITS.workflowFiles} workflow files call each other`);
    }
    const loading = file.files.get(path) ?? readWorkflowFile(path, shown);
    file.files.set(path, loading);
    const definition = await untilAborted(loading, from.signal);
    const concurrent = from.concurrent ?? file.concurrent;
    const refused = concurrent === undefined ? [] : inheritedFaults(definition.steps, concurrent);
    if (refused.length > 0) throw new ConfigurationError(`'${shown}' cannot be called here: ${refused[0]}`);
    return { run: (start, scope) => runCalled(definition, start, scope, concurrent) };
  },
};

async function runCalled(
  definition: WorkflowDefinition,
  { value, inputs: given }: WorkflowStart,
  from: Scope,
  concurrent: FileRun["concurrent"],
): Promise<JsonValue> {
  const inputs = bindInputs(definition.inputs, given);
  await checkInitialValue(definition, value);
  const caller = from.file;
  // The child's own models are the strongest, then the caller's.
  const file: FileRun = {
    ...caller,
    definition,
    project: projectWith(caller.project, definition),
    inputs,
    defaults: [definition.defaults, ...caller.defaults],
    chain: [...caller.chain, definition.realPath],
    concurrent,
  };
  const prefix = `${from.prefix}    `;
  const title = titleOf(definition);
  if (title !== undefined) caller.host.tell({ kind: "start", prefix: from.prefix, title, child: true });
  const { timeout } = definition;
  const late = `workflow timed out after ${timeout}s ('timeout')`;
  const result = await withinSeconds(timeout, from.signal, late, async (signal) => {
    const scope = new Scope({ file, signal, prefix, concurrent });
    return await steps(file, scope, { completed: 0, counter: 0, value, records: {} }, undefined);
  });
  return result.value;
}

/** What a workflow is announced as; undefined for one without a name. */
export function titleOf({ name, description }: WorkflowDefinition): string | undefined {
  if (name === undefined) return undefined;
  return description === undefined ? name : `${name}: ${description}`;
}

function resolveReference(reference: string, { definition, host }: FileRun): string {
  if (isWorkflowPath(reference)) return resolve(definition.directory, reference);
  const registry = host.project.config.workflows ?? {};
  if (Object.hasOwn(registry, reference)) return registry[reference]!;
  const hint = didYouMean(reference, Object.keys(registry)) ?? `a path needs a slash or an ending: ./${reference}.yml`;
  throw new ConfigurationError(
    `unknown workflow '${reference}': it is not under \`workflows:\` in lait.config.yml; ${hint}`,
  );
}
