/** How `git` and `shell` show what a command wrote. */
import { tailOf, withoutLineEnding } from "../../base/text.ts";
import { TOOLSET_LIMITS } from "./limits.ts";

/** What to keep of each stream: one character more than is shown, which tells that something is missing. */
export const RETAINED = TOOLSET_LIMITS.streamCharacters + 1;

/** The first line, then a block for each stream that is not empty. */
export function commandOutput(first: string, { stdout, stderr }: { stdout: string; stderr: string }): string {
  const blocks = ([["stdout", stdout], ["stderr", stderr]] as const)
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `--- ${name} ---\n${shown(text)}`);
  return [first, ...blocks].join("\n");
}

function shown(text: string): string {
  const limit = TOOLSET_LIMITS.streamCharacters;
  if (text.length < limit) return withoutLineEnding(text);
  return `[only the last ${limit} characters are shown]\n${withoutLineEnding(tailOf(text, limit))}`;
}
