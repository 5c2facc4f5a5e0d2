/** Approvals that are answered elsewhere: in a browser, in a chat, by another process. */
import { ConfigurationError } from "../base/errors.ts";
import { onAbort } from "../base/signals.ts";
import type { ApprovalDecision, ApprovalRequest, ApproveTool } from "./approval.ts";

/** Calls that wait, and the way to answer them. */
export interface Approvals {
  /** Give this to `createHarness({ approve })`. */
  readonly approve: ApproveTool;
  /** The calls that wait for an answer, the oldest first. */
  pending(): readonly ApprovalRequest[];
  /**
   * Answers one.
   *
   * @throws ConfigurationError when no call with this id waits, or it was answered already
   */
  decide(callId: string, decision: ApprovalDecision): void;
}

/**
 * Makes an approver whose questions are answered by calling `decide`. A call that is cancelled waits no longer.
 *
 * @example
 * ```ts
 * import { createApprovals } from "./approvals.ts";
 * const approvals = createApprovals();
 * console.assert(approvals.pending().length === 0);
 * ```
 */
export function createApprovals(): Approvals {
  const always = new Set<string>();
  const waiting = new Map<string, { request: ApprovalRequest; settle: (decision: ApprovalDecision) => void }>();
  return Object.freeze({
    approve: (request: ApprovalRequest) =>
      new Promise<ApprovalDecision>((resolve, reject) => {
        if (always.has(request.tool)) return resolve("allow");
        const forget = onAbort(request.signal, () => {
          waiting.delete(request.callId);
          reject(request.signal.reason);
        });
        if (request.signal.aborted) return;
        waiting.set(request.callId, {
          request,
          settle: (decision) => {
            waiting.delete(request.callId);
            forget();
            resolve(decision);
          },
        });
      }),
    pending: () => [...waiting.values()].map(({ request }) => request),
    decide: (callId: string, decision: ApprovalDecision) => {
      const entry = waiting.get(callId);
      if (entry === undefined) throw new ConfigurationError(`no tool call with the id ${callId} waits for approval`);
      if (!["allow", "deny", "allow-always"].includes(decision)) {
        throw new ConfigurationError(`a decision is allow, deny or allow-always (got ${JSON.stringify(decision)})`);
      }
      if (decision === "allow-always") always.add(entry.request.tool);
      entry.settle(decision);
    },
  });
}
