/** Noticing the end mark of an event stream, which the client library hides. */

const MARK = /^data: ?\[DONE\]$/;
/** More of a line than the mark has is never needed. */
const KEPT = 32;

/** Looks for a line `data: [DONE]` in a text that comes in pieces. */
export class DoneMark {
  #line = "";
  #seen = false;

  /** Whether the line has come; one at the very end needs no line break. */
  get seen(): boolean {
    return this.#seen || MARK.test(this.#line);
  }

  /** Adds a piece. */
  look(text: string): void {
    if (this.#seen) return;
    const lines = (this.#line + text).split(/[\r\n]/);
    this.#line = lines.pop()!.slice(0, KEPT);
    this.#seen = lines.some((line) => MARK.test(line));
  }
}
