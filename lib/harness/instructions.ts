/** Instructions: parts of the system text, written down or made at the start of each turn. */
import { ConfigurationError } from "../base/errors.ts";
import { checkText } from "../base/options.ts";
import type { AgentModel } from "../model/provider.ts";
import type { SandboxLease } from "../sandbox/lease.ts";

/** Prompts of a harness's MCP servers. */
export interface McpPrompts {
  /** A server's prompt as text: its messages as `role: text`, apart by a blank line. */
  prompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string>;
}

/** What a resolver of instructions gets. */
export interface InstructionsContext {
  /** The sandbox, lent for this call. */
  readonly sandbox: SandboxLease;
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal;
  /** The model of the turn. */
  readonly model: AgentModel;
  /** The prompts of the harness's MCP servers; absent when it has none. */
  readonly mcp?: McpPrompts;
}

/** Makes a text; a blank one is left out. */
export type InstructionsResolver = (context: InstructionsContext) => string | Promise<string>;

/** A part of the system text; made by {@link defineHarnessInstructions}, frozen. */
export interface HarnessInstructions {
  /** Marks instructions. */
  readonly kind: "instructions";
  /** The text for one turn. */
  resolve(context: InstructionsContext): Promise<string>;
}

/**
 * Defines a part of the system text: a text, or a function that is called once a turn.
 *
 * @throws ConfigurationError for a blank text
 *
 * @example
 * ```ts
 * import { defineHarnessInstructions } from "./instructions.ts";
 * const brief = defineHarnessInstructions(({ model }) => `You are ${model.name}. Be brief.`);
 * console.assert(brief.kind === "instructions");
 * ```
 */
export function defineHarnessInstructions(source: string | InstructionsResolver): HarnessInstructions {
  if (typeof source !== "function") checkText("defineHarnessInstructions: the text", source);
  return Object.freeze({
    kind: "instructions" as const,
    resolve: async (context: InstructionsContext) => {
      const text: unknown = typeof source === "function" ? await source(context) : source;
      if (typeof text !== "string") throw new ConfigurationError("instructions must resolve to a text");
      return text;
    },
  });
}

/** The entry as instructions; anything else is refused. */
export function asInstructions(entry: unknown, what: string): HarnessInstructions {
  if (typeof entry === "string") {
    checkText(what, entry);
    return defineHarnessInstructions(entry);
  }
  if ((entry as HarnessInstructions | null)?.kind === "instructions") return entry as HarnessInstructions;
  throw new ConfigurationError(`${what} must be a text, or made by defineHarnessInstructions`);
}
