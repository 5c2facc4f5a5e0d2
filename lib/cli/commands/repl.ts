/** `lait chat`: a conversation in the terminal, or one turn for each line that is piped in. */
import { UsageError } from "../../base/errors.ts";
import { readTextBounded } from "../../base/files.ts";
import type { Command } from "../../deps/commander.ts";
import { resolve } from "../../deps/path.ts";
import { openProject } from "../../project/project.ts";
import { addSharedOptions, callerSettings, type ChatOptions } from "../chat_options.ts";
import type { CommandContext } from "../command.ts";
import type { GlobalOptions } from "../command_line.ts";
import { projectOptions } from "../project_options.ts";
import { runRepl } from "../repl.ts";

/** Adds the options of a chat. */
export function define(command: Command): void {
  addSharedOptions(command);
}

/** Runs the chat. */
export async function run(context: CommandContext): Promise<void> {
  const { io, line, signal } = context;
  const options = line.options as unknown as ChatOptions & GlobalOptions;
  if (line.words.length > 0) {
    throw new UsageError(
      `a chat takes no prompt (got ${JSON.stringify(line.words[0])})`,
      "type it at the chat's prompt",
    );
  }
  const caller = callerSettings(options, io.environment);
  const project = await openProject({ ...projectOptions(io, line.options), signal });
  const system = options.systemFile === undefined
    ? {}
    : { system: (await readTextBounded(resolve(io.directory, options.systemFile))).trimEnd() };
  await runRepl(context, {
    project,
    caller: { ...caller, ...system },
    session: options.session,
    showReasoning: options.showReasoning ?? false,
    showUsage: options.showUsage ?? false,
    approveTools: options.approveTools ?? false,
    verbose: options.verbose,
  });
}
