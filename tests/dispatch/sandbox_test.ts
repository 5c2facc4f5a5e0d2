import assert from "node:assert/strict";
import { changed } from "../../lib/dispatch/hooks.ts";
import { openWorkspace } from "../../lib/dispatch/open_workspace.ts";
import { createSandbox } from "../../lib/dispatch/sandbox.ts";
import { createMemorySandboxProvider } from "../../lib/testing/memory_sandbox.ts";
import { agentOf, commitOf, failure, local, Project, shell } from "./_setup.ts";

const brief = { text: "go" };
const named = { mode: "named", name: "x" } as const;
const open = (project: Project, more: object = {}) =>
  createSandbox({ repository: project.root, sandboxProvider: local, branch: named, ...more });
const hook = (command: string, more: object = {}) => ({ executable: "sh", arguments: ["-c", command], ...more });

Deno.test("sandbox: a command runs in the root, and its status is a result", async () => {
  await using project = await Project.make();
  await using sandbox = await open(project);
  const { status, stdout } = await sandbox.command({ executable: "sh", arguments: ["-c", "pwd; exit 3"] });
  assert.deepEqual([status, stdout.trim()], [3, sandbox.directory]);
  assert.equal(sandbox.root, sandbox.directory);
  assert.equal(sandbox.branch, "x");
});

Deno.test("sandbox: several dispatches on the same files, nothing merged, each with its own commits", async () => {
  await using project = await Project.make();
  const sandbox = await open(project, {
    branch: { mode: "integrate" },
    agent: agentOf([shell(commitOf("b.txt")), "one"]),
  });
  const first = await sandbox.dispatch({ brief });
  const second = await sandbox.dispatch({ brief, agent: agentOf([shell(commitOf("c.txt")), "two"]) });
  assert.deepEqual([first, second].map(({ commits }) => commits.map(({ subject }) => subject)), [["add b.txt"], [
    "add c.txt",
  ]]);
  assert.match(second.report(), /^# Dispatch report/);
  const { retainedDirectory } = await sandbox.close();
  assert.equal(retainedDirectory, undefined);
  assert.deepEqual(await project.files("main"), ["a.txt"]);
  // The commits are nowhere else, so their branch stays.
  assert.deepEqual(await project.files(sandbox.branch), ["a.txt", "b.txt", "c.txt"]);
});

Deno.test("sandbox: one operation at a time; closing waits for it; closed it refuses", async () => {
  await using project = await Project.make();
  const sandbox = await open(project);
  const first = sandbox.command({ executable: "sh", arguments: ["-c", "sleep 0.3; echo done"] });
  assert.match((await failure(sandbox.command({ executable: "true" }), "configuration")).message, /busy/);
  await failure(sandbox.dispatch({ brief, agent: agentOf(["ok"]) }), "configuration");
  const closing = sandbox.close();
  assert.equal((await first).stdout, "done\n");
  assert.deepEqual(await closing, await sandbox.close());
  assert.match((await failure(sandbox.command({ executable: "true" }), "configuration")).message, /closed/);
});

Deno.test("sandbox: after an abort it can be used on, and the work is there", async () => {
  await using project = await Project.make();
  await using sandbox = await open(project);
  const abort = new AbortController();
  const stopped = sandbox.dispatch({
    brief,
    agent: agentOf([shell("touch made; echo at work; sleep 600"), "never"]),
    signal: abort.signal,
    observe: (event) => {
      if (event.kind === "tool-output") abort.abort("stop");
    },
  });
  assert.equal(await stopped.then(() => "nothing", (error) => error), "stop");
  assert.equal((await sandbox.command({ executable: "ls" })).stdout, "a.txt\nmade\n");
  assert.equal((await sandbox.dispatch({ brief, agent: agentOf(["ok"]) })).text, "ok");
});

Deno.test("sandbox: a conversation goes on in it", async () => {
  await using project = await Project.make();
  await using sandbox = await open(project, { agent: agentOf(["one", "two", "three"]) });
  const { conversation } = await sandbox.dispatch({ brief });
  assert.equal((await sandbox.resume(conversation!, { brief })).conversation, conversation);
  assert.notEqual((await sandbox.fork(conversation!, { brief })).conversation, conversation);
});

Deno.test("sandbox: `preserve` keeps the worktree", async () => {
  await using project = await Project.make();
  const sandbox = await open(project);
  assert.deepEqual(await sandbox.close({ preserve: true }), { retainedDirectory: sandbox.directory });
});

Deno.test("hooks: on the host in order, in the sandbox all at once, on a new worktree first", async () => {
  await using project = await Project.make({ "a.txt": "one\n", ".gitignore": "log*\n" });
  const hooks = {
    workspaceReady: [hook("echo w1 >> log"), hook("echo w2 >> log")],
    hostReady: [hook("sleep 0.2; echo h1 >> log"), hook("echo h2 >> log")],
    // Each waits for the other: they run at the same time.
    sandboxReady: [
      hook("touch log.1; while [ ! -e log.2 ]; do sleep 0.02; done", { deadlineMs: 20_000 }),
      hook("touch log.2; while [ ! -e log.1 ]; do sleep 0.02; done", { deadlineMs: 20_000 }),
    ],
  };
  const workspace = await openWorkspace({ repository: project.root, branch: named, hooks });
  const sandbox = await workspace.sandbox({ sandboxProvider: local });
  assert.equal((await sandbox.command({ executable: "cat", arguments: ["log"] })).stdout, "w1\nw2\nh1\nh2\n");
  await sandbox.close();
  // A sandbox's own hooks replace the workspace's; its worktree is not new any more.
  const other = await workspace.sandbox({ sandboxProvider: local, hooks: { hostReady: [hook("echo h3 >> log")] } });
  const { stdout } = await other.command({ executable: "tail", arguments: ["-n", "1", "log"] });
  assert.equal(stdout, "h3\n");
  await other.close();
  await workspace.close();
});

Deno.test("hooks: one that waits for a change runs at first, then when content or existence differs", async () => {
  await using project = await Project.make({ "lock.json": "1\n" });
  const counting = hook("echo ran >> ../count", { when: changed(["lock.json"]) });
  await using sandbox = await open(project, { hooks: { sandboxReady: [counting] } });
  const runs = async () => (await Deno.readTextFile(`${sandbox.directory}/../count`)).split("\n").length - 1;
  const does = (command: string) => sandbox.command({ executable: "sh", arguments: ["-c", command] });
  assert.equal(await runs(), 1);
  await does("touch lock.json");
  await does("echo 2 > lock.json");
  assert.equal(await runs(), 1);
  await does("true");
  assert.equal(await runs(), 2);
  await does("rm lock.json");
  await does("true");
  await does("true");
  assert.equal(await runs(), 3);
});

Deno.test("hooks: a failed one is tried again at the next operation, and the sandbox stays", async () => {
  await using project = await Project.make({ "lock.json": "1\n" });
  const fragile = hook("! grep -q bad lock.json", { when: changed(["lock.json"]) });
  await using sandbox = await open(project, { hooks: { sandboxReady: [fragile] } });
  const does = (command: string) => sandbox.command({ executable: "sh", arguments: ["-c", command] });
  await does("echo bad > lock.json");
  await failure(does("true"), "process");
  await Deno.writeTextFile(`${sandbox.directory}/lock.json`, "good\n");
  assert.equal((await does("true")).status, 0);
});

Deno.test("hooks: what is wrong is refused, with its place", async () => {
  await using project = await Project.make();
  const wrong = [
    { onReady: [] },
    { hostReady: {} },
    { hostReady: [{ executable: "" }] },
    { hostReady: [{ executable: "x", args: [] }] },
    { hostReady: [{ executable: "x", deadlineMs: 0 }] },
    { hostReady: [{ executable: "x", when: changed(["a"]) }] },
    { sandboxReady: [{ executable: "x", when: {} }] },
  ];
  for (const hooks of wrong) await failure(open(project, { hooks }), "configuration");
  for (const paths of [[], ["/a"], ["../a"], ["a", "a"], [""]]) {
    assert.throws(() => changed(paths), { code: "configuration" });
  }
  const late = await failure(
    open(project, { hooks: { sandboxReady: [hook("sleep 60", { deadlineMs: 50 })] } }),
    "timeout",
  );
  assert.match(late.message, /50 ms|0\.05/);
  assert.deepEqual(await project.worktrees(), []);
});

Deno.test("workspace: serves one sandbox at a time, and is not closed under one", async () => {
  await using project = await Project.make();
  const workspace = await openWorkspace({ repository: project.root, branch: named });
  const sandbox = await createSandbox({ workspace, sandboxProvider: local });
  await failure(createSandbox({ workspace, sandboxProvider: local }), "configuration");
  await failure(workspace.close(), "configuration");
  await failure(
    project.start({ brief, agent: agentOf(["ok"]), repository: undefined, workspace } as never).result,
    "configuration",
  );
  await sandbox.close();
  for (const more of [{ repository: "." }, { branch: named }, { guard: {} }, { copies: [] }]) {
    await failure(createSandbox({ workspace, sandboxProvider: local, ...more }), "configuration");
  }
  await workspace.close();
  await failure(workspace.sandbox({ sandboxProvider: local }), "configuration");
});

Deno.test("workspace: dispatches merge each time in `integrate`; a sandbox's do with `integrate()`", async () => {
  await using project = await Project.make();
  const workspace = await openWorkspace({ repository: project.root, branch: { mode: "integrate" } });
  const agent = agentOf([shell(commitOf("b.txt")), "ok"]);
  await workspace.dispatch({ brief, sandboxProvider: local, agent });
  assert.deepEqual(await project.files("main"), ["a.txt", "b.txt"]);
  const sandbox = await workspace.sandbox({ sandboxProvider: local });
  await sandbox.dispatch({ brief, agent: agentOf([shell(commitOf("c.txt")), "ok"]) });
  await failure(workspace.integrate(), "configuration");
  await sandbox.close();
  assert.deepEqual(await project.files("main"), ["a.txt", "b.txt"]);
  await workspace.integrate();
  assert.deepEqual(await project.files("main"), ["a.txt", "b.txt", "c.txt"]);
  assert.deepEqual(await workspace.close(), {});
  assert.equal(await project.git("branch", "--format=%(refname:short)"), "main");
});

Deno.test("workspace: a dispatch of one's own may use it, and leaves it open", async () => {
  await using project = await Project.make();
  await using workspace = await openWorkspace({ repository: project.root, branch: named });
  const { result } = project.start({ brief, agent: agentOf(["ok"]), repository: undefined, workspace } as never);
  assert.equal((await result).directory, workspace.directory);
  assert.ok((await Deno.stat(workspace.directory)).isDirectory);
});

Deno.test("dispatch: a sandbox with files of its own never works in the checkout", async () => {
  await using project = await Project.make();
  const sandboxProvider = createMemorySandboxProvider({ commands: [{ executable: "npm", stdout: "fine\n" }] });
  const current = { brief, agent: agentOf(["ok"]), branch: { mode: "current" }, sandboxProvider } as never;
  assert.match((await failure(project.start(current).result, "configuration")).message, /remote sandbox/);
  const result = await project.start({ brief, agent: agentOf(["ok"]), sandboxProvider } as never).result;
  assert.match(result.branch, /^lait\/dispatch-/);
});
