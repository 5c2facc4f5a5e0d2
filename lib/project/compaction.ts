/** `default.compaction`: long tool loops are summarized as they grow. */
import { LIMITS } from "../base/limits.ts";
import { defineHarnessContextStrategy, type HarnessContextStrategy, summaryMessage } from "../harness/context.ts";
import type { ModelMessage } from "../model/message.ts";
import type { DefaultSettings } from "./config_shape.ts";
import { settingFault } from "./faults.ts";
import type { Project } from "./project.ts";

/** `default.compaction`. */
export type CompactionSettings = NonNullable<DefaultSettings["compaction"]>;

/**
 * The strategy that a project asks for; undefined when it asks for none. Before a round that is a multiple of
 * `trigger_rounds`, or when the round before used `trigger_tokens` prompt tokens, everything between the first message
 * and the newest `keep_last_n` gives way to a summary.
 *
 * @throws SettingError for a number out of its range, and when there is no trigger
 */
export function projectCompaction(project: Project): HarnessContextStrategy | undefined {
  const settings = project.config.default?.compaction;
  if (settings === undefined) return undefined;
  checkCompactionSettings(project, settings);
  const { trigger_rounds: rounds, trigger_tokens: tokens, keep_last_n: keep = LIMITS.compactionKeeps } = settings;
  return defineHarnessContextStrategy({
    name: "compaction",
    async compact({ messages, step, lastUsage, summarize }) {
      const isDue = (rounds !== undefined && step % rounds === 0) ||
        (tokens !== undefined && lastUsage !== undefined && lastUsage.input >= tokens);
      if (!isDue || messages.length <= Math.max(keep, 1)) return undefined;
      const cut = tailStart(messages, keep);
      if (cut < 1) return undefined;
      return [messages[0]!, summaryMessage(await summarize(messages)), ...messages.slice(cut)];
    },
  });
}

/** Where the newest `keep` messages begin, or before it: results stay behind the calls that they answer. */
function tailStart(messages: readonly ModelMessage[], keep: number): number {
  let cut = messages.length - keep;
  while (messages[cut]?.content.some(({ type }) => type === "tool-result")) cut -= 1;
  return cut;
}

function checkCompactionSettings(project: Project, settings: CompactionSettings): void {
  const path = ["default", "compaction"];
  for (const [key, least] of [["trigger_rounds", 1], ["trigger_tokens", 1], ["keep_last_n", 0]] as const) {
    const value = settings[key];
    if (value === undefined || value >= least) continue;
    const message = `default.compaction.${key} must be at least ${least} (got ${value})`;
    throw settingFault(project, [...path, key], "range", message);
  }
  if (settings.trigger_rounds !== undefined || settings.trigger_tokens !== undefined) return;
  const message = "default.compaction needs `trigger_rounds` or `trigger_tokens`";
  throw settingFault(project, path, "compaction-trigger", message, "without one it would never happen");
}
