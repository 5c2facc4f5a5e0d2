/** Deno's permissions, in sentences that say what to add. */

/** Says which right an error of Deno's names, and the flag that gives it. */
export function missingRight(error: Error): string {
  const [, right, name] = /^Requires (\w+) access(?: to (".*?"|\S+?))?(?:,|$)/.exec(error.message) ?? [];
  if (right === undefined) return `lait lacks a right: ${error.message}`;
  const value = name?.replace(/^"|"$/g, "");
  const target = value === undefined || value.startsWith("<") ? "" : `=${value}`;
  const flag = right === "all" ? "-A" : `--allow-${right}${target}`;
  return `lait needs ${right} access${value === undefined ? "" : ` to ${value}`}; run it with ${flag}`;
}

/** Whether this process may read a variable. */
export function mayReadVariable(name: string): boolean {
  return Deno.permissions.querySync({ name: "env", variable: name }).state === "granted";
}
