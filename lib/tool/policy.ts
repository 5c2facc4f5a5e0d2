/** `tool_policy`: which tools may run, by patterns over their qualified names. */

/** Whether a call may run, and if not, why. */
export type Decision = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

/** The patterns of a policy. */
export interface ToolPolicyPatterns {
  /** When it is not empty, a name must match one of these. */
  readonly allow: readonly string[];
  /** A name that matches one of these never runs. */
  readonly deny: readonly string[];
}

/**
 * Whether a name matches a pattern: `*` alone is everything, `prefix*`, `*suffix`, `*middle*` or exact. A `*` elsewhere
 * and `?` stand for themselves; upper and lower case differ.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  if (pattern === "*") return true;
  const starts = pattern.startsWith("*");
  const ends = pattern.endsWith("*");
  if (starts && ends) return name.includes(pattern.slice(1, -1));
  if (starts) return name.endsWith(pattern.slice(1));
  return ends ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** Decides about a tool by its qualified name: `deny` first, then `allow`. */
export function evaluatePolicy(policy: ToolPolicyPatterns, name: string): Decision {
  const denying = policy.deny.find((pattern) => matchesPattern(pattern, name));
  if (denying !== undefined) {
    return refused(name, `matches \`deny: ${JSON.stringify(denying)}\``);
  }
  if (policy.allow.length > 0 && !policy.allow.some((pattern) => matchesPattern(pattern, name))) {
    return refused(name, "matches nothing in `allow`");
  }
  return { allowed: true };
}

function refused(name: string, why: string): Decision {
  return { allowed: false, reason: `\`${name}\` is denied by tool_policy in lait.config.yml: it ${why}` };
}
