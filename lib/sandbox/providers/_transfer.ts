/** Files in and out of a sandbox through its own commands, so that a link in it leads nowhere but within it. */
import { FileError } from "../../base/errors.ts";
import type { SandboxLease, SandboxProcess } from "../lease.ts";

/** Copies a file of this machine into a sandbox. */
export async function uploadThrough(
  lease: Pick<SandboxLease, "spawn">,
  hostPath: string,
  sandboxPath: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  using file = await Deno.open(hostPath, { read: true });
  const process = await lease.spawn({
    ...shell('cat > "$1"', sandboxPath, signal),
    stdin: "piped",
  });
  const said = errorOf(process);
  // A program that cannot write stops reading; what it says is the better error.
  await file.readable.pipeTo(process.stdin!).catch(() => {});
  await finished(process, said, `cannot write ${sandboxPath} in the sandbox`, signal);
}

/** Copies a file of a sandbox to this machine; a failure leaves what was there. */
export async function downloadThrough(
  lease: Pick<SandboxLease, "spawn">,
  sandboxPath: string,
  hostPath: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const temporary = `${hostPath}.${crypto.randomUUID().slice(0, 8)}.tmp`;
  try {
    const process = await lease.spawn(shell('cat -- "$1"', sandboxPath, signal));
    const said = errorOf(process, false);
    const file = await Deno.open(temporary, { write: true, createNew: true });
    await process.stdout.pipeTo(file.writable).catch(async (error) => {
      await process.end();
      throw error;
    });
    await finished(process, said, `cannot read ${sandboxPath} in the sandbox`, signal);
    await Deno.rename(temporary, hostPath);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

function shell(script: string, path: string, signal: AbortSignal | undefined) {
  return {
    executable: "sh",
    arguments: ["-c", script, "sh", path.startsWith("-") ? `./${path}` : path],
    ...(signal === undefined ? {} : { signal }),
  };
}

function errorOf(process: SandboxProcess, readOutput = true): Promise<string> {
  if (readOutput) void new Response(process.stdout).text();
  return new Response(process.stderr).text();
}

async function finished(
  process: SandboxProcess,
  said: Promise<string>,
  what: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const [status, text] = await Promise.all([process.status, said]);
  signal?.throwIfAborted();
  if (status !== 0) throw new FileError(`${what}: ${text.trim() || `status ${status}`}`);
}
