/** Where the commits of a dispatch go: the options, checked, and the names made from a label. */
import { ConfigurationError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { checkKeys, checkOneOf, checkText } from "../base/options.ts";

/**
 * Where the agent works, and what becomes of its commits.
 *
 * - `current`: in the user's checkout itself; commits go on the branch that is checked out there.
 * - `named`: in a worktree of its own on the branch `name`, which is created from `from` (default: HEAD) when there is
 *   none. The commits stay on it.
 * - `integrate`: in a worktree of its own on a new branch `lait/<label>-<id>`, which is merged into the branch that was
 *   checked out at the start, once everything has succeeded.
 *
 * Nothing is ever pushed.
 */
export type BranchPolicy =
  | { readonly mode: "current" }
  | { readonly mode: "named"; readonly name: string; readonly from?: string }
  | { readonly mode: "integrate"; readonly from?: string };

/** Refuses a policy that is none. */
export function checkBranchPolicy(what: string, policy: BranchPolicy): void {
  checkKeys(what, policy, ["mode", "name", "from"]);
  const { mode, name, from } = policy as { mode: unknown; name?: unknown; from?: unknown };
  checkOneOf(`${what}.mode`, mode, ["current", "named", "integrate"]);
  if (mode === undefined) throw new ConfigurationError(`${what}.mode must be "current", "named" or "integrate"`);
  if (mode === "named") checkRef(`${what}.name`, name);
  else if (name !== undefined) throw new ConfigurationError(`${what}.name is for the mode "named" alone`);
  if (from === undefined) return;
  if (mode === "current") throw new ConfigurationError(`${what}.from is for the modes "named" and "integrate" alone`);
  checkRef(`${what}.from`, from);
}

function checkRef(what: string, value: unknown): void {
  checkText(what, value);
  if ((value as string).startsWith("-")) throw new ConfigurationError(`${what} must not start with \`-\``);
}

/** A label as it stands in the names of branches and directories; `dispatch` when nothing of it is left. */
export function nameOfLabel(label: string | undefined): string {
  const name = (label ?? "").toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, LIMITS.labelLength)
    .replace(/^-+|-+$/g, "");
  return name === "" ? "dispatch" : name;
}

/** A branch that nobody has yet. */
export function generatedBranch(label: string | undefined): string {
  return `lait/${nameOfLabel(label)}-${crypto.randomUUID().slice(0, 8)}`;
}

/** The name of a branch's directory: readable, and different for different branches. */
export async function directoryOfBranch(branch: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(branch));
  return `${nameOfLabel(branch)}-${new Uint8Array(digest).toHex().slice(0, 8)}`;
}
