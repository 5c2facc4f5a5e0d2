/** The example workflows, offline: each in a directory of its own, on a real repository, with its scripted model. */
import assert from "node:assert/strict";
import { readWorkflowFile } from "../../lib/workflow/read/workflow_file.ts";
import { REPOSITORY } from "../_support/process.ts";
import { Flow } from "./_flow.ts";

const EXAMPLES = `${REPOSITORY}fixtures/workflows`;

async function example(files: Readonly<Record<string, string>> = {}): Promise<Flow> {
  const made = await Flow.make("steps: [{ jq: . }]", files);
  for (const folder of ["", "/scripts"]) {
    await Deno.mkdir(`${made.directory}${folder}`, { recursive: true });
    for await (const { name, isFile } of Deno.readDir(`${EXAMPLES}${folder}`)) {
      if (isFile) await Deno.copyFile(`${EXAMPLES}${folder}/${name}`, `${made.directory}${folder}/${name}`);
    }
  }
  return made;
}

/** A repository with a tag and one commit since. */
async function repository(): Promise<Flow> {
  const made = await example();
  const git = async (...args: string[]) => {
    const environment = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
    const { success } = await new Deno.Command("git", { args, cwd: made.directory, env: environment }).output();
    assert.ok(success, args.join(" "));
  };
  const who = ["-c", "user.name=T", "-c", "user.email=t@example.invalid"];
  await git("init", "-q", "-b", "main");
  await git(...who, "commit", "-q", "--allow-empty", "-m", "first");
  await git("tag", "v1");
  await git(...who, "commit", "-q", "--allow-empty", "-m", "add dark mode");
  return made;
}

Deno.test("workflow examples: each is a file that reads, and one of those that are run here", async () => {
  const names = (await Array.fromAsync(Deno.readDir(EXAMPLES))).map(({ name }) => name)
    .filter((name) => name.endsWith(".yml") && name !== "lait.config.yml");
  assert.equal(names.length, 10);
  for (const name of names) assert.ok((await readWorkflowFile(`${EXAMPLES}/${name}`, name)).name);
});

Deno.test("workflow examples: review_diff", async () => {
  await using made = await example();
  const { stdout, stderr } = await made.lait(["run", "review_diff.yml"], { stdin: "+ eval(input)\n" });
  assert.equal(stdout, "[high] a.ts: unchecked input\n[low] b.ts: a name\n", stderr);
});

Deno.test("workflow examples: triage_issues", async () => {
  const issues = [["1", "Crash on start"], ["2", "Dark mode"], ["3", "Wrong total"]]
    .map(([id, title]) => ({ id, title, body: "…" }));
  await using made = await example({ "issues.json": JSON.stringify(issues) });
  const { stdout, stderr } = await made.lait(["run", "triage_issues.yml", "--input", "file=issues.json"]);
  assert.deepEqual(JSON.parse(stdout), { bug: ["1", "3"], feature: ["2"] }, stderr);
});

Deno.test("workflow examples: release_notes", async () => {
  await using made = await repository();
  const { stdout, stderr } = await made.lait(["run", "release_notes.yml", "--input", "since=v1"]);
  assert.equal(stdout, "NOTES.md: 1 commits\n", stderr);
  assert.equal(await made.read("NOTES.md"), "## New\n\n- Dark mode\n");
});

Deno.test("workflow examples: summarize_files", async () => {
  await using made = await example({ "a.md": "the first file", "b.md": "the second file" });
  const files = 'files=["a.md","b.md","missing.md"]';
  const { stdout, stderr } = await made.lait(["run", "summarize_files.yml", "--input", files]);
  assert.equal(stdout, "Both are about letters.\n", stderr);
  assert.match(stderr, /running 'on_error': .*missing\.md/);
});

Deno.test("workflow examples: extract_invoice", async () => {
  await using made = await example();
  const { stdout, stderr } = await made.lait(["run", "extract_invoice.yml"], { stdin: "Invoice 7 …" });
  assert.deepEqual(JSON.parse(stdout).lines.length, 2, stderr);
});

Deno.test("workflow examples: translate", async () => {
  await using made = await example();
  const args = ["run", "translate.yml", "--input", "to=German", "--input", 'glossary={"worktree":"Arbeitsbaum"}'];
  const { stdout, stderr } = await made.lait([...args, "A worktree is a folder."]);
  assert.equal(stdout, "Ein Arbeitsbaum ist ein Ordner.\n", stderr);
  assert.match(stderr, /attempt 1\/2 failed/);
});

Deno.test("workflow examples: fix_tests", async () => {
  await using made = await example({ "sum.sh": "echo $(($1 - $2))\n", "check.sh": "[ $(sh sum.sh 2 3) = 5 ]\n" });
  const { stdout, stderr } = await made.lait(["run", "fix_tests.yml", "--input", 'test=["sh","check.sh"]']);
  assert.equal(stdout, "the tests pass\n", stderr);
  assert.equal(await made.read("sum.sh"), "echo $(($1 + $2))\n");
});

Deno.test("workflow examples: changelog, not written unless somebody agrees", async () => {
  await using made = await repository();
  const { stdout, stderr } = await made.lait(["run", "changelog.yml", "--input", "since=v1"]);
  assert.equal(stdout, "not written\n", stderr);
});

Deno.test("workflow examples: nightly_report, by the second model when the first is down", async () => {
  await using made = await repository();
  const { stdout, stderr } = await made.lait(["run", "nightly_report.yml"]);
  assert.equal(stdout, "# Report\n\nOne commit.\n", stderr);
  assert.match(stderr, /127\.0\.0\.1:9/);
});

Deno.test("workflow examples: classify_jsonl", async () => {
  const lines = [{ id: 1, text: "Win a prize" }, { id: 2, text: "See you" }].map((line) => JSON.stringify(line));
  await using made = await example({ "in.jsonl": `${lines.join("\n")}\n` });
  const { stdout, stderr } = await made.lait(["run", "classify_jsonl.yml", "--input", "in=in.jsonl"]);
  assert.equal(stdout, "2 lines, 1 spam\n", stderr);
  assert.equal(await made.read("labels.jsonl"), '{"id":1,"label":"spam"}\n{"id":2,"label":"ham"}');
});
