/** `read_file`: numbered lines of a text file. */
import { defineHarnessTool } from "../define.ts";
import type { HarnessTool } from "../tool.ts";
import { linesOf } from "./_lines.ts";
import { readTextFile } from "./_text_file.ts";
import { TOOLSET_LIMITS } from "./limits.ts";

/** The arguments of `read_file`. */
export interface ReadFileInput {
  /** The file. */
  readonly path: string;
  /** The first line, from 1. */
  readonly offset?: number;
  /** How many lines. */
  readonly limit?: number;
}

/** Makes the tool. */
export function readFileTool(): HarnessTool<ReadFileInput> {
  return defineHarnessTool<ReadFileInput>({
    name: "read_file",
    description: "Reads a UTF-8 text file of the repository. Each line comes with its number and a tab before it; " +
      `at most ${TOOLSET_LIMITS.readLines} lines a call.`,
    input: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The file, relative to the repository's root." },
        offset: { type: "integer", minimum: 1, description: "The first line to read; the file begins with line 1." },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: TOOLSET_LIMITS.readLines,
          description: `How many lines to read; ${TOOLSET_LIMITS.readLines} unless given.`,
        },
      },
      required: ["path"],
      additionalProperties: false,
    },
    readOnly: true,
    resources: ({ path }) => ({ paths: [path] }),
    execute: async ({ path, offset = 1, limit = TOOLSET_LIMITS.readLines }, context) => {
      const { text } = await readTextFile(context, path);
      return numbered(linesOf(text.replace(/^\ufeff/, "")), offset, limit);
    },
  });
}

function numbered(lines: readonly string[], offset: number, limit: number): string {
  if (lines.length === 0) return "(empty file)";
  const shown = lines.slice(offset - 1, offset - 1 + limit);
  const last = offset - 1 + shown.length;
  const width = String(last).length;
  const answer = shown.map((line, index) => `${String(offset + index).padStart(width)}\t${line}`);
  if (offset > 1 || last < lines.length) answer.push(`[lines ${offset}-${last} of ${lines.length}]`);
  return answer.join("\n");
}
