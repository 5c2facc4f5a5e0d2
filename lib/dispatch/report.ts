/** The report of a dispatch: what it changed, what failed on the way, what it cost. */
import { ConfigurationError, messageOf } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { checkKeys, checkOneOf } from "../base/options.ts";
import { changedFiles } from "./guard.ts";
import type { DispatchObservation } from "./observation.ts";
import { calculateUsageCost, type DispatchUsage, type ModelPriceTable, type UsageCost } from "./prices.ts";
import type { Redact } from "./redact.ts";
import type { Commit, GitWorkspace } from "./workspace.ts";

/** One file of a report's diff. */
export interface ReportFile {
  /** Its path; for a renamed one the old and the new. */
  readonly paths: readonly string[];
  /** Lines added; 0 for a binary file. */
  readonly added: number;
  /** Lines removed; 0 for a binary file. */
  readonly removed: number;
  /** Whether it is no text. */
  readonly binary: boolean;
}

/** The net difference of all commits. */
export interface ReportDiff {
  /** The commit before. */
  readonly baseline: string;
  /** The commit after. */
  readonly head: string;
  /** The files that differ. */
  readonly files: readonly ReportFile[];
  /** How many those are. */
  readonly filesChanged: number;
  /** Lines added, in all. */
  readonly added: number;
  /** Lines removed, in all. */
  readonly removed: number;
  /** How many of the files are no text. */
  readonly binaryFiles: number;
}

/** A tool call that failed. */
export interface ReportFailure {
  /** The tool's name. */
  readonly tool: string;
  /** What it ran, where it says so; else its arguments. */
  readonly command: string;
  /** The beginning of its result. */
  readonly preview: string;
  /** The pass, from 1. */
  readonly pass: number;
  /** The subagent's run that made it; `null` for the outermost agent. */
  readonly subagentId: string | null;
}

/** What a dispatch came to. */
export interface RunReport {
  /** The form of this object. */
  readonly version: 1;
  /** Whether a marker was found, or the typed answer fits. */
  readonly completed: boolean;
  /** The answers. */
  readonly text: string;
  /** The branch with the commits; "" on a detached HEAD. */
  readonly branch: string;
  /** The commits, the oldest first. */
  readonly commits: readonly Commit[];
  /** How long the dispatch took, cleaning up included. */
  readonly durationMs: number;
  /** All tokens. */
  readonly usage: DispatchUsage;
  /** `null` without prices. */
  readonly cost: UsageCost | null;
  /** `null` when it could not be read, which is not the same as no change; `warnings` says why. */
  readonly diff: ReportDiff | null;
  /** The first 100. */
  readonly failedTools: readonly ReportFailure[];
  /** How many more failed. */
  readonly omittedFailures: number;
  /** What was worth knowing but no failure. */
  readonly warnings: readonly string[];
}

/** Collects what a report says of the calls and the warnings, from events that have no secrets any more. */
export class ReportCollector {
  readonly #failures: ReportFailure[] = [];
  readonly #calls = new Map<string, string>();
  readonly #warnings: string[] = [];
  #omitted = 0;

  /** Looks at an event. */
  heard(event: DispatchObservation): void {
    if (event.kind === "warning") this.warn(event.message);
    if (event.kind !== "tool" && event.kind !== "tool-started" && event.kind !== "tool-result") return;
    const call = `${event.pass}/${event.subagentId ?? ""}/${event.callId}`;
    if (event.kind === "tool") this.#calls.set(call, event.arguments);
    else if (event.kind === "tool-started") {
      if (event.preview !== undefined) this.#calls.set(call, event.preview.join(" "));
    } else {
      const command = this.#calls.get(call) ?? "";
      this.#calls.delete(call);
      if (!event.isError) return;
      if (this.#failures.length === LIMITS.reportFailures) this.#omitted++;
      else {
        const cut = (text: string) => text.slice(0, LIMITS.reportPreviewCharacters);
        const { name: tool, pass, subagentId = null } = event;
        this.#failures.push({ tool, command: cut(command), preview: cut(event.preview), pass, subagentId });
      }
    }
  }

  /** Adds a warning. */
  warn(message: string): void {
    this.#warnings.push(message);
  }

  /** What was collected until now. */
  get collected(): Pick<RunReport, "failedTools" | "omittedFailures" | "warnings"> {
    return {
      failedTools: [...this.#failures],
      omittedFailures: this.#omitted,
      warnings: [...this.#warnings],
    };
  }
}

/** The net difference since a commit; `null`, and a warning, when it cannot be read. */
export async function readDiff(
  workspace: GitWorkspace,
  baseline: string,
  deadlineMs: number,
  warn: (message: string) => void,
): Promise<ReportDiff | null> {
  try {
    const head = await workspace.head();
    const files = baseline === "" || baseline === head
      ? []
      : await changedFiles(workspace.git, baseline, head, deadlineMs);
    const sum = (key: "added" | "removed") => files.reduce((total, file) => total + file[key], 0);
    return {
      baseline,
      head,
      files,
      filesChanged: files.length,
      added: sum("added"),
      removed: sum("removed"),
      binaryFiles: files.filter(({ binary }) => binary).length,
    };
  } catch (error) {
    warn(`the diff could not be read: ${messageOf(error)}`);
    return null;
  }
}

/** The cost, where there are prices. */
export function costOf(usage: DispatchUsage, prices: ModelPriceTable | undefined): UsageCost | null {
  return prices === undefined ? null : calculateUsageCost(usage, prices);
}

/** Options of a result's `report`. */
export interface ReportOptions {
  /** Default: `markdown`. */
  readonly format?: "markdown" | "json";
}

/** Writes a report down. */
export function writeReport(report: RunReport, redact: Redact, options: ReportOptions = {}): string {
  checkKeys("report", options, ["format"]);
  const { format = "markdown" } = options;
  checkOneOf("report: format", format, ["markdown", "json"]);
  const safe = redact(report);
  if (format === "json") return JSON.stringify(safe, null, 2) + "\n";
  if (format !== "markdown") throw new ConfigurationError("report: format must be markdown or json");
  return markdown(safe);
}

function markdown(report: RunReport): string {
  const { usage, cost, diff } = report;
  const tokens = `${usage.input} in (${usage.cached} cached), ${usage.output} out` +
    (usage.complete === false ? ", at least" : "");
  const lines = [
    "# Dispatch report",
    "",
    `- Completed: ${report.completed ? "yes" : "no"}`,
    `- Branch: ${report.branch === "" ? "none (detached HEAD)" : code(report.branch)}`,
    `- Duration: ${(report.durationMs / 1000).toFixed(1)} s`,
    `- Tokens: ${tokens}`,
    ...(cost === null
      ? []
      : [`- Cost: ${cost.amount.toFixed(4)} ${cost.currency}${cost.complete ? "" : " at least; a part has no price"}`]),
    "",
    "## Answer",
    "",
    ...report.text.split("\n").map((line) => `> ${escaped(line)}`.trimEnd()),
    "",
    ...section("Commits", report.commits.map(({ oid, subject }) => `- ${code(oid.slice(0, 12))} ${escaped(subject)}`)),
    ...section(
      diff === null
        ? "Changes: could not be read"
        : `Changes: ${diff.filesChanged} files, +${diff.added} −${diff.removed}`,
      (diff?.files ?? []).map(({ paths, added, removed, binary }) =>
        `- ${paths.map(code).join(" → ")} ${binary ? "(binary)" : `+${added} −${removed}`}`
      ),
    ),
    ...section("Failed calls", [
      ...report.failedTools.map(({ tool, command, preview }) =>
        `- ${code(tool)} ${code(oneLine(command))}: ${escaped(oneLine(preview))}`
      ),
      ...(report.omittedFailures === 0 ? [] : [`- and ${report.omittedFailures} more`]),
    ]),
    ...section("Warnings", report.warnings.map((warning) => `- ${escaped(oneLine(warning))}`)),
  ];
  return lines.join("\n").trimEnd() + "\n";
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 && !title.startsWith("Changes") ? [] : [`## ${title}`, "", ...lines, ""];
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}

/** Text that no renderer takes for markup. */
function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#+!|~]/g, "\\$&").replace(/^(\s*)([-=]|\d+[.)])/, "$1\\$2");
}

/** Text as code, whatever back-quotes are in it. */
function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = longest > 0 ? " " : "";
  return `${fence}${pad}${text}${pad}${fence}`;
}
