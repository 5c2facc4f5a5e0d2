/** The options of commands that run what a file defines: agents, prompts. */
import { type Command, Option } from "../deps/commander.ts";

/** The parsed options. */
export interface RunOptions {
  readonly output?: string;
  readonly json?: boolean;
  readonly render?: boolean;
  readonly showUsage?: boolean;
  readonly quiet?: boolean;
  /** False with `--no-history`. */
  readonly history: boolean;
  /** False with `--no-stdin`. */
  readonly stdin: boolean;
}

/** Adds the options. */
export function addRunOptions(command: Command): Command {
  const output = "Output options:";
  return command
    .addOption(new Option("--no-stdin", "do not read standard input").helpGroup("Input options:"))
    .addOption(new Option("--json", "print one JSON document").helpGroup(output))
    .addOption(new Option("-o, --output <path>", "write the answer to a file; - is standard output").helpGroup(output))
    .addOption(new Option("--render", "show Markdown styled on a terminal").helpGroup(output))
    .addOption(new Option("--show-usage", "print the tokens used on stderr").helpGroup(output))
    .addOption(new Option("--no-history", "do not record this run in the history").helpGroup(output))
    .addOption(new Option("--quiet", "no usage, no progress").helpGroup(output));
}
