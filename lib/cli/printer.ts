/** Printing answers: streamed as they come, or whole. */
import type { HarnessEvent } from "../harness/events.ts";
import type { TurnResult } from "../harness/turn.ts";
import type { Usage } from "../model/usage.ts";
import type { AnswerSink } from "./output.ts";
import type { Io } from "./io.ts";

/** What is printed. */
export interface PrintOptions {
  readonly showReasoning: boolean;
  readonly json: boolean;
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
    if (event.kind === "step") this.#inReasoning = false;
    else if (event.kind === "usage") this.#endRound();
    else if (event.kind === "reasoning-delta" && this.#showReasoning) this.#reasoning(event.text);
    else if (event.kind === "text-delta") this.#text(event.text);
  };

  /** Ends the answer's last line, also of one that broke off. */
  end(): void {
    if (this.#lineOpen) this.#sink.write("\n");
    this.#lineOpen = false;
  }

  #endRound(): void {
    // Between rounds nothing is added to what a program reads. A person sees each round on lines of its own, and the
    // line that shows what is waited for must not take the answer's place.
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
    this.#sink.write(text);
    this.#lineOpen = true;
  }
}

/** Prints a whole answer. */
export async function printAnswer(io: Io, sink: AnswerSink, result: TurnResult, options: PrintOptions): Promise<void> {
  const { text, reasoning } = result;
  if (options.json) {
    const usage = result.lastUsage === undefined ? null : wireUsage(result.lastUsage);
    await sink.writeWhole(`${JSON.stringify({ content: text, reasoning: reasoning ?? null, usage })}\n`);
    return;
  }
  const shown = options.showReasoning && reasoning !== undefined ? `Reasoning:\n${reasoning}\n\n` : "";
  if (sink.toStdout) {
    await sink.writeWhole(`${shown}${text}\n`);
  } else {
    io.stderr.write(shown);
    await sink.writeWhole(`${text}\n`);
  }
}

/** Tokens under the names that the wire has. */
export function wireUsage(usage: Usage): { prompt_tokens: number; completion_tokens: number; total_tokens: number } {
  return { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output };
}
