/** Searching files without Git. */
import { messageOf, ToolFailure } from "../../base/errors.ts";
import { decodeUtf8Lossy } from "../../base/text.ts";
import { compileFileGlob } from "../glob.ts";
import type { HarnessToolContext } from "../tool.ts";
import { findFiles } from "./_find_files.ts";
import { linesOf } from "./_lines.ts";
import { Matches, type SearchInput } from "./_matches.ts";
import { downloadBytes, isBinary, quoted } from "./_text_file.ts";
import { TOOLSET_LIMITS } from "./limits.ts";

/** Files that are read ahead, so that the way to a remote sandbox is not waited for one file after the other. */
const AT_ONCE = 8;

/**
 * Runs a search over every ordinary file, with a JavaScript regular expression for each line. An expression that
 * backtracks without end cannot be interrupted: this selection is for models and files that are trusted so far.
 */
export async function searchFound(input: SearchInput, context: HarnessToolContext): Promise<string> {
  const expression = compileExpression(input.pattern, input.ignore_case ?? false);
  const glob = input.glob === undefined ? undefined : compileFileGlob(input.glob);
  const files = (await findFiles(context, input.path ?? ".", { maxBytes: TOOLSET_LIMITS.fileBytes }))
    .filter((path) => glob?.matches(path) ?? true)
    .sort();
  const matches = new Matches(input.max_results ?? TOOLSET_LIMITS.matches);
  const { root } = context.sandbox;
  let total = 0;
  for (let from = 0; from < files.length; from += AT_ONCE) {
    const some = files.slice(from, from + AT_ONCE);
    const contents = await Promise.all(some.map((path) => read(context, `${root}/${path}`, path)));
    contents.forEach((bytes, index) => {
      total += bytes.length;
      if (total > TOOLSET_LIMITS.searchedBytes) throw tooMuch("read", TOOLSET_LIMITS.searchedBytes);
      if (isBinary(bytes)) return;
      linesOf(decodeUtf8Lossy(bytes)).forEach((line, number) => {
        if (expression.test(line)) matches.add(some[index]!, number + 1, line);
      });
      if (matches.characters > TOOLSET_LIMITS.matchBytes) throw tooMuch("answer", TOOLSET_LIMITS.matchBytes);
    });
  }
  return matches.answer();
}

function compileExpression(pattern: string, ignoreCase: boolean): RegExp {
  try {
    return new RegExp(pattern, ignoreCase ? "i" : "");
  } catch (error) {
    throw new ToolFailure(messageOf(error), { cause: error });
  }
}

async function read(context: HarnessToolContext, real: string, path: string): Promise<Uint8Array> {
  try {
    return await downloadBytes(context, real, path);
  } catch (error) {
    if (error instanceof ToolFailure && error.cause instanceof Deno.errors.NotFound) {
      throw new ToolFailure(`${quoted(path)} changed while it was searched; search again`, { cause: error });
    }
    throw error;
  }
}

function tooMuch(what: string, limit: number): ToolFailure {
  return new ToolFailure(
    `too much to ${what}: over ${limit} bytes; narrow the search with \`path\`, \`glob\` or \`pattern\``,
  );
}
