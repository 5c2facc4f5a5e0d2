/** `lait sessions list`: the sessions of the current directory. */
import type { Command } from "../../deps/commander.ts";
import { Sessions } from "../../project/sessions.ts";
import type { CommandContext } from "../command.ts";
import { noWords } from "../words.ts";

/** It takes nothing of its own. */
export function define(_command: Command): void {}

/** Prints the list. */
export async function run({ io, line }: CommandContext): Promise<void> {
  noWords(line);
  const sessions = await new Sessions(io.directory).list();
  if (sessions.length === 0) io.stdout.write("no sessions in this directory; --session NAME makes one\n");
  for (const { name, turns } of sessions) io.stdout.write(`${name}  (${turns} turns)\n`);
}
