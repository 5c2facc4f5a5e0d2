/** Asking a person on the terminal before a tool runs (`--approve-tools`). */
import { ConfigurationError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { visible } from "../base/text.ts";
import { type ApprovalDecision, type ApprovalRequest, type ApproveTool, queueApprovals } from "../tool/approval.ts";
import { commandText } from "./progress.ts";
import type { Io } from "./io.ts";

const ANSWERS: Readonly<Record<string, ApprovalDecision>> = { y: "allow", n: "deny", a: "allow-always" };

/**
 * An approver that prints what is about to run and reads y (this call), n (not this call) or a (this tool from now on).
 * Anything else is asked again, three times in all, then counts as n. Without a terminal, or at the end of the input,
 * the question itself is an error: nobody is there to be asked. `pause` is called before a question, `resume` behind it.
 */
export function createTerminalApprover(io: Io, pause: () => void, resume: () => void = () => {}): ApproveTool {
  return queueApprovals(async (request) => {
    if (!io.stdin.isTerminal) {
      throw new ConfigurationError(
        "--approve-tools needs an interactive terminal on standard input to ask about a tool call; " +
          "without one, use tool_policy in lait.config.yml",
      );
    }
    pause();
    try {
      return await question(io, request);
    } finally {
      resume();
    }
  });
}

async function question(io: Io, request: ApprovalRequest): Promise<ApprovalDecision> {
  await io.stdout.flush(); // On the terminal, what the model said stands before the question.
  io.stderr.write(describe(request));
  for (let asked = 0; asked < LIMITS.approvalQuestions; asked++) {
    io.stderr.write("run it? y = yes, n = no, a = always for this tool: ");
    const line = await io.stdin.readLine(request.signal);
    if (line === undefined) {
      io.stderr.write("\n");
      throw new ConfigurationError("--approve-tools: the input ended before an interactive answer was given");
    }
    const decision = ANSWERS[line.trim().toLowerCase()];
    if (decision !== undefined) return decision;
  }
  io.stderr.write("no answer that counts: taken as n\n");
  return "deny";
}

/** What runs, with nothing invisible in it. */
function describe({ tool, arguments: text, preview }: ApprovalRequest): string {
  const command = preview === undefined ? "" : `command: ${visible(commandText(preview))}\n`;
  return `tool call: ${visible(tool)}\narguments: ${visible(text)}\n${command}`;
}
