/** `createHarnessEditTools`: creating, replacing and editing files. */
import { ToolFailure } from "../../base/errors.ts";
import { defineHarnessTool } from "../define.ts";
import { goesIntoGit, locate, type Located } from "../path_rule.ts";
import type { HarnessTool } from "../tool.ts";
import { defineHarnessToolset, type HarnessToolset } from "../toolset.ts";
import { findOccurrences, replaceOccurrences } from "./_replace.ts";
import { quoted, readTextFile, replaceTextFile } from "./_text_file.ts";

interface WriteFileInput {
  readonly path: string;
  readonly content: string;
}

interface EditFileInput {
  readonly path: string;
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all?: boolean;
}

const PATH = Object.freeze({
  type: "string",
  minLength: 1,
  description: "The file, relative to the repository's root.",
});

/**
 * The toolset `edit`: `write_file` and `edit_file`. Paths stay within the sandbox's root, links counted, and never go
 * into `.git`: who may write there may run programs the next time Git is used.
 *
 * @example
 * ```ts
 * import { createHarnessEditTools } from "./edit.ts";
 * console.assert(createHarnessEditTools().tools.every(({ readOnly }) => !readOnly));
 * ```
 */
export function createHarnessEditTools(): HarnessToolset {
  return defineHarnessToolset({ name: "edit", tools: [writeFileTool(), editFileTool()] });
}

function writeFileTool(): HarnessTool<WriteFileInput> {
  return defineHarnessTool<WriteFileInput>({
    name: "write_file",
    description: "Creates a file with the given content; directories are created as needed. A file that exists " +
      "already is replaced whole: use edit_file to change a part of it.",
    input: {
      type: "object",
      properties: { path: PATH, content: { type: "string", description: "The whole content." } },
      required: ["path", "content"],
      additionalProperties: false,
    },
    resources: ({ path }) => ({ paths: [path] }),
    execute: async ({ path, content }, context) => {
      const located = await locate(context.sandbox, path, { signal: context.signal });
      refuseGit(located);
      if (located.kind === "directory") throw new ToolFailure(`cannot write ${quoted(path)}: it is a directory`);
      if (located.kind === "special") throw new ToolFailure(`cannot write ${quoted(path)}: it is not an ordinary file`);
      const bytes = await replaceTextFile(context, located, content);
      const size = `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
      return located.kind === "missing"
        ? `Created ${quoted(path)} with ${size}.`
        : `Replaced the whole content of ${quoted(path)}, which existed, with ${size}.`;
    },
  });
}

function editFileTool(): HarnessTool<EditFileInput> {
  return defineHarnessTool<EditFileInput>({
    name: "edit_file",
    description: "Replaces text in a file. `old_text` must occur exactly once, unless `replace_all` is true; it is " +
      "compared character by character, without the line numbers that read_file shows.",
    input: {
      type: "object",
      properties: {
        path: PATH,
        old_text: { type: "string", minLength: 1, description: "The text to replace, as it stands in the file." },
        new_text: { type: "string", description: "What takes its place; empty to delete it." },
        replace_all: { type: "boolean", description: "Replace every occurrence; false unless given." },
      },
      required: ["path", "old_text", "new_text"],
      additionalProperties: false,
    },
    resources: ({ path }) => ({ paths: [path] }),
    execute: async ({ path, old_text, new_text, replace_all = false }, context) => {
      const { located, bytes, text } = await readTextFile(context, path);
      refuseGit(located);
      const found = findOccurrences(text, old_text);
      if (found.length === 0) throw new ToolFailure(`\`old_text\` was not found in ${quoted(path)}`);
      if (found.length > 1 && !replace_all) {
        throw new ToolFailure(
          `\`old_text\` occurs ${found.length} times in ${quoted(path)}; give more of the text around it, or set ` +
            "`replace_all`",
        );
      }
      const again = await readTextFile(context, path);
      if (again.located.real !== located.real || !sameBytes(again.bytes, bytes)) {
        throw new ToolFailure(`${quoted(path)} changed while it was being edited; read it again`);
      }
      await replaceTextFile(context, located, replaceOccurrences(text, found, new_text));
      return `Replaced ${found.length} ${found.length === 1 ? "occurrence" : "occurrences"} in ${quoted(path)}.`;
    },
  });
}

function refuseGit({ path, relative }: Located): void {
  if (goesIntoGit(path) || goesIntoGit(relative)) {
    throw new ToolFailure(`${quoted(path)} belongs to Git itself; the edit tools never write into .git`);
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
