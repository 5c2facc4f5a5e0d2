/** Reading files within a bound, and replacing files whole. */
import { FileError } from "./errors.ts";
import { missingRight } from "./rights.ts";
import { LIMITS } from "./limits.ts";
import { decodeUtf8, joinBytes } from "./text.ts";

/** Why a file operation failed, in a few words and without a stack. */
export function fileProblem(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file";
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied by the operating system";
  if (error instanceof Deno.errors.NotCapable) return missingRight(error);
  if (error instanceof Deno.errors.IsADirectory) return "it is a directory";
  return error instanceof Error ? error.message : String(error);
}

/**
 * The bytes of a file of at most `limit` bytes.
 *
 * @throws FileError naming the file, also when it is larger (`read limit`)
 */
export async function readFileBounded(path: string, limit: number = LIMITS.fileBytes): Promise<Uint8Array> {
  try {
    using file = await Deno.open(path, { read: true });
    if ((await file.stat()).isDirectory) throw new Deno.errors.IsADirectory();
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for (let buffer = new Uint8Array(64 * 1024);; buffer = new Uint8Array(64 * 1024)) {
      const count = await file.read(buffer);
      if (count === null) break;
      bytes += count;
      if (bytes > limit) throw new FileError(`cannot read ${path}: it is over the read limit of ${limit} bytes`);
      chunks.push(buffer.subarray(0, count));
    }
    return joinBytes(chunks);
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError(`cannot read ${path}: ${fileProblem(error)}`, { cause: error });
  }
}

/**
 * The text of a UTF-8 file of at most `limit` bytes.
 *
 * @throws FileError naming the file
 */
export async function readTextBounded(path: string, limit: number = LIMITS.fileBytes): Promise<string> {
  const text = decodeUtf8(await readFileBounded(path, limit));
  if (text === undefined) throw new FileError(`cannot read ${path}: it is not UTF-8`);
  return text;
}

/**
 * Writes a file so that at any moment the old or the new content is there, never a part. What is no regular file (a
 * device, a pipe) is written to directly. The file keeps its mode; a link keeps being one.
 *
 * @throws FileError naming the file
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  try {
    const target = await existing(path);
    if (target !== undefined && !target.info.isFile) {
      await Deno.writeTextFile(path, text);
      return;
    }
    const real = target?.path ?? path;
    const temporary = `${real}.${crypto.randomUUID().slice(0, 8)}.tmp`;
    try {
      const mode = target?.info.mode;
      await Deno.writeTextFile(temporary, text, mode === undefined || mode === null ? {} : { mode: mode & 0o777 });
      await Deno.rename(temporary, real);
    } catch (error) {
      await Deno.remove(temporary).catch(() => {});
      throw error;
    }
  } catch (error) {
    throw new FileError(`cannot write ${path}: ${writeProblem(error)}`, { cause: error });
  }
}

function writeProblem(error: unknown): string {
  return error instanceof Deno.errors.NotFound ? "its directory does not exist" : fileProblem(error);
}

async function existing(path: string): Promise<{ path: string; info: Deno.FileInfo } | undefined> {
  try {
    return { path: await Deno.realPath(path), info: await Deno.stat(path) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
