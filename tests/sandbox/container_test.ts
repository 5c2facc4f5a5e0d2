import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createContainerSandboxProvider } from "../../lib/sandbox/providers/container.ts";
import { sandboxContract } from "../../lib/testing/mod.ts";
import { isRunning, Place, REPOSITORY } from "../_support/process.ts";
import { Engine, noContainers, titled } from "./_boxes.ts";

/** One for the file: made by the first test that needs it, removed by the last one. */
let shared: Promise<Engine> | undefined;
const engine = () => shared ??= Engine.make();

function test(title: string, run: () => Promise<void>): void {
  Deno.test({
    name: titled(title, noContainers),
    ignore: noContainers !== undefined,
    fn: run,
    sanitizeResources: false,
    sanitizeOps: false,
  });
}

const root = noContainers === undefined ? await Deno.makeTempDir({ prefix: "lait-test-" }) : "/";
const acquire = async () => await (await engine()).provider().acquire({ directory: root });
for (const { name, run } of sandboxContract(acquire)) test(`sandboxContract: container: ${name}`, run);

/** Prints the limits of the container, whichever version of control groups the machine has. */
const LIMITS = `cd /sys/fs/cgroup
cat memory/memory.limit_in_bytes pids/pids.max cpu/cpu.cfs_quota_us 2>/dev/null && exit
cat memory.max pids.max && set -- $(cat cpu.max) && echo "$1"`;

async function inside(use: (sh: (script: string) => Promise<string>, place: Place) => Promise<void>, options = {}) {
  await using place = await Place.make();
  const lease = await (await engine()).provider(options).acquire({ directory: place.directory });
  try {
    await use(async (script) => {
      const { stdout, stderr } = await lease.invoke({ executable: "sh", arguments: ["-c", script] });
      return `${stdout}${stderr}`.trim();
    }, place);
  } finally {
    await lease.release();
  }
}

test("container: no capability, none to gain, no network, nothing of this machine but the workspace", async () => {
  Deno.env.set("LAIT_SECRET", "sk-1");
  try {
    await inside(async (sh, place) => {
      const status = await sh("grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status | tr -s '\\t' ' '");
      assert.equal(status, "CapEff: 0000000000000000\nCapBnd: 0000000000000000\nNoNewPrivs: 1");
      assert.equal(await sh("ls /sys/class/net"), "lo");
      assert.equal(await sh(`ls '${place.home}' 2>/dev/null || echo hidden`), "hidden");
      assert.equal(await sh('echo "${LAIT_SECRET:-unset}"'), "unset");
      assert.equal(await sh("touch file && ls"), "file");
      const { uid, gid } = await Deno.stat(`${place.directory}/file`);
      assert.deepEqual([uid, gid], [Deno.uid(), Deno.gid()]);
      assert.equal(await sh("echo one > ~/a && echo two > /tmp/b && cat ~/a /tmp/b"), "one\ntwo");
    });
  } finally {
    Deno.env.delete("LAIT_SECRET");
  }
});

test("container: user, limits, mounts and variables arrive; odd values as they are", async () => {
  await using place = await Place.make();
  const source = `${place.directory}/a, "b"`;
  await Deno.mkdir(source);
  await Deno.writeTextFile(`${source}/x`, "mounted");
  const options = {
    user: { uid: 1234, gid: 4321 },
    mounts: [{ source, target: "/mounted" }],
    cpus: 0.5,
    memoryMb: 64,
    maxProcesses: 33,
    variables: { ODD: "a\n'b' \"c\" $d `e`", PATH: "/bin:/usr/bin" },
  };
  await inside(async (sh) => {
    assert.equal(await sh("id -u; id -g"), "1234\n4321");
    assert.equal(await sh("cat /mounted/x; touch /mounted/y 2>&1 | tail -c 22"), "mountedRead-only file system");
    assert.equal(await sh('printf %s "$ODD"'), "a\n'b' \"c\" $d `e`");
    assert.equal(await sh("env | grep -c LAIT_VARIABLE; true"), "0");
    assert.equal(await sh(LIMITS), "67108864\n33\n50000");
  }, options);
});

test("container: an abort ends what the command started, its own sessions too, and the container goes on", async () => {
  await using place = await Place.make();
  const lease = await (await engine()).provider().acquire({ directory: place.directory });
  const mark = `5318${Math.floor(Math.random() * 1e6)}`;
  const work = async (options: { signal?: AbortSignal; deadlineMs?: number; observe?: () => void }) =>
    await lease.invoke({
      executable: "sh",
      arguments: ["-c", `sleep ${mark} & setsid sleep ${mark} & trap '' TERM; echo started; wait; sleep ${mark}`],
      ...options,
    }).then(() => "nothing", (error) => error);
  const abort = new AbortController();
  const observe = () => abort.abort("enough");
  assert.equal(await work({ signal: abort.signal, observe }), "enough");
  assert.equal(isRunning(`sleep ${mark}`), false);
  assert.equal((await work({ deadlineMs: 2_000 })).kind, "timeout");
  assert.equal(isRunning(`sleep ${mark}`), false);
  assert.equal((await lease.invoke({ executable: "echo", arguments: ["on"] })).stdout, "on\n");
  const process = await lease.spawn({ executable: "sh", arguments: ["-c", `setsid sleep ${mark} & sleep ${mark}`] });
  await process.end();
  await Promise.all([process.stdout.cancel(), process.stderr.cancel()]);
  assert.equal(isRunning(`sleep ${mark}`), false);
  await lease.release();
});

test("container: an abort while a command starts leaves none, whenever it comes", async () => {
  const lease = await (await engine()).provider().acquire({ directory: root });
  const mark = `5319${Math.floor(Math.random() * 1e6)}`;
  for (const milliseconds of [1, 10, 20, 30, 45, 60, 80, 100, 130, 170]) {
    const signal = AbortSignal.timeout(milliseconds);
    await assert.rejects(lease.invoke({ executable: "sleep", arguments: [mark], signal }), { name: "TimeoutError" });
  }
  await lease.invoke({ executable: "true" });
  assert.equal(isRunning(`sleep ${mark}`), false);
  await lease.release();
});

test("container: an abort while it starts leaves none, whenever it comes", async () => {
  const provider = (await engine()).provider();
  for (const milliseconds of [1, 30, 60, 100, 150, 220, 300]) {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort("no more"), milliseconds);
    const taken = await provider.acquire({ directory: root, signal: abort.signal }).catch((reason) => reason);
    clearTimeout(timer);
    if (taken !== "no more") await taken.release();
  }
  assert.equal(await (await engine()).podman("ps", "--all", "--quiet"), "");
});

test("container: one that somebody else has ended is told, not taken for a result", async () => {
  const lease = await (await engine()).provider().acquire({ directory: root });
  await (await engine()).podman("kill", await (await engine()).podman("ps", "--quiet"));
  await assert.rejects(lease.invoke({ executable: "true" }), { kind: "spawn", message: /was ended by somebody else/ });
  await lease.release();
});

test("container: files are the workspace owner's when root works, and proxies are not passed on", async () => {
  await using place = await Place.make();
  const directory = `${place.directory}/a b, é '"$x`;
  await Deno.mkdir(directory);
  const own = Deno.uid() === 0 ? 4711 : Deno.uid()!;
  if (Deno.uid() === 0) await Deno.chown(directory, own, own);
  Deno.env.set("https_proxy", "http://user:secret@proxy.invalid");
  try {
    const lease = await (await engine()).provider().acquire({ directory });
    const script = "echo made > file; env | grep -ci proxy";
    assert.equal((await lease.invoke({ executable: "sh", arguments: ["-c", script] })).stdout, "0\n");
    await lease.release();
  } finally {
    Deno.env.delete("https_proxy");
  }
  assert.equal((await Deno.stat(`${directory}/file`)).uid, own);
});

test("container: Git commits in a linked worktree, whose repository is elsewhere", async () => {
  await using place = await Place.make();
  const [repository, worktree] = [`${place.directory}/repository`, `${place.directory}/worktree`];
  const git = async (...args: string[]) => {
    const identity = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"];
    const { success, stdout, stderr } = await new Deno.Command("git", { args: [...identity, ...args] }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  };
  await git("init", "--quiet", repository);
  await git("-C", repository, "commit", "--quiet", "--allow-empty", "--message", "first");
  await git("-C", repository, "worktree", "add", "--quiet", "-b", "other", worktree);
  // This machine's own Git, shown to the image, which has none.
  const needed = ["/usr", "/lib", "/lib64"].map((source) => ({ source }));
  const mounts = needed.filter(({ source }) => existsSync(source));
  const lease = await (await engine()).provider({ mounts, variables: { PATH: "/usr/bin:/bin" } }).acquire({
    directory: worktree,
    gitDirectories: [`${repository}/.git/worktrees/worktree`, `${repository}/.git`],
  });
  const commit = "git add . && git -c user.name=b -c user.email=b@example.invalid commit --quiet --message second";
  const script = `echo made > file && ${commit} && git status --short --branch && ls -A '${repository}'`;
  const { stdout, stderr } = await lease.invoke({ executable: "sh", arguments: ["-c", script] });
  await lease.release();
  assert.deepEqual([stdout, stderr], ["## other\n.git\n", ""]);
  assert.equal(await git("-C", repository, "log", "--format=%an %s", "other"), "b second\na first\n");
});

test("container: none is left by a release, nor by a program that is killed", async () => {
  const { image, engineArguments, runArguments } = (await engine()).options();
  await using place = await Place.make();
  const source = `
import { createContainerSandboxProvider } from "file://${REPOSITORY}mod.ts";
const provider = createContainerSandboxProvider(${
    JSON.stringify({ engine: "podman", image, engineArguments, runArguments })
  });
const lease = await provider.acquire({ directory: ${JSON.stringify(place.directory)} });
await lease.invoke({ executable: "sh", arguments: ["-c", "echo at work; sleep 600"], observe: () => console.log("at work") });`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "-"],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(source));
  await writer.close();
  const reader = child.stdout.getReader();
  assert.equal(new TextDecoder().decode((await reader.read()).value), "at work\n");
  const containers = async () => await (await engine()).podman("ps", "--all", "--quiet");
  assert.notEqual(await containers(), "");
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  for (let tries = 0; await containers() !== "" && tries < 100; tries++) await new Promise((r) => setTimeout(r, 100));
  assert.equal(await containers(), "");
});

test("container: an image that is not there, or cannot start, says why", async () => {
  const provider = (await engine()).provider({
    image: "localhost/lait-no-such-image",
    runArguments: ["--pull", "never"],
  });
  await assert.rejects(provider.acquire({ directory: root }), {
    code: "configuration",
    message: /podman cannot start a container of the image localhost\/lait-no-such-image: .*/,
  });
  const stopped = AbortSignal.abort("no");
  await assert.rejects(
    (await engine()).provider().acquire({ directory: root, signal: stopped }),
    (reason) => reason === "no",
  );
});

test("container: nothing is left in the workspace, and no container", async () => {
  assert.deepEqual(await Array.fromAsync(Deno.readDir(root)), []);
  await Deno.remove(root);
  assert.equal(await (await engine()).podman("ps", "--all", "--quiet"), "");
  await (await engine())[Symbol.asyncDispose]();
});

Deno.test("container: a machine without the engine gets an error that names the package, never the host", async () => {
  const before = Deno.env.get("PATH")!;
  Deno.env.set("PATH", "/nonexistent");
  try {
    const provider = createContainerSandboxProvider({ engine: "docker", image: "x" });
    await assert.rejects(
      provider.acquire({ directory: "/" }),
      /needs the program `docker`.*install the package `docker`/,
    );
  } finally {
    Deno.env.set("PATH", before);
  }
});

Deno.test("container: wrong options are refused before any container starts", () => {
  const wrong = [
    {},
    { engine: "lxc" },
    { image: "" },
    { image: "--privileged" },
    { egress: { mode: "allowlist", domains: ["a.b"] } },
    { egress: { mode: "deny-all" }, network: "bridge" },
    { user: { uid: -1, gid: 0 } },
    { user: { uid: 1 } },
    { cpus: 0 },
    { memoryMb: 1.5 },
    { runArguments: "--privileged" },
    { volumes: [] },
  ];
  for (const options of wrong) {
    const all = { engine: "podman", image: "x", ...options };
    const given = Object.keys(options).length === 0 ? { engine: "podman" } : all;
    assert.throws(() => createContainerSandboxProvider(given as never), { code: "configuration" });
  }
});
