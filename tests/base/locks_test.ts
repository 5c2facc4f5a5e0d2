import assert from "node:assert/strict";
import { lockFile, tryLockFile } from "../../lib/base/locks.ts";
import { REPOSITORY } from "../_support/process.ts";

async function inFolder(work: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(`${folder}/lock`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("tryLockFile: one holder at a time, and again after it let go", async () => {
  await inFolder(async (path) => {
    const first = (await tryLockFile(path))!;
    assert.equal(await tryLockFile(path), undefined);
    first.release();
    first.release();
    (await tryLockFile(path))!.release();
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
    await assert.rejects(tryLockFile(`${path}/no/such`), { code: "file" });
  });
});

Deno.test("tryLockFile: a Deno that can only wait for a lock waits a moment", async () => {
  await inFolder(async (path) => {
    const { tryLock } = Deno.FsFile.prototype as { tryLock?: unknown };
    Object.defineProperty(Deno.FsFile.prototype, "tryLock", { value: undefined, configurable: true, writable: true });
    try {
      const first = (await tryLockFile(path))!;
      assert.equal(await tryLockFile(path), undefined);
      first.release();
      (await tryLockFile(path))!.release();
    } finally {
      Object.defineProperty(Deno.FsFile.prototype, "tryLock", { value: tryLock, configurable: true, writable: true });
    }
  });
});

Deno.test("lockFile: waits for the holder, and gives up with the signal's reason", async () => {
  await inFolder(async (path) => {
    const first = await lockFile(path);
    const order: string[] = [];
    const second = lockFile(path).then((lock) => {
      order.push("second");
      lock.release();
    });
    const controller = new AbortController();
    const third = lockFile(path, controller.signal).catch((error) => error);
    controller.abort("enough");
    assert.equal(await third, "enough");
    order.push("first");
    first.release();
    await second;
    assert.deepEqual(order, ["first", "second"]);
    (await tryLockFile(path))!.release();
  });
});

Deno.test("tryLockFile: a lock ends with the process that was killed", async () => {
  await inFolder(async (path) => {
    const script = `import { tryLockFile } from "${REPOSITORY}lib/base/locks.ts";
      const lock = await tryLockFile(Deno.args[0]);
      console.log(lock === undefined ? "busy" : "held");
      await new Promise((resolve) => setTimeout(resolve, 60_000));`;
    const file = `${path}.ts`;
    await Deno.writeTextFile(file, script);
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", file, path],
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    assert.equal(new TextDecoder().decode((await reader.read()).value).trim(), "held");
    assert.equal(await tryLockFile(path), undefined);
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    (await tryLockFile(path))!.release();
  });
});
