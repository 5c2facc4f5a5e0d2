/** The process's environment, read without ever stopping for a permission. */
import { mayReadVariable } from "./rights.ts";

/** Looks up a variable; undefined when it is unset, or when lait may not read it. */
export type EnvironmentReader = (name: string) => string | undefined;

/** Reads a variable of this process. A denied permission counts as unset. */
export function readEnvironment(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable || error instanceof TypeError) return undefined;
    throw error;
  }
}

/**
 * Runs synchronous work with some variables changed (undefined: unset), and puts them back. For packages that read the
 * environment and cannot be told not to; no other code runs in between. A variable that lait may not change stays.
 */
export function withVariables<T>(changes: Readonly<Record<string, string | undefined>>, work: () => T): T {
  const before = Object.keys(changes).map((name) => [name, readEnvironment(name)] as const)
    .filter(([name, value]) => value !== changes[name] && mayReadVariable(name));
  for (const [name] of before) setVariable(name, changes[name]);
  try {
    return work();
  } finally {
    for (const [name, value] of before) setVariable(name, value);
  }
}

function setVariable(name: string, value: string | undefined): void {
  if (value === undefined) Deno.env.delete(name);
  else Deno.env.set(name, value);
}
