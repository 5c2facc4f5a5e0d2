/** `createReporter`: a dispatch on a terminal, for people who watch. */
import { createPaint, type Paint, wantsColor } from "../base/color.ts";
import { readEnvironment } from "../base/environment.ts";
import { checkKeys, checkText } from "../base/options.ts";
import { shorten, visible } from "../base/text.ts";
import type { DispatchObservation } from "./observation.ts";

/** Options of {@link createReporter}. */
export interface ReporterOptions {
  /** The name in front of each line. Default: `dispatch`. */
  readonly label?: string;
  /** Takes whole lines, each with its line feed. Default: standard error. */
  readonly write?: (text: string) => void;
  /** Whether lines are coloured. Default: on a terminal, unless `NO_COLOR` is set. */
  readonly color?: boolean;
}

/** Where a line is cut, unless it is part of an answer. */
const LINE_CHARACTERS = 160;

/**
 * An observer for `dispatch({ observe })` that prints what happens, a line each: stages, tool calls and how long they
 * took, what the agent says, warnings, and how it ended, with the time and the tokens. Several dispatches can print to
 * one terminal; each line says whose it is.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { createReporter } from "./reporter.ts";
 * let printed = "";
 * const observe = createReporter({ label: "review", color: false, write: (text) => printed += text });
 * observe({ kind: "warning", message: "take care", seq: 0, at: "2026-01-01T00:00:00.000Z", pass: 1 });
 * console.assert(printed === "[review · pass 1] ! take care\n");
 * ```
 */
export function createReporter(options: ReporterOptions = {}): (observation: DispatchObservation) => void {
  checkKeys("createReporter", options, ["label", "write", "color"]);
  const { label = "dispatch" } = options;
  checkText("createReporter: label", label);
  const color = options.color ?? wantsColor(Deno.stderr.isTerminal(), readEnvironment);
  const encoder = new TextEncoder();
  const write = options.write ?? ((text: string) => void Deno.stderr.writeSync(encoder.encode(text)));
  const reporter = new Reporter(label, createPaint(color), write);
  return (observation) => reporter.heard(observation);
}

class Reporter {
  readonly #label: string;
  readonly #paint: Paint;
  readonly #write: (text: string) => void;
  readonly #calls = new Map<string, { readonly since: number; readonly what: string }>();

  constructor(label: string, paint: Paint, write: (text: string) => void) {
    this.#label = label;
    this.#paint = paint;
    this.#write = write;
  }

  heard(event: DispatchObservation): void {
    const { dim, red, yellow, cyan, bold } = this.#paint;
    switch (event.kind) {
      case "phase":
        if (event.name === "agent") this.#line(event, dim(`▸ agent on ${event.branch || "a detached HEAD"}`));
        else this.#line(event, dim(`▸ ${event.name}`));
        break;
      case "tool":
        this.#calls.set(keyOf(event), {
          since: Date.parse(event.at),
          what: `${event.name} ${oneLine(event.arguments)}`,
        });
        break;
      case "tool-denied":
        this.#line(event, yellow(`✗ ${event.name}: ${oneLine(event.reason)}`));
        break;
      case "tool-ended":
        this.#ended(event);
        break;
      case "text":
        for (const line of event.text.trim().split("\n")) this.#line(event, visible(line), Infinity);
        break;
      case "subagent":
        if (event.status === "started") this.#line(event, cyan(`→ ${event.name}`));
        break;
      case "steer":
        this.#line(event, cyan(`← ${oneLine(event.text)}`));
        break;
      case "warning":
      case "notice":
        this.#line(event, yellow(`! ${oneLine(event.message)}`));
        break;
      case "model-retry":
      case "response-repair":
        this.#line(event, yellow(`↻ ${oneLine(event.message)}`));
        break;
      case "stuck":
        this.#line(event, yellow(`! ${event.tool} was called ${event.repeats} times with the same arguments`));
        break;
      case "finished":
        this.#line(event, bold(`✓ finished ${figures(event)}`));
        break;
      case "failure":
        this.#line(event, red(`✗ failed (${event.code}) ${figures(event)}: ${visible(event.message)}`), Infinity);
        break;
      case "stopped":
        this.#line(event, red(`✗ stopped (${event.reason}) ${figures(event)}`));
    }
  }

  #ended(event: Extract<DispatchObservation, { kind: "tool-ended" }>): void {
    const call = this.#calls.get(keyOf(event));
    if (call === undefined) return;
    this.#calls.delete(keyOf(event));
    const { dim, yellow } = this.#paint;
    const seconds = ((Date.parse(event.at) - call.since) / 1000).toFixed(1);
    this.#line(event, event.isError ? yellow(`✗ ${call.what} ${seconds}s`) : dim(`✓ ${call.what} ${seconds}s`));
  }

  #line({ pass, scope, subagentId }: DispatchObservation, text: string, most = LINE_CHARACTERS): void {
    const who = subagentId === undefined ? this.#label : `${this.#label}/${visible(scope?.label ?? "subagent")}`;
    const prefix = pass === 0 ? `[${who}]` : `[${who} · pass ${pass}]`;
    this.#write(`${this.#paint.dim(prefix)} ${Number.isFinite(most) ? shorten(text, most) : text}\n`);
  }
}

function keyOf({ subagentId = "", callId }: { subagentId?: string; callId: string }): string {
  return `${subagentId}/${callId}`;
}

function oneLine(text: string): string {
  return shorten(visible(text.replace(/\s+/g, " ").trim()), 120);
}

function figures(
  { durationMs, usage }: { durationMs: number; usage: { input: number; output: number; complete?: boolean } },
): string {
  const tokens = `${usage.input} tokens in, ${usage.output} out${usage.complete === false ? " at least" : ""}`;
  return `after ${(durationMs / 1000).toFixed(1)}s, ${tokens}`;
}
