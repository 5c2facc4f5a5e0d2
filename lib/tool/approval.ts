/** Asking before a tool runs. */
import { throwIfAborted } from "../base/signals.ts";

/** A call that waits for an answer. */
export interface ApprovalRequest {
  /** The id of the model's tool call. */
  readonly callId: string;
  /** The tool's qualified name. */
  readonly tool: string;
  /** The checked input. */
  readonly input: unknown;
  /** The arguments exactly as the model wrote them. */
  readonly arguments: string;
  /** The argv that will run, where the tool can tell. */
  readonly preview?: readonly string[];
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** The answer: this call, not this call, or this tool from now on. */
export type ApprovalDecision = "allow" | "deny" | "allow-always";

/** Whoever answers. */
export type ApproveTool = (request: ApprovalRequest) => Promise<ApprovalDecision>;

/**
 * Puts a queue and a memory before an approver: one question at a time, however many loops ask, and no question about
 * a tool that was allowed for good.
 */
export function queueApprovals(approve: ApproveTool): ApproveTool {
  const always = new Set<string>();
  let turn: Promise<unknown> = Promise.resolve();
  return (request) => {
    const answer = turn.then(async () => {
      throwIfAborted(request.signal);
      // Looked up only now: the answer before this one may have settled it.
      if (always.has(request.tool)) return "allow";
      const decision = await approve(request);
      if (decision === "allow-always") always.add(request.tool);
      return decision;
    });
    turn = answer.catch(() => {});
    return answer;
  };
}
