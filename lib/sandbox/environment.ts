/** What a child sees of lait's environment. */
import { ConfigurationError } from "../base/errors.ts";

/** The variables that hold lait's own model keys; the names that a configuration's `api_key` fields use come on top. */
export const MODEL_KEY_VARIABLES: readonly string[] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/**
 * The environment of this process less the variables in `without`. With a narrowed --allow-run Deno refuses to pass on
 * the variables of the dynamic linker, so they are left out then.
 *
 * @throws ConfigurationError naming the flag, when lait may not read the whole environment
 */
export function inheritedEnvironment(without: Iterable<string>): Record<string, string> {
  let all: Record<string, string>;
  try {
    all = Deno.env.toObject();
  } catch (error) {
    throw new ConfigurationError(
      "a command that inherits lait's environment needs the Deno flag --allow-env without a list; " +
        "a command of `tools:` can list the variables that it needs in its `env:` instead",
      { cause: error },
    );
  }
  const left = new Set(without);
  const linker = Deno.permissions.querySync({ name: "run" }).state !== "granted";
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => !left.has(name) && !(linker && /^(LD|DYLD)_/.test(name))),
  );
}
