/**
 * Git that does what it is asked and nothing else, for tools and for dispatch. A repository's own configuration names
 * programs that Git runs at the slightest occasion: `git status` alone starts `core.fsmonitor`. Whoever can write
 * `.git/config`, or hands over a directory with one, would run programs by having the repository looked at.
 *
 * What is switched off by {@link gitCommand}: hooks, file system monitor, pager, editor, signature programs, SSH
 * command, housekeeping, repositories without a work tree that are merely found, recursion into submodules. By {@link runGit}, which
 * is for readers, also: every transport (a partial clone fetches what it lacks), external diffs, text conversions, and
 * content filters that the repository itself configures. Filters of the user's own configuration do run (`git-lfs`
 * would otherwise show every touched file as changed); so do, in `gitCommand`, all filters of commands that check out
 * or add, because leaving them out would store other content.
 */
import { throwIfAborted } from "../base/signals.ts";
import { readerOverrides } from "./_git_overrides.ts";
import type { Command, CommandResult, SandboxLease } from "./lease.ts";

export { refuseGitArguments } from "./_git_refusals.ts";

/** Options of {@link gitCommand}. */
export interface GitOptions {
  /** Paths are taken literally: no globs, no `:(magic)`. Default: false. */
  readonly literalPaths?: boolean;
}

const SETTINGS: readonly string[] = Object.freeze([
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.pager=cat",
  "core.editor=false",
  "core.sshCommand=false",
  // Signatures: log.showSignature and format.pretty of the repository would start these.
  "gpg.program=false",
  "gpg.openpgp.program=false",
  "gpg.x509.program=false",
  "gpg.ssh.program=false",
  "log.showSignature=false",
  // `remerge` would run merge drivers.
  "log.diffMerges=separate",
  // `diff` would start Git in each submodule, with what its configuration says.
  "diff.submodule=short",
  "submodule.recurse=false",
  // Housekeeping would run gc.recentObjectsHook.
  "gc.auto=0",
  "maintenance.auto=false",
  // Files in a work tree can be laid out like a repository; one with `.git` is found, others must be named.
  "safe.bareRepository=explicit",
  "color.ui=false",
  "color.diff=false",
  "color.status=false",
  "color.grep=false",
  "grep.fullName=false",
  "grep.column=false",
  "grep.fallbackToNoIndex=false",
]);

/**
 * A hardened Git command, to be run by a lease; see the module for what it switches off.
 *
 * @example
 * ```ts
 * import { gitCommand } from "./git.ts";
 * console.assert(gitCommand("status", ["--short"]).arguments?.at(-1) === "--short");
 * ```
 */
export function gitCommand(subcommand: string, args: readonly string[], options: GitOptions = {}): Command {
  return {
    executable: "git",
    arguments: [
      "--no-pager",
      "--no-optional-locks",
      ...(options.literalPaths ? ["--literal-pathspecs"] : []),
      ...SETTINGS.flatMap((setting) => ["-c", setting]),
      subcommand,
      ...args,
    ],
    variables: { GIT_TERMINAL_PROMPT: "0", GIT_PAGER: "cat", GIT_EDITOR: "false", LC_ALL: "C" },
  };
}

/** The subcommands that {@link runGit} runs. All of them only read. */
export type GitReader = "status" | "diff" | "log" | "show" | "ls-files" | "grep";

/** Options of {@link runGit}. */
export interface GitRunOptions extends GitOptions, Pick<Command, "signal" | "retain" | "observe" | "quiet"> {}

/** No protocol is allowed: nothing is fetched, by nobody's program. */
const OFFLINE = Object.freeze({ GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1" });

const SWITCHES: Readonly<Record<GitReader, readonly string[]>> = Object.freeze({
  // A submodule's own work tree is not looked into: Git would start itself there, and run that repository's filters.
  status: ["--ignore-submodules=dirty"],
  diff: ["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"],
  log: ["--no-ext-diff", "--no-textconv"],
  show: ["--no-ext-diff", "--no-textconv"],
  "ls-files": [],
  grep: ["--no-textconv"],
});

// `git diff` writes the index again, whatever `--no-optional-locks` says, when it finds files that only seem changed;
// told not to (diff.autoRefreshIndex), it shows them as changed. So it gets a copy, of the same time: by that Git knows
// which files it must look into. $1 is a name nobody has; Git's arguments follow.
const WITH_INDEX_COPY = String.raw`
folder=${"$"}{TMPDIR:-/tmp}/$1
shift
mkdir -m 700 "$folder" || exit 128
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' HUP INT TERM
index=$(git rev-parse --git-path index) || exit 128
[ ! -f "$index" ] || cp -p "$index" "$folder/index" || exit 128
GIT_INDEX_FILE=$folder/index git "$@"
`;

/** The same command over a copy of the index. */
function withIndexCopy(command: Command): Command {
  const name = `lait-index-${crypto.randomUUID()}`;
  return { ...command, executable: "sh", arguments: ["-c", WITH_INDEX_COPY, "sh", name, ...command.arguments ?? []] };
}

/**
 * Runs a reading Git command at the lease's root. Arguments from outside go through {@link refuseGitArguments} first.
 *
 * `status` and `diff` compare files with what is stored and run content filters for it: those that the repository
 * itself configures are switched off by name. They also fail when the repository says that its work tree is elsewhere.
 */
export async function runGit(
  lease: SandboxLease,
  subcommand: GitReader,
  args: readonly string[],
  options: GitRunOptions = {},
): Promise<CommandResult> {
  const { signal, retain, observe, quiet, literalPaths = false } = options;
  throwIfAborted(signal);
  const run = async (command: Command, more: Partial<Command>) =>
    await lease.invoke({
      ...command,
      ...more,
      variables: { ...command.variables, ...OFFLINE, ...more.variables },
      ...(signal === undefined ? {} : { signal }),
    });
  let variables: Readonly<Record<string, string>> = {};
  if (subcommand === "status" || subcommand === "diff") {
    const found = await readerOverrides((name, words) => run(gitCommand(name, words), { quiet: true }), lease, signal);
    if ("failure" in found) return found.failure;
    variables = found.variables;
  }
  const command = gitCommand(subcommand, [...SWITCHES[subcommand], ...args], { literalPaths });
  return await run(subcommand === "diff" ? withIndexCopy(command) : command, {
    variables,
    ...(retain === undefined ? {} : { retain }),
    ...(observe === undefined ? {} : { observe }),
    ...(quiet === undefined ? {} : { quiet }),
  });
}
