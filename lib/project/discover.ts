/** Finding configuration files. */
import { ConfigurationError, FileError } from "../base/errors.ts";
import type { EnvironmentReader } from "../base/environment.ts";
import { CONFIG_NAMES, PRODUCT_NAME } from "../base/product.ts";
import { dirname, join } from "../deps/path.ts";

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) {
      throw new ConfigurationError(
        `lait may not look for its configuration at ${path}: add --allow-read for that directory, or pass --no-config`,
        { cause: error },
      );
    }
    return false;
  }
}

/**
 * The configuration file of the nearest directory, from `directory` up to the root, that has one; undefined when none
 * has.
 *
 * @throws FileError when a directory has both `lait.config.yml` and `lait.config.yaml`
 */
export async function findProjectConfig(directory: string): Promise<string | undefined> {
  for (let folder = directory;; folder = dirname(folder)) {
    const found: string[] = [];
    for (const name of CONFIG_NAMES) if (await isFile(join(folder, name))) found.push(join(folder, name));
    if (found.length > 1) {
      throw new FileError(`both ${found[0]} and ${found[1]} exist, and only one can be the configuration; remove one`);
    }
    if (found[0] !== undefined) return found[0];
    if (dirname(folder) === folder) return undefined;
  }
}

/**
 * A directory of the user by the XDG rules: the variable when it is set and not blank, else a suffix of the home.
 *
 * @throws ConfigurationError when there is no home directory either
 */
export function userDirectory(variable: string, suffix: string, environment: EnvironmentReader): string {
  const xdg = environment(variable);
  if (xdg !== undefined && xdg.trim() !== "") return xdg;
  const home = [environment("HOME"), environment("USERPROFILE")].find((value) => value !== undefined && value !== "");
  if (home === undefined) {
    throw new ConfigurationError(`cannot tell the user's directory: neither ${variable} nor HOME is set`);
  }
  return join(home, suffix);
}

/** The global configuration file, when there is one. */
export async function findGlobalConfig(environment: EnvironmentReader): Promise<string | undefined> {
  const path = join(userDirectory("XDG_CONFIG_HOME", ".config", environment), PRODUCT_NAME, "config.yml");
  return await isFile(path) ? path : undefined;
}
