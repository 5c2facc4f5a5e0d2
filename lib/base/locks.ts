/** Locks between processes: files that the operating system locks, so that a lock ends with whoever held it. */
import { FileError } from "./errors.ts";
import { fileProblem } from "./files.ts";
import { throwIfAborted, untilAborted } from "./signals.ts";

/** How long a lock that cannot be tried for at once is waited for. */
const TRY_MS = 250;

/** A lock that is held. */
export interface HeldLock {
  /** Gives it back. May be called twice. */
  release(): void;
}

/**
 * Takes the lock of a file if nobody holds it, in this process or another; undefined when somebody does. The file is
 * created (0600), and stays: removing it would let two hold locks of one name.
 *
 * @throws FileError when the file cannot be opened
 */
export async function tryLockFile(path: string): Promise<HeldLock | undefined> {
  const file = await open(path);
  let held = false;
  try {
    held = await tryLock(file);
  } finally {
    if (!held) close(file);
  }
  return held ? { release: () => close(file) } : undefined;
}

/**
 * Takes the lock of a file, waiting for whoever holds it.
 *
 * @throws FileError when the file cannot be opened; the signal's reason when it aborts
 */
export async function lockFile(path: string, signal?: AbortSignal): Promise<HeldLock> {
  throwIfAborted(signal);
  const file = await open(path);
  try {
    // Given up, the lock still comes when the holder lets go, to a file that is closed by then: nobody holds it.
    await untilAborted(file.lock(true), signal);
  } catch (error) {
    close(file);
    throwIfAborted(signal);
    throw new FileError(`cannot lock ${path}: ${fileProblem(error)}`, { cause: error });
  }
  return { release: () => close(file) };
}

async function open(path: string): Promise<Deno.FsFile> {
  try {
    return await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
  } catch (error) {
    throw new FileError(`cannot lock ${path}: ${fileProblem(error)}`, { cause: error });
  }
}

function close(file: Deno.FsFile): void {
  try {
    file.close();
  } catch {
    // It is closed already.
  }
}

async function tryLock(file: Deno.FsFile): Promise<boolean> {
  // Deno has it since 2.7; older ones can only wait.
  const { tryLock } = file as { tryLock?: (exclusive: boolean) => Promise<boolean> };
  if (tryLock !== undefined) return await tryLock.call(file, true);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), TRY_MS);
  });
  const taken = file.lock(true).then(() => true, () => false);
  const held = await Promise.race([taken, late]);
  clearTimeout(timer);
  return held;
}
