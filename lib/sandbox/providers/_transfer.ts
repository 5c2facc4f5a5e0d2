/**
 * Files in and out of a sandbox. Bytes and the executable bit stay; a failure leaves what was there, and no half file.
 */
import { FileError } from "../../base/errors.ts";
import { throwIfAborted } from "../../base/signals.ts";
import type { SandboxLease, SandboxProcess, SpawnCommand } from "../lease.ts";

const UPLOAD = String.raw`
[ ! -d "$1" ] || { echo "it is a directory" >&2; exit 1; }
cat > "$2" && chmod "$3" "$2" && mv -f "$2" "$1"`;

/** Says on standard error, behind the file, whether it may be executed. */
const DOWNLOAD = String.raw`
[ ! -e "$1" ] || [ -f "$1" ] || { echo "it is not a regular file" >&2; exit 1; }
cat "$1" || exit
[ ! -x "$1" ] || echo executable >&2`;

/** Where a file is made before it takes its name. */
function besides(path: string): string {
  return `${path}.${crypto.randomUUID().slice(0, 8)}.tmp`;
}

/** Copies a file of this machine to another place of it. */
export async function copyOnHost(from: string, to: string, signal: AbortSignal | undefined): Promise<void> {
  await replacing(to, async (target) => {
    throwIfAborted(signal);
    using source = await openRegular(from);
    await source.readable.pipeTo(target.writable, signal === undefined ? {} : { signal });
    return (await Deno.stat(from)).mode ?? undefined;
  });
}

/**
 * Copies a file of this machine into a sandbox, through a command of its own, so that a link in it leads nowhere but
 * within it.
 */
export async function uploadThrough(
  lease: Pick<SandboxLease, "spawn" | "invoke">,
  hostPath: string,
  sandboxPath: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  throwIfAborted(signal);
  using file = await openRegular(hostPath);
  const mode = ((await Deno.stat(hostPath)).mode ?? 0o644) & 0o111 ? "755" : "644";
  const target = named(sandboxPath);
  const temporary = besides(target);
  try {
    const process = await lease.spawn({ ...shell(UPLOAD, signal, target, temporary, mode), stdin: "piped" });
    const said = new Response(process.stderr).text();
    void new Response(process.stdout).text();
    // A program that cannot write stops reading; what it says is the better error.
    await file.readable.pipeTo(process.stdin!).catch(() => {});
    await finished(process, said, `cannot write ${sandboxPath} in the sandbox`, signal);
  } catch (error) {
    await lease.invoke({ executable: "rm", arguments: ["-f", temporary] }).catch(() => {});
    throw error;
  }
}

/** Copies a file of a sandbox to this machine, through a command of its own. */
export async function downloadThrough(
  lease: Pick<SandboxLease, "spawn">,
  sandboxPath: string,
  hostPath: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await replacing(hostPath, async (target) => {
    const process = await lease.spawn(shell(DOWNLOAD, signal, named(sandboxPath)));
    const said = new Response(process.stderr).text();
    await process.stdout.pipeTo(target.writable).catch(async (error) => {
      await process.end();
      throw error;
    });
    const text = await finished(process, said, `cannot read ${sandboxPath} in the sandbox`, signal);
    return text.includes("executable") ? 0o755 : undefined;
  });
}

/** Makes a file of this machine under another name, which is given up when `write` fails; it may say the mode. */
async function replacing(path: string, write: (file: Deno.FsFile) => Promise<number | undefined>): Promise<void> {
  const temporary = besides(path);
  const file = await Deno.open(temporary, { write: true, createNew: true });
  try {
    const mode = await write(file);
    if (mode !== undefined && Deno.build.os !== "windows") await Deno.chmod(temporary, mode & 0o777);
    await Deno.rename(temporary, path);
  } catch (error) {
    close(file);
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

function close(file: Deno.FsFile): void {
  try {
    file.close();
  } catch {
    // The stream has closed it.
  }
}

/** Opens a file that has an end. */
async function openRegular(path: string): Promise<Deno.FsFile> {
  if (!(await Deno.stat(path)).isFile) throw new FileError(`cannot read ${path}: it is not a regular file`);
  return await Deno.open(path, { read: true });
}

/** A path that no program takes for an option. */
function named(path: string): string {
  return path.startsWith("-") ? `./${path}` : path;
}

function shell(script: string, signal: AbortSignal | undefined, ...words: string[]): SpawnCommand {
  return { executable: "sh", arguments: ["-c", script, "sh", ...words], ...(signal === undefined ? {} : { signal }) };
}

async function finished(
  process: SandboxProcess,
  said: Promise<string>,
  what: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const [status, text] = await Promise.all([process.status, said]);
  throwIfAborted(signal);
  if (status !== 0) throw new FileError(`${what}: ${text.trim() || `status ${status}`}`);
  return text;
}
