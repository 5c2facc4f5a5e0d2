/** A chat in the terminal: one turn after the other, until it is left. */
import { LIMITS } from "../base/limits.ts";
import { PRODUCT_NAME } from "../base/product.ts";
import { anySignal, throwIfAborted } from "../base/signals.ts";
import { textBlock, userMessage } from "../harness/turn_messages.ts";
import type { ModelMessage } from "../model/message.ts";
import type { Project } from "../project/project.ts";
import { Sessions } from "../project/sessions.ts";
import { type CallerSettings, resolveSettings } from "../project/settings.ts";
import { Asker, type AskOptions } from "./ask.ts";
import type { CommandContext } from "./command.ts";
import { reportError } from "./exit.ts";
import type { Interrupts } from "./interrupt.ts";
import { Interruption } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { canEdit, type EditedLine, editLine } from "./line_editor.ts";
import { Log, logLevel } from "./log.ts";
import { say } from "./say.ts";

/** What a chat starts with. */
export interface ReplOptions {
  readonly project: Project;
  readonly caller: CallerSettings;
  /** The conversation to go on with, and to keep. */
  readonly session: string | undefined;
  readonly showReasoning: boolean;
  readonly showUsage: boolean;
  readonly approveTools: boolean;
  readonly verbose: number;
}

const HELP: Readonly<Record<string, string>> = {
  "/clear": "forget what was said, not the session's file",
  "/model NAME": "go on with another model",
  "/system TEXT": "go on with another system prompt",
  "/help": "show this",
  "/exit": "leave; so does the end of the input (Ctrl-D)",
};

/** The reason of a turn that Ctrl-C has stopped. */
class TurnStopped extends Error {}

/** Runs a chat until it is left. */
export async function runRepl({ io, signal, intercept }: CommandContext, options: ReplOptions): Promise<void> {
  await new Repl(io, signal, intercept, options).run();
}

class Repl {
  readonly #io: Io;
  readonly #signal: AbortSignal;
  readonly #intercept: Interrupts["intercept"];
  readonly #options: ReplOptions;
  readonly #log: Log;
  readonly #sessions: Sessions;
  /** What the user has typed, the newest first. */
  readonly #typed: string[] = [];
  #caller: CallerSettings;
  #messages: ModelMessage[] = [];
  /** Whether Ctrl-C at an empty prompt leaves: it was the last thing that happened. */
  #leaving = false;

  constructor(io: Io, signal: AbortSignal, intercept: Interrupts["intercept"], options: ReplOptions) {
    this.#io = io;
    this.#signal = signal;
    this.#intercept = intercept;
    this.#options = options;
    this.#caller = options.caller;
    this.#log = new Log(io, logLevel(options.verbose, io.environment));
    this.#sessions = new Sessions(io.directory);
  }

  async run(): Promise<void> {
    const { project, approveTools, session } = this.#options;
    if (session !== undefined) await this.#resume(session);
    this.#greet();
    const asker = new Asker(this.#io, this.#log, { project, signal: this.#signal, approveTools });
    try {
      for (;;) {
        const text = await this.#nextLine();
        if (text === undefined || text === "/exit") break;
        const command = /^\/[A-Za-z][\w-]*(?=\s|$)/.exec(text)?.[0];
        if (command !== undefined) this.#command(command, text.slice(command.length).trim());
        else if (text !== "") await this.#turn(asker, text);
      }
      asker.checkScripts();
    } finally {
      await asker.close();
    }
  }

  /** Takes up what a session has kept. */
  async #resume(session: string): Promise<void> {
    const messages = await this.#sessions.load(session);
    this.#messages = messages.map(({ role, content }) => ({ role, content: [textBlock(content)] }));
    for (const { role, content } of messages) if (role === "user") this.#remember(content);
  }

  #greet(): void {
    if (!this.#io.stdin.isTerminal) return;
    const { session, project } = this.#options;
    const model = this.#caller.model ?? project.config.default?.model;
    const turns = Math.floor(this.#messages.length / 2);
    const about = [
      model === undefined ? "no model yet: /model NAME" : `model ${model}`,
      ...session === undefined ? [] : [`session ${session}${turns === 0 ? "" : ` (${turns} turns)`}`],
      "/help for commands, Ctrl-D to leave",
    ];
    this.#io.stderr.write(`${PRODUCT_NAME} chat: ${about.join("; ")}\n`);
  }

  /** What the user says next, trimmed; undefined when there is no more. */
  async #nextLine(): Promise<string | undefined> {
    const lines: string[] = [];
    for (;;) {
      throwIfAborted(this.#signal);
      await this.#io.stdout.flush();
      const read = await this.#read(lines.length === 0 ? "> " : "… ");
      if (read.kind === "end") return lines.length === 0 ? undefined : lines.join("\n").trim();
      if (read.kind === "interrupt") {
        if (this.#leaving && read.text === "" && lines.length === 0) throw new Interruption("SIGINT");
        lines.length = 0;
        this.#leaving = true;
        say(this.#io, "note", "Ctrl-C once more, or Ctrl-D, to leave");
        continue;
      }
      this.#leaving = false;
      lines.push(read.text);
      if (this.#io.stdin.isTerminal && goesOn(lines)) continue;
      const text = joined(lines, this.#io.stdin.isTerminal).trim();
      if (text !== "") this.#remember(text);
      return text;
    }
  }

  async #read(prompt: string): Promise<EditedLine> {
    const [io, signal] = [this.#io, this.#signal];
    if (canEdit(io)) {
      const read = await editLine(io, { prompt, history: this.#typed, signal });
      if (read.kind !== "line") io.stderr.write("\n");
      return read;
    }
    if (io.stdin.isTerminal) io.stderr.write(prompt);
    const interrupted = new AbortController();
    const release = !io.stdin.isTerminal ? () => {} : this.#intercept(() => {
      interrupted.abort();
      return true;
    });
    try {
      const text = await io.stdin.readLine(anySignal(signal, interrupted.signal));
      return text === undefined ? { kind: "end" } : { kind: "line", text };
    } catch (error) {
      if (!interrupted.signal.aborted || signal.aborted) throw error;
      io.stderr.write("\n");
      return { kind: "interrupt", text: "" };
    } finally {
      release();
    }
  }

  #remember(text: string): void {
    if (this.#typed[0] !== text) this.#typed.unshift(text);
    this.#typed.length = Math.min(this.#typed.length, LIMITS.recalledLines);
  }

  #command(command: string, rest: string): void {
    if (command === "/clear") {
      this.#messages = [];
      say(this.#io, "note", "the conversation starts anew");
    } else if (command === "/help") {
      this.#io.stderr.write(Object.entries(HELP).map(([name, about]) => `  ${name.padEnd(14)}${about}\n`).join(""));
    } else if (command === "/model" || command === "/system") {
      const key = command.slice(1) as "model" | "system";
      if (rest === "") {
        say(this.#io, "note", `usage: ${Object.keys(HELP).find((name) => name.startsWith(command))}`);
        return;
      }
      this.#caller = { ...this.#caller, [key]: rest };
      say(this.#io, "note", key === "model" ? `the model is ${rest}` : "the system prompt is replaced");
    } else {
      say(this.#io, "note", `unknown command ${command}; there are ${Object.keys(HELP).join(", ")}`);
    }
  }

  /** Asks, prints and keeps a turn; a failed one is told and leaves no trace. */
  async #turn(asker: Asker, text: string): Promise<void> {
    const { project, session } = this.#options;
    const stopped = new AbortController();
    const release = !this.#io.stdin.isTerminal ? () => {} : this.#intercept(() => {
      if (stopped.signal.aborted) return false;
      stopped.abort(new TurnStopped("stopped"));
      return true;
    });
    const message = userMessage([textBlock(text)]);
    try {
      const settings = resolveSettings(project, this.#caller, this.#io.environment, {
        modelAdvice: "name one with /model NAME, pass --model NAME, or set default.model in lait.config.yml",
      });
      const result = await asker.ask({
        settings,
        messages: [...this.#messages, message],
        responseFormat: undefined,
        label: "chat",
        signal: anySignal(this.#signal, stopped.signal),
      }, this.#askOptions());
      this.#messages = [...this.#messages, message, { role: "assistant", content: [textBlock(result.text)] }];
      if (session !== undefined) await this.#sessions.append(session, text, result.text);
    } catch (error) {
      throwIfAborted(this.#signal);
      if (error instanceof TurnStopped) {
        this.#leaving = true;
        if (this.#io.stderr.isTerminal) this.#io.stderr.write("\n");
        say(this.#io, "note", "stopped: neither the question nor the answer is kept; Ctrl-C once more leaves");
      } else reportError(this.#io, error, this.#options.verbose > 0);
    } finally {
      release();
    }
  }

  #askOptions(): AskOptions {
    const { showUsage, approveTools, showReasoning } = this.#options;
    return {
      stream: true,
      output: undefined,
      quiet: false,
      showUsage,
      approveTools,
      showReasoning,
      json: false,
      render: false,
      structured: false,
    };
  }
}

const BLOCK = '"""';

/** Whether more lines belong to what was typed: after a backslash, and within `"""`. */
function goesOn(lines: readonly string[]): boolean {
  const first = lines[0]!.trim();
  if (!first.startsWith(BLOCK)) return lines.at(-1)!.endsWith("\\");
  return !(lines.length > 1 || first.length > BLOCK.length) || !lines.at(-1)!.trimEnd().endsWith(BLOCK);
}

/** The lines as one text, without what joined them. */
function joined(lines: readonly string[], terminal: boolean): string {
  const text = lines.join("\n");
  if (!terminal) return text;
  const block = text.trim();
  if (block.startsWith(BLOCK) && block.endsWith(BLOCK) && block.length >= 2 * BLOCK.length) {
    return block.slice(BLOCK.length, -BLOCK.length);
  }
  return text.replaceAll(/\\\n/g, "\n");
}
