/** `lait sessions delete`: removes a session. */
import type { Command } from "../../deps/commander.ts";
import { Sessions } from "../../project/sessions.ts";
import type { CommandContext } from "../command.ts";
import { oneWord } from "../words.ts";

/** Adds what it takes. */
export function define(command: Command): void {
  command.argument("<NAME>", "a session of the current directory");
}

/** Removes it. */
export async function run({ io, line }: CommandContext): Promise<void> {
  const name = oneWord(line, "session's NAME");
  await new Sessions(io.directory).delete(name);
  io.stdout.write(`deleted session ${name}\n`);
}
