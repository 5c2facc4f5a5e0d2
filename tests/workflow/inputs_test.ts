import assert from "node:assert/strict";
import { failure, Flow, result, run } from "./_flow.ts";

Deno.test("workflow 1: the prompt is the initial value, a text even when it looks like JSON", async () => {
  assert.equal(await result("steps: [{jq: type}]", ["42"]), "string");
});

Deno.test("workflow 2: with input_schema the prompt is JSON, and must be", async () => {
  const text = "input_schema: {type: integer}\nsteps: [{jq: '. + 1'}]";
  assert.equal(await result(text, ["41"]), "42");
  assert.match(await failure(1, text, ["abc"]), /must be JSON/);
  assert.match(await failure(1, text, ["4.5"]), /the initial input: input must be of type integer/);
});

Deno.test("input_schema: a text type keeps the text, several types take JSON or text", async () => {
  assert.equal(await result("input_schema: {type: string}\nsteps: [{jq: type}]", ["42"]), "string");
  assert.equal(await result("input_schema: {type: [string, number]}\nsteps: [{jq: type}]", ["42"]), "number");
  assert.equal(await result("input_schema: {minimum: 1}\nsteps: [{jq: type}]", ["a b"]), "string");
});

Deno.test("input_schema: a schema in a file is read beside the workflow when the run starts", async () => {
  await using flow = await Flow.create({
    "sub/w.yml": "input_schema: {file: s.json}\nsteps: [{jq: '.n'}]",
    "sub/s.json": '{"type": "object", "required": ["n"]}',
  });
  assert.equal((await flow.lait(["run", "sub/w.yml", '{"n": 1}'])).stdout, "1\n");
  assert.match(
    (await flow.lait(["run", "sub/w.yml", "{}"])).stderr,
    /the initial input: input is missing required field\(s\): n/,
  );
  await flow.write("sub/s.json", "{");
  assert.match((await flow.lait(["run", "sub/w.yml", "{}"])).stderr, /failed to parse JSON schema file '.*s\.json'/);
  await Deno.remove(flow.path("sub/s.json"));
  assert.match((await flow.lait(["run", "sub/w.yml", "{}"])).stderr, /failed to read JSON schema file '.*s\.json'/);
});

Deno.test("workflow 3: named inputs are converted by their schemas; with them no prompt is needed", async () => {
  const text = `
inputs: {id: string, xs: {type: array}, n: {type: integer, default: 10}}
steps: [{jq: '[$inputs.id, ($inputs.xs|length), $inputs.n]'}]`;
  assert.equal(await result(text, ["--input", "id=0012", "--input", 'xs=["a"]']), '["0012",1,10]');
});

Deno.test("inputs: a list of types is no text, so what reads as JSON is JSON", async () => {
  const text = "inputs: {a: {type: [string, number]}, b: null, c: {type: string, default: null}}";
  // A default is held against its own schema when the file is read.
  assert.match(await failure(1, `${text}\nsteps: [{jq: .}]`, []), /w\.yml:1:\d+: inputs\.c\.default must be of type/);
  const good = "inputs: {a: {type: [string, number]}, b: null}\nsteps: [{jq: '[$inputs.a, $inputs.b]'}]";
  assert.equal(await result(good, ["--input", "a=42", "--input", "b=x=y"]), '[42,"x=y"]');
});

Deno.test("workflow 4: of two values for one input the later one counts", async () => {
  const text = "inputs: {lang: string}\nsteps: [{jq: $inputs.lang}]";
  assert.equal(await result(text, ["--input", "lang=fr", "--input", "lang=ja"]), "ja");
});

Deno.test("workflow 5: a missing, an unknown, an undeclared and a malformed input are told", async () => {
  const text = "inputs: {lang: {type: string, description: the target language}}\nsteps: [{jq: .}]";
  assert.match(await failure(1, text, []), /missing required input 'lang' \(the target language\)/);
  assert.match(
    await failure(1, text, ["--input", "lnag=x"]),
    /unknown input 'lnag'; declared: lang; did you mean `lang`/,
  );
  assert.match(await failure(1, "steps: [{jq: .}]", ["x", "--input", "a=1"]), /declares no 'inputs:'/);
  assert.match(await failure(1, text, ["--input", "lang"]), /--input 'lang' must be KEY=VALUE/);
  assert.match(await failure(1, text, ["--input", "=x"]), /--input '=x'/);
});

Deno.test("inputs: every bound value is checked, in the order of the file", async () => {
  const text = "inputs: {a: integer, b: {type: string, enum: [x, y]}}\nsteps: [{jq: .}]";
  assert.match(await failure(1, text, ["--input", "b=z", "--input", "a=q"]), /inputs\.a must be of type integer/);
  assert.match(await failure(1, text, ["--input", "b=z", "--input", "a=1"]), /inputs\.b must be one of/);
});

Deno.test("workflow 6: without prompt and inputs there is nothing to run; with inputs the value is null", async () => {
  assert.match(await failure(1, "steps: [{jq: .}]", []), /PROMPT/);
  assert.equal(await result("inputs: {a: {default: 1}}\ninput_schema: {type: string}\nsteps: [{jq: type}]"), "null");
});

Deno.test("prompt: an empty one is one; what is piped in is added, or is all of it for -", async () => {
  assert.equal(await result("steps: [{jq: length}]", [""]), "0");
  assert.equal(await result("steps: [{jq: .}]", ["a"], { stdin: "b\n\n" }), "a\n\nb");
  assert.equal(await result("steps: [{jq: .}]", ["-"], { stdin: "b\n" }), "b");
  assert.equal(await result("steps: [{jq: .}]", [], { stdin: "only\n" }), "only");
  assert.equal(await result("steps: [{jq: .}]", ["a"], { stdin: " \n" }), "a");
});

Deno.test("[D21] output: the result's text form, its shape by `output`, or one JSON document", async () => {
  assert.equal(await result('output: "{a: .}"\nsteps: [{id: s, jq: length}]', ["abc"]), '{"a":3}');
  assert.equal(
    await result('output: "[$steps.s, $inputs, $loop]"\nsteps: [{id: s, jq: length}]', ["a"]),
    "[1,{},null]",
  );
  const { stdout } = await run("steps: [{jq: '{b: 1, a: [true, null]}'}]", ["x", "--json"]);
  assert.deepEqual(JSON.parse(stdout), { content: '{"b":1,"a":[true,null]}', reasoning: null, usage: null });
});

Deno.test("output: into a file, of which there is nothing when the run fails", async () => {
  await using flow = await Flow.create();
  const { stdout } = await flow.runText("steps: [{jq: .}]", ["hello", "-o", "out.txt"]);
  assert.deepEqual([stdout, await flow.read("out.txt")], ["", "hello\n"]);
  await flow.runText("steps: [{jq: 'error(\"no\")'}]", ["hello", "-o", "other.txt"]);
  assert.deepEqual((await flow.names(".")).includes("other.txt"), false);
});
