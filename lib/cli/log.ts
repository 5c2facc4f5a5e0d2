/** `-v` and `-vv`: what is done, on standard error. Nothing secret is ever given to it. */
import { visible } from "../base/text.ts";
import type { Io } from "./io.ts";

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
