/** `lait graph`: a drawing of a workflow. */
import { UsageError } from "../../base/errors.ts";
import { type Command, Option } from "../../deps/commander.ts";
import { resolve } from "../../deps/path.ts";
import { drawWorkflow } from "../../workflow/graph.ts";
import { readWorkflowFile } from "../../workflow/read/workflow_file.ts";
import type { CommandContext } from "../command.ts";

/** Adds what it takes. */
export function define(command: Command): void {
  command.argument("<FILE>", "a workflow file");
  command.addOption(new Option("--format <format>", "how it is drawn").choices(["mermaid", "dot"]).default("mermaid"));
}

/** Prints the drawing. */
export async function run({ io, line }: CommandContext): Promise<void> {
  const [file, more] = line.words;
  if (file === undefined) throw new UsageError("the workflow's FILE is missing", "lait graph FILE");
  if (more !== undefined) throw new UsageError("one FILE is expected", "lait graph FILE");
  const definition = await readWorkflowFile(resolve(io.directory, file), file);
  io.stdout.write(`${drawWorkflow(definition, line.options["format"] as "mermaid" | "dot")}\n`);
}
