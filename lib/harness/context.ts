/** Context strategies: what the model sees of a long history. */
import { ConfigurationError } from "../base/errors.ts";
import { checkInteger, checkKeys, checkText } from "../base/options.ts";
import { headOf } from "../base/text.ts";
import { checkMessages, type ModelContentBlock, type ModelMessage } from "../model/message.ts";
import type { AgentModel } from "../model/provider.ts";
import type { Usage } from "../model/usage.ts";

/** What a strategy gets before each request. */
export interface CompactionInput {
  /** The history, which ends with the user's message. */
  readonly messages: readonly ModelMessage[];
  /** The step that follows, from 1. */
  readonly step: number;
  /** The model in force. */
  readonly model: AgentModel;
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal;
  /** The tokens of the request before, where they are known. */
  readonly lastUsage?: Usage;
  /**
   * Asks the model for a summary: one more request without tools, counted like any other.
   *
   * @throws ResponseError when the summary is blank or was cut
   */
  summarize(messages: readonly ModelMessage[], options?: { readonly model?: string }): Promise<string>;
}

/** A strategy; made by {@link defineHarnessContextStrategy}, frozen. */
export interface HarnessContextStrategy {
  /** Marks a strategy. */
  readonly kind: "context";
  /** What it is called in events. */
  readonly name: string;
  /** The history to go on with; undefined leaves it as it is. */
  compact(
    input: CompactionInput,
  ): readonly ModelMessage[] | undefined | Promise<readonly ModelMessage[] | undefined>;
}

/**
 * Defines a strategy. What it gives back must be a valid conversation; reasoning blocks are taken out of it.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { defineHarnessContextStrategy } from "./context.ts";
 * const keepAll = defineHarnessContextStrategy({ name: "keep-all", compact: () => undefined });
 * console.assert(keepAll.name === "keep-all");
 * ```
 */
export function defineHarnessContextStrategy(
  options: Pick<HarnessContextStrategy, "name" | "compact">,
): HarnessContextStrategy {
  checkKeys("defineHarnessContextStrategy", options, ["name", "compact"]);
  checkText("defineHarnessContextStrategy: name", options.name);
  if (typeof options.compact !== "function") {
    throw new ConfigurationError("defineHarnessContextStrategy: compact must be a function");
  }
  return Object.freeze({
    kind: "context" as const,
    name: options.name,
    compact: (input: CompactionInput) => options.compact(input),
  });
}

/** Options of {@link truncateToolResults}. */
export interface TruncateOptions {
  /** Newest messages with tool results that stay whole. Default: 4. */
  readonly keepRecent?: number;
  /** Characters that a result of an older one may have. Default: 2,000. */
  readonly maxCharacters?: number;
}

/**
 * A strategy that cuts long tool results in all but the newest messages.
 *
 * @throws ConfigurationError for a wrong option
 */
export function truncateToolResults(options: TruncateOptions = {}): HarnessContextStrategy {
  checkKeys("truncateToolResults", options, ["keepRecent", "maxCharacters"]);
  const { keepRecent = 4, maxCharacters = 2_000 } = options;
  checkInteger("truncateToolResults: keepRecent", keepRecent, 1);
  checkInteger("truncateToolResults: maxCharacters", maxCharacters, 1);
  const note = (characters: number) => `\n[cut to ${maxCharacters} of ${characters} characters]`;
  const isCut = (content: string) =>
    /\n\[cut to \d+ of \d+ characters\]$/.test(content) && content.length <= maxCharacters + 60;
  const cut = (block: ModelContentBlock): ModelContentBlock => {
    if (block.type !== "tool-result" || block.content.length <= maxCharacters || isCut(block.content)) return block;
    return { ...block, content: `${headOf(block.content, maxCharacters)}${note(block.content.length)}` };
  };
  return defineHarnessContextStrategy({
    name: "truncate-tool-results",
    compact({ messages }) {
      const bearing = messages.flatMap(({ content }, index) => content.some(isResult) ? [index] : []);
      const old = new Set(bearing.slice(0, Math.max(0, bearing.length - keepRecent)));
      let changed = false;
      const result = messages.map((message, index) => {
        if (!old.has(index)) return message;
        const content = message.content.map(cut);
        if (content.every((block, at) => block === message.content[at])) return message;
        changed = true;
        return { ...message, content };
      });
      return changed ? result : undefined;
    },
  });
}

function isResult(block: ModelContentBlock): boolean {
  return block.type === "tool-result";
}

/** Options of {@link summarizeHistory}. */
export interface SummarizeOptions {
  /** Characters of the history's JSON text above which it is summarized. Default: 400,000. */
  readonly triggerCharacters?: number;
  /** Newest messages that stay, at least. Default: 6. */
  readonly keepRecentMessages?: number;
}

/**
 * A strategy that puts a summary in the place of a long history's middle: the first message, the summary as the user's,
 * and everything from an assistant's message on stay.
 *
 * @throws ConfigurationError for a wrong option
 */
export function summarizeHistory(options: SummarizeOptions = {}): HarnessContextStrategy {
  checkKeys("summarizeHistory", options, ["triggerCharacters", "keepRecentMessages"]);
  const { triggerCharacters = 400_000, keepRecentMessages = 6 } = options;
  checkInteger("summarizeHistory: triggerCharacters", triggerCharacters, 1);
  checkInteger("summarizeHistory: keepRecentMessages", keepRecentMessages, 1);
  return defineHarnessContextStrategy({
    name: "summarize-history",
    async compact({ messages, summarize }) {
      if (JSON.stringify(messages).length <= triggerCharacters) return undefined;
      let cut = messages.length - keepRecentMessages;
      while (cut > 1 && messages[cut]!.role !== "assistant") cut -= 1;
      if (cut <= 1) return undefined;
      const summary = await summarize(messages.slice(0, cut));
      return [messages[0]!, summaryMessage(summary), ...messages.slice(cut)];
    },
  });
}

/** A summary as a message of the user's, which says what it is. */
export function summaryMessage(summary: string): ModelMessage {
  return { role: "user", content: [{ type: "text", text: `Summary of the conversation until here:\n\n${summary}` }] };
}

/**
 * What a strategy gave back, checked and without reasoning: that belongs to the history it was made in.
 *
 * @throws ConfigurationError naming the strategy
 */
export function checkCompaction(name: string, messages: readonly ModelMessage[]): ModelMessage[] {
  if (!Array.isArray(messages)) {
    throw new ConfigurationError(`the context strategy \`${name}\` must give back a list of messages`);
  }
  try {
    checkMessages(messages);
    const clean = messages.map(({ role, content }) => ({
      role,
      content: content.filter(({ type }: ModelContentBlock) => type !== "reasoning"),
    }));
    checkMessages(clean);
    return clean;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(`the context strategy \`${name}\`: ${error.message}`, { cause: error });
  }
}
