/**
 * The `lait` command. Run it: `deno run -A cli.ts --help`.
 *
 * @module
 */
import { systemIo } from "./lib/cli/io.ts";
import { main } from "./lib/cli/main.ts";

if (import.meta.main) Deno.exit(await main(Deno.args, systemIo()));
