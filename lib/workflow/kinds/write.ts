/** `write`: the step's input into a file. */
import { FileError } from "../../base/errors.ts";
import { fileProblem } from "../../base/files.ts";
import { textForm } from "../../base/json.ts";
import { untilAborted } from "../../base/signals.ts";
import { resolve } from "../../deps/path.ts";
import type { Template } from "../../source/template/template.ts";
import { filled } from "../schema_parts.ts";
import type { Kind } from "./kind.ts";

/** The fields of a write step. */
export interface WriteBody {
  readonly path: Template;
}

/** The last write to each path: one at a time. */
const writing = new Map<string, Promise<void>>();

/** See the module. */
export const writeKind: Kind<WriteBody> = {
  name: "write",
  schema: filled("The path, a template, from the current directory"),
  fields: {},
  read(reader) {
    const text = reader.filled("write");
    const path = text === undefined ? undefined : reader.parse(text, reader.placeOf("write"));
    return { path: path! };
  },
  bodies: () => [],
  async run({ path }, step) {
    const shown = step.render(path);
    const target = resolve(step.scope.file.host.directory, shown);
    const before = writing.get(target) ?? Promise.resolve();
    const mine = before.then(() => writeInPlace(target, shown, textForm(step.input), step.signal));
    const settled = mine.catch(() => {});
    writing.set(target, settled);
    try {
      // A pipe that nobody reads must not hold up a deadline.
      await untilAborted(mine, step.signal);
    } finally {
      if (writing.get(target) === settled) writing.delete(target);
    }
    return { value: step.input };
  },
  plan: ({ path }, writer) => writer.template("write", path),
  detail: ({ path }) => [path.source],
};

/** Links, modes and hard links stay: the file itself is written, not replaced. */
async function writeInPlace(path: string, shown: string, text: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  try {
    await Deno.writeTextFile(path, text, { signal });
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof Deno.errors.NotFound ? "its directory does not exist" : fileProblem(error);
    throw new FileError(`failed to write output to '${shown}': ${why}`, { cause: error });
  }
}
