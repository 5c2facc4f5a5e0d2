/** `lait runs list` and `lait runs show`: runs whose state was kept. */
import { UsageError } from "../../base/errors.ts";
import { textForm } from "../../base/json.ts";
import { visible } from "../../base/text.ts";
import type { Command } from "../../deps/commander.ts";
import { Checkpoints } from "../../workflow/checkpoint.ts";
import type { CommandContext, CommandModule } from "../command.ts";

/** `lait runs list`. */
export const list: CommandModule = {
  define: () => {},
  async run({ io }: CommandContext) {
    const runs = await new Checkpoints(io.directory).list();
    if (runs.length === 0) io.stderr.write("no runs are kept here; `lait run FILE --checkpoint` keeps one\n");
    for (const run of runs) {
      const done = `${run.completed_index}/${run.top_level_labels.length}`;
      io.stdout.write(`${run.run_id}  (${run.status}, step ${done}, ${visible(run.workflow_path)})\n`);
    }
  },
};

/** `lait runs show`. */
export const show: CommandModule = {
  define: (command: Command) => void command.argument("<RUN_ID>", "as `lait runs list` prints it"),
  async run({ io, line }: CommandContext) {
    const [id] = line.words;
    if (id === undefined) throw new UsageError("the RUN_ID is missing", "lait runs show RUN_ID");
    const run = await new Checkpoints(io.directory).load(id);
    const lines = [
      `run_id: ${run.run_id}`,
      `workflow: ${run.workflow_path}`,
      `status: ${run.status}`,
      `completed: ${run.completed_index}/${run.top_level_labels.length} top-level step(s)`,
      `initial input: ${textForm(run.initial_input)}`,
      `current value: ${textForm(run.current_value)}`,
      ...(Object.keys(run.inputs).length === 0 ? [] : [`inputs: ${JSON.stringify(run.inputs)}`]),
    ];
    io.stdout.write(`${lines.join("\n")}\n`);
  },
};
