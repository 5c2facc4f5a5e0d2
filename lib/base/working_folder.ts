/** `.lait`: where lait keeps what it makes beside the user's files. Git never sees it. */
import { join } from "../deps/path.ts";
import { FileError } from "./errors.ts";
import { fileProblem } from "./files.ts";

/** The folder's name. */
export const WORKING_FOLDER = ".lait";

/**
 * The path of a folder within `.lait` of a directory; it is created if it is missing, for this user alone, with a
 * `.gitignore` that hides all of `.lait`.
 *
 * @throws FileError when it cannot be created
 */
export async function workingFolder(directory: string, ...names: readonly string[]): Promise<string> {
  const root = join(directory, WORKING_FOLDER);
  const folder = join(root, ...names);
  try {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    await Deno.writeTextFile(join(root, ".gitignore"), "*\n", { createNew: true }).catch((error) => {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    });
  } catch (error) {
    throw new FileError(`cannot create ${folder}: ${fileProblem(error)}`, { cause: error });
  }
  return folder;
}
