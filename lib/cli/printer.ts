/** Printing answers: streamed as they come, or whole. */
import type { HarnessEvent } from "../harness/events.ts";
import type { TurnResult } from "../harness/turn.ts";
import type { Usage } from "../model/usage.ts";
import type { AnswerSink } from "./output.ts";
import { createPaint, wantsColor } from "../base/color.ts";
import type { Io } from "./io.ts";
import { withoutFence } from "./structured.ts";

/** What is printed. */
export interface PrintOptions {
  readonly showReasoning: boolean;
  readonly json: boolean;
  /** Style Markdown when a person reads it. */
  readonly render: boolean;
  /** The answer was asked to be JSON: a Markdown fence around all of it is taken off. */
  readonly structured: boolean;
}

/** Prints a streamed answer; an observer of the turn. */
export class StreamPrinter {
  readonly #io: Io;
  readonly #sink: AnswerSink;
  readonly #showReasoning: boolean;
  #inReasoning = false;
  #lineOpen = false;

  /** Prints to `sink`. */
  constructor(io: Io, sink: AnswerSink, options: Pick<PrintOptions, "showReasoning">) {
    this.#io = io;
    this.#sink = sink;
    this.#showReasoning = options.showReasoning;
  }

  /** Hears the turn's events. */
  readonly observe = (event: HarnessEvent): void => {
    if (event.subagentId !== undefined) return; // What subagents say is for the agent that asked them.
    if (event.kind === "step") this.#inReasoning = false;
    else if (event.kind === "usage") this.breakLine();
    else if (event.kind === "reasoning-delta" && this.#showReasoning) this.#reasoning(event.text);
    else if (event.kind === "text-delta") this.#text(event.text);
  };

  /** Ends the answer's last line. */
  end(): void {
    if (this.#lineOpen) this.#sink.write("\n");
    this.#lineOpen = false;
  }

  /** Ends an open line on a terminal: after a round, and where an answer broke off. */
  breakLine(): void {
    // Nothing is added to what a program reads. A person sees each round on lines of its own, and the line that shows
    // what is waited for must not take the answer's place.
    if (this.#sink.toStdout && this.#io.stdout.isTerminal) this.end();
  }

  #reasoning(text: string): void {
    const shown = this.#inReasoning ? text : `Reasoning:\n${text}`;
    this.#inReasoning = true;
    if (this.#sink.toStdout) this.#write(shown);
    else this.#io.stderr.write(shown);
  }

  #text(text: string): void {
    if (this.#inReasoning) {
      if (this.#sink.toStdout) this.#write("\n\n");
      else this.#io.stderr.write("\n\n");
    }
    this.#inReasoning = false;
    this.#write(text);
  }

  #write(text: string): void {
    this.#sink.write(this.#sink.toStdout && this.#io.stdout.isTerminal ? harmless(text) : text);
    this.#lineOpen = true;
  }
}

/** Prints a whole answer. */
export async function printAnswer(io: Io, sink: AnswerSink, result: TurnResult, options: PrintOptions): Promise<void> {
  const { reasoning } = result;
  const text = options.structured ? withoutFence(result.text) : result.text;
  if (options.json) {
    const usage = result.lastUsage === undefined ? null : wireUsage(result.lastUsage);
    await sink.writeWhole(`${JSON.stringify({ content: text, reasoning: reasoning ?? null, usage })}\n`);
    return;
  }
  const shown = options.showReasoning && reasoning !== undefined ? `Reasoning:\n${reasoning}\n\n` : "";
  if (!sink.toStdout) {
    io.stderr.write(shown);
    await sink.writeWhole(`${text}\n`);
  } else if (io.stdout.isTerminal) {
    const answer = options.render ? await rendered(io, text) : harmless(text);
    await sink.writeWhole(`${harmless(shown)}${answer}\n`);
  } else {
    await sink.writeWhole(`${shown}${text}\n`);
  }
}

async function rendered(io: Io, text: string): Promise<string> {
  const { renderMarkdown } = await import("./markdown.ts");
  return renderMarkdown(harmless(text), createPaint(wantsColor(io.stdout.isTerminal, io.environment)));
}

// What a model writes must not drive the terminal: everything that is no text, a tab or a line ending.
// deno-lint-ignore no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** The text with control characters made visible. Only for terminals: a file or a pipe gets what the model wrote. */
export function harmless(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}

/** Tokens under the names that the wire has. */
export function wireUsage(usage: Usage): { prompt_tokens: number; completion_tokens: number; total_tokens: number } {
  return { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output };
}
