/** Hooks: functions of the user's own at fixed places of a turn. */
import { ConfigurationError } from "../base/errors.ts";
import { checkKeys, checkOneOf, checkText } from "../base/options.ts";
import type { ModelMessage } from "../model/message.ts";
import type { AgentModel, ModelResult } from "../model/provider.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import type { ToolOutput } from "../tool/tool.ts";
import type { EventStream } from "./events.ts";

/** A tool call as hooks see it. */
export interface HookCall {
  /** The id of the model's tool call. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** Before a tool: the checked input, as the hooks before left it. After it: what the model sent. */
  readonly input: unknown;
}

/** What a hook of each phase gets besides {@link HookContext}, and what it may give back. */
export interface HookPhases {
  /** Before the first step. `instructions` are added to the system text. */
  "session-start": { input: { readonly prompt: string }; output: { readonly instructions: string } };
  /** Before each request. */
  "before-model": { input: { readonly messages: readonly ModelMessage[] }; output: never };
  /** After each answer. */
  "after-model": { input: { readonly result: ModelResult }; output: never };
  /** Before each call that permissions allow: refuse it, or change its input. */
  "before-tool": {
    input: { readonly call: HookCall };
    output: { readonly deny: string } | { readonly input: unknown };
  };
  /** After each call, also those that were denied or failed: change what the model gets. */
  "after-tool": {
    input: { readonly call: HookCall; readonly result: { readonly content: string; readonly isError: boolean } };
    output: { readonly result: ToolOutput };
  };
  /** When the model is done: have it go on, with this text as the user's. */
  "stop": { input: { readonly text: string }; output: { readonly continue: string } };
}

/** A place of a turn. */
export type HookPhase = keyof HookPhases;

/** What every hook gets. */
export interface HookContext {
  /** The sandbox, lent for this call. */
  readonly sandbox: SandboxLease;
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal;
  /** The model in force. */
  readonly model: AgentModel;
  /** The step, from 1; 0 before the first. */
  readonly step: number;
}

/** Options of {@link defineHarnessHook}. */
export interface HarnessHookOptions<P extends HookPhase> {
  /** When it runs. */
  readonly on: P;
  /** What it is called in events. Default: the phase. */
  readonly name?: string;
  /** Runs it. What it throws fails the turn; nothing given back changes nothing. */
  run(
    input: HookPhases[P]["input"] & HookContext,
  ): HookPhases[P]["output"] | void | Promise<HookPhases[P]["output"] | void>;
}

/** A hook; made by {@link defineHarnessHook}, frozen. */
export interface HarnessHook {
  /** Marks a hook. */
  readonly kind: "hook";
  /** When it runs. */
  readonly on: HookPhase;
  /** What it is called in events. */
  readonly name: string;
  /** Runs it. */
  run(input: unknown): unknown;
}

/** The key that each phase's answer has; none where nothing can be changed. */
const ANSWERS: Readonly<Record<HookPhase, readonly string[]>> = {
  "session-start": ["instructions"],
  "before-model": [],
  "after-model": [],
  "before-tool": ["deny", "input"],
  "after-tool": ["result"],
  "stop": ["continue"],
};

/**
 * Defines a hook.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { defineHarnessHook } from "./hooks.ts";
 * const noPush = defineHarnessHook({
 *   on: "before-tool",
 *   run: ({ call }) => JSON.stringify(call.input).includes("git push") ? { deny: "nothing is pushed" } : undefined,
 * });
 * console.assert(noPush.name === "before-tool");
 * ```
 */
export function defineHarnessHook<P extends HookPhase>(options: HarnessHookOptions<P>): HarnessHook {
  checkKeys("defineHarnessHook", options, ["on", "name", "run"]);
  const { on, name = on, run } = options;
  checkOneOf("defineHarnessHook: on", on, Object.keys(ANSWERS));
  checkText("defineHarnessHook: name", name);
  if (typeof run !== "function") throw new ConfigurationError("defineHarnessHook: run must be a function");
  return Object.freeze({
    kind: "hook" as const,
    on,
    name,
    run: (input: unknown) => options.run(input as HookPhases[P]["input"] & HookContext),
  });
}

/** Runs the hooks of a turn. */
export class HookRunner {
  readonly #hooks: readonly HarnessHook[];
  readonly #context: Omit<HookContext, "step">;
  readonly #events: EventStream;

  /** Hooks in the order in which they were declared. */
  constructor(hooks: readonly HarnessHook[], context: Omit<HookContext, "step">, events: EventStream) {
    this.#hooks = hooks;
    this.#context = context;
    this.#events = events;
  }

  /**
   * Runs the hooks of a phase one after the other. `use` gets each answer and says whether the rest still run; it may
   * change what they are given by `inputOf`.
   */
  async run<P extends HookPhase>(
    phase: P,
    step: number,
    inputOf: () => HookPhases[P]["input"],
    use: (answer: HookPhases[P]["output"]) => "go-on" | "stop" = () => "go-on",
  ): Promise<void> {
    for (const hook of this.#hooks) {
      if (hook.on !== phase) continue;
      const answer = await hook.run({ ...this.#context, step, ...inputOf() });
      const changed = answer !== undefined && answer !== null;
      if (changed) checkAnswer(hook, answer);
      this.#events.emit({ kind: "hook", phase, name: hook.name, changed });
      if (changed && use(answer as HookPhases[P]["output"]) === "stop") return;
    }
  }
}

function checkAnswer(hook: HarnessHook, answer: unknown): void {
  const keys = ANSWERS[hook.on];
  const given = typeof answer === "object" && answer !== null && !Array.isArray(answer) ? Object.keys(answer) : [];
  const what = keys.length === 0 ? "nothing" : keys.map((key) => `{ ${key} }`).join(" or ");
  const wrong = `the hook \`${hook.name}\` must give back ${what} (got ${JSON.stringify(answer)})`;
  if (given.length !== 1 || !keys.includes(given[0]!)) throw new ConfigurationError(wrong);
  const [key, value] = Object.entries(answer as object)[0]!;
  const isText = key === "instructions" || key === "deny" || key === "continue";
  const blank = typeof value !== "string" || (key !== "instructions" && value.trim() === "");
  if (isText && blank) throw new ConfigurationError(wrong);
}
