import assert from "node:assert/strict";
import { openWorkspace } from "../../lib/dispatch/open_workspace.ts";
import { recoveryDetails } from "../../lib/dispatch/recovery.ts";
import { agentOf, commitOf, failure, local, Project, shell } from "./_setup.ts";

const brief = { text: "go" };
const named = { mode: "named", name: "x" } as const;

Deno.test("guard: a protected path refuses the merge, and everything stays to be looked at", async () => {
  for (const mode of ["integrate", "named"] as const) {
    await using project = await Project.make();
    const before = await project.git("rev-parse", "main");
    const { result } = project.start({
      brief,
      agent: agentOf([shell(`${commitOf("ci/a.yml")}; ${commitOf("b.txt")}`), "done"]),
      branch: mode === "named" ? named : { mode },
      guard: { protectedPaths: ["ci/**"] },
    });
    const error = await failure(result, "guard");
    assert.match(error.message, /ci\/a\.yml is protected by "ci\/\*\*"/);
    const { branch, directory } = recoveryDetails(error)!;
    assert.deepEqual(error.details, {
      violations: [{ kind: "protected", path: "ci/a.yml", pattern: "ci/**" }],
      base: before,
      head: await project.git("rev-parse", branch),
    });
    assert.equal(await Deno.readTextFile(`${directory}/ci/a.yml`), "ci/a.yml\n");
    assert.equal(await project.git("rev-parse", "main"), before);
  }
});

Deno.test("guard: only the final difference counts", async () => {
  await using project = await Project.make({ "ci/a.yml": "a\n" });
  const agent = agentOf([
    shell(`${commitOf("ci/a.yml", "b\n")}; printf 'a\\n' > ci/a.yml; git commit -qam back; ${commitOf("b.txt")}`),
    "done",
  ]);
  const guard = { protectedPaths: ["ci/**"] };
  const { commits } = await project.start({ brief, agent, branch: { mode: "integrate" }, guard }).result;
  assert.equal(commits.length, 3);
  assert.equal(await project.git("rev-parse", "main"), commits.at(-1)!.oid);
});

Deno.test("guard: both names of a renamed file are looked at", async () => {
  await using project = await Project.make({ "ci/a.yml": "a\nb\nc\n", "src/b.ts": "x\ny\nz\n" });
  const guard = { protectedPaths: ["ci/*"] };
  for (const [from, to] of [["ci/a.yml", "other.yml"], ["src/b.ts", "ci/b.ts"]]) {
    const agent = agentOf([shell(`git mv ${from} ${to} && git commit -qm moved`), "done"]);
    const { result } = project.start({ brief, agent, branch: { mode: "integrate" }, guard });
    await failure(result, "guard");
  }
});

Deno.test("guard: exactly as many lines as allowed are accepted, one more is not, nor is a binary file", async () => {
  const five = "1\n2\n3\n4\n5\n";
  const cases = [
    [commitOf("b.txt", five), true],
    [commitOf("b.txt", `${five}6\n`), false],
    // Two removed and three added, in two commits.
    [`${commitOf("a.txt", "1\n2\n3\n4\n")}`, true],
    ["printf 'a\\0b' > b.bin && git add b.bin && git commit -qm bin", false],
    ["git mv a.txt z.txt && git commit -qm moved", true],
  ] as const;
  for (const [command, accepted] of cases) {
    await using project = await Project.make({ "a.txt": "one\n" });
    const agent = agentOf([shell(command), "done"]);
    const { result } = project.start({ brief, agent, branch: { mode: "integrate" }, guard: { maxChangedLines: 5 } });
    if (accepted) await result;
    else await failure(result, "guard");
  }
});

Deno.test("guard: no line may change with 0; files with any name are counted", async () => {
  await using project = await Project.make({ "a.txt": "one\n" });
  const guard = { maxChangedLines: 0 };
  const odd = agentOf([shell(`git mv a.txt "$(printf 'ta\\tb\\n "q"')" && git commit -qm odd`), "done"]);
  await project.start({ brief, agent: odd, branch: { mode: "integrate" }, guard }).result;
  const agent = agentOf([shell(commitOf("b.txt")), "done"]);
  const error = await failure(project.start({ brief, agent, branch: { mode: "integrate" }, guard }).result, "guard");
  assert.deepEqual(error.details.violations, [{ kind: "lines", changed: 1, limit: 0 }]);
});

Deno.test("guard: files that are in no commit are not looked at", async () => {
  await using project = await Project.make();
  const agent = agentOf([shell("mkdir ci && touch ci/x"), "done"]);
  const { retainedDirectory } = await project.start({
    brief,
    agent,
    branch: named,
    guard: { protectedPaths: ["ci/**"] },
  })
    .result;
  assert.ok(retainedDirectory);
});

Deno.test("guard: with the checkout itself it is refused before the agent starts", async () => {
  await using project = await Project.make();
  const { result, events } = project.start({ brief, agent: agentOf(["ok"]), guard: { maxChangedLines: 5 } });
  assert.match((await failure(result, "configuration")).message, /guard needs a worktree/);
  assert.deepEqual(events, []);
});

Deno.test("guard: a wrong one is refused", async () => {
  await using project = await Project.make();
  const guards = [
    { protectedPaths: ["/ci"] },
    { protectedPaths: ["C:/ci"] },
    { protectedPaths: ["ci\\a"] },
    { protectedPaths: ["../ci"] },
    { protectedPaths: ["./ci"] },
    { protectedPaths: [""] },
    { protectedPaths: "ci" as never },
    { maxChangedLines: -1 },
    { maxChangedLines: 1.5 },
    { maxChanged: 1 } as never,
  ];
  for (const guard of guards) {
    const { result, events } = project.start({ brief, agent: agentOf(["ok"]), branch: named, guard });
    await failure(result, "configuration");
    assert.deepEqual(events, []);
  }
});

Deno.test("guard: of a named branch it counts from the opening, over all dispatches, and keeps the worktree", async () => {
  await using project = await Project.make();
  const workspace = await openWorkspace({ repository: project.root, branch: named, guard: { maxChangedLines: 1 } });
  const run = (path: string) =>
    workspace.dispatch({ brief, sandboxProvider: local, agent: agentOf([shell(commitOf(path)), "ok"]) });
  await run("b.txt");
  await failure(run("c.txt"), "guard");
  assert.deepEqual(await workspace.close(), { retainedDirectory: workspace.directory });
  // What was there before the opening does not count.
  const again = await openWorkspace({ repository: project.root, branch: named, guard: { maxChangedLines: 1 } });
  await again.dispatch({ brief, sandboxProvider: local, agent: agentOf([shell(commitOf("d.txt")), "ok"]) });
  await again.close();
});

Deno.test("guard: a merge that would run what the agent put into the configuration does not happen", async () => {
  for (const [key, value] of [["merge.mine.driver", "touch %A.ran"], ["filter.f.smudge", "touch ran; cat"]]) {
    await using project = await Project.make();
    const agent = agentOf([shell(`git config ${key} '${value}' && ${commitOf("b.txt")}`), "done"]);
    const error = await failure(project.start({ brief, agent, branch: { mode: "integrate" } }).result, "workspace");
    assert.match(error.message, /names other filters, ways to merge or another work tree/);
    assert.deepEqual(await project.files("main"), ["a.txt"]);
  }
});

Deno.test("dispatch: its own Git runs no hook, monitor, pager or signature program of the repository", async () => {
  await using project = await Project.make();
  const ran = `${project.root}-ran`;
  for (
    const name of ["post-checkout", "pre-merge-commit", "post-merge", "reference-transaction", "post-index-change"]
  ) {
    await project.write(`.git/hooks/${name}`, `#!/bin/sh\necho ${name} >> '${ran}'\n`);
    await Deno.chmod(`${project.root}/.git/hooks/${name}`, 0o755);
  }
  const quiet = "git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c commit.gpgSign=false";
  const work = `printf b > b.txt; ${quiet} add b.txt && ${quiet} commit -q -m b`;
  // The user goes on too, so that there is a merge commit to make.
  const user = `cd '${project.root}' && ${quiet} commit -q --allow-empty -m user`;
  for (
    const key of ["core.fsmonitor", "core.pager", "core.editor", "gpg.program", "diff.external", "core.sshCommand"]
  ) {
    await project.git("config", key, `echo ${key} >> '${ran}'; false`);
  }
  await project.git("config", "commit.gpgSign", "true");
  await project.git("config", "merge.verifySignatures", "true");
  const run = project.start({
    brief,
    agent: agentOf([shell(`${work}; ${user}`), "done"]),
    branch: { mode: "integrate" },
    guard: { maxChangedLines: 5 },
  });
  const { branch } = await run.result;
  assert.equal(
    await project.sh("git", "-c", "core.pager=cat", "log", "-1", "--format=%s").then(({ stdout }) => stdout),
    `Merge branch '${branch}'\n`,
  );
  assert.equal(await Deno.readTextFile(ran).catch(() => "nothing ran"), "nothing ran");
});
