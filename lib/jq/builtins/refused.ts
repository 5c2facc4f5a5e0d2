/** Functions of jq that are not here, and why. */

const INPUTS = "an expression has one input";
const HOST = "expressions do not see the machine that they run on";
const OUTPUT = "an expression has no output but its result";

/** By name. */
export const REFUSED: ReadonlyMap<string, string> = new Map([
  ["input", INPUTS],
  ["inputs", INPUTS],
  ["input_filename", INPUTS],
  ["input_line_number", INPUTS],
  ["env", "expressions do not see the environment"],
  ["debug", OUTPUT],
  ["stderr", OUTPUT],
  ["halt", HOST],
  ["halt_error", HOST],
  ["modulemeta", "there are no modules"],
  ["get_search_list", "there are no modules"],
]);
