import assert from "node:assert/strict";
import { Workspace } from "../cli/_lait.ts";
import { isRunning } from "../_support/process.ts";
import { SLOW } from "../_support/slow.ts";
import { Flow } from "./_flow.ts";

async function runs(made: Flow): Promise<Record<string, unknown>[]> {
  const folder = `${made.directory}/.lait/runs`;
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).toSorted();
  return await Promise.all(names.map(async (name) => JSON.parse(await Deno.readTextFile(`${folder}/${name}`))));
}

const FAILING = `
inputs: { name: { type: string, default: n } }
steps:
  - { id: one, run: [sh, -c, 'echo . >> ran; cat'], output: '. + "1"' }
  - { run: [sh, -c, '[ -e ok ] && cat'], output: '[., $steps.one, $inputs.name]' }`;

Deno.test("workflow checkpoint: a failed run is gone on with where it failed, once", async () => {
  await using made = await Flow.make(FAILING);
  const failed = await made.run("x", "--checkpoint");
  assert.equal(failed.code, 1);
  const [stored] = await runs(made);
  assert.deepEqual([stored!["status"], stored!["completed_index"], stored!["current_value"]], ["failed", 1, "x1"]);
  const id = String(stored!["run_id"]);
  assert.match(id, /^\d{8}-\d{6}-\d{9}-\d+-\d+$/);
  assert.match(failed.stderr, new RegExp(`lait run flow\\.yml --resume ${id}`));
  await made.write("ok", "");
  const resumed = await made.run("--resume", id);
  assert.equal(resumed.stdout, '["x1","x1","n"]\n', resumed.stderr);
  assert.match(resumed.stderr, new RegExp(`==> resuming run '${id}' from step 2/2`));
  assert.equal(await made.read("ran"), ".\n");
  const shown = await made.lait(["runs", "show", id]);
  assert.match(shown.stdout, /status: completed\ncompleted: 2\/2 top-level step\(s\)\ninitial input: x\n/);
  assert.equal((await made.lait(["runs", "list"])).stdout, `${id}  (completed, step 2/2, flow.yml)\n`);
  assert.match((await made.run("--resume", id)).stderr, /already completed/);
  assert.match(
    (await made.lait(["run", "./flow.yml", "--resume", id])).stderr,
    /is of 'flow\.yml', not of '\.\/flow\.yml'/,
  );
  assert.match((await made.run("--resume", "nope")).stderr, /no such checkpointed run/);
  assert.match((await made.run("--resume", "../flow")).stderr, /is no run id/);
});

Deno.test("workflow checkpoint: other inputs are bound afresh and stay; changed steps are noticed", async () => {
  await using made = await Flow.make(FAILING);
  await made.run("x", "--checkpoint");
  const id = String((await runs(made))[0]!["run_id"]);
  assert.equal((await made.run("--resume", id, "--input", "name=other")).code, 1);
  await made.write("ok", "");
  await made.write("flow.yml", FAILING.replace("steps:", "steps:").replace("- { run:", "- { id: two, run:"));
  const resumed = await made.run("--resume", id);
  assert.equal(resumed.stdout, '["x1","x1","other"]\n');
  assert.match(resumed.stderr, /warning: the workflow has other steps/);
  await Deno.remove(`${made.directory}/ok`);
  await made.run("y", "--checkpoint");
  await made.write("flow.yml", FAILING.replace("id: one", "id: uno"));
  const other = (await runs(made)).find(({ status }) => status === "failed")!;
  assert.match(
    (await made.run("--resume", String(other["run_id"]))).stderr,
    /step 1, which is done, was 'one' and is 'uno' now/,
  );
});

Deno.test("workflow checkpoint: a success is stored as completed, also by a stop; without the flag nothing is", async () => {
  await using made = await Flow.make("steps: [{ when: '. == \"s\"', stop: true }, { jq: . }]");
  await made.run("x");
  assert.equal((await made.lait(["runs", "list"])).stdout, "");
  await made.run("s", "--checkpoint");
  const [stored] = await runs(made);
  assert.deepEqual([stored!["status"], stored!["completed_index"]], ["completed", 1]);
  await made.write(".lait/runs/old.json", '{"format":1}');
  assert.match((await made.lait(["runs", "list"])).stderr, /older version/);
});

Deno.test("workflow checkpoint: killed between two steps, it goes on to the same result", async () => {
  const flow = `
steps:
  - { id: a, run: [sh, -c, 'echo a >> ran; cat'] }
  - { run: [sh, -c, 'echo b >> ran; if [ ! -e go ]; then echo "pid $$" > pid; exec sleep 600; fi; cat'] }
  - { jq: '[., $steps.a]' }`;
  await using workspace = await Workspace.create({ "flow.yml": flow });
  const lait = workspace.start(["run", "flow.yml", "v", "--checkpoint"]);
  while (!await workspace.exists("pid") || !(await workspace.read("pid")).includes("\n")) {
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  lait.signal("SIGKILL");
  await lait.ended();
  Deno.kill(Number((await workspace.read("pid")).trim().slice(4)), "SIGKILL");
  const [{ name }] = await Array.fromAsync(Deno.readDir(workspace.path(".lait/runs"))) as [Deno.DirEntry];
  await workspace.write("go", "");
  const { stdout, stderr } = await workspace.run(["run", "flow.yml", "--resume", name.replace(".json", "")]);
  assert.equal(stdout, '["v","v"]\n', stderr);
  assert.equal(await workspace.read("ran"), "a\nb\nb\n");
});

Deno.test("workflow: an interruption keeps the state, ends all that runs, and exits with 130", async () => {
  const mark = `7410${Math.floor(Math.random() * 1e6)}`;
  const flow = `steps: [{ jq: . }, { run: [sh, -c, 'echo > began; sleep ${mark} & sleep ${mark}'] }]`;
  await using workspace = await Workspace.create({ "flow.yml": flow });
  const lait = workspace.start(["run", "flow.yml", "v", "--checkpoint"]);
  while (!await workspace.exists("began")) await new Promise((resolve) => setTimeout(resolve, 30));
  lait.signal("SIGINT");
  const { code, stderr } = await lait.ended();
  assert.equal(code, 130, stderr);
  assert.equal(isRunning(`sleep ${mark}`), false);
  const [{ name }] = await Array.fromAsync(Deno.readDir(workspace.path(".lait/runs"))) as [Deno.DirEntry];
  const stored = JSON.parse(await workspace.read(`.lait/runs/${name}`));
  assert.deepEqual([stored.status, stored.completed_index], ["failed", 1]);
});

Deno.test({
  ...SLOW,
  name: "workflow for_each: a thousand processes, sixteen at once, in order; interrupted, all are gone",
  fn: async () => {
    const counting = "mkdir -p live && : > live/$$ && ls live | wc -l >> most; sleep 0.01; rm live/$$; echo $1";
    const flow = (count: number, script: string) => `
input_schema: {}
steps:
  - input: '[range(${count})]'
    for_each: .
    max_concurrency: 16
    steps: [{ run: [sh, -c, ${JSON.stringify(script)}, sh, "{{ input }}"], output: tonumber }]`;
    await using workspace = await Workspace.create({ "flow.yml": flow(1000, counting) });
    const { stdout, stderr } = await workspace.run(["run", "flow.yml", "0", "--quiet"]);
    assert.deepEqual(JSON.parse(stdout), Array.from({ length: 1000 }, (_, index) => index), stderr);
    const most = Math.max(...(await workspace.read("most")).trim().split("\n").map(Number));
    assert.ok(most > 1 && most <= 16, `${most} at once`);
    const mark = `8520${Math.floor(Math.random() * 1e6)}`;
    await workspace.write("flow.yml", flow(100, `echo >> began; sleep ${mark}; echo 1`));
    const lait = workspace.start(["run", "flow.yml", "0"]);
    while (!await workspace.exists("began")) await new Promise((resolve) => setTimeout(resolve, 30));
    lait.signal("SIGINT");
    assert.equal((await lait.ended()).code, 130);
    assert.equal(isRunning(`sleep ${mark}`), false);
  },
});

Deno.test("workflow graph: nodes, branches, loops and ends, in both languages", async () => {
  await using made = await Flow.make(`
steps:
  - { id: a, jq: '"x\\\\y"', when: 'true' }
  - parallel: { left: [{ jq: . }], right: [{ stop: false, jq: . }] }
  - switch: [{ when: '. == 1', steps: [{ stop: true }] }]
    else: [{ prompt: hi }]
    on_error: [{ jq: . }]
  - for_each: .
    max_concurrency: 2
    steps: [{ write: "{{ loop.index }}" }]`.replace("stop: false, ", ""));
  const mermaid = (await made.lait(["graph", "flow.yml"])).stdout;
  for (
    const part of [
      "flowchart TD",
      'n1(("start"))',
      "<br/>when: true",
      "join",
      "branch 'left'",
      '|"case 1: . == 1"|',
      '|"else"|',
      '|"on_error"|',
      '|"per item"|',
      '|"next item"|',
      "max_concurrency: 2",
    ]
  ) assert.ok(mermaid.includes(part), `${part}\n${mermaid}`);
  // What is skipped is passed by: both what is before and the step itself lead on.
  assert.match(mermaid, /n1 --> n3\b/);
  assert.match(mermaid, /n2 --> n3\b/);
  const dot = (await made.lait(["graph", "flow.yml", "--format", "dot"])).stdout;
  assert.match(dot, /^digraph workflow \{\n {2}rankdir=TB;\n/);
  assert.match(dot, /x\\\\\\\\y/);
  assert.match(dot, /shape=diamond/);
  assert.equal((await made.lait(["graph", "flow.yml", "--format", "svg"])).code, 2);
});

Deno.test("workflow list: the entries with their descriptions, and what is wrong with one", async () => {
  await using made = await Flow.make("steps: [{ jq: . }]", {
    "lait.config.yml": "workflows: { b: w/b.yml, a: w/a.yml }\n",
    "w/a.yml": "description: does a\nsteps: [{ jq: '\"A\"' }]",
    "w/b.yml": "steps: 1",
  });
  const listed = await made.lait(["workflow", "list"]);
  assert.equal(listed.code, 0);
  assert.match(
    listed.stdout,
    /^a {2}\(w\/a\.yml\): does a\nb {2}\(w\/b\.yml\)\n {4}warning: .*must be a list of steps/,
  );
  const named = await made.lait(["run", "a", "x"]);
  assert.equal(named.stdout, "A\n");
  assert.match(named.stderr, /note: workflow `a` is w\/a\.yml/);
  await made.write("flow.yml", "steps: [{ workflow: a }]");
  assert.equal((await made.run("x")).stdout, "A\n");
});
