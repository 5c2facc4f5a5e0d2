/** Searching with `git grep`. */
import { ToolFailure } from "../../base/errors.ts";
import { runGit } from "../../sandbox/git.ts";
import { isLocated, locate, locateAll, type Located } from "../path_rule.ts";
import type { HarnessToolContext, ToolOutput } from "../tool.ts";
import { Matches, type SearchInput } from "./_matches.ts";
import { Records } from "./_records.ts";
import { quoted } from "./_text_file.ts";
import { TOOLSET_LIMITS } from "./limits.ts";

/** Runs a search over what Git tracks or does not ignore. */
export async function searchTracked(input: SearchInput, context: HarnessToolContext): Promise<ToolOutput> {
  const { sandbox, signal } = context;
  const place = await locate(sandbox, input.path ?? ".", { signal });
  const base = place.kind === "directory" ? place.relative : place.path;
  const found: Found[] = [];
  const rest = new Map<string, number>();
  const most = input.max_results ?? TOOLSET_LIMITS.matches;
  let kept = 0;
  let begun = "";
  const records = new Records("\n", (piece) => {
    const record = begun + piece;
    const match = foundIn(record);
    // A line feed in a name; the name goes on behind it.
    begun = match === undefined ? `${record}\n` : "";
    if (match === undefined) return;
    // Of what cannot be shown any more only its file is remembered, which may turn out to be none of the repository's.
    if (found.length < most && kept < TOOLSET_LIMITS.streamCharacters) {
      kept += record.length;
      found.push(match);
    } else rest.set(match.path, (rest.get(match.path) ?? 0) + 1);
  });
  const { status, stderr } = await runGit(sandbox, "grep", grepArguments(input, base), {
    signal,
    literalPaths: input.glob === undefined,
    quiet: true,
    retain: TOOLSET_LIMITS.streamCharacters,
    observe: (channel, text) => channel === "stdout" ? records.push(text) : undefined,
  });
  if (status > 1) return { content: stderr.trim() || `git ended with status ${status}`, isError: true };
  const inside = await insideOnly(context, [...new Set([...found.map(({ path }) => path), ...rest.keys()])]);
  const matches = new Matches(most);
  for (const { path, line, text } of found) if (inside.has(path)) matches.add(path, line, text);
  for (const [path, count] of rest) if (inside.has(path)) matches.skip(count);
  return matches.answer();
}

interface Found {
  readonly path: string;
  readonly line: string;
  readonly text: string;
}

/** `path NUL line NUL text`; undefined when it is not whole. */
function foundIn(record: string): Found | undefined {
  const [path, line, ...text] = record.split("\0");
  return path === undefined || line === undefined ? undefined : { path, line, text: text.join("\0") };
}

function grepArguments({ pattern, glob, ignore_case = false }: SearchInput, base: string): string[] {
  return [
    "-n",
    "-z",
    "-I",
    "-E",
    "--untracked",
    "--no-color",
    ...(ignore_case ? ["-i"] : []),
    "-e",
    pattern,
    "--",
    glob === undefined ? base : globPath(base, glob),
  ];
}

/** The pathspec for a glob below a path; without a slash it fits at any depth. */
function globPath(base: string, glob: string): string {
  const slashed = glob.replace(/^\.\//, "");
  if (slashed.startsWith("/") || slashed.split("/").includes("..")) {
    throw new ToolFailure(`the glob ${quoted(glob)} leads outside the path that is searched`);
  }
  const below = base === "." ? "" : `${base.replace(/[\\*?[]/g, "\\$&")}/`;
  return `:(glob)${below}${slashed.includes("/") ? "" : "**/"}${slashed}`;
}

/**
 * Those of the paths that are within the root. Git remembers `dir/file` although `dir` may have become a link to
 * somewhere else, and its grep reads through it.
 */
async function insideOnly(
  { sandbox, signal }: HarnessToolContext,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const answers = await locateAll(sandbox, paths, { signal });
  return new Set(answers.filter((answer): answer is Located => isLocated(answer)).map(({ path }) => path));
}
