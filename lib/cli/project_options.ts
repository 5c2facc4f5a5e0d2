/** Opening the project that the global options name. */
import type { ProjectOptions } from "../project/project.ts";
import type { GlobalOptions } from "./command_line.ts";
import type { Io } from "./io.ts";

/** How `--config` and `--no-config` find the project. */
export function projectOptions(io: Io, { config }: Pick<GlobalOptions, "config">): ProjectOptions {
  return {
    directory: io.directory,
    environment: io.environment,
    ...(config === undefined ? {} : config === false ? { noConfig: true } : { config }),
  };
}
