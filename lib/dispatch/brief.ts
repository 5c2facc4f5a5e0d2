/** Briefs: what the agent is told to do, as a text or from a file with places to fill in. */
import { ConfigurationError, LaitError, messageOf, ProcessError, TimeoutError } from "../base/errors.ts";
import { readTextBounded } from "../base/files.ts";
import { nearest } from "../base/nearest.ts";
import { checkKeys, checkText } from "../base/options.ts";
import type { SandboxLease } from "../sandbox/lease.ts";

/** What stands at a place of a brief's file. */
export type BriefValue = string | number | boolean;

/**
 * What the agent is told. A text is taken literally. A file is read anew for each pass:
 *
 * - `{{NAME}}` is replaced by a value; `WORK_BRANCH` and `BASE_BRANCH` have one always;
 * - `` !`command` `` is replaced by what the shell command prints in the sandbox. Only those that stand in the file
 *   itself run: a value cannot bring one along. A value within one keeps its meaning for the shell.
 */
export type Brief =
  | { readonly text: string }
  | { readonly file: string; readonly values?: Readonly<Record<string, BriefValue>> };

/** Refuses a brief that is none. */
export function checkBrief(what: string, brief: Brief): void {
  if (brief === undefined) {
    throw new ConfigurationError(`${what}: brief is missing: { text: "what to do" } or { file: "brief.md" }`);
  }
  checkKeys(`${what}: brief`, brief, ["text", "file", "values"]);
  const { text, file, values } = brief as { text?: unknown; file?: unknown; values?: unknown };
  if ((text === undefined) === (file === undefined)) {
    throw new ConfigurationError(`${what}: brief must hold either text or file`);
  }
  if (text !== undefined) {
    checkText(`${what}: brief.text`, text);
    if (values !== undefined) {
      throw new ConfigurationError(`${what}: brief.values are for a file; a text is taken literally`);
    }
    return;
  }
  checkText(`${what}: brief.file`, file);
  if (values === undefined) return;
  if (typeof values !== "object" || values === null) {
    throw new ConfigurationError(`${what}: brief.values must be an object`);
  }
  for (const [name, value] of Object.entries(values)) {
    if (!["string", "number", "boolean"].includes(typeof value)) {
      throw new ConfigurationError(`${what}: brief.values.${name} must be a text, a number or a boolean`);
    }
  }
}

/** Where a brief's file is filled in. */
export interface BriefPlace {
  readonly lease: SandboxLease;
  /** Values that every brief has. */
  readonly builtins: Readonly<Record<string, string>>;
  /** Milliseconds that one command may take. */
  readonly expansionMs: number;
  readonly signal: AbortSignal | undefined;
  /** Hears how much each command added. */
  readonly diagnostic: ((message: string) => void) | undefined;
}

const FRAGMENT = /!`([^`\n]+)`/g;
const VARIABLE = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;

/**
 * The text of a brief.
 *
 * @throws LaitError `prompt` when the file cannot be read, a value is missing, a command fails, or nothing is left;
 *   TimeoutError when a command takes too long
 */
export async function renderBrief(brief: Brief, place: BriefPlace): Promise<string> {
  if ("text" in brief) return brief.text;
  const source = await readTextBounded(brief.file).catch((error) => {
    throw new LaitError("prompt", `the brief: ${messageOf(error)}`, { cause: error });
  });
  const values = { ...place.builtins, ...brief.values };
  const fill = (text: string, offset: number) =>
    text.replace(VARIABLE, (_, name: string, index: number) => {
      if (Object.hasOwn(values, name)) return String(values[name]);
      throw missing(brief.file, source, offset + index, name, Object.keys(values));
    });
  let rendered = "";
  let end = 0;
  // All places are filled in before the first command runs: a missing value costs nothing.
  const commands: { index: number; command: string; before: string }[] = [];
  for (const match of source.matchAll(FRAGMENT)) {
    const before = fill(source.slice(end, match.index), end);
    commands.push({ index: match.index, command: fill(match[1]!, match.index + 2), before });
    end = match.index + match[0].length;
  }
  const rest = fill(source.slice(end), end);
  for (const { index, command, before } of commands) {
    rendered += before + await expand(command, placeOf(brief.file, source, index), place);
  }
  rendered += rest;
  if (rendered.trim() === "") throw new LaitError("prompt", `the brief ${brief.file} is empty`);
  return rendered;
}

async function expand(command: string, where: string, place: BriefPlace): Promise<string> {
  const { lease, expansionMs, signal, diagnostic } = place;
  let result;
  try {
    result = await lease.invoke({
      executable: "sh",
      arguments: ["-c", command],
      deadlineMs: expansionMs,
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    if (error instanceof ProcessError && error.kind === "timeout") {
      throw new TimeoutError(`${where}: the command \`${command}\` took longer than ${expansionMs} ms`, {
        cause: error,
      });
    }
    throw new LaitError("prompt", `${where}: the command \`${command}\` failed: ${messageOf(error)}`, { cause: error });
  }
  if (result.status !== 0) {
    const said = result.stderr.trim().slice(-500);
    const why = said === "" ? "" : `: ${said}`;
    throw new LaitError("prompt", `${where}: the command \`${command}\` ended with status ${result.status}${why}`, {
      details: { status: result.status },
    });
  }
  const text = result.stdout.replace(/\n+$/, "");
  diagnostic?.(`${where}: the command \`${command}\` added about ${Math.ceil(text.length / 4)} tokens`);
  return text;
}

function missing(file: string, source: string, index: number, name: string, known: readonly string[]): LaitError {
  const near = nearest(name, known);
  const hint = near === undefined ? `; give it in brief.values` : `; did you mean {{${near}}}?`;
  return new LaitError("prompt", `${placeOf(file, source, index)}: there is no value for {{${name}}}${hint}`, {
    details: { name },
  });
}

function placeOf(file: string, source: string, index: number): string {
  const lines = source.slice(0, index).split("\n");
  return `${file}:${lines.length}:${lines.at(-1)!.length + 1}`;
}
