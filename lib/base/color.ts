/** Colour on a stream: `NO_COLOR`, then `FORCE_COLOR` and `CLICOLOR_FORCE`, then whether it is a terminal. */
import type { EnvironmentReader } from "./environment.ts";

/** Puts styles around text, or leaves it as it is. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  italic(text: string): string;
  underline(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

/** Whether a stream is to be coloured. */
export function wantsColor(isTerminal: boolean, environment: EnvironmentReader): boolean {
  const set = (name: string) => {
    const value = environment(name);
    return value === undefined || value === "" ? undefined : value;
  };
  if (set("NO_COLOR") !== undefined) return false;
  const forced = set("FORCE_COLOR") ?? set("CLICOLOR_FORCE");
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTerminal && environment("TERM") !== "dumb";
}

/** The styles, or none. */
export function createPaint(color: boolean): Paint {
  const style = (on: number, off: number) => (text: string) =>
    color && text !== "" ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  return {
    bold: style(1, 22),
    dim: style(2, 22),
    italic: style(3, 23),
    underline: style(4, 24),
    red: style(31, 39),
    yellow: style(33, 39),
    cyan: style(36, 39),
  };
}
