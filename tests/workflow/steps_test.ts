import assert from "node:assert/strict";
import { isRunning } from "../_support/process.ts";
import { uniqueSeconds } from "../cli/_lait.ts";
import { failure, Flow, result, run } from "./_flow.ts";

Deno.test("workflow 12: an expression has exactly one value, and a generator is not followed", async () => {
  const two = await failure(1, "input_schema: {}\nsteps: [{jq: '.[]'}]", ["[1,2]"]);
  assert.match(two, /step 'step-1 \(jq\)': 'jq': .*produced 2 outputs.*wrap it in \[\.\.\.\].*w\.yml:2:/);
  assert.match(await failure(1, "steps: [{jq: 'range(0; 1000000000)'}]"), /produced 2 outputs/);
  assert.match(await failure(1, "steps: [{jq: empty}]"), /no output/);
  assert.match(await failure(1, "steps: [{when: empty, jq: .}]"), /'when': .*no output/);
  assert.match(await failure(1, "steps: [{jq: 'error(\"my words\")'}]"), /my words/);
});

Deno.test("workflow 14: templates print the text form, and fail for what is not there", async () => {
  const echo = (template: string) => `input_schema: {}\nsteps: [{run: [printf, '%s', '${template}']}]`;
  assert.equal(await result(echo("{{ input }}"), ['{"b":2,"a":1}']), '{"b":2,"a":1}');
  assert.equal(await result(echo("{{ json input }}"), ["a"]), '"a"');
  assert.equal(await result(echo("{{ input }}|{{ text input }}"), ["null"]), "null|null");
  assert.equal(await result(echo("{{ input.items.[0] }}"), ['{"items":["<&>"]}']), "<&>");
  for (const template of ["{{ input.nope }}", "{{ json input.nope }}", "{{ vars.x }}", "{{ loop.index }}"]) {
    assert.match(await failure(1, echo(template), ["{}"]), /w\.yml:2:/, template);
  }
  const ids = "steps: [{id: my-id, jq: length}, {run: [echo, '{{ steps.my-id }} {{ inputs }}']}]";
  assert.equal(await result(ids, ["abc"]), "3 {}");
});

Deno.test("workflow 15: a step whose condition does not hold is passed, and records nothing", async () => {
  const { stdout, stderr } = await run("steps: [{id: a, when: '. == 1', jq: '2'}, {jq: '[., $steps]'}]", ["x"]);
  assert.equal(stdout, '["x",{}]\n');
  assert.equal(stderr, "[1] a (skipped)\n[2] step-2 (jq)\n");
  for (const truth of ["0", '"\\"\\""', "'[]'"]) {
    assert.equal(await result(`steps: [{when: ${truth === "0" ? "'0'" : truth}, jq: '1'}]`, ["x"]), "1", truth);
  }
  for (const falsehood of ["'false'", "'null'"]) {
    assert.equal(await result(`steps: [{when: ${falsehood}, jq: '1'}]`, ["x"]), "x");
  }
});

Deno.test("workflow 16: a condition that fails fails the run; neither on_error nor retry is for it", async () => {
  const text =
    "steps: [{when: 'error(\"bad condition\")', jq: ., retry: {max_attempts: 3}, on_error: [{jq: '1'}]}, {jq: .}]";
  const stderr = await failure(1, text);
  assert.match(stderr, /step 'step-1 \(jq\)': 'when': bad condition/);
  assert.doesNotMatch(stderr, /on_error|attempt/);
});

Deno.test("workflow 17: a program gets the text form of the input; one line ending is taken off", async () => {
  assert.equal(await result("steps: [{run: [tr, a-z, A-Z]}]", ["hi"]), "HI");
  const raw = async (format: string) =>
    JSON.parse(await result(`steps: [{run: [printf, '${format}']}, {jq: tojson}]`, ["x"]));
  assert.equal(await raw("a\\r\\n\\r\\n"), "a\r\n");
  assert.equal(await raw("a\\n\\n"), "a\n");
  assert.equal(await raw("a\\r"), "a");
  assert.equal(await result("input_schema: {}\nsteps: [{run: [cat]}]", ['{"b": [1, null]}']), '{"b":[1,null]}');
  // One that does not read is fine, however much there is.
  assert.equal(await result("steps: [{jq: '\"x\" * 2000000'}, {run: [echo, done]}]", ["x"]), "done");
  // Output stays a text.
  assert.equal(await result("steps: [{run: [echo, '42']}, {jq: type}]", ["x"]), "string");
  assert.equal(await result("steps: [{run: [echo, '42'], output: tonumber}, {jq: '. + 1'}]", ["x"]), "43");
});

Deno.test("run: arguments are one each, without a shell", async () => {
  const text = "steps: [{run: [printf, '<%s>', '{{ input }}', '$HOME', '*']}]";
  assert.equal(await result(text, ["a b; c"]), "<a b; c><$HOME><*>");
});

Deno.test("workflow 18: a program that fails is told with what it said, and can be caught", async () => {
  const step = 'run: [sh, -c, "echo boom >&2; exit 3"]';
  assert.match(
    await failure(1, `steps: [{${step}}]`),
    /step 'step-1 \(run\)': command 'sh' failed with exit status 3: boom/,
  );
  assert.match(await result(`steps: [{${step}, on_error: [{jq: .error}]}]`, ["x"]), /boom/);
  assert.match(
    await failure(1, "steps: [{run: [no-such-program-here]}]"),
    /failed to run command 'no-such-program-here'/,
  );
  assert.match(await failure(1, "steps: [{run: [printf, '\\377']}]"), /not UTF-8/);
});

Deno.test("[D8] workflow 19: a timeout ends the whole tree (5)", async () => {
  const mark = uniqueSeconds();
  const started = performance.now();
  const stderr = await failure(5, `steps: [{run: [sh, -c, 'sleep ${mark} & sleep ${mark} & wait'], timeout: 1}]`);
  assert(performance.now() - started < 4_000);
  assert.match(stderr, /step 'step-1 \(run\)' timed out after 1s \(attempt 1\/1\)/);
  assert(!isRunning(`sleep ${mark}`));
});

Deno.test("[D9] run: a program in the background that holds the output does not hang the step", async () => {
  const mark = uniqueSeconds();
  assert.equal(await result(`steps: [{run: [sh, -c, 'sleep ${mark} & echo here'], timeout: 20}]`, ["x"]), "here");
});

Deno.test("run: a program that floods its output is ended", async () => {
  assert.match(await failure(1, "steps: [{run: [yes]}]"), /16777216 bytes/);
  assert.match(await failure(1, "steps: [{run: [sh, -c, 'yes >&2']}]"), /16777216 bytes to stderr/);
});

Deno.test("seed 000, [D7], workflow 41: env is a complete allow-list, cwd takes variables; one that is not set is named", async () => {
  await using flow = await Flow.create({ "sub/here.txt": "" });
  const env = { FOO_SRC: "x", DIR: flow.path("sub") };
  const only = await flow.runText('steps: [{run: ["/usr/bin/env"], env: {FOO: "${FOO_SRC}"}}]', ["x"], { env });
  assert.equal(only.stdout, "FOO=x\n");
  const there = await flow.runText('steps: [{run: [ls], cwd: "${DIR}"}]', ["x"], { env });
  assert.equal(there.stdout, "here.txt\n");
  for (const text of ['{run: [ls], cwd: "${NOT_SET_X}"}', '{run: ["/bin/ls"], env: {A: "${NOT_SET_X}"}}']) {
    const { code, stderr } = await flow.runText(`steps: [${text}]`, ["x"], { env });
    assert.equal(code, 1);
    assert.match(stderr, /step 'step-1 \(run\)': (cwd|env\.A): .*NOT_SET_X/);
  }
  // In no other field is anything put in.
  assert.equal((await flow.runText("steps: [{run: [echo, '${FOO_SRC}']}]", ["x"], { env })).stdout, "${FOO_SRC}\n");
});

Deno.test("[D6] run: without PATH in env a bare name is not found, and the error says so", async () => {
  assert.match(await failure(1, "steps: [{run: [env], env: {A: b}}]"), /failed to run command 'env'.*PATH/);
});

Deno.test("workflow 20: write puts the text form there and passes the input on", async () => {
  await using flow = await Flow.create();
  const text = "steps: [{write: out.txt}]";
  assert.equal((await flow.runText(text, ["before and longer"])).stdout, "before and longer\n");
  await Deno.chmod(flow.path("out.txt"), 0o640);
  await Deno.link(flow.path("out.txt"), flow.path("hard.txt"));
  await Deno.symlink("out.txt", flow.path("soft.txt"));
  assert.equal((await flow.runText("steps: [{write: soft.txt}]", ["after"])).stdout, "after\n");
  assert.deepEqual([await flow.read("out.txt"), await flow.read("hard.txt")], ["after", "after"]);
  assert.equal((await Deno.stat(flow.path("out.txt"))).mode! & 0o777, 0o640);
  assert((await Deno.lstat(flow.path("soft.txt"))).isSymlink);
  const missing = await flow.runText("steps: [{write: no/out.txt}]", ["x"]);
  assert.match(missing.stderr, /failed to write output to 'no\/out\.txt'/);
  assert.equal(
    (await flow.runText("steps: [{jq: '{a: [1]}'}, {write: '{{ input.a.[0] }}.json'}]", ["x"])).stdout,
    '{"a":[1]}\n',
  );
  assert.equal(await flow.read("1.json"), '{"a":[1]}');
});

Deno.test("write: several at once to one path come one after the other", async () => {
  await using flow = await Flow.create();
  const text = `steps:
  - jq: '[range(20)] | map("\\(.)" * 20000)'
  - parallel: {${Array.from({ length: 8 }, (_, i) => `b${i}: [{jq: '.[${i}]'}, {write: one.txt}]`).join(", ")}}
  - jq: length`;
  assert.equal((await flow.runText(text, ["x"])).code, 0);
  assert.equal(new Set(await flow.read("one.txt")).size, 1);
});

Deno.test("write: a pipe that nobody reads does not outlast a timeout", async () => {
  await using flow = await Flow.create();
  await new Deno.Command("mkfifo", { args: [flow.path("pipe")] }).output();
  const { code, stderr } = await flow.runText("steps: [{write: pipe, timeout: 1, on_error: [{jq: '\"late\"'}]}]", [
    "x",
  ]);
  assert.equal(code, 0);
  assert.match(stderr, /timed out after 1s/);
  // The open that nobody answered is let go of.
  await Deno.readTextFile(flow.path("pipe"));
});

Deno.test("workflow 21: without a terminal ask takes its default, or fails", async () => {
  assert.equal(await result('steps: [{ask: "go on?", default: "yes"}]', ["x"]), "yes");
  const stderr = await failure(1, 'steps: [{ask: "go on?"}]');
  assert.match(stderr, /step 'step-1 \(ask\)': .*not an interactive terminal.*`default`/);
  assert.doesNotMatch(stderr, /go on/);
  assert.equal(await result('steps: [{ask: "which?", choices: [a, b], default: b}]', ["x"]), "b");
});

Deno.test("workflow 32: default.retry is for steps with a model, not for others", async () => {
  const text = "default: {model: m, retry: {max_attempts: 2}}\nsteps: [{STEP}]";
  await using flow = await Flow.create({
    "lait.config.yml": "models: {m: [{provider: {script: s.json}}]}",
    "s.json": JSON.stringify([{ status: 400, text: "no" }, "yes"]),
  });
  const prompt = await flow.runText(text.replace("STEP", "prompt: hi"), ["x"]);
  assert.deepEqual([prompt.code, prompt.stdout], [0, "yes\n"]);
  assert.match(prompt.stderr, / {4}-> attempt 1\/2 failed: .*; retrying in 0\.0s\n/);
  const program = await flow.runText(text.replace("STEP", 'run: ["false"]'), ["x"]);
  assert.equal(program.code, 1);
  assert.doesNotMatch(program.stderr, /attempt/);
});
