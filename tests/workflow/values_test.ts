import assert from "node:assert/strict";
import { Flow, flow } from "./_flow.ts";

/** The result of a workflow on an input; it must succeed. */
async function result(text: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await flow(text, ...args);
  assert.equal(code, 0, stderr);
  return stdout.replace(/\n$/, "");
}

/** What a workflow says on standard error; it must fail. */
async function failure(text: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await flow(text, ...args);
  assert.notEqual(code, 0, stdout);
  assert.equal(stdout, "");
  return stderr;
}

Deno.test("workflow values: a prompt is a text, unless input_schema says what it is", async () => {
  assert.equal(await result("steps: [{jq: type}]", "42"), "string");
  const schema = "input_schema: {type: integer}\nsteps: [{jq: '. + 1'}]";
  assert.equal(await result(schema, "41"), "42");
  assert.match(await failure(schema, "abc"), /must be JSON/);
  assert.match(await failure(schema, '"x"'), /input must be of type integer/);
  assert.equal(await result("input_schema: {type: string}\nsteps: [{jq: type}]", "42"), "string");
  assert.equal(await result("input_schema: {enum: [1, a]}\nsteps: [{jq: type}]", "1"), "number");
  assert.equal(await result("input_schema: {enum: [1, a]}\nsteps: [{jq: type}]", "a"), "string");
});

Deno.test("workflow inputs: typed by their schema, with defaults, the last of a key counts", async () => {
  const text = `
inputs: { id: string, xs: { type: array }, n: { type: integer, default: 10 } }
steps: [{ jq: '[$inputs.id, ($inputs.xs|length), $inputs.n]' }]`;
  assert.equal(await result(text, "--input", "id=0012", "--input", 'xs=["a"]'), '["0012",1,10]');
  const lang = "inputs: { lang: string }\nsteps: [{ jq: $inputs.lang }]";
  assert.equal(await result(lang, "--input", "lang=en", "--input", "lang=ja=x"), "ja=x");
  assert.equal(await result("inputs: {a: }\nsteps: [{jq: '[., $inputs.a]'}]", "--input", "a=[1]"), "[null,[1]]");
});

Deno.test("workflow inputs: what is missing, unknown or does not fit is told", async () => {
  const described = "inputs: { lang: { type: string, description: the language } }\nsteps: [{ jq: . }]";
  assert.match(await failure(described), /missing required input 'lang' \(the language\)/);
  assert.match(
    await failure(described, "--input", "lnag=x"),
    /unknown input 'lnag'; declared: lang; did you mean `lang`\?/,
  );
  assert.match(await failure("steps: [{ jq: . }]", "p", "--input", "a=1"), /declares no 'inputs:'/);
  assert.match(await failure(described, "--input", "lang"), /--input 'lang' must be KEY=VALUE/);
  const number = "inputs: { n: { type: integer } }\nsteps: [{ jq: . }]";
  assert.match(await failure(number, "--input", "n=x"), /inputs\.n must be of type integer/);
  assert.match(
    await failure("inputs: { n: { type: integer, default: x } }\nsteps: [{ jq: . }]"),
    /inputs\.n\.default must be of type integer/,
  );
});

Deno.test("workflow values: a prompt is required unless there are inputs", async () => {
  assert.match(await failure("steps: [{ jq: . }]"), /a PROMPT is required/);
  assert.equal(await result("inputs: { a: { type: string, default: x } }\nsteps: [{ jq: . }]"), "null");
  assert.equal(await result("steps: [{ jq: . }]", ""), "");
  await using made = await Flow.make("steps: [{ jq: . }]");
  assert.equal((await made.lait(["run", "flow.yml", "one"], { stdin: "two\n" })).stdout, "one\n\ntwo\n");
  assert.equal((await made.lait(["run", "flow.yml", "-"], { stdin: "two\n" })).stdout, "two\n");
});

Deno.test("workflow jq: one value, no more and no less; unknown names are null or faults", async () => {
  const array = (jq: string) => `input_schema: { type: array }\nsteps: [{ jq: '${jq}' }]`;
  assert.match(await failure(array(".[]"), "[1,2]"), /produced 2 outputs/);
  assert.match(await failure(array("range(0; 1000000000)"), "[]"), /produced 2 outputs/);
  assert.match(await failure(array("empty"), "[]"), /no output/);
  assert.match(await failure(array('error("own")'), "[]"), /step 'step-1 \(jq\)': 'jq': own \(flow\.yml:2:/);
  assert.equal(await result(array("$steps.nope"), "[]"), "null");
  assert.match(await failure(array("$vars.x"), "[]"), /\$vars is not defined/);
});

Deno.test("workflow templates: text forms, JSON, and nothing missing", async () => {
  const render = (template: string) =>
    `input_schema: {}\nsteps: [{ run: [printf, '%s', ${JSON.stringify(template)}] }]`;
  assert.equal(await result(render("{{ input }}"), '{"b":2,"a":1}'), '{"b":2,"a":1}');
  assert.equal(await result(render("{{ json input }}"), "a"), '"a"');
  assert.match(await failure(render("{{ input.nope }}"), "{}"), /input\.nope/);
  const ids = "steps: [{ id: my-id, jq: '{a: [1, 2]}' }, { run: [printf, '{{ steps.my-id.a.[1] }}'] }]";
  assert.equal(await result(ids, "x"), "2");
  assert.match(await failure("steps: [{ run: [echo, '{{ vars.x }}'] }]", "x"), /vars/);
});

Deno.test("workflow output: shapes the result, also behind a stop", async () => {
  const text = `
output: '{last: ., first: $steps.a}'
steps: [{ id: a, jq: '"A"' }, { when: '. == "A"', stop: true }, { jq: '"B"' }]`;
  assert.equal(await result(text, "x"), '{"last":"A","first":"A"}');
  assert.match(await failure("output: 'error(\"no\")'\nsteps: [{jq: .}]", "x"), /'output' of the workflow: no/);
});

Deno.test("workflow when: what is skipped passes its value on and records nothing", async () => {
  const skipped = await flow("steps: [{ id: a, when: 'false', jq: '1' }, { jq: '[., $steps.a]' }]", "x");
  assert.equal(skipped.stdout, '["x",null]\n');
  assert.match(skipped.stderr, /\[1\] a \(skipped\)/);
  assert.equal(await result("steps: [{ when: '0', jq: '1' }]", "x"), "1");
  const failing = "steps: [{ when: 'error(\"x\")', jq: ., on_error: [{ jq: '1' }] }]";
  const stderr = await failure(failing, "x");
  assert.match(stderr, /'when': x/);
  assert.doesNotMatch(stderr, /on_error/);
});

Deno.test("workflow: progress is told as it happens", async () => {
  const text = `
name: demo
description: shows progress
steps:
  - id: seed
    jq: .
  - id: skip-me
    when: 'false'
    jq: .
  - parallel: { left: [{ jq: . }], right: [{ jq: . }] }
  - switch: [{ when: 'false', steps: [{ jq: . }] }]
    else: [{ jq: '1' }]
  - for_each: '[1, 2]'
    steps: [{ jq: . }]
  - until: 'true'
    max_iterations: 3
    steps: [{ jq: . }]`;
  const { stderr } = await flow(text, "x");
  assert.deepEqual(stderr.split("\n"), [
    "==> demo: shows progress",
    "[1] seed",
    "[2] skip-me (skipped)",
    "[3] step-3 (parallel)",
    "    -> running 2 branches concurrently",
    "[left] [1] step-1 (jq)",
    "[right] [1] step-1 (jq)",
    "    -> branches joined",
    "[4] step-4 (switch)",
    "    -> no case matched, running 'else'",
    "[5] step-5 (jq)",
    "[6] step-6 (for_each)",
    "    -> iterating over 2 item(s)",
    "    -> item 1/2",
    "[7] step-7 (jq)",
    "    -> item 2/2",
    "[8] step-8 (jq)",
    "[9] step-9 (until)",
    "    -> iteration 1/3",
    "[10] step-10 (jq)",
    "",
  ]);
});
