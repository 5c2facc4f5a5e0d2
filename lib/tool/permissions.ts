/** Permissions: which calls of a harness may run. */
import type { Decision } from "./policy.ts";
import type { ToolResources } from "./tool.ts";

/** Permissions; frozen. */
export interface HarnessPermissions {
  /** Marks permissions. */
  readonly kind: "permissions";
  /** Decides about a call. */
  evaluate(tool: string, resources: ToolResources): Decision;
}
