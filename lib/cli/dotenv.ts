/** Variables from `.env` in the current directory: they fill in for what is not set. */
import type { EnvironmentReader } from "../base/environment.ts";
import { DiagnosticError, FileError } from "../base/errors.ts";
import { fileProblem, readTextBounded } from "../base/files.ts";
import { join } from "../deps/path.ts";
import type { Io } from "./io.ts";

/**
 * Reads `.env` and sets each variable that is not set yet, so that commands inherit it. A missing file is no file.
 *
 * @throws FileError naming the line of what is no assignment, or when the file is there and cannot be read
 */
export async function loadDotenv(io: Io): Promise<EnvironmentReader> {
  const path = join(io.directory, ".env");
  if (!await isThere(path)) return io.environment;
  const text = await readTextBounded(path);
  const { readDotenv } = await import("../source/dotenv.ts");
  const added = new Map<string, string>();
  for (const { name, value } of entriesOf(() => readDotenv(text))) {
    if (added.has(name) || io.environment(name) !== undefined) continue;
    added.set(name, value);
    setVariable(name, value);
  }
  return (name) => io.environment(name) ?? added.get(name);
}

/** Faults of `.env` are an ordinary failure: it is no file of the project's format. */
function entriesOf<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof DiagnosticError ? new FileError(error.message, { cause: error }) : error;
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    return !(await Deno.stat(path)).isDirectory;
  } catch (error) {
    // What lait may not look at it cannot use; a run with such narrowed rights names its variables itself.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable) return false;
    throw new FileError(`cannot read ${path}: ${fileProblem(error)}`, { cause: error });
  }
}

function setVariable(name: string, value: string): void {
  try {
    Deno.env.set(name, value);
  } catch (error) {
    // Without the right to set it, lait itself still sees it; a command's `env:` can pass it on.
    if (!(error instanceof Deno.errors.NotCapable)) throw error;
  }
}
