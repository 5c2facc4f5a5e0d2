/** What of a repository's own configuration must be overridden by name before its files are compared. */
import type { CommandResult, SandboxLease } from "./lease.ts";

type RunGit = (subcommand: string, args: readonly string[]) => Promise<CommandResult>;

/** Variables that override it, or the result of the Git command that failed instead. */
export type Overrides =
  | { readonly variables: Readonly<Record<string, string>> }
  | { readonly failure: CommandResult };

/** Scopes that a repository brings along; those of the user and the system are the user's own. */
const OF_THE_REPOSITORY: readonly string[] = ["local", "worktree"];

/**
 * Asks for the filters, and where the work tree is. Outside a repository it fails with Git's own message, also because
 * `git diff` would compare any two files there.
 */
export async function readerOverrides(run: RunGit, lease: SandboxLease, signal?: AbortSignal): Promise<Overrides> {
  const top = await run("rev-parse", ["--show-toplevel"]);
  if (top.status !== 0) return { failure: top };
  const query = await run("config", [
    "--show-scope",
    "-z",
    "--name-only",
    "--get-regexp",
    String.raw`^(filter\..*|core\.worktree)$`,
  ]);
  if (query.status === 1) return { variables: {} };
  if (query.status !== 0) return { failure: query };
  const fields = query.stdout.split("\0");
  const names = fields.filter((_, index) => index % 2 === 1 && OF_THE_REPOSITORY.includes(fields[index - 1]!));
  if (names.includes("core.worktree")) {
    const { stdout } = await lease.invoke({
      executable: "sh",
      arguments: ["-c", "pwd -P"],
      quiet: true,
      ...(signal === undefined ? {} : { signal }),
    });
    if (stdout !== top.stdout) return { failure: elsewhere(top.stdout.trim()) };
  }
  const drivers = new Set(names.flatMap((name) => /^filter\.([\s\S]*)\.[^.]+$/.exec(name)?.[1] ?? []));
  return { variables: settings([...drivers].flatMap(withoutFilter)) };
}

function elsewhere(place: string): CommandResult {
  const stderr =
    `the repository's configuration says that its work tree is ${place} (core.worktree), which is not here`;
  return { status: 128, stdout: "", stderr };
}

function withoutFilter(driver: string): [name: string, value: string][] {
  return [
    [`filter.${driver}.clean`, ""],
    [`filter.${driver}.smudge`, ""],
    [`filter.${driver}.process`, ""],
    [`filter.${driver}.required`, "false"],
  ];
}

/** As variables, because a name with `=` in it cannot be given by `-c`. */
function settings(entries: readonly [name: string, value: string][]): Record<string, string> {
  if (entries.length === 0) return {};
  return Object.fromEntries([
    ["GIT_CONFIG_COUNT", String(entries.length)],
    ...entries.flatMap(([name, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, name],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]);
}
