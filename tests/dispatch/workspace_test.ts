import assert from "node:assert/strict";
import { recoveryDetails } from "../../lib/dispatch/recovery.ts";
import { openWorkspace } from "../../lib/dispatch/open_workspace.ts";
import { isRunning } from "../_support/process.ts";
import { agentOf, commitOf, failure, local, Project, shell } from "./_setup.ts";

const brief = { text: "go" };

Deno.test("dispatch: a named branch gets the commits, and the user's checkout stays as it is", async () => {
  await using project = await Project.make();
  const before = await project.git("rev-parse", "HEAD");
  const { result } = project.start({
    brief,
    agent: agentOf([shell(commitOf("b.txt")), "done"]),
    branch: { mode: "named", name: "w/x" },
  });
  const { branch, commits, retainedDirectory, directory, completed } = await result;
  assert.equal(branch, "w/x");
  assert.deepEqual(commits.map(({ subject }) => subject), ["add b.txt"]);
  assert.equal(commits[0]!.oid, await project.git("rev-parse", "w/x"));
  assert.equal(retainedDirectory, undefined);
  assert.equal(completed, false);
  assert.ok(directory.startsWith(`${project.root}/.lait/workspaces/w-x-`), directory);
  assert.equal(await project.git("rev-parse", "HEAD"), before);
  assert.equal(await project.git("symbolic-ref", "--short", "HEAD"), "main");
  assert.equal(await project.git("status", "--short"), "");
  assert.deepEqual(await project.worktrees(), []);
  assert.deepEqual(await project.files("w/x"), ["a.txt", "b.txt"]);
});

Deno.test("dispatch: a named branch starts where `from` says, and goes on from where it is", async () => {
  await using project = await Project.make();
  const first = await project.git("rev-parse", "HEAD");
  await project.git("commit", "-q", "--allow-empty", "-m", "second");
  const named = { mode: "named", name: "x", from: first } as const;
  await project.start({ brief, agent: agentOf([shell(commitOf("b.txt")), "ok"]), branch: named }).result;
  assert.equal(await project.git("rev-parse", "x~1"), first);
  await project.start({ brief, agent: agentOf([shell(commitOf("c.txt")), "ok"]), branch: named }).result;
  assert.deepEqual(await project.files("x"), ["a.txt", "b.txt", "c.txt"]);
  const { code } = await failure(
    project.start({ brief, agent: agentOf(["ok"]), branch: { mode: "named", name: "y", from: "nowhere" } }).result,
    "configuration",
  );
  assert.equal(code, "configuration");
});

Deno.test("dispatch: `integrate` merges on success and leaves neither branch nor worktree", async () => {
  await using project = await Project.make();
  const { result, events } = project.start({
    brief,
    label: "Fix: the parser!",
    agent: agentOf([shell(commitOf("b.txt")), "done"]),
    branch: { mode: "integrate" },
  });
  const { commits, retainedDirectory, branch } = await result;
  assert.match(branch, /^lait\/fix-the-parser-[0-9a-f]{8}$/);
  assert.equal(await project.git("rev-parse", "main"), commits[0]!.oid);
  assert.equal(await Deno.readTextFile(`${project.root}/b.txt`), "b.txt\n");
  assert.equal(retainedDirectory, undefined);
  assert.equal(await project.git("branch", "--format=%(refname:short)"), "main");
  assert.deepEqual(await project.worktrees(), []);
  const phases = events.flatMap((event) => event.kind === "phase" ? [event.name] : []);
  assert.deepEqual(phases, ["workspace", "sandbox", "brief", "agent", "collect", "integrate", "close"]);
});

Deno.test("dispatch: `integrate` makes a merge commit when the user has gone on meanwhile", async () => {
  await using project = await Project.make();
  const aside =
    `GIT_DIR='${project.root}/.git' GIT_WORK_TREE='${project.root}' git commit -q --allow-empty -m meanwhile`;
  const agent = agentOf([shell(`${commitOf("b.txt")} && cd '${project.root}' && ${aside}`), "done"]);
  const { branch } = await project.start({ brief, agent, branch: { mode: "integrate" } }).result;
  assert.equal(await project.git("log", "-1", "--format=%s"), `Merge branch '${branch}'`);
  assert.deepEqual(await project.files(), ["a.txt", "b.txt"]);
});

Deno.test("dispatch: a merge that conflicts is undone; the checkout is as before and the work is kept", async () => {
  await using project = await Project.make();
  const user = `cd '${project.root}' && printf 'user\\n' > a.txt && git commit -qam user`;
  const agent = agentOf([shell(`printf 'agent\\n' > a.txt && git commit -qam agent && ${user}`), "done"]);
  const { result } = project.start({ brief, agent, branch: { mode: "integrate" } });
  const error = await failure(result, "conflict");
  assert.match(error.message, /was not merged into main: .*a\.txt/);
  assert.equal(await project.git("status", "--short"), "");
  assert.equal(await Deno.readTextFile(`${project.root}/a.txt`), "user\n");
  const { branch, directory } = recoveryDetails(error)!;
  assert.equal(await Deno.readTextFile(`${directory}/a.txt`), "agent\n");
  assert.equal(await project.git("log", "-1", "--format=%s", branch), "agent");
});

Deno.test("dispatch: files of the user's that a merge would overwrite stay as they are", async () => {
  await using project = await Project.make();
  const agent = agentOf([shell(`${commitOf("b.txt")} && printf mine > '${project.root}/b.txt'`), "done"]);
  const { result } = project.start({ brief, agent, branch: { mode: "integrate" } });
  assert.match((await failure(result, "conflict")).message, /b\.txt/);
  assert.equal(await Deno.readTextFile(`${project.root}/b.txt`), "mine");
});

Deno.test("dispatch: `integrate` wants a branch to merge into, at the start and at the end", async () => {
  await using project = await Project.make();
  await project.git("checkout", "-q", "--detach");
  const detached = project.start({ brief, agent: agentOf(["ok"]), branch: { mode: "integrate" } });
  assert.match((await failure(detached.result, "configuration")).message, /detached HEAD/);
  assert.equal(detached.kinds().includes("step"), false);
  await project.git("checkout", "-q", "main");
  const agent = agentOf([shell(`${commitOf("b.txt")} && git -C '${project.root}' checkout -q -b other`), "done"]);
  const error = await failure(project.start({ brief, agent, branch: { mode: "integrate" } }).result, "conflict");
  assert.match(error.message, /is on the branch other by now/);
  assert.deepEqual(await project.files("main"), ["a.txt"]);
});

Deno.test("dispatch: the checkout itself is the default for the host, with or without a branch", async () => {
  await using project = await Project.make();
  const { result } = project.start({ brief, agent: agentOf([shell(commitOf("b.txt")), "done"]) });
  const { branch, directory, commits } = await result;
  assert.deepEqual([branch, directory, commits.length], ["main", project.root, 1]);
  await project.git("checkout", "-q", "--detach");
  const detached = await project.start({ brief, agent: agentOf([shell(commitOf("c.txt")), "done"]) }).result;
  assert.deepEqual([detached.branch, detached.commits.length], ["", 1]);
});

Deno.test("dispatch: a repository without a commit can be worked on in place only", async () => {
  await using project = await Project.make();
  const empty = `${project.root}/empty`;
  await project.git("init", "-q", "-b", "main", empty);
  await project.git("-C", empty, "config", "user.name", "Test");
  await project.git("-C", empty, "config", "user.email", "test@example.invalid");
  const named = { mode: "named", name: "x" } as const;
  const refused = project.start({ brief, agent: agentOf(["ok"]), repository: empty, branch: named } as never);
  assert.match((await failure(refused.result, "workspace")).message, /has no commit yet/);
  const agent = agentOf([shell(commitOf("b.txt")), "done"]);
  const { commits } = await project.start({ brief, agent, repository: empty } as never).result;
  assert.deepEqual(commits.map(({ subject }) => subject), ["add b.txt"]);
});

Deno.test("dispatch: a directory that is missing, or in no checkout, says so", async () => {
  await using project = await Project.make();
  const at = (repository: string) => project.start({ brief, agent: agentOf(["ok"]), repository } as never).result;
  assert.match(
    (await failure(at(`${project.root}/nowhere`), "workspace")).message,
    /nowhere cannot be opened: no such file/,
  );
  const outside = await Deno.makeTempDir({ prefix: "lait-test-" });
  try {
    assert.match((await failure(at(outside), "workspace")).message, /is in no Git checkout/);
  } finally {
    await Deno.remove(outside);
  }
});

Deno.test("dispatch: what is in no commit keeps its worktree, ignored files too", async () => {
  await using project = await Project.make({ "a.txt": "one\n", ".gitignore": "*.log\n" });
  for (const [name, command] of [["u", "touch new.txt"], ["i", "touch x.log"], ["m", "echo two > a.txt"]] as const) {
    const branch = { mode: "named", name } as const;
    const { result, warnings } = project.start({ brief, agent: agentOf([shell(command), "ok"]), branch });
    const { retainedDirectory } = await result;
    assert.ok(retainedDirectory, name);
    assert.ok((await Deno.stat(retainedDirectory)).isDirectory);
    assert.match(warnings.join(), /stays, because these are in no commit: (new\.txt|x\.log|a\.txt)/);
    // It is there still, and the next one goes on in it.
    const again = project.start({ brief, agent: agentOf(["ok"]), branch });
    assert.equal((await again.result).retainedDirectory, retainedDirectory);
    assert.match(again.warnings.join("\n"), /of an earlier run on . was there still; the work goes on in it/);
  }
});

Deno.test("dispatch: a worktree whose agent left its branch is kept", async () => {
  await using project = await Project.make();
  const agent = agentOf([shell("git checkout -q --detach"), "ok"]);
  const { retainedDirectory } = await project.start({ brief, agent, branch: { mode: "named", name: "x" } }).result;
  assert.ok(retainedDirectory);
});

Deno.test("dispatch: a kept worktree that is on something else by now is never touched", async () => {
  await using project = await Project.make();
  const branch = { mode: "named", name: "x" } as const;
  const leaving = agentOf([shell(`git checkout -q -b mine && ${commitOf("b.txt")}; touch new.txt`), "ok"]);
  const first = project.start({ brief, agent: leaving, branch });
  const { retainedDirectory, commits } = await first.result;
  assert.deepEqual(commits, []);
  assert.match(first.warnings.join(), /stays: x is not checked out in it any more/);
  const again = await failure(project.start({ brief, agent: agentOf(["ok"]), branch }).result, "conflict");
  assert.match(again.message, /holds something else; look at it/);
  assert.deepEqual((await Array.fromAsync(Deno.readDir(retainedDirectory!))).map(({ name }) => name).toSorted(), [
    ".git",
    "a.txt",
    "b.txt",
    "new.txt",
  ]);
});

Deno.test("dispatch: a worktree that somebody deleted is in nobody's way", async () => {
  await using project = await Project.make();
  const branch = { mode: "named", name: "x" } as const;
  const agent = agentOf([shell(`${commitOf("b.txt")}; rm -rf "$PWD"`), "ok"]);
  const { retainedDirectory, commits } = await project.start({ brief, agent, branch }).result;
  assert.deepEqual([retainedDirectory, commits.length], [undefined, 1]);
  assert.deepEqual(await project.worktrees(), []);
  const keep = agentOf([shell("touch new.txt"), "ok"]);
  const kept = await project.start({ brief, agent: keep, branch }).result;
  await Deno.remove(kept.retainedDirectory!, { recursive: true });
  await project.start({ brief, agent: agentOf([shell(commitOf("c.txt")), "ok"]), branch }).result;
  assert.deepEqual(await project.files("x"), ["a.txt", "b.txt", "c.txt"]);
});

Deno.test("dispatch: marks that make no sense, and a link in the place of `.lait`, do no harm", async () => {
  await using project = await Project.make();
  const branch = { mode: "named", name: "x" } as const;
  const keep = agentOf([
    shell('touch new.txt; echo \'{"branch":5,"state":"open"}\' > "$(git rev-parse --git-dir)/lait.json"'),
    "ok",
  ]);
  await project.start({ brief, agent: keep, branch }).result;
  for (const mark of ['{"branch":"main","generated":true,"directory":"x","baseline":"y","state":"open"}', "[]", "{"]) {
    const gitDirectory = (await project.git("-C", (await project.worktrees())[0]!, "rev-parse", "--git-dir")).trim();
    await Deno.writeTextFile(`${gitDirectory}/lait.json`, mark);
    await project.start({ brief, agent: agentOf(["ok"]), branch: { mode: "integrate" } }).result;
  }
  assert.deepEqual(await project.files("main"), ["a.txt"]);
  await using other = await Project.make();
  await using outside = await Project.make();
  await Deno.symlink(outside.root, `${other.root}/.lait`);
  const { result } = other.start({ brief, agent: agentOf(["ok"]), branch });
  assert.match((await failure(result, "workspace")).message, /is a link to/);
});

Deno.test("dispatch: copies bring files that are in no commit, and unchanged they keep no worktree", async () => {
  await using project = await Project.make({ "a.txt": "one\n", ".gitignore": ".env\nlib/\n" });
  await project.write(".env", "KEY=1\n");
  await project.write("lib/deep/x.js", "x\n");
  await Deno.symlink("x.js", `${project.root}/lib/deep/link.js`);
  const copies = [".env", "lib", "missing"];
  const branch = { mode: "named", name: "x" } as const;
  const seen: string[] = [];
  const agent = agentOf([shell("cat .env lib/deep/x.js; readlink lib/deep/link.js"), "ok"]);
  const { retainedDirectory } = await project.start({
    brief,
    agent,
    branch,
    copies,
    observe: (event) => void (event.kind === "tool-result" && seen.push(event.preview)),
  }).result;
  assert.match(seen.join(""), /KEY=1\nx\nx\.js/);
  assert.equal(retainedDirectory, undefined);
  const changing = agentOf([shell("echo KEY=2 > .env"), "ok"]);
  assert.ok((await project.start({ brief, agent: changing, branch, copies }).result).retainedDirectory);
});

Deno.test("dispatch: copies must stay below the root", async () => {
  await using project = await Project.make();
  const branch = { mode: "named", name: "x" } as const;
  for (const path of ["../x", "/etc/passwd", ".git", ".git/config", "a/../../x", "sub/.GIT/config", ".lait", "", "."]) {
    await failure(project.start({ brief, agent: agentOf(["ok"]), branch, copies: [path] }).result, "configuration");
  }
  await failure(project.start({ brief, agent: agentOf(["ok"]), copies: [".env"] }).result, "configuration");
});

Deno.test("dispatch: a branch that is checked out elsewhere is a conflict", async () => {
  await using project = await Project.make();
  const main = project.start({ brief, agent: agentOf(["ok"]), branch: { mode: "named", name: "main" } });
  assert.match((await failure(main.result, "conflict")).message, /main is checked out in/);
  await project.git("worktree", "add", "-q", "-b", "mine", `${project.root}/mine`);
  const mine = project.start({ brief, agent: agentOf(["ok"]), branch: { mode: "named", name: "mine" } });
  assert.match((await failure(mine.result, "conflict")).message, /mine is checked out in .*\/mine/);
});

Deno.test("dispatch: two on one branch, or in one checkout, are a conflict at once, and the first goes on", async () => {
  await using project = await Project.make();
  for (const branch of [{ mode: "named", name: "x" }, { mode: "current" }] as const) {
    const workspace = await openWorkspace({ repository: project.root, branch });
    const second = project.start({ brief, agent: agentOf(["ok"]), branch });
    assert.match((await failure(second.result, "conflict")).message, /is in use by another dispatch/);
    const first = await workspace.dispatch({ brief, sandboxProvider: local, agent: agentOf(["ok"]) });
    assert.equal(first.text, "ok");
    await workspace.close();
    assert.equal((await project.start({ brief, agent: agentOf(["ok"]), branch }).result).text, "ok");
  }
});

Deno.test("dispatch: a failure keeps the work and says where it is", async () => {
  await using project = await Project.make();
  const agent = agentOf([{ ...shell(commitOf("b.txt")), usage: { input: 10, output: 2 } }, {
    status: 400,
    text: "no",
  }]);
  const { result, events } = project.start({ brief, agent, branch: { mode: "integrate" } });
  const error = await failure(result, "provider");
  const recovery = recoveryDetails(error)!;
  assert.deepEqual(error.recovery, { ...recovery });
  assert.ok((await Deno.stat(`${recovery.directory}/b.txt`)).isFile);
  assert.equal(await project.git("log", "-1", "--format=%s", recovery.branch), "add b.txt");
  assert.deepEqual(recovery.turns.map(({ status }) => status), [1]);
  assert.deepEqual([recovery.usage.input, recovery.usage.output], [10, 2]);
  assert.ok(recovery.conversation);
  assert.deepEqual(await project.files("main"), ["a.txt"]);
  assert.equal(events.at(-1)!.kind, "failure");
  assert.equal(events.filter(({ kind }) => ["finished", "failure", "stopped"].includes(kind)).length, 1);
});

Deno.test("dispatch: an abort in the middle stops the tool, leaves the checkout, keeps the worktree", async () => {
  await using project = await Project.make();
  const abort = new AbortController();
  const reason = { why: "enough" };
  const mark = `7531${Math.floor(Math.random() * 1e6)}`;
  const { result, events } = project.start({
    brief,
    agent: agentOf([shell(`${commitOf("b.txt")}; echo at work; sleep ${mark}`), "never"]),
    branch: { mode: "integrate" },
    signal: abort.signal,
    observe: (event) => {
      events.push(event);
      if (event.kind === "tool-output") abort.abort(reason);
    },
  });
  assert.equal(await result.then(() => undefined, (error) => error), reason);
  assert.equal(isRunning(`sleep ${mark}`), false);
  assert.equal(await project.git("status", "--short"), "");
  assert.deepEqual(await project.files("main"), ["a.txt"]);
  const [directory] = await project.worktrees();
  assert.equal(await Deno.readTextFile(`${directory}/b.txt`), "b.txt\n");
  assert.equal(recoveryDetails(reason)?.directory, directory);
  const last = events.at(-1)!;
  assert.deepEqual([last.kind, last.kind === "stopped" && last.reason], ["stopped", "aborted"]);
});

Deno.test("dispatch: nothing is left of one that failed before its agent began", async () => {
  await using project = await Project.make();
  const failing = [{ executable: "sh", arguments: ["-c", "touch made; echo no >&2; exit 4"] }];
  for (const phase of ["workspaceReady", "hostReady", "sandboxReady"] as const) {
    const { result, kinds } = project.start({
      brief,
      agent: agentOf(["ok"]),
      branch: { mode: "integrate" },
      hooks: { [phase]: failing },
    });
    const error = await failure(result, "process");
    assert.match(error.message, new RegExp(`${phase} hook .* ended with status 4: no`));
    assert.equal(kinds().includes("step"), false);
    assert.deepEqual(await project.worktrees(), []);
    assert.equal(await project.git("branch", "--format=%(refname:short)"), "main");
  }
});
