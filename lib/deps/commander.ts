/** The command line parser. */
export { Command, CommanderError, InvalidArgumentError, Option } from "npm:commander@15.1.0";

/** Variables that the package reads: colour ones, which lait decides about itself. */
export const COMMANDER_ENVIRONMENT = ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"] as const;
