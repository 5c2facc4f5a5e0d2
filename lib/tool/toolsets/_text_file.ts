/** Reading and replacing text files of the sandbox. */
import { ToolFailure } from "../../base/errors.ts";
import { fileProblem } from "../../base/files.ts";
import { throwIfAborted } from "../../base/signals.ts";
import { decodeUtf8 } from "../../base/text.ts";
import { join } from "../../deps/path.ts";
import { locate, type Located } from "../path_rule.ts";
import type { HarnessToolContext } from "../tool.ts";
import { TOOLSET_LIMITS } from "./limits.ts";
import { REPLACE } from "./replace_script.ts";

/** A path as messages show it. */
export function quoted(path: string): string {
  return JSON.stringify(path);
}

/**
 * The bytes of a file of the sandbox, by way of a private directory of this machine that is gone afterwards.
 *
 * @param real absolute, with no link in it
 * @throws ToolFailure naming `shown`
 */
export async function downloadBytes(
  { sandbox, signal }: HarnessToolContext,
  real: string,
  shown: string,
): Promise<Uint8Array> {
  const folder = await Deno.makeTempDir({ prefix: "lait-file-" });
  try {
    const copy = join(folder, "file");
    await sandbox.download(real, copy, { signal });
    const { size } = await Deno.stat(copy);
    if (size > TOOLSET_LIMITS.fileBytes) throw tooLarge(shown);
    return await Deno.readFile(copy);
  } catch (error) {
    throwIfAborted(signal);
    if (error instanceof ToolFailure) throw error;
    throw new ToolFailure(`cannot read ${quoted(shown)}: ${fileProblem(error)}`, { cause: error });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function tooLarge(path: string): ToolFailure {
  return new ToolFailure(`${quoted(path)} is larger than ${TOOLSET_LIMITS.fileBytes} bytes`);
}

/** Whether bytes look like no text: a NUL stands at their beginning. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, TOOLSET_LIMITS.binaryProbeBytes).includes(0);
}

/** A text file that was read. */
export interface TextFile {
  /** Where it is. */
  readonly located: Located;
  /** Its bytes, to be compared with. */
  readonly bytes: Uint8Array;
  /** Its text; a byte order mark is kept. */
  readonly text: string;
}

/**
 * Reads a text file.
 *
 * @throws ToolFailure for what is no UTF-8 text file within the root: missing, a directory, a link, too large, binary
 */
export async function readTextFile(context: HarnessToolContext, path: string): Promise<TextFile> {
  const located = await locate(context.sandbox, path, {
    signal: context.signal,
    maxBytes: TOOLSET_LIMITS.fileBytes,
  });
  const { kind } = located;
  if (located.isLink) throw new ToolFailure(`${quoted(path)} is a symbolic link; name the file that it leads to`);
  if (kind === "missing") throw new ToolFailure(`${quoted(path)} does not exist`);
  if (kind === "directory") throw new ToolFailure(`${quoted(path)} is a directory`);
  if (kind === "special") throw new ToolFailure(`${quoted(path)} is not an ordinary file`);
  if (located.tooLarge) throw tooLarge(path);
  const bytes = await downloadBytes(context, located.real, path);
  if (isBinary(bytes)) throw new ToolFailure(`${quoted(path)} is binary: there is a NUL at its beginning`);
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new ToolFailure(`${quoted(path)} is not UTF-8 text`);
  return { located, bytes, text };
}

/**
 * Creates or replaces a file, whole or not at all; its directories are created, its mode is kept.
 *
 * @returns the bytes that were written
 * @throws ToolFailure naming the path
 */
export async function replaceTextFile(
  { sandbox, signal }: HarnessToolContext,
  located: Located,
  text: string,
): Promise<number> {
  if (!text.isWellFormed()) {
    throw new ToolFailure(`cannot write ${quoted(located.path)}: the text holds half of a surrogate pair`);
  }
  const size = new TextEncoder().encode(text).length;
  const { status, stderr } = await sandbox.invoke({
    executable: "sh",
    arguments: ["-c", REPLACE, "sh", located.real, String(size), `.lait-${crypto.randomUUID()}.tmp`],
    variables: { LC_ALL: "C" },
    stdin: text,
    quiet: true,
    signal,
  });
  if (status !== 0) {
    throw new ToolFailure(`cannot write ${quoted(located.path)}: ${stderr.trim() || `status ${status}`}`);
  }
  return size;
}
