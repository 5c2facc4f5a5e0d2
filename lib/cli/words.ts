/** The words of a command line. */
import { UsageError } from "../base/errors.ts";
import type { ParsedLine } from "./command_line.ts";

/**
 * Refuses words where none are taken.
 *
 * @throws UsageError
 */
export function noWords({ words }: ParsedLine): void {
  if (words.length > 0) throw new UsageError(`no arguments are taken (got ${JSON.stringify(words[0])})`);
}

/**
 * The one word that a command needs; `what` is its name in the help.
 *
 * @throws UsageError when it is missing, and when there are more
 */
export function oneWord({ words }: ParsedLine, what: string): string {
  const [first, second] = words;
  if (first === undefined) throw new UsageError(`the ${what} is missing`);
  if (second !== undefined) throw new UsageError(`one ${what} is expected (got ${words.length} words)`);
  return first;
}

/**
 * The word that a command needs, and the input behind it.
 *
 * @throws UsageError when the first is missing, and when there are more
 */
export function wordAndInput({ words }: ParsedLine, what: string): { word: string; input: string | undefined } {
  const [word, input, more] = words;
  if (word === undefined) throw new UsageError(`the ${what} is missing`);
  if (more !== undefined) throw new UsageError("one INPUT is expected", "quote an input of several words");
  return { word, input };
}
