/** `createHarnessShellTools`: running shell commands. */
import { ProcessError } from "../../base/errors.ts";
import { checkInteger, checkKeys } from "../../base/options.ts";
import { defineHarnessTool } from "../define.ts";
import type { HarnessTool } from "../tool.ts";
import { defineHarnessToolset, type HarnessToolset } from "../toolset.ts";
import { commandOutput, RETAINED } from "./_command_output.ts";
import { TOOLSET_LIMITS } from "./limits.ts";

/** Options of {@link createHarnessShellTools}. */
export interface HarnessShellToolsOptions {
  /** Milliseconds that one command may run; the deadline of tool calls may end it earlier. Default: 120,000. */
  readonly deadlineMs?: number;
}

/**
 * The toolset `shell` with the tool of that name: `sh -c` at the sandbox's root. It may do whatever the sandbox lets it.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { createHarnessShellTools } from "./shell.ts";
 * console.assert(createHarnessShellTools({ deadlineMs: 10_000 }).tools[0]?.name === "shell");
 * ```
 */
export function createHarnessShellTools(options: HarnessShellToolsOptions = {}): HarnessToolset {
  checkKeys("createHarnessShellTools", options, ["deadlineMs"]);
  const { deadlineMs = TOOLSET_LIMITS.shellDeadlineMs } = options;
  checkInteger("createHarnessShellTools: deadlineMs", deadlineMs, 1);
  return defineHarnessToolset({ name: "shell", tools: [shellTool(deadlineMs)] });
}

/** `--` where the shell would take the command for options of its own. */
function shellArguments(command: string): string[] {
  return /^[-+]/.test(command) ? ["-c", "--", command] : ["-c", command];
}

function shellTool(deadlineMs: number): HarnessTool<{ command: string }> {
  return defineHarnessTool<{ command: string }>({
    name: "shell",
    description: "Runs a command with `sh -c` at the repository's root, without input, and tells its exit status and " +
      `what it wrote. It is ended after ${deadlineMs / 1000} seconds.`,
    input: {
      type: "object",
      properties: { command: { type: "string", minLength: 1, description: "The command line." } },
      required: ["command"],
      additionalProperties: false,
    },
    resources: ({ command }) => ({ command }),
    preview: ({ command }) => ["sh", ...shellArguments(command)],
    execute: async ({ command }, { sandbox, signal }) => {
      try {
        const result = await sandbox.invoke({
          executable: "sh",
          arguments: shellArguments(command),
          retain: RETAINED,
          deadlineMs,
          signal,
        });
        return { content: commandOutput(`exit status: ${result.status}`, result), isError: result.status !== 0 };
      } catch (error) {
        if (!(error instanceof ProcessError) || error.kind !== "timeout") throw error;
        // What it wrote until then may be why it took so long.
        return { content: commandOutput(`timed out after ${deadlineMs} ms`, error.output), isError: true };
      }
    },
  });
}
