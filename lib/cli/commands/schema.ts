/** `lait schema`: JSON Schemas of the files that people write, for editors. */
import type { JsonObject } from "../../base/json.ts";
import type { CommandContext, CommandModule } from "../command.ts";

/** `lait schema workflow`. */
export const workflow: CommandModule = printer(async () => (await import("../../workflow/schema.ts")).workflowSchema());

function printer(make: () => Promise<JsonObject>): CommandModule {
  return {
    define: () => {},
    async run({ io }: CommandContext) {
      io.stdout.write(`${JSON.stringify(await make(), null, 2)}\n`);
    },
  };
}
