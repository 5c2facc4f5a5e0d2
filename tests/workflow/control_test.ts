import assert from "node:assert/strict";
import { Flow, flow } from "./_flow.ts";

async function result(text: string, input = "x", ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await flow(`input_schema: {}\n${text}`, input, ...args);
  assert.equal(code, 0, stderr);
  return stdout.replace(/\n$/, "");
}

async function failure(text: string, input = "x"): Promise<string> {
  const { code, stderr } = await flow(`input_schema: {}\n${text}`, input);
  assert.notEqual(code, 0);
  return stderr;
}

Deno.test("workflow run: programs get the input, give their output without one line ending", async () => {
  assert.equal(await result("steps: [{ run: [tr, a-z, A-Z] }]", "hi"), "HI");
  assert.equal(await result("steps: [{ run: [printf, 'a\\r\\n\\r\\n'], output: 'tojson' }]"), '"a\\r\\n"');
  assert.match(await failure("steps: [{ run: [lait-no-such] }]"), /failed to run command 'lait-no-such'/);
  assert.match(await failure("steps: [{ run: [sh, -c, \"printf '\\\\377'\"] }]"), /is not UTF-8/);
  const failing = "run: [sh, -c, 'echo boom >&2; exit 3']";
  assert.match(await failure(`steps: [{ ${failing} }]`), /command 'sh' failed with exit status 3: boom/);
  assert.match(await result(`steps: [{ ${failing}, on_error: [{ jq: .error }] }]`), /boom/);
});

Deno.test("workflow run: env is all there is, cwd is where it runs, and both take variables", async () => {
  await using made = await Flow.make("steps: [{ run: [/usr/bin/env], env: { FOO: '${FOO_SRC}' } }]", {
    "sub/x": "",
    "cwd.yml": "steps: [{ run: [pwd], cwd: '${DIR}' }]",
  });
  const env = { FOO_SRC: "x", DIR: "sub" };
  assert.equal((await made.lait(["run", "flow.yml", "p"], { env })).stdout, "FOO=x\n");
  assert.match((await made.lait(["run", "cwd.yml", "p"], { env })).stdout, /\/sub\n$/);
  assert.match((await made.run("p")).stderr, /env\.FOO: .*FOO_SRC/);
});

Deno.test("workflow timeout: a step that takes too long is ended with all that it runs", async () => {
  const { code, stderr } = await flow("steps: [{ run: [sh, -c, 'sleep 30 & wait'], timeout: 1 }]", "x");
  assert.equal(code, 5);
  assert.match(stderr, /step 'step-1 \(run\)' timed out after 1s \(attempt 1\/1\)/);
  assert.equal(
    await result("steps: [{ run: [sleep, '30'], timeout: 1, on_error: [{ jq: '.error | test(\"timed out\")' }] }]"),
    "true",
  );
  const inner =
    "steps: [{ group: [{ run: [sleep, '30'], on_error: [{ jq: '1' }] }], timeout: 1, on_error: [{ jq: '2' }] }]";
  assert.equal(await result(inner), "2");
});

Deno.test("workflow timeout: that of the file ends the run, and nothing catches it", async () => {
  const { code, stderr } = await flow("timeout: 1\nsteps: [{ run: [sleep, '30'], on_error: [{ jq: '1' }] }]", "x");
  assert.equal(code, 5);
  assert.match(stderr, /timed out after 1s \('timeout'\)|'timeout' \(1s\)/);
});

Deno.test("workflow write: the file itself, with its mode; what cannot be written is told", async () => {
  await using made = await Flow.make("steps: [{ write: out.txt }]", { "out.txt": "before and longer" });
  await Deno.chmod(`${made.directory}/out.txt`, 0o640);
  const { ino } = await Deno.stat(`${made.directory}/out.txt`);
  assert.equal((await made.run("after")).stdout, "after\n");
  const info = await Deno.stat(`${made.directory}/out.txt`);
  assert.deepEqual([await made.read("out.txt"), info.ino, info.mode! & 0o777], ["after", ino, 0o640]);
  await made.write("flow.yml", "steps: [{ write: no/out.txt }]");
  assert.match((await made.run("x")).stderr, /failed to write output to 'no\/out\.txt'/);
});

Deno.test("workflow ask: without a terminal the default answers", async () => {
  assert.equal(await result("steps: [{ ask: 'go on?', default: 'yes' }]"), "yes");
  assert.match(await failure("steps: [{ ask: 'go on?' }]"), /not an interactive terminal/);
});

Deno.test("workflow switch: the first case that holds", async () => {
  const text =
    "steps: [{ switch: [{ when: '. > 5', steps: [{ jq: '\"big\"' }] }, { when: '. > 1', steps: [{ id: a, jq: '\"some\"' }] }] }, { jq: '[., $steps.a]' }]";
  assert.equal(await result(text, "9"), '["big",null]');
  assert.equal(await result(text, "3"), '["some","some"]');
  assert.match(await failure(text, "0"), /no case matched/);
});

Deno.test("workflow parallel: keys in order, records gone, the first failure counts", async () => {
  const text =
    "steps: [{ parallel: { zeta: [{ id: z, jq: '1' }], alpha: [{ run: [cat] }] } }, { jq: '[., $steps.z]' }]";
  assert.equal(await result(text, '"v"'), '[{"zeta":1,"alpha":"v"},null]');
  const failing = "steps: [{ parallel: { slow: [{ run: [sleep, '30'] }], bad: [{ jq: 'error(\"bad\")' }] } }]";
  assert.match(await failure(failing), /step 'step-1 \(jq\)': 'jq': bad/);
});

Deno.test("workflow for_each: in order, one by one or several at once", async () => {
  const text = (more: string) => `steps: [{ for_each: .items, ${more} steps: [{ jq: '. * 10' }] }]`;
  for (const more of ["", "max_concurrency: 3,"]) {
    assert.equal(await result(text(more), '{"items":[1,2,3]}'), "[10,20,30]");
    assert.equal(await result(text(more), '{"items":[]}'), "[]");
    assert.match(await failure(text(more), '{"items":{}}'), /must produce a JSON array \(got object\)/);
  }
  const loop =
    "steps: [{ for_each: '[\"a\", \"b\"]', steps: [{ run: [printf, '{{ loop.index }}{{ loop.item }}{{ input }}'] }] }]";
  assert.equal(await result(loop), '["0aa","1bb"]');
  const failing =
    "steps: [{ for_each: '[3, 1, 2]', max_concurrency: 3, steps: [{ run: [sh, -c, 'sleep 0.{{ input }}; exit {{ input }}'] }] }]";
  assert.match(await failure(failing), /exit status 3/);
});

Deno.test("workflow break, stop: what passes through is not shaped on its way", async () => {
  const broken =
    "steps: [{ for_each: '[1, 2, 3]', steps: [{ when: '. == 2', break: true }], output: 'map(. * 2)' }, { jq: . }]";
  assert.equal(await result(broken), "[2,4]");
  const stopped = `
steps:
  - for_each: '[1, 2, 3]'
    output: 'error("no")'
    steps: [{ jq: '. + 10' }, { id: e, group: [{ when: '. == 12', stop: true }], output: 'if . == 12 then error("no") else . end' }]
  - jq: 'error("not reached")'`;
  assert.equal(await result(stopped), "12");
  const loop = "steps: [{ until: 'false', max_iterations: 2, output: '. + 1', steps: [{ break: true, output: '5' }] }]";
  assert.equal(await result(loop), "6");
  const recorded = "output: $steps.e\nsteps: [{ id: e, group: [{ stop: true, output: '7' }], output: '8' }]";
  assert.equal(await result(recorded), "7");
});

Deno.test("workflow while, until: when they ask, and what ends them", async () => {
  assert.match(
    await failure("steps: [{ while: 'true', max_iterations: 3, steps: [{ jq: . }] }]"),
    /max_iterations \(3\)/,
  );
  assert.equal(
    await result("steps: [{ while: '.n < 0', max_iterations: 3, steps: [{ jq: '1' }] }]", '{"n":5}'),
    '{"n":5}',
  );
  assert.equal(await result("steps: [{ while: '. < 3', max_iterations: 3, steps: [{ jq: '. + 1' }] }]", "0"), "3");
  assert.equal(await result("steps: [{ until: '. > 0', max_iterations: 3, steps: [{ jq: '. + 1' }] }]", "5"), "6");
  assert.match(
    await failure("steps: [{ until: 'false', max_iterations: 1, steps: [{ run: [echo, '{{ loop.item }}'] }] }]"),
    /loop\.item/,
  );
});

Deno.test("workflow retry: an attempt starts from what flowed in; on_error gets that too", async () => {
  await using made = await Flow.make(`
input_schema: {}
steps:
  - id: outer
    input: '. + 1'
    retry: { max_attempts: 2 }
    group:
      - id: inside
        jq: '. * 2'
      - run: [sh, -c, 'if [ -e tried ]; then cat; else touch tried; exit 1; fi']
        output: tonumber
    output: '[., $steps.inside]'`);
  const { stdout, stderr } = await made.run("1");
  assert.equal(stdout, "[4,4]\n");
  assert.match(stderr, / {4}-> attempt 1\/2 failed: step 'step-3 \(run\)'.*; retrying in 0\.0s/);
  const handled =
    "steps: [{ input: '{x: .}', jq: 'error(\"e\")', output: 'error(\"no\")', on_error: [{ jq: '[.input, (.error | test(\"e\"))]' }] }]";
  assert.equal(await result(handled, '"v"'), '["v",true]');
  assert.match(await failure("steps: [{ jq: 'error(\"a\")', on_error: [{ jq: 'error(\"b\")' }] }]"), /: b \(/);
});

Deno.test("workflow children: inputs, schema, output, and what they do not see", async () => {
  await using made = await Flow.make(
    "input_schema: {}\nsteps: [{ id: a, jq: . }, { workflow: ./child.yml, with: '{sep: \"-\"}', on_error: [{ jq: .error }] }]",
    {
      "child.yml": `
inputs: { sep: string }
input_schema: { type: array }
output: 'join($inputs.sep)'
steps: [{ jq: 'if $steps == {} then map(ascii_upcase) else error("seen") end' }]`,
    },
  );
  assert.equal((await made.run('["a","b"]')).stdout, "A-B\n");
  assert.match((await made.run("x")).stdout, /input must be of type array/);
  await made.write("flow.yml", "steps: [{ workflow: ./child.yml }]");
  assert.match((await made.run("x")).stderr, /step 'step-1 \(workflow\)': missing required input 'sep'/);
  await made.write("flow.yml", "steps: [{ workflow: nope }]");
  assert.match((await made.run("x")).stderr, /unknown workflow 'nope'.*\.\/nope\.yml/);
});

Deno.test("workflow children: cycles, what may not stand where they are called, and their own end", async () => {
  await using made = await Flow.make("steps: [{ workflow: ./b.yml }]", {
    "b.yml": "steps: [{ workflow: ./flow.yml }]",
    "ask.yml": "steps: [{ run: [touch, ran] }, { group: [{ ask: '?', default: a }] }]",
    "grand.yml": "steps: [{ workflow: ./ask.yml }]",
    "stop.yml": "steps: [{ stop: true, output: '\"stopped\"' }, { jq: '1' }]",
    "write.yml": "steps: [{ write: fixed.txt }]",
  });
  assert.match((await made.run("x")).stderr, /would create a cycle/);
  for (const child of ["ask", "grand"]) {
    await made.write("flow.yml", `steps: [{ parallel: { a: [{ workflow: ./${child}.yml }] } }]`);
    assert.match((await made.run("x")).stderr, /`ask` cannot stand in a `parallel` branch/);
  }
  assert.equal(await Deno.stat(`${made.directory}/ran`).then(() => true, () => false), false);
  await made.write(
    "flow.yml",
    "steps: [{ parallel: { a: [{ workflow: ./stop.yml }, { jq: '[.]' }], b: [{ workflow: ./write.yml }] } }]",
  );
  assert.equal((await made.run("x")).stdout, '{"a":["stopped"],"b":"x"}\n');
  await made.write("flow.yml", "steps: [{ for_each: '[1]', max_concurrency: 2, steps: [{ workflow: ./write.yml }] }]");
  assert.match((await made.run("x")).stderr, /fixed path/);
});
