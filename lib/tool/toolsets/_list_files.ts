/** `list_files`: the files below a path. */
import { runGit } from "../../sandbox/git.ts";
import { defineHarnessTool } from "../define.ts";
import { compileFileGlob, type Glob } from "../glob.ts";
import { locate } from "../path_rule.ts";
import type { HarnessTool, HarnessToolContext, ToolOutput } from "../tool.ts";
import { findFiles } from "./_find_files.ts";
import { leftOut, pathLine } from "./_lines.ts";
import { Records } from "./_records.ts";
import { TOOLSET_LIMITS } from "./limits.ts";

/** The arguments of `list_files`. */
export interface ListFilesInput {
  /** The directory. */
  readonly path?: string;
  /** A glob over paths relative to the root. */
  readonly pattern?: string;
}

const DESCRIPTIONS = Object.freeze({
  git: "Lists the files that Git tracks or does not ignore",
  filesystem: "Lists files",
});

/** Makes the tool. */
export function listFilesTool(selection: "git" | "filesystem"): HarnessTool<ListFilesInput> {
  return defineHarnessTool<ListFilesInput>({
    name: "list_files",
    description: `${DESCRIPTIONS[selection]}, one path a line, relative to the repository's root; at most ` +
      `${TOOLSET_LIMITS.listedFiles}. A path in double quotes is written as in JSON.`,
    input: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "List below this directory; the root unless given." },
        pattern: {
          type: "string",
          minLength: 1,
          description:
            "A glob over paths relative to the root, such as `src/**/*.ts`; without a slash it is about the " +
            "file's name at any depth.",
        },
      },
      additionalProperties: false,
    },
    readOnly: true,
    ...(selection === "git" ? { workspace: "git" } : {}),
    resources: ({ path }) => ({ paths: [path ?? "."] }),
    execute: async ({ path = ".", pattern }, context) => {
      const names = new SmallestNames(
        TOOLSET_LIMITS.listedFiles,
        pattern === undefined ? undefined : compileFileGlob(pattern),
      );
      if (selection === "filesystem") { for (const name of await findFiles(context, path)) names.add(name); }
      else {
        const failure = await listTracked(context, path, (name) => names.add(name));
        if (failure !== undefined) return failure;
      }
      return names.answer();
    },
  });
}

/** Git's files below a path, as they come; an error result when Git fails. */
async function listTracked(
  { sandbox, signal }: HarnessToolContext,
  path: string,
  found: (name: string) => void,
): Promise<ToolOutput | undefined> {
  const place = await locate(sandbox, path, { signal });
  const records = new Records("\0", found);
  const { status, stderr } = await runGit(
    sandbox,
    "ls-files",
    [
      "--cached",
      "--others",
      "--exclude-standard",
      "-z",
      "--",
      place.kind === "directory" ? place.relative : place.path,
    ],
    {
      signal,
      literalPaths: true,
      quiet: true,
      // The listing is taken as it comes, however long it is; of stderr the end is kept.
      retain: TOOLSET_LIMITS.streamCharacters,
      observe: (channel, text) => channel === "stdout" ? records.push(text) : undefined,
    },
  );
  return status === 0 ? undefined : { content: stderr.trim() || `git ended with status ${status}`, isError: true };
}

/** The first names in order of code units, and how many there are, in bounded memory. */
class SmallestNames {
  readonly #most: number;
  readonly #glob: Glob | undefined;
  #names: string[] = [];
  #last: string | undefined;
  #count = 0;

  constructor(most: number, glob: Glob | undefined) {
    this.#most = most;
    this.#glob = glob;
  }

  /** Takes a name. Equal ones come one behind the other: Git names a file in conflict once for each of its versions. */
  add(name: string): void {
    if (name === this.#last) return;
    this.#last = name;
    if (this.#glob?.matches(name) === false) return;
    this.#count += 1;
    this.#names.push(name);
    if (this.#names.length >= 4 * this.#most) this.#names = this.#first();
  }

  #first(): string[] {
    return this.#names.sort((a, b) => a < b ? -1 : a > b ? 1 : 0).slice(0, this.#most);
  }

  answer(): string {
    if (this.#count === 0) return "No files found.";
    const lines = this.#first().map(pathLine);
    if (this.#count > lines.length) lines.push(leftOut(this.#count - lines.length, "file", "files"));
    return lines.join("\n");
  }
}
