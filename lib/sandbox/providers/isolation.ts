/** Options that the sandboxes with a wall share. */
import { ConfigurationError, ProcessError } from "../../base/errors.ts";
import { checkKeys, checkText } from "../../base/options.ts";
import { isAbsolute } from "../../deps/path.ts";
import { readEnvironment } from "../../base/environment.ts";
import { findProgram } from "../program.ts";

/**
 * What a sandbox may reach over the network. `deny-all` is nothing, and the default. An `allowlist` of domains would
 * need a filter that none of these sandboxes has; it is refused rather than taken for something weaker.
 */
export type Egress =
  | { readonly mode: "deny-all" }
  | { readonly mode: "allowlist"; readonly domains: readonly string[] };

/** A directory of this machine that commands see besides the workspace. */
export interface SandboxMount {
  /** Its absolute path. */
  readonly source: string;
  /** Where it is in the sandbox. Default: under the same path. */
  readonly target?: string;
  /** Whether commands may write to it. Default: false. */
  readonly writable?: boolean;
}

/** What commands get of the environment. */
export interface SandboxVariables {
  /** Variables that commands get. Default: none. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Names of variables of this program that commands get too, those that are set. Default: none. */
  readonly inherit?: readonly string[];
}

/** Refuses an egress that cannot be kept, and one that contradicts `network`. */
export function checkEgress(what: string, egress: Egress | undefined, network: unknown): void {
  if (egress === undefined) return;
  checkKeys(`${what}: egress`, egress, ["mode", "domains", "allowCidrs", "denyCidrs"]);
  if (egress.mode === "deny-all") {
    if (network === undefined || network === false) return;
    throw new ConfigurationError(`${what}: egress "deny-all" and network contradict each other`);
  }
  throw new ConfigurationError(
    `${what}: egress ${JSON.stringify(egress.mode)} cannot be kept here: this sandbox does not filter by domain or ` +
      'address; use { mode: "deny-all" }, or `network` for all of it',
  );
}

/** Refuses what is no list of mounts. */
export function checkMounts(what: string, mounts: readonly SandboxMount[]): void {
  if (!Array.isArray(mounts)) throw new ConfigurationError(`${what} must be a list`);
  for (const [index, mount] of mounts.entries()) {
    const name = `${what}[${index}]`;
    checkKeys(name, mount, ["source", "target", "writable"]);
    for (const key of ["source", "target"] as const) {
      if (key === "target" && mount.target === undefined) continue;
      checkText(`${name}.${key}`, mount[key]);
      if (!isAbsolute(mount[key]!)) throw new ConfigurationError(`${name}.${key} must be an absolute path`);
    }
  }
}

/** Refuses mounts of what is not there. */
export async function checkSources(mounts: readonly SandboxMount[]): Promise<void> {
  for (const { source } of mounts) {
    try {
      await Deno.stat(source);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      throw new ConfigurationError(`the sandbox cannot mount ${source}: it is not there`, { cause: error });
    }
  }
}

/** The variables that were chosen, the inherited ones first. */
export function chosenVariables({ variables = {}, inherit = [] }: SandboxVariables): Record<string, string> {
  const inherited = inherit.flatMap((name) => {
    const value = readEnvironment(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), ...variables };
}

/** Refuses variables that are none. */
export function checkVariables(what: string, { variables = {}, inherit = [] }: SandboxVariables): void {
  if (!Array.isArray(inherit)) throw new ConfigurationError(`${what}: inherit must be a list of names`);
  for (const name of [...Object.keys(variables), ...inherit]) {
    if (typeof name !== "string" || !/^[^=\0]+$/.test(name)) {
      throw new ConfigurationError(`${what}: ${JSON.stringify(name)} cannot name a variable`);
    }
  }
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === "string" && !value.includes("\0")) continue;
    throw new ConfigurationError(`${what}: the variable ${name} must be a text without NUL`);
  }
}

/**
 * The path of the program that makes a sandbox.
 *
 * @throws ConfigurationError naming the package when it is not there: another sandbox is never taken in its place
 */
export async function neededProgram(sandbox: "bubblewrap" | "container", program: string): Promise<string> {
  try {
    return (await findProgram(program, { path: readEnvironment("PATH"), directory: "/" }))[0]!;
  } catch (error) {
    if (!(error instanceof ProcessError)) throw error;
    const name = sandbox === "container" ? program : sandbox;
    throw new ConfigurationError(
      `the ${sandbox} sandbox needs the program \`${program}\`, which is not in PATH; install the package \`${name}\``,
      { cause: error },
    );
  }
}
