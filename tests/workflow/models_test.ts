import assert from "node:assert/strict";
import { ModelServer } from "../cli/_server.ts";
import { Flow } from "./_flow.ts";

Deno.test("models: a variable that is not set fails when the model is used, at its place in the workflow", async () => {
  await using server = new ModelServer(["from the workflow"]);
  await using flow = await Flow.create({
    "lait.config.yml": "models: {m: [{provider: {base_url: 'http://127.0.0.1:1/v1'}, model_id: x}]}",
  });
  const models = "models: {m: [{provider: {base_url: '${URL_OF_IT}'}, model_id: real}]}";
  const text = `${models}\nsteps: [{when: '. == "go"', prompt: p, model: m}]`;
  assert.equal((await flow.runText(text, ["go"], { env: { URL_OF_IT: server.url } })).stdout, "from the workflow\n");
  assert.equal(server.onlyBody.model, "real");
  assert.equal((await flow.runText(text, ["pass"])).stdout, "pass\n");
  const unset = await flow.runText(text, ["go"]);
  assert.equal(unset.code, 1);
  assert.match(
    unset.stderr,
    /step 'step-1 \(prompt\)': .*w\.yml:1:36: models\.m\[0\]\.provider\.base_url: .*URL_OF_IT/,
  );
});

Deno.test("models: a script of a workflow is beside it, and goes on from call to call", async () => {
  await using flow = await Flow.create({
    "sub/child.yml": "models: {m: [{provider: {script: s.yml}}]}\nsteps: [{prompt: p, model: m}]",
    "sub/s.yml": "[first, second]",
  });
  const text = "steps: [{jq: '[1,2]'}, {for_each: ., steps: [{workflow: sub/child.yml}]}]";
  const { stdout, stderr } = await flow.runText(text, ["x"]);
  assert.equal(stdout, '["first","second"]\n', stderr);
});

Deno.test("settings: the variables of chats say nothing to workflows", async () => {
  await using server = new ModelServer(["a"]);
  await using flow = await Flow.create({ "lait.config.yml": `base_url: ${server.url}\ndefault: {model: cfg}` });
  const env = { LLM_MODEL: "env", LLM_TEMPERATURE: "1.5", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" };
  const { code } = await flow.runText("steps: [{prompt: p}]", ["x"], { env });
  assert.deepEqual([code, server.onlyBody.model, server.onlyBody["temperature"]], [0, "cfg", undefined]);
});

Deno.test("seed 000: a step offers its own tools in place of the configuration's", async () => {
  await using server = new ModelServer([
    { calls: [{ name: "tool__ripgrep", arguments: { pattern: "a b" } }] },
    "done",
  ]);
  await using flow = await Flow.create({
    "lait.config.yml": `base_url: ${server.url}
default: {model: m, tools: [other]}
tools:
  ripgrep: {command: [echo, "found {{ input.pattern }}"], parameters: {type: object, properties: {pattern: {type: string}}}}
  other: {command: [echo, other]}`,
  });
  const text = 'steps:\n  - prompt: "{{ input }} について調べてください。"\n    tools: [ripgrep]';
  assert.equal((await flow.runText(text, ["TODO"])).stdout, "done\n");
  assert.deepEqual(server.toolResults(), ["found a b"]);
  assert.deepEqual(server.requests[0]!.body.tools!.map(({ function: { name } }) => name), ["tool__ripgrep"]);
  const unknown = await flow.runText("steps: [{prompt: p, tools: [rigrep]}]", ["x"]);
  assert.match(unknown.stderr, /w\.yml:1:\d+: unknown tool 'rigrep'.*did you mean `ripgrep`/);
});

Deno.test("tools with an output schema: the format is kept back until the last request", async () => {
  await using server = new ModelServer([{ calls: [{ name: "tool__t" }] }, "I know", '{"city":"a"}']);
  await using flow = await Flow.create({
    "lait.config.yml": `base_url: ${server.url}\ndefault: {model: m}\ntools: {t: {command: [echo, t]}}`,
  });
  const schema = "{type: object, properties: {city: {type: string}}, required: [city]}";
  const { stdout } = await flow.runText(`steps: [{prompt: p, tools: [t], output_schema: ${schema}, output: .city}]`, [
    "x",
  ]);
  assert.equal(stdout, "a\n");
  const formats = server.requests.map(({ body }) => body["response_format"] !== undefined);
  assert.deepEqual(formats, [false, false, true]);
});

Deno.test("tools: at most max_tool_rounds rounds; an empty list offers none", async () => {
  const config = (url: string) => `base_url: ${url}\ndefault: {model: m, tools: [t]}\ntools: {t: {command: [echo, t]}}`;
  await using server = new ModelServer(() => ({ calls: [{ name: "tool__t" }] }));
  await using flow = await Flow.create({ "lait.config.yml": config(server.url) });
  const { code, stderr } = await flow.runText("steps: [{prompt: p, max_tool_rounds: 2}]", ["x"]);
  assert.deepEqual([code, server.requests.length], [1, 2]);
  assert.match(stderr, /max_tool_rounds/);
  await using plain = new ModelServer(["a"]);
  await flow.write("lait.config.yml", config(plain.url));
  await flow.runText("steps: [{prompt: p, tools: []}]", ["x"]);
  assert.equal(plain.onlyBody.tools, undefined);
});

Deno.test("exit codes: a model that refuses ends the run with 4, also from among several at once", async () => {
  await using server = new ModelServer([{ status: 401, body: '{"error":{"message":"bad key"}}' }]);
  await using flow = await Flow.create({ "lait.config.yml": `base_url: ${server.url}\ndefault: {model: m}` });
  const text = "steps: [{jq: '[1]'}, {for_each: ., max_concurrency: 2, steps: [{id: q, prompt: p}]}]";
  const { code, stderr } = await flow.runText(text, ["x"]);
  assert.equal(code, 4);
  assert.match(stderr, /lait: step 'q': .*401.*bad key/);
});
