/** A few lines at the bottom of a terminal that are drawn again and again, below lines that stay. */
import { visible } from "../base/text.ts";
import type { Io } from "./io.ts";

const REFRESH_MS = 100;
const ERASE_LINE = "\x1b[2K";
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
    this.#write(this.#erase());
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
    const shown = lines.map(fitted).join("\n");
    const erase = this.#erase();
    this.#drawn = lines.length;
    this.#write(`${erase}${above}${shown}`);
  }

  #write(text: string): void {
    if (text !== "") this.#io.stderr.write(text);
  }

  /** Brings the cursor to where the lines began, with nothing behind it. */
  #erase(): string {
    const text = this.#drawn === 0 ? "" : `\r${ERASE_LINE}${`\x1b[1A${ERASE_LINE}`.repeat(this.#drawn - 1)}`;
    this.#drawn = 0;
    return text;
  }
}

/** The text on one line of the terminal, nothing in it able to move the cursor: a line that wraps cannot be erased. */
export function fitted(text: string): string {
  return withinCells(visible(text), Math.max(20, terminalWidth() - 2));
}

/** A duration as people read it: `1.5s`. */
export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)}s`;
}

function terminalWidth(): number {
  try {
    return Deno.consoleSize().columns || 80;
  } catch {
    return 80;
  }
}

/** East Asian wide and full-width characters, and emoji, take two cells of a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** The text cut to so many cells, with `…` behind it when something was cut. */
function withinCells(text: string, most: number): string {
  let cells = 0;
  let length = 0;
  for (const character of text) {
    cells += WIDE.test(character) ? 2 : 1;
    if (cells > most) return `${text.slice(0, length)}…`;
    length += character.length;
  }
  return text;
}

function terminalRows(): number {
  try {
    return Deno.consoleSize().rows || ROWS;
  } catch {
    return ROWS;
  }
}
