/** Printing the entries of a registry of files. */
import { messageChain } from "../base/errors.ts";
import { visible } from "../base/text.ts";
import type { ParsedLine } from "./command_line.ts";
import type { Io } from "./io.ts";
import { noWords } from "./words.ts";

/** An entry as it is printed. */
export interface ListedEntry {
  readonly name: string;
  readonly path: string;
  readonly description: string | undefined;
  /** Why it cannot be used; undefined when it can. */
  readonly failure: unknown;
}

/**
 * Prints the entries, one a line, each that cannot be used with its reason below.
 *
 * @throws UsageError when the command line has words
 */
export function printRegistry(
  io: Io,
  line: ParsedLine,
  { kind, example }: { readonly kind: string; readonly example: string },
  entries: readonly ListedEntry[],
): void {
  noWords(line);
  if (entries.length === 0) {
    io.stdout.write(`no ${kind} defined in lait.config.yml; add some under \`${kind}:\`, as in ${example}\n`);
  }
  for (const { name, path, description, failure } of entries) {
    const about = description === undefined ? "" : `: ${shown(description)}`;
    io.stdout.write(`${visible(name)}  (${visible(path)})${about}\n`);
    if (failure !== undefined) io.stdout.write(`  warning: ${shown(messageChain(failure))}\n`);
  }
}

/** A text on one line. */
function shown(text: string): string {
  return visible(text.trim().replaceAll(/\s*\n\s*/g, " "));
}
