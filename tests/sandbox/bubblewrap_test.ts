import assert from "node:assert/strict";
import { createBubblewrapSandboxProvider } from "../../lib/sandbox/providers/bubblewrap.ts";
import { createLocalSandboxProvider } from "../../lib/sandbox/providers/local.ts";
import type { SandboxLease, SandboxProvider } from "../../lib/sandbox/lease.ts";
import { sandboxContract } from "../../lib/testing/mod.ts";
import { isRunning, Place, REPOSITORY } from "../_support/process.ts";
import { agentOf, commitOf, Project, shell } from "../dispatch/_setup.ts";
import { noBubblewrap, titled } from "./_boxes.ts";

const provider = createBubblewrapSandboxProvider();

function test(title: string, run: () => Promise<void>): void {
  Deno.test({ name: titled(title, noBubblewrap), ignore: noBubblewrap !== undefined, fn: run });
}

async function within(
  directory: string,
  use: (lease: SandboxLease, sh: (script: string) => Promise<string>) => Promise<void>,
  from: SandboxProvider = provider,
): Promise<void> {
  const lease = await from.acquire({ directory });
  const sh = async (script: string) => {
    const { status, stdout, stderr } = await lease.invoke({ executable: "sh", arguments: ["-c", script] });
    return `${stdout}${stderr}`.trim() + (status === 0 ? "" : ` [${status}]`);
  };
  try {
    await use(lease, sh);
  } finally {
    await lease.release();
  }
}

const root = noBubblewrap === undefined ? await Deno.makeTempDir({ prefix: "lait-test-" }) : "/";
for (const { name, run } of sandboxContract(() => provider.acquire({ directory: root }))) {
  test(`sandboxContract: bubblewrap: ${name}`, run);
}
test("sandboxContract: bubblewrap: leaves nothing in the workspace", async () => {
  assert.deepEqual(await Array.fromAsync(Deno.readDir(root)), []);
  await Deno.remove(root);
});

/** What a tool would try: the outcome of each, in words. */
async function attempts(
  sh: (script: string) => Promise<string>,
  home: string,
  outside: string,
  port: number,
  pid: number,
) {
  return {
    home: await sh(`cat '${home}/secret' 2>/dev/null || echo unreadable`),
    outside: await sh(`echo x > '${outside}/made'`),
    system: await sh("(echo x > /etc/lait-made) 2>/dev/null && rm /etc/lait-made && echo written || echo refused"),
    process: await sh(`kill -0 ${pid} 2>/dev/null && echo seen || echo unseen`),
    network: await sh(
      `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port} && head -c 5 <&3' 2>/dev/null || echo unreachable`,
    ),
    secret: await sh('echo "${LAIT_SECRET:-unset}"'),
    ambient: await sh('echo "${LAIT_AMBIENT:-unset}"'),
  };
}

test("bubblewrap: a tool reaches the workspace, and nothing else that the host's does", async () => {
  await using place = await Place.make();
  const workspace = `${place.directory}/workspace`;
  await Deno.mkdir(workspace);
  await Deno.writeTextFile(`${place.home}/secret`, "the secret");
  const before = Deno.env.get("HOME");
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      await connection.write(new TextEncoder().encode("hello"));
      connection.close();
    }
  })();
  const other = new Deno.Command("sleep", { args: ["600"] }).spawn();
  Deno.env.set("HOME", place.home);
  Deno.env.set("LAIT_SECRET", "sk-1");
  Deno.env.set("LAIT_AMBIENT", "mine");
  try {
    const seen: Record<string, string>[] = [];
    for (const from of [createLocalSandboxProvider(), provider]) {
      await within(workspace, async (_, sh) => {
        const found = await attempts(sh, place.home, place.directory, listener.addr.port, other.pid);
        const made = `${place.directory}/made`;
        // Beside the workspace there is only the sandbox's own /tmp: what counts is what this machine has afterwards.
        const outside = await Deno.remove(made).then(() => "written", () => "refused");
        seen.push({ ...found, outside });
        assert.equal(await sh("echo kept > file && cat file"), "kept");
      }, from);
    }
    const [host, box] = seen;
    assert.deepEqual(host, {
      ...host,
      home: "the secret",
      outside: "written",
      process: "seen",
      network: "hello",
      secret: "unset",
      ambient: "mine",
    });
    assert.deepEqual(box, {
      home: "unreadable",
      outside: "refused",
      system: "refused",
      process: "unseen",
      network: "unreachable",
      secret: "unset",
      ambient: "unset",
    });
    assert.equal(await Deno.readTextFile(`${workspace}/file`), "kept\n");
  } finally {
    if (before === undefined) Deno.env.delete("HOME");
    else Deno.env.set("HOME", before);
    for (const name of ["LAIT_SECRET", "LAIT_AMBIENT"]) Deno.env.delete(name);
    other.kill();
    await other.status;
    listener.close();
    await serving.catch(() => {});
  }
});

test("bubblewrap: home and /tmp are empty at first and last as long as the lease", async () => {
  await using place = await Place.make();
  let own = "";
  await within(place.directory, async (lease, sh) => {
    assert.equal(await sh("ls -A ~ | head -n 1"), "");
    await sh("echo one > ~/a && echo two > /tmp/b");
    assert.equal(await sh("cat ~/a /tmp/b"), "one\ntwo");
    assert.equal(await sh('[ "$HOME" = "$(echo ~)" ] && echo same'), "same");
    own = lease.home;
  });
  await within(place.directory, async (_, sh) => assert.equal(await sh("cat ~/a /tmp/b 2>/dev/null; true"), ""));
  assert.ok(own);
});

test("bubblewrap: a link in the workspace leads no download out", async () => {
  await using place = await Place.make();
  await Deno.mkdir(`${place.directory}/w`);
  await Deno.writeTextFile(`${place.home}/secret`, "the secret");
  await Deno.symlink(`${place.home}/secret`, `${place.directory}/w/link`);
  await within(`${place.directory}/w`, async (lease) => {
    await assert.rejects(lease.download("link", `${place.home}/out`), /cannot read link in the sandbox/);
    assert.deepEqual((await Array.fromAsync(Deno.readDir(place.home))).map(({ name }) => name), ["secret"]);
    await Deno.writeTextFile(`${place.home}/out`, "before");
    await assert.rejects(lease.download("missing", `${place.home}/out`));
    assert.equal(await Deno.readTextFile(`${place.home}/out`), "before");
  });
});

test("bubblewrap: mounts, the network, variables and what is inherited are asked for", async () => {
  await using place = await Place.make();
  await Deno.mkdir(`${place.home}/tools`);
  await Deno.writeTextFile(`${place.home}/tools/a`, "tool\n");
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = listener.accept().then((connection) => connection.close());
  Deno.env.set("LAIT_NAMED", "named");
  const open = createBubblewrapSandboxProvider({
    network: true,
    mounts: [{ source: `${place.home}/tools`, target: "/tmp/tools" }, {
      source: `${place.home}`,
      target: "/mnt/home",
      writable: true,
    }],
    variables: { OWN: "a\nb" },
    inherit: ["LAIT_NAMED", "LAIT_UNSET"],
  });
  try {
    await within(place.directory, async (_, sh) => {
      assert.equal(
        await sh("cat /tmp/tools/a; echo x > /tmp/tools/b || echo no"),
        "tool\nno\nsh: 1: cannot create /tmp/tools/b: Read-only file system",
      );
      await sh("echo y > /mnt/home/made");
      assert.equal(await sh(`bash -c 'exec 3<>/dev/tcp/127.0.0.1/${listener.addr.port}' && echo reached`), "reached");
      assert.equal(await sh('printf "%s|%s|%s" "$OWN" "$LAIT_NAMED" "${LAIT_UNSET-unset}"'), "a\nb|named|unset");
    }, open);
    assert.equal(await Deno.readTextFile(`${place.home}/made`), "y\n");
    await serving;
  } finally {
    Deno.env.delete("LAIT_NAMED");
  }
});

test("bubblewrap: a variable of the dynamic linker acts in the sandbox, not on the wall", async () => {
  await using place = await Place.make();
  await within(place.directory, async (lease) => {
    const variables = { LD_PRELOAD: `${place.directory}/none.so`, PLAIN: "1" };
    const { status, stderr } = await lease.invoke({ executable: "true", variables });
    assert.equal(status, 0);
    assert.match(stderr, /none\.so/);
    assert.doesNotMatch(stderr, /bwrap/);
  });
});

test("bubblewrap: everything ends with the lease, also what left its session", async () => {
  await using place = await Place.make();
  const mark = `6420${Math.floor(Math.random() * 1e6)}`;
  await within(place.directory, async (lease) => {
    const script =
      `setsid sleep ${mark} & (setsid nohup sleep ${mark} >/dev/null 2>&1 &) ; echo started; sleep ${mark}`;
    let started = () => {};
    const running = new Promise<void>((resolve) => started = resolve);
    const work = lease.invoke({ executable: "sh", arguments: ["-c", script], observe: () => started() });
    work.catch(() => {});
    await running;
    assert.equal(isRunning(`sleep ${mark}`), true);
  });
  for (let tries = 0; isRunning(`sleep ${mark}`) && tries < 100; tries++) await new Promise((r) => setTimeout(r, 20));
  assert.equal(isRunning(`sleep ${mark}`), false);
});

test("bubblewrap: a program that is killed leaves no command running", async () => {
  await using place = await Place.make();
  const mark = `6421${Math.floor(Math.random() * 1e6)}`;
  const source = `
import { createBubblewrapSandboxProvider } from "file://${REPOSITORY}mod.ts";
const lease = await createBubblewrapSandboxProvider().acquire({ directory: ${JSON.stringify(place.directory)} });
const script = "setsid sleep ${mark} & echo at work; sleep ${mark}";
await lease.invoke({ executable: "sh", arguments: ["-c", script], observe: (_, text) => console.log(text.trim()) });`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "-"],
    env: { TMPDIR: place.home },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  await new Response(source).body!.pipeTo(child.stdin);
  const reader = child.stdout.getReader();
  assert.equal(new TextDecoder().decode((await reader.read()).value), "at work\n");
  assert.equal(isRunning(`sleep ${mark}`), true);
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  for (let tries = 0; isRunning(`sleep ${mark}`) && tries < 250; tries++) await new Promise((r) => setTimeout(r, 20));
  assert.equal(isRunning(`sleep ${mark}`), false);
});

test("bubblewrap: what else is to be hidden is empty, in the workspace too", async () => {
  await using place = await Place.make();
  await Deno.mkdir(`${place.directory}/keys`);
  await Deno.writeTextFile(`${place.directory}/keys/a`, "the secret");
  await Deno.writeTextFile(`${place.directory}/.env`, "the secret");
  const hide = [`${place.directory}/keys`, `${place.directory}/.env`, `${place.directory}/none`];
  await within(place.directory, async (_, sh) => {
    assert.equal(
      await sh("cat .env; ls keys; (echo x > .env) 2>/dev/null || echo refused; ls -A"),
      "refused\n.env\nkeys",
    );
  }, createBubblewrapSandboxProvider({ hide }));
  assert.equal(await Deno.readTextFile(`${place.directory}/.env`), "the secret");
});

test("bubblewrap: a user without a home gets one, and one that is the workspace is kept", async () => {
  await using place = await Place.make();
  await Deno.writeTextFile(`${place.directory}/file`, "kept");
  const before = Deno.env.get("HOME");
  try {
    for (const [home, inside] of [["/", "/tmp/home"], ["/nonexistent", "/tmp/home"]] as const) {
      Deno.env.set("HOME", home);
      await within(place.directory, async (lease, sh) => {
        assert.equal(lease.home, inside);
        assert.equal(await sh('cd && pwd && echo x > y && cat y && cat "$OLDPWD/file"'), `${inside}\nx\nkept`);
      });
    }
    Deno.env.set("HOME", place.directory);
    await within(place.directory, async (_, sh) => assert.equal(await sh("cat ~/file"), "kept"));
  } finally {
    if (before === undefined) Deno.env.delete("HOME");
    else Deno.env.set("HOME", before);
  }
});

test("bubblewrap: a mount of what is not there is refused, and names it", async () => {
  const missing = createBubblewrapSandboxProvider({ mounts: [{ source: "/lait-none" }] });
  await assert.rejects(missing.acquire({ directory: "/" }), /cannot mount \/lait-none: it is not there/);
});

test("bubblewrap: a workspace with an odd name", async () => {
  await using place = await Place.make();
  const directory = `${place.directory}/a b, é '"$x\n`;
  await Deno.mkdir(directory);
  await within(directory, async (lease, sh) => {
    assert.equal(lease.root, await Deno.realPath(directory));
    await sh("echo made > file");
    assert.equal(await Deno.readTextFile(`${directory}/file`), "made\n");
  });
});

test("bubblewrap: a dispatch commits in its worktree as the user, and sees neither home nor host", async () => {
  await using project = await Project.make();
  const agent = agentOf([shell(`${commitOf("b.txt")}; git status --short; ls '${project.root}' | wc -l`), "done"]);
  const { result, events } = project.start({
    brief: { text: "go" },
    agent,
    branch: { mode: "integrate" },
    sandboxProvider: provider,
  } as never);
  const { commits } = await result;
  assert.deepEqual(commits.map(({ subject }) => subject), ["add b.txt"], JSON.stringify(events));
  assert.equal(await project.git("log", "-1", "--format=%an <%ae>"), "Test <test@example.invalid>");
  assert.deepEqual(await project.files("main"), ["a.txt", "b.txt"]);
});

Deno.test("bubblewrap: a machine without it gets an error that names the package, never the host", async () => {
  const before = Deno.env.get("PATH")!;
  Deno.env.set("PATH", "/nonexistent");
  try {
    await assert.rejects(
      provider.acquire({ directory: "/" }),
      /needs the program `bwrap`.*install the package `bubblewrap`/,
    );
  } finally {
    Deno.env.set("PATH", before);
  }
});

Deno.test("bubblewrap: wrong options are refused", () => {
  const wrong = [
    { network: "yes" },
    { egress: { mode: "allowlist", domains: ["a.b"] } },
    { egress: { mode: "deny-all" }, network: true },
    { mounts: [{ source: "relative" }] },
    { mounts: [{ source: "/a", readOnly: true }] },
    { variables: { "A=B": "1" } },
    { variables: { A: "\0" } },
    { inherit: "HOME" },
    { netwrok: true },
    { hide: ["relative"] },
  ];
  for (const options of wrong) {
    assert.throws(() => createBubblewrapSandboxProvider(options as never), { code: "configuration" });
  }
});
