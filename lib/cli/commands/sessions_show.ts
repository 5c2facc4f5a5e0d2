/** `lait sessions show`: the messages of a session. */
import type { Command } from "../../deps/commander.ts";
import { Sessions } from "../../project/sessions.ts";
import type { CommandContext } from "../command.ts";
import { harmless } from "../printer.ts";
import { oneWord } from "../words.ts";

/** Adds what it takes. */
export function define(command: Command): void {
  command.argument("<NAME>", "a session of the current directory");
}

/** Prints the session. */
export async function run({ io, line }: CommandContext): Promise<void> {
  const messages = await new Sessions(io.directory).show(oneWord(line, "session's NAME"));
  for (const { role, content } of messages) {
    io.stdout.write(`${role}: ${io.stdout.isTerminal ? harmless(content) : content}\n`);
  }
}
