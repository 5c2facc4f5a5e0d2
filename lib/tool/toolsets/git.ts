/** `createHarnessGitTools`: looking at a repository's state and history. */
import { ToolFailure } from "../../base/errors.ts";
import { type GitReader, refuseGitArguments, runGit } from "../../sandbox/git.ts";
import { defineHarnessTool } from "../define.ts";
import { isLocated, locateAll, pathWithinRoot } from "../path_rule.ts";
import type { HarnessTool, HarnessToolContext } from "../tool.ts";
import { defineHarnessToolset, type HarnessToolset } from "../toolset.ts";
import { commandOutput, RETAINED } from "./_command_output.ts";
import { quoted } from "./_text_file.ts";

const COMMANDS = Object.freeze(["status", "diff", "log", "show"] as const satisfies readonly GitReader[]);

interface GitInput {
  readonly command: (typeof COMMANDS)[number];
  readonly arguments?: readonly string[];
}

/**
 * The toolset `git` with the tool of that name, read-only: `status`, `diff`, `log` and `show` of the repository at the
 * sandbox's root. Nothing that the repository configures is started, and paths stay within the root.
 *
 * @example
 * ```ts
 * import { createHarnessGitTools } from "./git.ts";
 * console.assert(createHarnessGitTools().tools[0]?.readOnly);
 * ```
 */
export function createHarnessGitTools(): HarnessToolset {
  return defineHarnessToolset({ name: "git", tools: [gitTool()] });
}

function gitTool(): HarnessTool<GitInput> {
  const argv = ({ command, arguments: args = [] }: GitInput) => ["git", command, ...args];
  return defineHarnessTool<GitInput>({
    name: "git",
    description:
      "Runs `git status`, `git diff`, `git log` or `git show` in the repository, with further arguments such " +
      "as options, revisions and paths. Paths are relative to the repository's root. It changes nothing.",
    input: {
      type: "object",
      properties: {
        command: { type: "string", enum: [...COMMANDS] },
        arguments: {
          type: "array",
          items: { type: "string" },
          description: 'Placed behind the command, one entry a word: `["-n", "5", "--stat"]`.',
        },
      },
      required: ["command"],
      additionalProperties: false,
    },
    readOnly: true,
    workspace: "git",
    resources: (input) => ({ command: argv(input).join(" ") }),
    preview: argv,
    execute: async ({ command, arguments: args = [] }, context) => {
      const refusal = refuseGitArguments(command, args);
      if (refusal !== undefined) throw new ToolFailure(refusal);
      const existing = await existingPaths(context, args);
      const result = await runGit(context.sandbox, command, command === "diff" ? withDashes(args, existing) : args, {
        signal: context.signal,
        retain: RETAINED,
      });
      return { content: commandOutput(`exit status: ${result.status}`, result), isError: result.status !== 0 };
    },
  });
}

/**
 * The arguments that exist as paths. Git alone knows which arguments are paths, so each that could be one is asked for.
 *
 * @throws ToolFailure for one that leads outside through a link
 */
async function existingPaths({ sandbox, signal }: HarnessToolContext, args: readonly string[]): Promise<Set<string>> {
  const dashes = args.indexOf("--");
  const candidates = args.filter((arg, index) =>
    arg !== "" && (!arg.startsWith("-") || (dashes >= 0 && index > dashes))
  );
  if (candidates.length === 0) return new Set();
  const answers = await locateAll(sandbox, candidates.map(pathWithinRoot), { signal });
  answers.forEach((answer, index) => {
    if (isLocated(answer) || answer.kind === "blocked") return;
    throw new ToolFailure(`git: the path ${quoted(candidates[index]!)} leads outside the repository through a link`);
  });
  return new Set(candidates.filter((_, index) => isLocated(answers[index]!) && answers[index]!.kind !== "missing"));
}

/** Options of `diff` whose value may be the next argument. */
const WITH_VALUE =
  /^-(?:[SGIlU]|-(?:anchored|diff-filter|dst-prefix|find-object|ignore-matching-lines|inter-hunk-context|line-prefix|output-indicator-\w+|rotate-to|skip-to|src-prefix|unified|word-diff-regex|ws-error-highlight))$/;

/**
 * `--` before the first argument that exists as a path: with it Git takes nothing behind it for a revision. Where an
 * option stands behind that path, Git shall say what it thinks of that.
 */
function withDashes(args: readonly string[], existing: ReadonlySet<string>): readonly string[] {
  if (args.includes("--")) return args;
  const first = args.findIndex((arg, index) => existing.has(arg) && !WITH_VALUE.test(args[index - 1] ?? ""));
  if (first < 0 || args.slice(first).some((arg) => arg.startsWith("-"))) return args;
  return [...args.slice(0, first), "--", ...args.slice(first)];
}
