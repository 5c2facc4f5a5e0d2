/** Checkpoints: the state of a run between two steps of its file, in `.lait/runs`, so that it can be gone on with. */
import { ConfigurationError, FileError, LaitError, messageOf } from "../base/errors.ts";
import { readTextBounded, replaceFile } from "../base/files.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { WORKING_FOLDER, workingFolder } from "../base/working_folder.ts";
import { join } from "../deps/path.ts";
import { positionLabel, type WorkflowDefinition } from "./definition.ts";
import type { RunState } from "./run/run_workflow.ts";

/** The version of the file's form. */
const FORMAT = 2;

/** A stored run. */
export interface Checkpoint {
  readonly format: typeof FORMAT;
  readonly run_id: string;
  readonly workflow_path: string;
  readonly initial_input: JsonValue;
  readonly inputs: Readonly<Record<string, JsonValue>>;
  readonly top_level_labels: readonly string[];
  readonly completed_index: number;
  readonly counter: number;
  readonly current_value: JsonValue;
  readonly steps_outputs: Readonly<Record<string, JsonValue>>;
  readonly status: "failed" | "completed";
}

let made = 0;

/** An id that no other run has: the time in UTC with nanoseconds, the process, a counter. */
export function newRunId(): string {
  const now = new Date();
  const digits = (value: number, length: number) => String(value).padStart(length, "0");
  const date = `${now.getUTCFullYear()}${digits(now.getUTCMonth() + 1, 2)}${digits(now.getUTCDate(), 2)}`;
  const time = [now.getUTCHours(), now.getUTCMinutes(), now.getUTCSeconds()].map((value) => digits(value, 2)).join("");
  const fraction = Math.floor((performance.now() % 1) * 1e6);
  return `${date}-${time}-${digits(now.getUTCMilliseconds() * 1e6 + fraction, 9)}-${Deno.pid}-${made++}`;
}

/** The labels of a file's own steps. */
export function topLevelLabels({ steps }: WorkflowDefinition): string[] {
  return steps.map(positionLabel);
}

/** A checkpoint of a state. */
export function checkpointOf(
  base: Pick<Checkpoint, "run_id" | "workflow_path" | "initial_input" | "inputs" | "top_level_labels">,
  state: RunState,
  status: Checkpoint["status"],
): Checkpoint {
  return {
    format: FORMAT,
    run_id: base.run_id,
    workflow_path: base.workflow_path,
    initial_input: base.initial_input,
    inputs: base.inputs,
    top_level_labels: base.top_level_labels,
    completed_index: state.completed,
    counter: state.counter,
    current_value: state.value,
    steps_outputs: state.records,
    status,
  };
}

/** The state that a checkpoint holds. */
export function stateOf(checkpoint: Checkpoint): RunState {
  return {
    completed: checkpoint.completed_index,
    counter: checkpoint.counter,
    value: checkpoint.current_value,
    records: checkpoint.steps_outputs,
  };
}

/** The stored runs of a directory. */
export class Checkpoints {
  readonly #directory: string;

  /** Those of this directory's `.lait/runs`. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Stores one: whole, or not at all. */
  async save(checkpoint: Checkpoint): Promise<void> {
    const folder = await workingFolder(this.#directory, "runs");
    await replaceFile(join(folder, `${checkpoint.run_id}.json`), JSON.stringify(checkpoint, null, 2) + "\n");
  }

  /**
   * Reads one.
   *
   * @throws ConfigurationError for an id that is none, or of no stored run; FileError for a file that cannot be used
   */
  async load(id: string): Promise<Checkpoint> {
    if (!/^[A-Za-z0-9_-]+$/.test(id)) {
      throw new ConfigurationError(`'${id}' is no run id: letters, digits, \`_\` and \`-\` are allowed`);
    }
    const path = join(this.#directory, WORKING_FOLDER, "runs", `${id}.json`);
    const info = await Deno.lstat(path).catch((error) => {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw new FileError(`cannot read ${path}: ${messageOf(error)}`, { cause: error });
    });
    if (info === undefined) {
      throw new ConfigurationError(`no such checkpointed run: '${id}'; \`lait runs list\` shows those that there are`);
    }
    if (!info.isFile) throw new FileError(`cannot read ${path}: it is no regular file`);
    return parsed(path, await readTextBounded(path));
  }

  /** All of them, by id. */
  async list(): Promise<Checkpoint[]> {
    const folder = join(this.#directory, WORKING_FOLDER, "runs");
    let names: string[];
    try {
      names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw new FileError(`cannot read ${folder}: ${messageOf(error)}`, { cause: error });
    }
    const ids = names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5)).toSorted();
    return await Promise.all(ids.map((id) => this.load(id)));
  }
}

function parsed(path: string, text: string): Checkpoint {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new FileError(`${path} is no checkpoint: ${messageOf(error)}`, { cause: error });
  }
  if (!isJsonObject(value)) throw new FileError(`${path} is no checkpoint`);
  if (value["format"] !== FORMAT) {
    throw new FileError(`${path} was made by an older version of lait (format ${JSON.stringify(value["format"])})`);
  }
  const checkpoint = value as unknown as Checkpoint;
  const whole = typeof checkpoint.run_id === "string" && typeof checkpoint.workflow_path === "string" &&
    Number.isInteger(checkpoint.completed_index) && Number.isInteger(checkpoint.counter) &&
    Array.isArray(checkpoint.top_level_labels) && isJsonObject(checkpoint.inputs) &&
    isJsonObject(checkpoint.steps_outputs) && ["failed", "completed"].includes(checkpoint.status);
  if (!whole) throw new FileError(`${path} is no checkpoint: fields are missing`);
  return checkpoint;
}

/**
 * Checks that a run can be gone on with.
 *
 * @returns what is worth a warning; undefined when nothing has changed
 * @throws LaitError when it cannot
 */
export function checkResumable(checkpoint: Checkpoint, definition: WorkflowDefinition): string | undefined {
  const { run_id: id, completed_index: completed, top_level_labels: before } = checkpoint;
  const now = topLevelLabels(definition);
  const changed = before.slice(0, completed).findIndex((label, index) => label !== now[index]);
  if (now.length < completed || changed >= 0) {
    const at = changed >= 0 ? changed : now.length;
    throw new LaitError(
      "configuration",
      `the run '${id}' cannot be resumed: step ${at + 1}, which is done, was '${before[at]}' and is ` +
        `${now[at] === undefined ? "gone" : `'${now[at]}'`} now`,
    );
  }
  const same = before.length === now.length && before.every((label, index) => label === now[index]);
  return same
    ? undefined
    : "the workflow has other steps than when the run began; it goes on with those that it has now";
}
