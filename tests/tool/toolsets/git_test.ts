import assert from "node:assert/strict";
import { createHarnessFileTools } from "../../../lib/tool/toolsets/files.ts";
import { createHarnessGitTools } from "../../../lib/tool/toolsets/git.ts";
import { createHarnessSearchTools } from "../../../lib/tool/toolsets/search.ts";
import { Repository } from "./_repository.ts";

const git = createHarnessGitTools();
const run = (place: Repository, command: string, ...args: string[]) =>
  place.ok(git, "git", { command, arguments: args });
const refuses = (place: Repository, command: string, ...args: string[]) =>
  place.fails(git, "git", { command, arguments: args });

Deno.test("harness 25: git runs status, diff, log and show only, writes nothing, and declares its command", async () => {
  await using place = await Repository.make({ "a.txt": "one\n" });
  assert.match(await place.fails(git, "git", { command: "push" }), /validation/);
  assert.match(await place.fails(git, "git", { command: "log", args: [] }), /validation/);
  await place.write("a.txt", "two\n");
  assert.match(await refuses(place, "diff", "--output=x"), /--output is not allowed/);
  assert(!(await place.paths()).includes("./x"));
  const [tool] = git.tools;
  assert.deepEqual(tool!.resources({ command: "log", arguments: ["-n", "1"] }), { command: "git log -n 1" });
  assert.deepEqual(tool!.resources({ command: "status" }), { command: "git status" });
  assert.deepEqual(tool!.preview!({ command: "log", arguments: ["-n", "1"] }), ["git", "log", "-n", "1"]);
  assert(tool!.readOnly);
});

Deno.test("git: answers in blocks; a failure is an error with Git's own words", async () => {
  await using place = await Repository.make({ "a.txt": "one\n" });
  assert.equal(await run(place, "status", "--short"), "exit status: 0");
  await place.write("a.txt", "two\n");
  assert.equal(await run(place, "status", "--short"), "exit status: 0\n--- stdout ---\n M a.txt");
  assert.match(await run(place, "diff"), /^exit status: 0\n--- stdout ---\ndiff --git a\/a\.txt b\/a\.txt\n[^]*\+two$/);
  assert.match(await run(place, "log", "--format=%s", "-n", "1"), /\nfirst$/);
  assert.match(await run(place, "show", "--stat", "HEAD"), /a\.txt \| 1 \+/);
  const failure = await refuses(place, "show", "none");
  assert.match(failure, /^exit status: 128\n--- stderr ---\nfatal: /);
});

Deno.test("git: only the end of a long output is shown", async () => {
  await using place = await Repository.make({ "a.txt": `${"x".repeat(99)}\n`.repeat(3_000) });
  const context = { sandbox: place.lease, signal: new AbortController().signal };
  const output = await git.tools[0]!.execute({ command: "show" }, context as never);
  const { content } = output as { content: string };
  const [status, block, notice] = content.split("\n");
  assert.deepEqual([status, block], ["exit status: 0", "--- stdout ---"]);
  assert.equal(notice, "[only the last 200000 characters are shown]");
  assert.equal(content.length, [status, block, notice].join("\n").length + 200_000);
});

Deno.test("git: options that write, start programs or read elsewhere are refused, also cut short", async () => {
  await using place = await Repository.make({ "a.txt": "one\n" });
  const refused: [command: string, ...args: string[]][] = [
    ["diff", "--output", "x"],
    ["diff", "--output-indicator-new=x"],
    ["log", "--outp=x"],
    ["diff", "--ext-diff"],
    ["show", "--ext-d"],
    ["log", "-p", "--textconv"],
    ["log", "--open-files-in-pager=x"],
    ["log", "--show-signature"],
    ["log", "--format=%G?"],
    ["log", "--pretty=format:%h %+GS"],
    ["log", "--pretty", "%h%GK"],
    ["diff", "-Oorder"],
    ["diff", "-wO/etc/hostname"],
    ["diff", "--no-index", "a.txt", "a.txt"],
    ["diff", "--", "a.txt", "--no-index"],
    ["show", "--remerge-diff"],
    ["log", "--diff-merges=remerge"],
    ["log", "--diff-merges", "r"],
    ["diff", "--submodule=diff"],
    ["status", "--ignore-submodules=none"],
    ["status", "-v"],
    ["status", "-sv"],
    ["status", "--verb"],
    ["diff", "/etc/hostname", "/dev/null"],
    ["diff", "--", "/etc/hostname"],
    ["log", "../outside"],
    ["log", "--", ":(top)../outside"],
    ["log", ":^../outside"],
    ["show", "HEAD:../x"],
    ["show", "HEAD:a/../../x"],
    ["diff", "C:/x"],
    ["diff", "..\\x"],
    ["diff", ".."],
    ["show", "a\0b"],
  ];
  for (const [command, ...args] of refused) {
    assert.match(await refuses(place, command, ...args), /is refused: /, [command, ...args].join(" "));
  }
  const allowed: [command: string, ...args: string[]][] = [
    ["log", "--oneline", "-n", "1", "--", "a.txt"],
    ["log", "HEAD..HEAD"],
    ["log", "main...HEAD", "--stat"],
    ["diff", "--text", "-w"],
    ["diff", "-SOption"],
    ["diff", "--stat", "HEAD", "a.txt"],
    ["show", ":/first"],
    ["show", "HEAD:a.txt"],
    ["status", "-uall", "--porcelain"],
    ["diff", "--submodule"],
  ];
  for (const [command, ...args] of allowed) await run(place, command, ...args);
});

Deno.test("git: a path that leads outside through a link is refused; an existing one is never taken for a revision", async () => {
  await using place = await Repository.make({ "a.txt": "one\n", "main": "one\n", "-x": "one\n" });
  await Deno.writeTextFile(`${place.outside}/secret`, "secret\n");
  await Deno.symlink("../outside", `${place.root}/out`);
  await Deno.symlink("loop", `${place.root}/loop`);
  for (const path of ["out/secret", "out", "loop"]) {
    assert.match(await refuses(place, "diff", "a.txt", path), /leads outside the repository/);
    assert.match(await refuses(place, "log", "--", path), /leads outside the repository/);
  }
  for (const name of ["a.txt", "main", "-x"]) await place.write(name, "two\n");
  const changed = async (...args: string[]) => (await run(place, "diff", "--name-only", ...args)).split("\n").slice(2);
  assert.deepEqual(await changed("main"), ["main"]);
  assert.deepEqual(await changed("HEAD", "a.txt"), ["a.txt"]);
  assert.deepEqual(await changed("-S", "main"), []);
  assert.deepEqual(await changed("--", "-x"), ["-x"]);
});

Deno.test("git: outside a repository diff compares no files", async () => {
  await using place = await Repository.make({ "a.txt": "one\n", "b.txt": "two\n" }, { git: false });
  const answer = await refuses(place, "diff", "a.txt", "b.txt");
  assert.match(answer, /not a git repository/);
  assert(!answer.includes("+two"));
});

/** A script that leaves a mark, and the places of a configuration that would start it. */
async function hostile(place: Repository): Promise<{ ran(): Promise<string[]> }> {
  const marks = `${place.outside}/marks`;
  await Deno.mkdir(marks);
  const script = async (name: string) => {
    const path = `${place.outside}/${name}.sh`;
    await Deno.writeTextFile(path, `#!/bin/sh\n: > ${marks}/${name}\ncat "$@" 2>/dev/null\n`);
    await Deno.chmod(path, 0o755);
    return path;
  };
  const settings: Record<string, string> = {
    "core.fsmonitor": await script("fsmonitor"),
    "core.hooksPath": place.outside,
    "core.pager": await script("pager"),
    "pager.log": await script("pager-log"),
    "pager.diff": await script("pager-diff"),
    "diff.external": await script("external"),
    "diff.bad.command": await script("driver"),
    "diff.bad.textconv": await script("textconv"),
    "filter.bad.clean": await script("clean"),
    "filter.bad.smudge": await script("smudge"),
    "filter.b=d.process": await script("process"),
    "filter.b=d.required": "true",
    "merge.bad.driver": await script("merge"),
    "gpg.program": await script("gpg"),
    "gpg.ssh.program": await script("gpg-ssh"),
    "gpg.openpgp.program": await script("gpg-openpgp"),
    "log.showSignature": "true",
    "log.diffMerges": "remerge",
    "format.pretty": "format:%H %G? %s",
    "core.sshCommand": await script("ssh"),
    "core.editor": await script("editor"),
    "diff.submodule": "diff",
    "diff.ignoreSubmodules": "none",
    "status.submoduleSummary": "true",
    "grep.fallbackToNoIndex": "true",
    "alias.status": `!${await script("alias")}`,
  };
  for (const hook of ["post-index-change", "pre-commit", "post-checkout"]) {
    await Deno.copyFile(await script(hook), `${place.outside}/${hook}`);
  }
  for (const [name, value] of Object.entries(settings)) await place.git("config", name, value);
  return { ran: async () => (await Array.fromAsync(Deno.readDir(marks))).map(({ name }) => name).sort() };
}

/** A repository in which every one of those would have a reason to run: a signed merge, attributes, a submodule. */
async function tempting(): Promise<Repository> {
  const place = await Repository.make({
    "a.txt": "one\n",
    "b.txt": "one\n",
    ".gitattributes": "a.txt diff=bad filter=bad merge=bad\nc.txt filter=b=d\n",
    "c.txt": "one\n",
    "d.txt": "one\n",
    "same.txt": "one\n",
  });
  await place.write(".git/info/attributes", "b.txt diff=bad filter=bad merge=bad\n");
  await place.git("checkout", "-q", "-b", "other");
  await place.write("a.txt", "other\n");
  await place.commit("other");
  await place.git("checkout", "-q", "main");
  await place.write("a.txt", "main\n");
  await place.commit("main");
  await place.git("merge", "-q", "-X", "ours", "-m", "merged", "other");
  const commit = await place.git("cat-file", "commit", "HEAD");
  const signed = commit.replace(
    "\n\n",
    "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n",
  );
  const { stdout } = await place.lease.invoke({
    executable: "git",
    arguments: ["hash-object", "-t", "commit", "-w", "--stdin"],
    stdin: signed,
  });
  await place.git("reset", "-q", "--soft", stdout.trim());
  await place.git("init", "-q", "sub");
  await place.write("sub/.gitattributes", "*.txt diff=bad filter=sub\n");
  for (const content of ["one\n", "two\n"]) {
    await place.write("sub/f.txt", content);
    await place.git("-C", "sub", "add", "-A");
    await place.git("-C", "sub", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "-m", content);
    await place.git("add", "sub");
    await place.git("commit", "-q", "-m", `sub ${content}`);
  }
  await place.write("sub/f.txt", "six\n");
  const mark = (name: string) => `: > ${place.outside}/marks/${name}; cat`;
  await place.git("-C", "sub", "config", "core.fsmonitor", mark("sub-fsmonitor"));
  await place.git("-C", "sub", "config", "filter.sub.clean", mark("sub-clean"));
  await place.git("-C", "sub", "config", "diff.bad.textconv", `${mark("sub-textconv")} <`);
  await place.write("a.txt", "changed\n");
  for (const name of ["b.txt", "c.txt", "d.txt"]) await place.write(name, "changed\n");
  // The same content with another time: Git would write its index again.
  await place.write("same.txt", "one\n");
  return place;
}

const STARTED_BY_PLAIN_GIT = [
  "clean",
  "driver",
  "external",
  "fsmonitor",
  "gpg-openpgp",
  "merge",
  "process",
  "sub-clean",
  "sub-fsmonitor",
  "sub-textconv",
  "textconv",
];

const LOOKS: readonly (readonly [command: string, ...args: string[]])[] = [
  ["status"],
  ["status", "--short", "--branch", "-uall"],
  ["diff"],
  ["diff", "d.txt"],
  ["diff", "--stat", "HEAD"],
  ["diff", "--cached"],
  ["diff", "--submodule=log"],
  ["diff", "main", "other"],
  ["log", "-p"],
  ["log", "-p", "-m"],
  ["log", "--all", "--cc", "--stat"],
  ["show", "HEAD"],
  ["show", "HEAD~1"],
  ["show", "HEAD~2"],
  ["show", "HEAD:a.txt"],
];

Deno.test("git: a hostile configuration starts nothing when the tools look", async () => {
  await using place = await tempting();
  const { ran } = await hostile(place);
  const index = await Deno.readFile(`${place.root}/.git/index`);
  for (const [command, ...args] of LOOKS) {
    const { content } = await place.call(git, "git", { command, arguments: args });
    assert.match(content, /^exit status: 0(\n|$)/, [command, ...args].join(" "));
    assert.deepEqual(await ran(), [], [command, ...args].join(" "));
  }
  await place.ok(createHarnessFileTools(), "list_files", {});
  assert.match(await place.ok(createHarnessSearchTools(), "search", { pattern: "changed" }), /a\.txt:1:changed/);
  assert.deepEqual(await ran(), []);
  assert.deepEqual(await Deno.readFile(`${place.root}/.git/index`), index);
  // The same with plain Git: what the test is about does run there.
  for (const [command, ...args] of LOOKS) {
    await place.lease.invoke({ executable: "git", arguments: [command, ...args] });
  }
  await place.lease.invoke({ executable: "git", arguments: ["show", "--remerge-diff", "HEAD~2"] });
  const plain = await ran();
  for (const name of STARTED_BY_PLAIN_GIT) {
    assert(plain.includes(name), `plain Git did not start ${name}: ${plain}`);
  }
});

Deno.test("git: filters of the user's own configuration do run", async () => {
  await using place = await Repository.make({ "a.txt": "one\n", ".gitattributes": "a.txt filter=own\n" });
  await place.git("config", "--global", "filter.own.clean", "tr x o");
  await place.write("a.txt", "xne\n");
  assert.equal(await run(place, "diff", "--stat"), "exit status: 0");
});

Deno.test("git: a partial clone fetches nothing", async () => {
  await using place = await Repository.make({ "a.txt": "one\n" });
  const mark = `${place.outside}/fetched`;
  await place.git("config", "core.repositoryFormatVersion", "1");
  await place.git("config", "extensions.partialClone", "origin");
  await place.git("config", "remote.origin.promisor", "true");
  await place.git("config", "remote.origin.url", place.root);
  await place.git("config", "remote.origin.uploadpack", `touch ${mark}; git-upload-pack`);
  await place.git("config", "protocol.allow", "always");
  const blob = (await place.git("rev-parse", "HEAD:a.txt")).trim();
  await Deno.remove(`${place.root}/.git/objects/${blob.slice(0, 2)}/${blob.slice(2)}`);
  await refuses(place, "show", "HEAD:a.txt");
  await assert.rejects(Deno.stat(mark), Deno.errors.NotFound);
  await place.lease.invoke({ executable: "git", arguments: ["show", "HEAD:a.txt"] });
  await Deno.stat(mark);
});

Deno.test("git: files laid out like a repository are none, and a work tree elsewhere is refused", async () => {
  await using place = await Repository.make({ "a.txt": "one\n" }, { git: false });
  await place.git("init", "-q", "--bare", ".");
  assert.match(await refuses(place, "log"), /bareRepository/);
  await using other = await Repository.make({ "outside/secret": "one\n" });
  await Deno.writeTextFile(`${other.outside}/secret`, "the secret\n");
  await other.git("config", "core.worktree", other.outside.replace(/\/outside$/, ""));
  for (const command of ["diff", "status"]) {
    const answer = await refuses(other, command);
    assert.match(answer, /core\.worktree/);
    assert(!answer.includes("the secret"));
  }
});
