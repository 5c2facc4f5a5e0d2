/** What a person means by a workflow on the command line: a file, or an entry of `workflows:`. */
import { resolve } from "../deps/path.ts";
import { type Project, shownPath } from "../project/project.ts";
import type { Io } from "./io.ts";
import { say } from "./say.ts";

/** Where a workflow is. */
export interface WorkflowReference {
  readonly path: string;
  readonly shown: string;
}

/** The file when there is one, else the entry; what is not plain from the word is said. */
export async function findWorkflow(io: Io, project: Project, word: string): Promise<WorkflowReference> {
  const registry = project.config.workflows ?? {};
  const path = resolve(io.directory, word);
  const isFile = await Deno.stat(path).then(({ isDirectory }) => !isDirectory, () => false);
  const isName = Object.hasOwn(registry, word);
  if (isFile) {
    if (isName) say(io, "note", `the file ${word} is used, not the entry \`${word}\` of \`workflows:\``);
    return { path, shown: word };
  }
  if (!isName) return { path, shown: word };
  const shown = shownPath(registry[word]!, io.directory);
  say(io, "note", `workflow \`${word}\` is ${shown}`);
  return { path: registry[word]!, shown };
}
