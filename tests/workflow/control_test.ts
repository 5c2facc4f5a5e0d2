import assert from "node:assert/strict";
import { failure, Flow, result, run } from "./_flow.ts";

const json = (steps: string) => `input_schema: {}\nsteps: [${steps}]`;

Deno.test("workflow 22: switch takes the first case that holds, else its else, else it fails", async () => {
  const text = (rest: string) =>
    json(`{switch: [{when: '. > 10', steps: [{jq: '"big"'}]}, {when: '. > 1', steps: [{jq: '"some"'}]}]${rest}}`);
  assert.equal(await result(text(""), ["20"]), "big");
  assert.equal(await result(text(""), ["2"]), "some");
  assert.match(await failure(1, text(""), ["0"]), /step 'step-1 \(switch\)': no case matched/);
  const { stdout, stderr } = await run(text(", else: [{jq: '\"none\"'}]"), ["0"]);
  assert.equal(stdout, "none\n");
  assert.match(stderr, /^\[1\] step-1 \(switch\)\n {4}-> no case matched, running 'else'\n\[2\] step-2 \(jq\)\n$/);
  assert.match((await run(text(""), ["2"])).stderr, / {4}-> case 2 matched\n/);
});

Deno.test("workflow 23: parallel joins an object in the order of the file; ids recorded inside are gone", async () => {
  const text = `steps:
  - id: before
    jq: '"b"'
  - parallel:
      zeta: [{run: [sleep, "0.2"]}, {id: in, jq: '1'}, {jq: '[$steps.before, $steps.in]'}]
      alpha: [{jq: '2'}]
  - jq: '[., $steps.in, $steps.before]'`;
  assert.equal(await result(text, ["x"]), '[{"zeta":["b",1],"alpha":2},null,"b"]');
});

Deno.test("workflow 24: for_each keeps the order of the items, takes nothing but an array, and may be empty", async () => {
  const text = json(
    "{for_each: .items, max_concurrency: 3, steps: [{run: [sh, -c, 'sleep 0.$((4 - $(cat))); '], input: ., output: $loop.item}, {jq: '. * 10'}]}",
  );
  assert.equal(await result(text, ['{"items":[1,2,3]}']), "[10,20,30]");
  assert.equal(await result(text, ['{"items":[]}']), "[]");
  const wrong = await failure(1, json("{for_each: ., steps: [{jq: .}]}"), ['{"a":1}']);
  assert.match(wrong, /must produce a JSON array \(got object\)/);
  assert.match(await failure(1, json("{for_each: '.[]', steps: [{jq: .}]}"), ["[1,2]"]), /produced 2 outputs/);
});

Deno.test("for_each: one after the other the records go on and out; several at once they are copies", async () => {
  const body = "[{id: s, jq: '($steps.s // 0) + .'}]";
  const loop = (more: string) => json(`{for_each: .${more}, steps: ${body}}, {jq: '[., $steps.s]'}`);
  assert.equal(await result(loop(""), ["[1,2,3]"]), "[[1,3,6],6]");
  assert.equal(await result(loop(", max_concurrency: 2"), ["[1,2,3]"]), "[[1,2,3],null]");
});

Deno.test("for_each: the first failure in the order of the items is the one that is told", async () => {
  const text = json(
    "{for_each: ., max_concurrency: 2, steps: [{when: '. == 1', run: [sleep, '0.3'], output: '1'}, {jq: 'error(\"item \\(.)\")'}]}",
  );
  const stderr = await failure(1, text, ["[1,2,3,4]"]);
  assert.match(stderr, /lait: .*item 1\b/);
  assert.doesNotMatch(stderr, /\[item-[34]\]/);
});

Deno.test("workflow 25: break in for_each ends it with what was done", async () => {
  const body = "[{when: '. == 2', break: true}, {jq: .}]";
  assert.equal(await result(json(`{for_each: ., steps: ${body}}`), ["[1,2,3]"]), "[1,2]");
  // The loop's output is for what a break leaves, too; the break's own shapes its value.
  const shaped = "[{when: '. == 2', break: true, output: '\"end\"'}, {jq: .}]";
  assert.equal(
    await result(json(`{for_each: ., steps: ${shaped}, output: 'map(tostring)'}`), ["[1,2,3]"]),
    '["1","end"]',
  );
});

Deno.test("workflow 26: stop ends the file with its value; the outputs that it passes are not applied, the ids are recorded", async () => {
  const body = "[{jq: '. + 10'}, {when: '. == 12', stop: true}]";
  const text = `input_schema: {}
output: '[., $steps.loop, $steps.g]'
steps:
  - id: g
    group: [{id: loop, for_each: ., steps: ${body}, output: 'error("no")'}]
    output: 'error("no")'
  - jq: 'error("never")'`;
  assert.equal(await result(text, ["[1,2,3]"]), "[12,12,12]");
});

Deno.test("stop: from on_error, from a switch, from a loop", async () => {
  assert.equal(await result("steps: [{jq: error, on_error: [{jq: .input}, {stop: true}]}, {jq: '1'}]", ["x"]), "x");
  assert.equal(
    await result("steps: [{switch: [{when: 'true', steps: [{stop: true, output: '2'}]}]}, {jq: '1'}]", ["x"]),
    "2",
  );
  assert.equal(await result(json("{until: 'false', max_iterations: 9, steps: [{stop: true}]}, {jq: '1'}"), ["7"]), "7");
});

Deno.test("workflow 27: while and until have an end", async () => {
  assert.match(
    await failure(1, json("{while: 'true', max_iterations: 3, steps: [{jq: .}]}"), ["1"]),
    /'while' reached max_iterations \(3\)/,
  );
  assert.equal(
    await result(json("{while: '.n < 0', max_iterations: 3, steps: [{jq: error}]}"), ['{"n":5}']),
    '{"n":5}',
  );
  assert.equal(await result(json("{until: 'true', max_iterations: 3, steps: [{jq: '. + 1'}]}"), ["1"]), "2");
  // The condition is asked once more behind the last turn.
  assert.equal(await result(json("{while: '. < 3', max_iterations: 3, steps: [{jq: '. + 1'}]}"), ["0"]), "3");
  assert.match(
    await failure(1, json("{until: '. > 3', max_iterations: 3, steps: [{jq: '. + 1'}]}"), ["0"]),
    /'until' reached max_iterations/,
  );
});

Deno.test("loops: a break's value is the loop's, the condition is not asked, the output is applied", async () => {
  const text = json(
    "{until: 'error(\"asked\")', max_iterations: 1, steps: [{break: true, output: '. + 1'}], output: '[., $loop]'}",
  );
  assert.equal(await result(text, ["1"]), "[2,null]");
});

Deno.test("loops: $loop is the loop around the expression, not its own", async () => {
  const text = json(
    "{for_each: '[5]', steps: [{while: '$loop.item == 5 and . < 7', max_iterations: 5, steps: [{jq: '. + 1 + $loop.index'}], output: '[., $loop]'}]}",
  );
  assert.equal(await result(text, ["1"]), '[[8,{"index":0,"item":5}]]');
  // There is no item in while and until.
  const none = json("{until: 'true', max_iterations: 1, steps: [{run: [echo, '{{ loop.index }}']}]}");
  assert.equal(await result(none, ["1"]), "0");
  assert.match(await failure(1, none.replace("index", "item"), ["1"]), /loop\.item/);
});

Deno.test("group: its last step's value; its records go out", async () => {
  assert.equal(
    await result("steps: [{group: [{id: a, jq: '1'}, {when: 'false', jq: '2'}]}, {jq: '[., $steps.a]'}]", ["x"]),
    "[1,1]",
  );
  assert.equal(
    await result("steps: [{group: [{when: 'false', jq: '2'}], input: '\"i\"', output: '. + \"o\"'}]", ["x"]),
    "io",
  );
});

Deno.test("workflow 30: retry of a group begins again with the incoming value and without what failed", async () => {
  await using flow = await Flow.create();
  const text = `steps:
  - id: g
    retry: {max_attempts: 2}
    group:
      - id: before
        jq: '"\\(.)\\($steps.before // "")"'
      - run: [sh, -c, 'if [ -e once ]; then cat; else touch once; exit 1; fi']
  - jq: '[., $steps.before]'`;
  const { stdout, stderr } = await flow.runText(text, ["in"]);
  assert.equal(stdout, '["in","in"]\n');
  // The counter begins again, too.
  assert.equal(stderr.match(/\[2\] before/g)?.length, 2);
  assert.match(stderr, / {4}-> attempt 1\/2 failed: step 'step-3 \(run\)': .*status 1; retrying in 0\.0s\n/);
});

Deno.test("retry: the wait grows, and the last error is the one that counts", async () => {
  const { code, stderr } = await run(
    "steps: [{run: [sh, -c, 'echo no >&2; exit 1'], retry: {max_attempts: 3, delay_seconds: 1, backoff: 0}}]",
    ["x"],
  );
  assert.equal(code, 1);
  const waits = [...stderr.matchAll(/attempt (\d)\/3 failed: .*; retrying in (\S+)s/g)].map(([, n, s]) => `${n} ${s}`);
  assert.deepEqual(waits, ["1 1.0", "2 0.0"]);
  assert.match(stderr, /lait: step 'step-1 \(run\)': command 'sh' failed with exit status 1: no\n$/);
});

Deno.test("retry: an attempt's own timeout counts as a failure", async () => {
  await using flow = await Flow.create();
  const text =
    "steps: [{run: [sh, -c, '[ -e once ] && echo ok || { touch once; sleep 60; }'], timeout: 1, retry: {max_attempts: 2}}]";
  const { stdout, stderr } = await flow.runText(text, ["x"]);
  assert.equal(stdout, "ok\n");
  assert.match(stderr, /attempt 1\/2 failed: step 'step-1 \(run\)' timed out after 1s \(attempt 1\/2\); retrying/);
});

Deno.test("workflow 31: on_error gets the error and the incoming value; the step's output is not for its result", async () => {
  const text = `steps:
  - id: s
    input: '"other"'
    jq: 'error("cause")'
    output: 'error("never")'
    on_error: [{jq: '[.input, .error]'}]
  - jq: '[., $steps.s == .]'`;
  const [[input, error], recorded] = JSON.parse(await result(text, ["in"]));
  assert.deepEqual([input, recorded], ["in", true]);
  assert.match(error, /^step 's': 'jq': cause/);
});

Deno.test("on_error: it also catches a failing input or output, and its own failure is the one that is told", async () => {
  assert.equal(await result("steps: [{input: 'error(\"i\")', jq: ., on_error: [{jq: '1'}]}]", ["x"]), "1");
  assert.equal(await result("steps: [{jq: ., output: 'error(\"o\")', on_error: [{jq: '2'}]}]", ["x"]), "2");
  const stderr = await failure(1, "steps: [{jq: 'error(\"first\")', on_error: [{jq: 'error(\"second\")'}]}]");
  assert.match(stderr, / {4}-> step failed, running 'on_error': step 'step-1 \(jq\)': 'jq': first/);
  assert.match(stderr, /lait: step 'step-2 \(jq\)': 'jq': second/);
});

Deno.test("timeout: of a control step covers all within; who owns it handles it", async () => {
  const text =
    "steps: [{timeout: 1, group: [{run: [sleep, '30'], on_error: [{jq: '\"inner\"'}]}], on_error: [{jq: '\"outer\"'}]}]";
  assert.equal(await result(text, ["x"]), "outer");
  // A runaway expression is ended as well.
  const endless = "steps: [{timeout: 1, jq: 'reduce range(1e12) as $i (0; . + $i)'}]";
  assert.match(await failure(5, endless), /timed out after 1s/);
  assert.match(await failure(5, "steps: [{timeout: 1, jq: 'def f: f; f'}]"), /timed out after 1s/);
});

Deno.test("workflow 33: the file's timeout ends the run (5) and is named; on_error does not run", async () => {
  const started = performance.now();
  const stderr = await failure(5, 'timeout: 1\nsteps: [{run: [sleep, "10"], on_error: [{jq: \'"caught"\'}]}]');
  assert(performance.now() - started < 5_000);
  assert.match(stderr, /'timeout' \(1s\)/);
  assert.doesNotMatch(stderr, /on_error/);
});

Deno.test("the file's timeout also covers its final output", async () => {
  assert.match(await failure(5, "timeout: 1\noutput: 'def f: f; f'\nsteps: [{jq: .}]"), /'timeout' \(1s\)/);
});

Deno.test("parallel: the first failure ends the others, and is told", async () => {
  await using flow = await Flow.create();
  const text = "steps: [{parallel: {slow: [{run: [sh, -c, 'sleep 30; touch late']}], bad: [{jq: 'error(\"bad\")'}]}}]";
  const started = performance.now();
  const { code, stderr, stdout } = await flow.runText(text, ["x"]);
  assert(performance.now() - started < 5_000);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /lait: step 'step-1 \(jq\)': 'jq': bad/);
});

Deno.test("progress: numbers, prefixes and remarks", async () => {
  const { stderr } = await run(
    `name: demo
description: shows progress
steps:
  - id: seed
    jq: '[1,2]'
  - id: skip-me
    when: 'false'
    jq: .
  - parallel: {left: [{jq: .}], right: [{jq: .}]}
    output: '.left'
  - for_each: .
    steps: [{jq: .}]
  - for_each: .
    max_concurrency: 2
    steps: [{jq: .}]
  - until: 'true'
    max_iterations: 3
    steps: [{jq: .}]`,
    ["x"],
  );
  assert.deepEqual(stderr.trimEnd().split("\n"), [
    "==> demo: shows progress",
    "[1] seed",
    "[2] skip-me (skipped)",
    "[3] step-3 (parallel)",
    "    -> running 2 branches concurrently",
    "[left] [1] step-1 (jq)",
    "[right] [1] step-1 (jq)",
    "    -> branches joined",
    "[4] step-4 (for_each)",
    "    -> iterating over 2 item(s)",
    "    -> item 1/2",
    "[5] step-5 (jq)",
    "    -> item 2/2",
    "[6] step-6 (jq)",
    "[7] step-7 (for_each)",
    "    -> iterating over 2 item(s), up to 2 concurrently",
    "[item-1] [1] step-1 (jq)",
    "[item-2] [1] step-1 (jq)",
    "[8] step-8 (until)",
    "    -> iteration 1/3",
    "[9] step-9 (jq)",
  ]);
});
