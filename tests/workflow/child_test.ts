import assert from "node:assert/strict";
import { Flow } from "./_flow.ts";

/** Runs `main.yml` of these files. */
async function main(files: Readonly<Record<string, string>>, words: readonly string[] = ["x"]) {
  await using flow = await Flow.create(files);
  return await flow.lait(["run", "main.yml", ...words]);
}

const JOIN = `inputs: {sep: string}
input_schema: {type: array}
output: 'join($inputs.sep)'
steps: [{jq: 'map(ascii_upcase)'}]`;

Deno.test("workflow 34: a child gets its value and named inputs, both checked", async () => {
  const call = "{workflow: ./child.yml, with: '{sep: \"-\"}'}";
  const good = await main({ "main.yml": `steps: [{jq: '["a","b"]'}, ${call}]`, "child.yml": JOIN });
  assert.deepEqual([good.code, good.stdout], [0, "A-B\n"]);
  const bad = await main({ "main.yml": `steps: [${call}]`, "child.yml": JOIN });
  assert.equal(bad.code, 1);
  assert.match(bad.stderr, /the initial input: input must be of type array/);
  const caught = await main({
    "main.yml": "steps: [{workflow: ./child.yml, with: '{sep: \"-\"}', on_error: [{jq: .error}]}]",
    "child.yml": JOIN,
  });
  assert.match(caught.stdout, /must be of type array/);
  const missing = await main({ "main.yml": "steps: [{jq: '[]'}, {workflow: ./child.yml}]", "child.yml": JOIN });
  assert.match(missing.stderr, /missing required input 'sep'/);
  const list = await main({ "main.yml": "steps: [{workflow: ./child.yml, with: '[1]'}]", "child.yml": JOIN });
  assert.match(list.stderr, /'with' must produce an object \(got array\)/);
});

Deno.test("child: it sees neither the caller's inputs nor its steps nor its loop", async () => {
  const { stdout } = await main({
    "main.yml":
      "inputs: {a: {default: 1}}\nsteps: [{id: s, jq: '[1]'}, {for_each: ., steps: [{workflow: c.yml}]}, {jq: '[., $steps.t]'}]",
    "c.yml": "steps: [{id: t, jq: '[$inputs, $steps, $loop]'}]",
  }, []);
  assert.equal(stdout, "[[[{},{},null]],null]\n");
});

Deno.test("workflow 35: files that call each other are a cycle; a child's stop ends the child alone", async () => {
  const cycle = await main({ "main.yml": "steps: [{workflow: ./b.yml}]", "b.yml": "steps: [{workflow: ./main.yml}]" });
  assert.deepEqual([cycle.code, cycle.stdout], [1, ""]);
  assert.match(cycle.stderr, /would create a cycle/);
  const { stdout } = await main({
    "main.yml": "steps: [{parallel: {a: [{workflow: c.yml}, {jq: '. + 1'}], b: [{jq: '3'}]}}]",
    "c.yml": "steps: [{stop: true, output: '1'}, {jq: 'error'}]",
  });
  assert.equal(stdout, '{"a":2,"b":3}\n');
});

Deno.test("child: a link is the file that it leads to", async () => {
  await using flow = await Flow.create({ "main.yml": "steps: [{workflow: ./b.yml}]" });
  await Deno.symlink("main.yml", flow.path("b.yml"));
  assert.match((await flow.lait(["run", "main.yml", "x"])).stderr, /would create a cycle/);
});

Deno.test("child: at most 32 files call each other", async () => {
  const files: Record<string, string> = { "main.yml": "steps: [{workflow: ./c1.yml}]" };
  for (let i = 1; i <= 32; i++) files[`c${i}.yml`] = `steps: [{workflow: ./c${i + 1}.yml}]`;
  files["c31.yml"] = "steps: [{jq: '\"deep\"'}]";
  assert.equal((await main(files)).stdout, "deep\n");
  files["c31.yml"] = "steps: [{workflow: ./c32.yml}]";
  files["c32.yml"] = "steps: [{jq: .}]";
  assert.match((await main(files)).stderr, /more than 32 workflow files/);
});

Deno.test("workflow 29: what may not stand among several at once may not come there by a child, or its child", async () => {
  const around = (step: string) => `steps: [{jq: '[1]'}, {for_each: ., max_concurrency: 2, steps: [${step}]}]`;
  const touch = "{run: [touch, touched]}";
  const calls = [
    { "c.yml": `steps: [${touch}, {write: fixed.txt}]` },
    { "c.yml": `steps: [${touch}, {ask: sure, default: a}]` },
    { "c.yml": "steps: [{workflow: d.yml}]", "d.yml": `steps: [${touch}, {write: fixed.txt}]` },
  ];
  for (const files of calls) {
    await using flow = await Flow.create({ "main.yml": around("{workflow: c.yml}"), ...files });
    const { code, stderr } = await flow.lait(["run", "main.yml", "x"]);
    assert.equal(code, 1);
    assert.match(stderr, /cannot be called here: .*cannot stand in/);
    assert.deepEqual(await flow.names("touched"), []);
    assert(!(await flow.names(".")).includes("touched"));
  }
  const { stdout } = await main({ "main.yml": around("{workflow: c.yml}"), "c.yml": "steps: [{stop: true}]" });
  assert.equal(stdout, "[1]\n");
});

Deno.test("child: by a name of the configuration, from whose place its paths start", async () => {
  const { stdout, stderr } = await main({
    "lait.config.yml": "workflows: {shout: flows/shout.yml}",
    "main.yml": "steps: [{workflow: shout}]",
    "flows/shout.yml": "name: shouting\ndescription: makes it loud\nsteps: [{workflow: ./deeper/up.yml}]",
    "flows/deeper/up.yml": "steps: [{jq: ascii_upcase}]",
  });
  assert.equal(stdout, "X\n");
  assert.deepEqual(stderr.split("\n").slice(0, 4), [
    "[1] step-1 (workflow)",
    "    -> shouting: makes it loud",
    "    [1] step-1 (workflow)",
    "        [1] step-1 (jq)",
  ]);
  const unknown = await main({
    "main.yml": "steps: [{workflow: shuot}]",
    "lait.config.yml": "workflows: {shout: a.yml}",
  });
  assert.match(unknown.stderr, /unknown workflow 'shuot'.*did you mean `shout`/);
  const none = await main({ "main.yml": "steps: [{workflow: shout}]" });
  assert.match(none.stderr, /unknown workflow 'shout'.*\.\/shout\.yml/);
});

Deno.test("child: a file with faults fails the step, with their places", async () => {
  const { code, stderr } = await main({
    "main.yml": "steps: [{workflow: c.yml}]",
    "c.yml": "steps: [{jq: '['}, {jq: ., when: true}]",
  });
  assert.equal(code, 3);
  assert.match(stderr, /failed to parse workflow file 'c\.yml'.*c\.yml:1:\d+/);
  assert.match(stderr, /c\.yml:1:34/);
});

Deno.test("child: its timeout fails the step, which can be handled; retry runs it again", async () => {
  const files = { "c.yml": "timeout: 1\nsteps: [{run: [sleep, '30']}]" };
  const failed = await main({ ...files, "main.yml": "steps: [{workflow: c.yml}]" });
  assert.equal(failed.code, 5);
  assert.match(failed.stderr, /step 'step-1 \(workflow\)': workflow timed out after 1s \('timeout'\)/);
  const handled = await main({ ...files, "main.yml": "steps: [{workflow: c.yml, on_error: [{jq: '\"late\"'}]}]" });
  assert.deepEqual([handled.code, handled.stdout], [0, "late\n"]);
});

Deno.test("child: default merges field by field, the child's first; models as well", async () => {
  const config = JSON.stringify({
    models: Object.fromEntries(["a", "b"].map((m) => [m, [{ provider: { script: `${m}.json` } }]])),
  });
  const { stdout, stderr, code } = await main({
    "lait.config.yml": config,
    "a.json": '["from a"]',
    "b.json": '["from b"]',
    "main.yml": "default: {model: a, retry: {max_attempts: 3}, timeout: 7}\nsteps: [{workflow: c.yml}]",
    "c.yml": "default: {timeout: 9}\nsteps: [{prompt: hi}]",
  });
  assert.deepEqual([code, stdout], [0, "from a\n"], stderr);
  const own = await main({
    "lait.config.yml": config,
    "b.json": '["from b"]',
    "main.yml": "default: {model: a}\nsteps: [{workflow: c.yml}]",
    "c.yml": "default: {model: b}\nsteps: [{prompt: hi}]",
  });
  assert.equal(own.stdout, "from b\n", own.stderr);
});
