/** The command line parser. */
export { Command, CommanderError, InvalidArgumentError, Option } from "npm:commander@15.1.0";

/** Variables that the package reads: none, as long as it is told whether to use colour. */
export const COMMANDER_ENVIRONMENT = [] as const;
