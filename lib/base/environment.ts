/** The process's environment, read without ever stopping for a permission. */

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
