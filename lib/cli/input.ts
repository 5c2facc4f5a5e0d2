/** Where the prompt comes from: the command line, standard input, or both. */
import { UsageError } from "../base/errors.ts";
import { PRODUCT_NAME } from "../base/product.ts";
import { LIMITS } from "../base/limits.ts";
import type { Io } from "./io.ts";
import { say } from "./say.ts";

/** How a prompt is found. */
export interface InputOptions {
  /** The word of the command line; `-` stands for standard input. */
  readonly positional: string | undefined;
  /** Whether standard input is left alone. */
  readonly noStdin: boolean;
  readonly signal: AbortSignal;
}

/**
 * The prompt: the positional word, what is piped in, or both with a blank line between. Standard input is read when it
 * is no terminal, or when the word is `-`; a blank word and blank input count as none. Undefined when there is nothing.
 *
 * @throws UsageError for `-` when standard input is to be left alone
 */
export async function readPrompt(io: Io, { positional, noStdin, signal }: InputOptions): Promise<string | undefined> {
  const asked = positional === "-";
  if (asked && noStdin) throw new UsageError("the prompt - reads standard input, which --no-stdin forbids");
  const word = asked || positional?.trim() === "" ? undefined : positional;
  const piped = asked || (!noStdin && !io.stdin.isTerminal) ? await readPiped(io, word, signal) : undefined;
  if (word === undefined) return piped;
  return piped === undefined ? word : `${word}\n\n${piped}`;
}

async function readPiped(io: Io, word: string | undefined, signal: AbortSignal): Promise<string | undefined> {
  // A parent that leaves a pipe open and silent makes every reader wait: say so, and how not to. One that has begun to
  // write will end.
  const timer = word === undefined ? undefined : setTimeout(() => {
    const how = "to leave it alone pass --no-stdin, or </dev/null";
    say(io, "note", `${PRODUCT_NAME} is waiting for the end of standard input; ${how}`);
  }, LIMITS.silentInputMs);
  try {
    const text = (await io.stdin.readAll(signal, () => clearTimeout(timer))).replace(/[\r\n]+$/, "");
    return text.trim() === "" ? undefined : text;
  } finally {
    clearTimeout(timer);
  }
}
