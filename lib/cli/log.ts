/** `-v` and `-vv`: what is done, on standard error. Nothing secret is ever given to it. */
import type { EnvironmentReader } from "../base/environment.ts";
import { PRODUCT_NAME } from "../base/product.ts";
import { visible } from "../base/text.ts";
import type { Io } from "./io.ts";

/** Levels by name; what is not said here is as silent as `off`. */
const LEVELS: Readonly<Record<string, number>> = { off: 0, error: 0, warn: 0, info: 0, debug: 1, trace: 2 };

/**
 * The level: `LAIT_LOG` when it is set and makes sense (`debug`, or `lait=trace,other=off`), else how often `-v` was
 * given.
 */
export function logLevel(verbose: number, environment: EnvironmentReader): number {
  const value = environment("LAIT_LOG")?.trim().toLowerCase() ?? "";
  let level: number | undefined;
  for (const part of value.split(",").map((text) => text.trim())) {
    const [target, name] = part.includes("=") ? part.split("=", 2) as [string, string] : [PRODUCT_NAME, part];
    const named = Object.hasOwn(LEVELS, name) ? LEVELS[name] : undefined;
    if (named === undefined) return verbose;
    if (target === PRODUCT_NAME) level = named;
  }
  return level ?? verbose;
}

/** Writes what the level lets through. */
export class Log {
  readonly #io: Io;
  readonly #level: number;

  /** Level 0 is silent, 1 says what is done, 2 says everything. */
  constructor(io: Io, level: number) {
    this.#io = io;
    this.#level = level;
  }

  /** Whether anything is written. */
  get verbose(): boolean {
    return this.#level > 0;
  }

  /** Whether everything is written. */
  get everything(): boolean {
    return this.#level > 1;
  }

  /** With `-v`. */
  debug(message: string): void {
    if (this.#level >= 1) this.#write("debug", message);
  }

  /** With `-vv`. */
  trace(message: string): void {
    if (this.#level >= 2) this.#write("trace", message);
  }

  /** Every line has the level before it, and nothing that could steer a terminal in it. */
  #write(level: string, message: string): void {
    this.#io.stderr.write(message.split("\n").map((line) => `${level}: ${visible(line)}\n`).join(""));
  }
}
