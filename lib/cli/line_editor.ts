/**
 * Editing a line on a terminal: arrows, words, the lines before, and pasted text of several lines. The keys are read
 * through `io.stdin`, so that nothing that is typed is lost between this and other questions.
 */
import type { Io } from "./io.ts";

/** What came of asking for a line. */
export type EditedLine =
  | { readonly kind: "line"; readonly text: string }
  /** Ctrl-C; `text` is what stood there. */
  | { readonly kind: "interrupt"; readonly text: string }
  /** Ctrl-D on an empty line, or the end of the input. */
  | { readonly kind: "end" };

/** How a line is asked for. */
export interface LineOptions {
  readonly prompt: string;
  /** The lines that can be recalled, the newest first. */
  readonly history: readonly string[];
  readonly signal: AbortSignal;
}

/** Stands for a line ending within one edited line. */
const NEW_LINE = "␤";
const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";
/** How long an escape byte waits for the rest of a key. */
const ESCAPE_MS = 50;

/** Whether a line can be edited: both ends are a terminal that can move the cursor. */
export function canEdit(io: Io): boolean {
  return io.stdin.isTerminal && io.stderr.isTerminal && io.environment("TERM") !== "dumb" &&
    io.stdin.setRaw !== undefined;
}

/** Asks for a line. */
export async function editLine(io: Io, { prompt, history, signal }: LineOptions): Promise<EditedLine> {
  const { Buffer, createInterface, EventEmitter, Writable } = await import("../deps/readline.ts");
  const keys = Object.assign(new EventEmitter(), {
    isTTY: true,
    setRawMode: (on: boolean) => io.stdin.setRaw!(on),
    pause: () => {},
    resume: () => {},
  });
  const screen = Object.assign(
    new Writable({
      write: (chunk: Uint8Array, _encoding: string, done: () => void) => {
        io.stderr.write(new TextDecoder().decode(chunk));
        done();
      },
    }),
    { isTTY: true, columns: columns() },
  );
  const { promise, resolve } = Promise.withResolvers<EditedLine>();
  const editor = createInterface({
    // The editor needs of its streams what these have, not all that their types say.
    input: keys as unknown as Parameters<typeof createInterface>[0]["input"],
    output: screen,
    terminal: true,
    history: history.map((line) => line.replaceAll("\n", NEW_LINE)),
    historySize: Math.max(1, history.length),
    escapeCodeTimeout: ESCAPE_MS,
  });
  editor.on("line", (line: string) => resolve({ kind: "line", text: line.replaceAll(NEW_LINE, "\n") }));
  editor.on("SIGINT", () => resolve({ kind: "interrupt", text: editor.line }));
  editor.on("SIGTSTP", () => {}); // A chat is not put into the background: its terminal would stay raw.
  editor.on("close", () => resolve({ kind: "end" }));
  const resized = () => {
    screen.columns = columns();
    screen.emit("resize");
  };
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGWINCH", resized);
  let ended = false;
  void promise.then(() => ended = true);
  try {
    io.stderr.write(PASTE_ON);
    editor.setPrompt(prompt);
    editor.prompt();
    const paste = new PasteReader();
    while (!ended) {
      const bytes = await io.stdin.readSome(signal);
      if (bytes === undefined) {
        resolve({ kind: "end" });
        break;
      }
      let used = 0;
      // Only up to a line's end: what is typed ahead belongs to whoever asks next.
      while (used < bytes.length && !ended) {
        const end = paste.open ? bytes.length : endOfLine(bytes, used);
        for (const part of paste.read(bytes.subarray(used, end))) keys.emit("data", Buffer.from(part));
        used = end;
        await Promise.resolve();
      }
      io.stdin.unread(bytes.subarray(used));
    }
    return await promise;
  } finally {
    if (Deno.build.os !== "windows") Deno.removeSignalListener("SIGWINCH", resized);
    editor.close();
    io.stderr.write(PASTE_OFF);
    io.stdin.setRaw!(false);
  }
}

/** Behind the next byte that ends a line, or the end. */
function endOfLine(bytes: Uint8Array, from: number): number {
  const at = bytes.findIndex((byte, index) => index >= from && (byte === 13 || byte === 10));
  return at < 0 ? bytes.length : at + 1;
}

function columns(): number {
  try {
    return Deno.consoleSize().columns || 80;
  } catch {
    return 80;
  }
}

/** Makes a pasted text one line, whose line endings are shown as signs. */
class PasteReader {
  /** Whether a paste has begun and not ended. */
  open = false;
  #held = "";
  #afterReturn = false;
  readonly #decoder = new TextDecoder();

  /** The parts of the input that the editor is to see. */
  read(bytes: Uint8Array): string[] {
    let text = this.#held + this.#decoder.decode(bytes, { stream: true });
    this.#held = "";
    const parts: string[] = [];
    for (;;) {
      const mark = this.open ? "\x1b[201~" : "\x1b[200~";
      const at = text.indexOf(mark);
      if (at >= 0) {
        parts.push(this.#shown(text.slice(0, at)));
        text = text.slice(at + mark.length);
        this.open = !this.open;
        continue;
      }
      // The mark may be cut by the end of what was read.
      const cut = cutMark(text, mark);
      this.#held = text.slice(text.length - cut);
      parts.push(this.#shown(text.slice(0, text.length - cut)));
      return parts.filter((part) => part !== "");
    }
  }

  #shown(text: string): string {
    if (!this.open || text === "") return text;
    const pasted = this.#afterReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#afterReturn = text.endsWith("\r");
    // deno-lint-ignore no-control-regex
    return pasted.replaceAll(/\r\n|\r|\n/g, NEW_LINE).replaceAll("\t", "    ").replaceAll(/[\x00-\x1f\x7f]/g, "");
  }
}

/** How much of the mark's beginning stands at the end of the text; two bytes of it are any other key's, too. */
function cutMark(text: string, mark: string): number {
  for (let length = mark.length - 1; length > 2; length--) if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}
