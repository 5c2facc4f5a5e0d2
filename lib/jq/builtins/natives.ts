/** Every built-in function that is written in TypeScript. */
import type { Native } from "../compile/contract.ts";
import { DATES } from "./_dates.ts";
import { MATH } from "./_math.ts";
import { REGEX } from "./regex.ts";
import { TEXTS } from "./_texts.ts";
import { VALUES } from "./_values.ts";

/** By name and number of arguments: `has/1`. */
export const NATIVES: ReadonlyMap<string, Native> = new Map<string, Native>([
  ...VALUES,
  ...TEXTS,
  ...MATH,
  ...REGEX,
  ...DATES,
  ["have_literal_numbers/0", () => true],
  ["have_decnum/0", () => false],
]);
