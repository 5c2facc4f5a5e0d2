/** Files of the user's checkout that are in no commit and that a worktree gets as well: `.env`, `node_modules`. */
import { ConfigurationError, LaitError, TimeoutError } from "../base/errors.ts";
import { fileProblem } from "../base/files.ts";
import { dirname, join } from "../deps/path.ts";

/** Refuses paths that are not plainly below the root, Git's own, and lait's own. */
export function checkCopies(what: string, copies: readonly string[]): void {
  if (!Array.isArray(copies)) throw new ConfigurationError(`${what} must be a list of paths`);
  for (const [index, path] of copies.entries()) {
    const name = `${what}[${index}]`;
    if (typeof path !== "string" || path === "") throw new ConfigurationError(`${name} must be a non-empty path`);
    const parts = path.replace(/\/+$/, "").split(/[/\\]/);
    const relative = !path.startsWith("/") && !/^[A-Za-z]:/.test(path) && !path.includes("\0");
    if (!relative || parts.some((part) => part === "" || part === "." || part === "..")) {
      throw new ConfigurationError(
        `${name} must be a path below the repository, without \`.\` and \`..\` (got ${path})`,
      );
    }
    if ([".git", ".lait"].includes(parts[0]!.toLowerCase()) || parts.some((part) => part.toLowerCase() === ".git")) {
      throw new ConfigurationError(`${name}: ${path} is not to be copied`);
    }
  }
}

/**
 * Copies files and directories from one directory to another; what is missing is left out, links stay links.
 *
 * @throws TimeoutError when it takes longer than `deadlineMs`; LaitError `workspace` when a file cannot be copied
 */
export async function copyInto(
  from: string,
  to: string,
  copies: readonly string[],
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const late = Date.now() + deadlineMs;
  const check = () => {
    signal?.throwIfAborted();
    if (Date.now() > late) throw new TimeoutError(`copying files into the worktree took longer than ${deadlineMs} ms`);
  };
  for (const path of copies) {
    check();
    const info = await Deno.lstat(join(from, path)).catch(() => undefined);
    if (info === undefined) continue;
    try {
      await Deno.mkdir(dirname(join(to, path)), { recursive: true });
      await copy(join(from, path), join(to, path), info, check);
    } catch (error) {
      if (error instanceof TimeoutError || signal?.aborted) throw error;
      throw new LaitError("workspace", `${path} cannot be copied into the worktree: ${fileProblem(error)}`, {
        cause: error,
      });
    }
  }
}

async function copy(from: string, to: string, info: Deno.FileInfo, check: () => void): Promise<void> {
  check();
  if (info.isSymlink) {
    await Deno.remove(to).catch(() => {});
    await Deno.symlink(await Deno.readLink(from), to);
  } else if (info.isDirectory) {
    await Deno.mkdir(to, { recursive: true });
    for await (const { name } of Deno.readDir(from)) {
      await copy(join(from, name), join(to, name), await Deno.lstat(join(from, name)), check);
    }
  } else if (info.isFile) {
    await Deno.copyFile(from, to);
  }
}

/**
 * How many of the files that `git status` lists (two letters of state, a space, the path) are copies that still are as
 * their originals.
 */
export async function unchangedCopies(
  from: string,
  to: string,
  copies: readonly string[],
  listed: readonly string[],
): Promise<number> {
  const roots = copies.map((path) => path.replace(/\/+$/, ""));
  const unchanged = await Promise.all(listed.map(async (entry) => {
    const path = entry.slice(3).replace(/\/$/, "");
    if (!["??", "!!"].includes(entry.slice(0, 2))) return false;
    if (!roots.some((root) => path === root || path.startsWith(`${root}/`))) return false;
    return await same(join(from, path), join(to, path));
  }));
  return unchanged.filter((one) => one).length;
}

async function same(a: string, b: string): Promise<boolean> {
  try {
    const [one, other] = [await Deno.lstat(a), await Deno.lstat(b)];
    if (one.isSymlink) return other.isSymlink && await Deno.readLink(a) === await Deno.readLink(b);
    if (one.isFile) return other.isFile && one.size === other.size && await sameBytes(a, b);
    if (!one.isDirectory || !other.isDirectory) return false;
    const [names, others] = await Promise.all([a, b].map(async (path) => {
      const entries = await Array.fromAsync(Deno.readDir(path));
      return entries.map(({ name }) => name).toSorted();
    }));
    if (names!.join("\0") !== others!.join("\0")) return false;
    for (const name of names!) {
      if (!await same(join(a, name), join(b, name))) return false;
    }
    return true;
  } catch {
    return false;
  }
}

async function sameBytes(a: string, b: string): Promise<boolean> {
  const [one, other] = [await Deno.readFile(a), await Deno.readFile(b)];
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
