/** A few lines at the bottom of a terminal that are drawn again and again, below lines that stay. */
import { visible } from "../base/text.ts";
import type { Io } from "./io.ts";
import { terminalWidth, withinCells } from "./progress.ts";

const REFRESH_MS = 100;
/** Lines of a terminal that cannot tell its height. */
const ROWS = 24;

/** See the module. On a terminal that cannot move its cursor, and anywhere else, nothing is drawn. */
export class LiveBlock {
  readonly #io: Pick<Io, "stderr">;
  readonly #lines: () => readonly string[];
  #able: boolean;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** How many lines are on the screen. */
  #drawn = 0;

  /** `lines` is asked for what to draw; an empty list draws nothing. */
  constructor(io: Pick<Io, "stderr" | "environment">, able: boolean, lines: () => readonly string[]) {
    this.#io = io;
    this.#able = able && io.stderr.isTerminal && io.environment("TERM") !== "dumb";
    this.#lines = lines;
  }

  /** Draws from time to time. */
  start(): void {
    if (!this.#able || this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#draw(""), REFRESH_MS);
    Deno.unrefTimer(this.#timer as unknown as number);
  }

  /** Takes the lines away, until it is started again. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#io.stderr.write(this.#erase());
  }

  /** Leaves what is drawn as it is, and draws no more: somebody else has written below it. */
  abandon(): void {
    clearInterval(this.#timer);
    this.#drawn = 0;
    this.#able = false;
  }

  /** Writes something that stays above the lines; it ends with a line ending. */
  write(text: string): void {
    if (this.#drawn === 0) this.#io.stderr.write(text);
    else this.#draw(text);
  }

  #draw(above: string): void {
    const most = Math.max(1, Math.min(8, terminalRows() - 2));
    const all = this.#lines();
    const lines = all.length <= most ? all : [...all.slice(0, most - 1), `  … and ${all.length - most + 1} more`];
    const width = Math.max(20, terminalWidth() - 1);
    const shown = lines.map((line) => withinCells(visible(line), width)).join("\n");
    const erase = this.#erase();
    this.#drawn = lines.length;
    this.#io.stderr.write(`${erase}${above}${shown}`);
  }

  /** Brings the cursor to where the lines began, with nothing behind it. */
  #erase(): string {
    const up = this.#drawn > 1 ? `\x1b[${this.#drawn - 1}A` : "";
    const text = this.#drawn === 0 ? "" : `\r${up}\x1b[J`;
    this.#drawn = 0;
    return text;
  }
}

function terminalRows(): number {
  try {
    return Deno.consoleSize().rows || ROWS;
  } catch {
    return ROWS;
  }
}
