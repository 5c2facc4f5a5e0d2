import assert from "node:assert/strict";
import { ProcessError } from "../../lib/base/errors.ts";
import { createLocalSandboxProvider } from "../../lib/sandbox/providers/local.ts";
import { endAllProcesses, runProcess } from "../../lib/sandbox/process.ts";
import { isRunning } from "../_support/process.ts";

const environment = { PATH: "/usr/local/bin:/usr/bin:/bin" };

function run(
  argv: string[],
  options: Parameters<typeof runProcess>[1] = {},
  env: Record<string, string> = environment,
) {
  return runProcess({ argv, directory: Deno.cwd(), environment: env, searchDirectory: Deno.cwd() }, options);
}

/** A duration that no other test uses, so that its `sleep` can be told from others. */
let marker = 4000 + Math.floor(Math.random() * 100_000);
const uniqueSleep = () => `${++marker}.25`;

async function rejected(work: Promise<unknown>): Promise<ProcessError> {
  try {
    await work;
  } catch (error) {
    assert(error instanceof ProcessError, `expected a ProcessError, got ${error}`);
    return error;
  }
  throw new Error("expected a rejection");
}

Deno.test("runProcess: status, both streams and a signal's status are the result", async () => {
  const result = await run(["sh", "-c", "printf out; printf err >&2; exit 3"]);
  assert.deepEqual(result, { status: 3, stdout: "out", stderr: "err" });
  assert.equal((await run(["sh", "-c", "kill -TERM $$"])).status, 128 + 15);
});

Deno.test("runProcess: stdin is the null device, or the text that was given", async () => {
  assert.equal((await run(["cat"])).stdout, "");
  assert.equal((await run(["cat"], { stdin: "héllo" })).stdout, "héllo");
  assert.equal((await run(["true"], { stdin: "x".repeat(1 << 20) })).status, 0);
});

Deno.test("runProcess: a grandchild that holds standard input without reading it cannot hang the call", async () => {
  const child = uniqueSleep();
  const script = `exec 3<&0; sleep ${child} <&3 >/dev/null 2>&1 & exit 0`;
  assert.equal((await run(["sh", "-c", script], { stdin: "x".repeat(1 << 20) })).status, 0);
  await endAllProcesses();
});

Deno.test("runProcess: the child sees the environment given and nothing else", async () => {
  const { stdout } = await run(["/usr/bin/env"], {}, { ONLY: "this" });
  assert.equal(stdout, "ONLY=this\n");
});

Deno.test("runProcess: a name is looked up in the child's PATH only", async () => {
  const missing = await rejected(run(["env"], {}, { FOO: "bar" }));
  assert.equal(missing.kind, "spawn");
  assert.match(missing.message, /`env`.*no PATH.*list PATH/);
  const elsewhere = await rejected(run(["env"], {}, { PATH: "/nowhere" }));
  assert.match(elsewhere.message, /`env`/);
});

Deno.test("runProcess: a relative path is taken from the search directory, not from the child's directory", async () => {
  const directory = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${directory}/sub`);
    await Deno.writeTextFile(`${directory}/x.sh`, "#!/bin/sh\necho outer\n", { mode: 0o755 });
    await Deno.writeTextFile(`${directory}/sub/x.sh`, "#!/bin/sh\necho inner\n", { mode: 0o755 });
    const result = await runProcess(
      { argv: ["./x.sh"], directory: `${directory}/sub`, environment, searchDirectory: directory },
      {},
    );
    assert.equal(result.stdout, "outer\n");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

for (
  const [title, argv, directory] of [
    ["a missing program", ["lait-no-such-program"], undefined],
    ["a missing path", ["./lait-no-such-program"], undefined],
    ["a NUL in an argument", ["echo", "a\0b"], undefined],
    ["an empty name", [""], undefined],
    ["a missing directory", ["true"], "/lait-no-such-directory"],
    ["a file that is no program", [new URL(import.meta.url).pathname], undefined],
  ] as const
) {
  Deno.test(`runProcess: ${title} is a spawn error`, async () => {
    const spec = { argv: [...argv], directory: directory ?? Deno.cwd(), environment, searchDirectory: Deno.cwd() };
    const error = await rejected(runProcess(spec, {}));
    assert.equal(error.kind, "spawn");
    if (argv[0] !== "") assert(error.message.includes(argv[0]), error.message);
  });
}

Deno.test("runProcess: the deadline ends the group, a trap included, and keeps stderr", async () => {
  const [child, own] = [uniqueSleep(), uniqueSleep()];
  const error = await rejected(
    run(["sh", "-c", `trap '' TERM; echo late >&2; sleep ${child} & sleep ${own}`], { deadlineMs: 300 }),
  );
  assert.equal(error.kind, "timeout");
  assert.match(error.message, /timed out after 0.3s/);
  assert.equal(error.output.stderr, "late\n");
  assert.equal(isRunning(child), false);
  assert.equal(isRunning(own), false);
});

Deno.test("runProcess: a descendant that left the group ends too while its parent lives", async () => {
  const child = uniqueSleep();
  await rejected(run(["sh", "-c", `setsid sleep ${child} & sleep 60`], { deadlineMs: 400 }));
  assert.equal(isRunning(child), false);
});

Deno.test("runProcess: SIGTERM comes first, so a program can tidy up", async () => {
  const error = await rejected(
    run(["sh", "-c", "trap 'echo tidy >&2; exit 0' TERM; while :; do sleep 0.05; done"], { deadlineMs: 300 }),
  );
  assert.match(error.output.stderr, /^tidy$/m);
});

Deno.test("runProcess: an abort ends the tree and rejects with exactly its reason", async () => {
  const child = uniqueSleep();
  const controller = new AbortController();
  setTimeout(() => controller.abort("enough"), 200);
  let reason: unknown;
  await run(["sh", "-c", `sleep ${child} & wait`], { signal: controller.signal }).catch((error) => reason = error);
  assert.equal(reason, "enough");
  assert.equal(isRunning(child), false);
});

for (const channel of ["stdout", "stderr"] as const) {
  Deno.test(`runProcess: a flood on ${channel} is stopped at the limit and memory stays flat`, async () => {
    const before = Deno.memoryUsage().rss;
    const error = await rejected(run(["sh", "-c", channel === "stdout" ? "yes" : "yes >&2"]));
    assert.equal(error.kind, "overflow");
    assert.match(error.message, new RegExp(`16777216 bytes to ${channel}`));
    assert.equal(error.output[channel].length, 16_777_216);
    assert(Deno.memoryUsage().rss - before < 256 * 1024 * 1024);
  });
}

Deno.test("runProcess: output of exactly the limit is a result", async () => {
  const result = await run(["head", "-c", "1000", "/dev/zero"], { maxBytes: 1000 });
  assert.equal(result.stdout.length, 1000);
});

Deno.test("[D9] runProcess: a grandchild in the background that holds the pipe cannot hang the call", async () => {
  const child = uniqueSleep();
  const result = await run(["sh", "-c", `sleep ${child} & echo done`], { deadlineMs: 60_000 });
  assert.deepEqual(result, { status: 0, stdout: "done\n", stderr: "" });
  assert.equal(isRunning(child), true, "what a command leaves running on purpose is left alone");
  await endAllProcesses();
  assert.equal(isRunning(child), false, "but not beyond the end of lait");
});

Deno.test("runProcess: three-byte characters survive any split of the pipe", async () => {
  // 34 × 6 MB of `あ`, 3 bytes each: over 200 MB, through pipes that split where they like.
  const script = "yes あ | tr -d '\\n' | head -c 6000000";
  for (let i = 0; i < 34; i++) {
    const { stdout, undecodable } = await run(["sh", "-c", script]);
    assert.equal(undecodable, undefined);
    assert.equal(stdout.length, 2_000_000);
    assert.equal(stdout.includes("\ufffd"), false);
  }
});

Deno.test("runProcess: observed text is decoded across chunks", async () => {
  let seen = "";
  await run(["sh", "-c", "printf '\\343'; sleep 0.1; printf '\\201\\202'"], { observe: (_, text) => seen += text });
  assert.equal(seen, "あ");
});

Deno.test("runProcess: output that is not UTF-8 is named", async () => {
  const result = await run(["printf", "\\377"]);
  assert.deepEqual(result.undecodable, ["stdout"]);
});

Deno.test("runProcess: retain keeps the last characters of any amount", async () => {
  const result = await run(["sh", "-c", "head -c 40000000 /dev/zero | tr '\\0' x; printf END"], { retain: 10 });
  assert.equal(result.stdout, "xxxxxxxEND");
});

Deno.test("LocalLease: release ends what still runs, and later commands are refused", async () => {
  const child = uniqueSleep();
  const lease = await createLocalSandboxProvider().acquire({ directory: Deno.cwd() });
  const work = lease.invoke({ executable: "sleep", arguments: [child] }).catch((error) => error);
  const process = await lease.spawn({ executable: "sleep", arguments: [child] });
  await Promise.all([process.stdout.cancel(), process.stderr.cancel()]);
  await lease.release();
  assert.match(String(await work), /released/);
  assert.equal(isRunning(child), false);
  await assert.rejects(lease.invoke({ executable: "true" }), /released/);
});

Deno.test("LocalLease: spawn gives live streams", async () => {
  const lease = await createLocalSandboxProvider().acquire({ directory: Deno.cwd() });
  const process = await lease.spawn({ executable: "cat", stdin: "piped" });
  const writer = process.stdin!.getWriter();
  const reader = process.stdout.getReader();
  await writer.write(new TextEncoder().encode("ping"));
  assert.equal(new TextDecoder().decode((await reader.read()).value), "ping");
  await writer.close();
  assert.equal(await process.status, 0);
  await Promise.all([reader.cancel(), process.stderr.cancel()]);
  await lease.release();
});

Deno.test("[D6] LocalLease: children do not inherit lait's own model keys", async () => {
  Deno.env.set("OPENAI_API_KEY", "secret-1");
  Deno.env.set("LAIT_TEST_KEY", "secret-2");
  try {
    const lease = await createLocalSandboxProvider({ withhold: ["LAIT_TEST_KEY"] }).acquire({ directory: Deno.cwd() });
    const { stdout } = await lease.invoke({ executable: "env" });
    assert.equal(/secret/.test(stdout), false);
    assert.match(stdout, /^PATH=/m);
    await lease.release();
  } finally {
    Deno.env.delete("OPENAI_API_KEY");
    Deno.env.delete("LAIT_TEST_KEY");
  }
});
