import assert from "node:assert/strict";
import { type Answer, ModelServer, type WireMessage } from "./_server.ts";
import { Workspace } from "./_lait.ts";

/** Runs `lait agent run` in a project whose server gives these answers. */
async function running(
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  options: { readonly script?: readonly (string | Answer)[]; readonly config?: unknown; readonly stdin?: string } = {},
) {
  await using server = new ModelServer(options.script ?? ["the answer"]);
  await using work = await Workspace.create(files);
  const config = { base_url: server.url, default: { model: "m" }, ...options.config as object };
  await work.write("lait.config.yml", JSON.stringify(config));
  const result = await work.run(["agent", "run", ...args], options.stdin === undefined ? {} : { stdin: options.stdin });
  return { ...result, requests: server.requests, body: server.requests[0]?.body };
}

const roles = (messages: readonly WireMessage[] = []) => messages.map(({ role, content }) => [role, content]);
const city = "input_schema: { type: object, required: [city], additionalProperties: false, " +
  "properties: { city: { type: string } } }";

Deno.test("agents-tools 1: without opening or closing line nothing is sent, and the message says what is missing", async () => {
  const files: [text: string, said: RegExp][] = [
    ["Be brief.\n", /a\.md:1:1: the first line must be exactly `---`/],
    ["---\nmodel: m\nBe brief.\n", /a\.md:1:1: the front matter is not closed/],
    ["\n---\nmodel: m\n---\nBe brief.\n", /a\.md:2:1: .*remove the empty lines before it/],
    ["--- \nmodel: m\n---\nBe brief.\n", /a\.md:1:1: .*remove the spaces around it/],
    ["---\nmodel: m\n----\nBe brief.\n", /not closed.*line 3 is "----"/],
  ];
  for (const [text, said] of files) {
    const { code, stdout, stderr, requests } = await running({ "a.md": text }, ["a.md", "hi"]);
    assert.deepEqual([code, stdout, requests.length], [3, "", 0], stderr);
    assert.match(stderr, said);
  }
});

Deno.test("agents-tools 2: an unknown key is exit 3, with its place and what was meant", async () => {
  const keys: [line: string, said: RegExp][] = [
    ["structured_output: true", /a\.md:2:1: unknown key `structured_output`: `output_schema` alone/],
    ["system: x", /a\.md:2:1: unknown key `system`: the text below the front matter is the system prompt/],
    ["modle: x", /a\.md:2:1: unknown key `modle`.*did you mean `model`/],
  ];
  for (const [line, said] of keys) {
    const { code, stderr, requests } = await running({ "a.md": `---\n${line}\n---\nx` }, ["a.md", "hi"]);
    assert.deepEqual([code, requests.length], [3, 0]);
    assert.match(stderr, said);
  }
});

Deno.test("agents-tools 3 and 4: values out of range, and a schema name that cannot be sent, fail when the file is read", async () => {
  const wrong: [lines: string, said: RegExp][] = [
    ["temperature: 2.5", /a\.md:2:14: `temperature` must be from 0 to 2 \(got 2\.5\)/],
    ["top_p: -1", /`top_p` must be from 0 to 1/],
    ["max_tokens: 0", /`max_tokens` must be from 1 to 4294967295/],
    ["max_tool_rounds: 0", /`max_tool_rounds` must be at least 1/],
    ["schema_name: x", /`schema_name` names the `output_schema`, and there is none/],
    ['output_schema: true\nschema_name: "bad name!"', /a\.md:3:14: `schema_name` must be 1 to 64 letters/],
    ["input_schema: [a]", /`input_schema` must be a schema/],
    ["output_schema: { type: 5 }", /`output_schema` cannot be used/],
    ["output_schema: { file: gone.json }", /`output_schema` cannot be used: .*gone\.json: no such file/],
  ];
  for (const [lines, said] of wrong) {
    const { code, stderr, requests } = await running({ "a.md": `---\n${lines}\n---\nx` }, ["a.md", "hi"]);
    assert.deepEqual([code, requests.length], [1, 0], stderr);
    assert.match(stderr, said);
  }
});

Deno.test("agents-tools 5: the system prompt is the rendered body, the user's message the raw input", async () => {
  const agent = `---\n${city}\n---\nCity: {{ input.city }}\n`;
  const { code, stdout, stderr, body } = await running({ "a.md": agent }, ["a.md", '{ "city":"Tokyo" }']);
  assert.deepEqual([code, stdout, stderr], [0, "the answer\n", ""]);
  assert.deepEqual(roles(body!.messages), [["system", "City: Tokyo"], ["user", '{ "city":"Tokyo" }']]);
  const piped = await running({ "a.md": agent }, ["a.md"], { stdin: '{"city":"Oslo"}\n' });
  assert.deepEqual(roles(piped.body!.messages), [["system", "City: Oslo"], ["user", '{"city":"Oslo"}']]);
  const none = await running({ "a.md": agent }, ["a.md"]);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /INPUT is required/);
});

Deno.test("[D2] agents-tools 6: an input that does not fit is told by its path, and nothing is sent", async () => {
  for (
    const [input, said] of [['{"other":1}', /city/], ['{"city":1}', /input\.city.*string/], ["x", /object/]] as const
  ) {
    const { code, stderr, requests } = await running({ "a.md": `---\n${city}\n---\nx` }, ["a.md", input]);
    assert.deepEqual([code, requests.length], [1, 0]);
    assert.match(stderr, /^lait: agent 'a\.md': the input does not fit input_schema/);
    assert.match(stderr, said);
  }
});

Deno.test("agents-tools 7: an object is compact JSON in the template, and a name that is not there fails", async () => {
  const shown = await running({ "a.md": "---\n---\n{{ input }}" }, ["a.md", '{ "a": [1, 2] }']);
  assert.equal(shown.body!.messages[0]!.content, '{"a":[1,2]}');
  for (const name of ["input.nope", "steps.x", "inputs.x", "vars.x"]) {
    const { code, stderr, requests } = await running({ "a.md": `---\n---\n\n  {{ ${name} }}` }, ["a.md", "{}"]);
    assert.deepEqual([code, requests.length], [1, 0]);
    assert.match(stderr, /^lait: agent 'a\.md': .*a\.md:4/);
  }
});

Deno.test("agents-tools 8: a schema's file is beside the agent's; the answer is asked for strictly", async () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  const { code, body } = await running({
    "sub/a.md": "---\noutput_schema: { file: s.json }\n---\nx",
    "sub/s.json": JSON.stringify(schema),
  }, ["sub/a.md", "hi"]);
  assert.equal(code, 0);
  assert.deepEqual(body!["response_format"], {
    type: "json_schema",
    json_schema: { name: "structured_output", schema, strict: true },
  });
});

Deno.test("agents-tools 9: a name is looked up in agents, a file of that name wins, and a note says which it is", async () => {
  const config = { agents: { reviewer: "agents/a.md" } };
  const files = { "agents/a.md": "---\nname: Rev\ndescription: it\n  reviews\n---\nregistered" };
  const named = await running(files, ["reviewer", "hi"], { config });
  assert.equal(named.body!.messages[0]!.content, "registered");
  assert.match(named.stderr, /^note: agent `reviewer` is .*\/agents\/a\.md\n==> Rev: it reviews\n$/);
  const file = await running({ ...files, reviewer: "---\n---\nfile" }, ["reviewer", "hi"], { config });
  assert.equal(file.body!.messages[0]!.content, "file");
  assert.match(file.stderr, /^note: the file reviewer is used, not the entry/);
  const near = await running(files, ["reviwer", "hi"], { config });
  assert.match(near.stderr, /unknown agent 'reviwer'.*did you mean `reviewer`/);
});

Deno.test("agents-tools 10: agent list is sorted; an entry that cannot be read says why, and the exit code is 0", async () => {
  await using work = await Workspace.create({
    "lait.config.yml": "agents: { b: agents/gone.md, a: agents/a.md, c: agents/c.md }",
    "agents/a.md": "---\ndescription: |\n  First\n  line\n---\nx",
    "agents/c.md": "---\n---\nx",
    "none/lait.config.yml": "",
  });
  const { code, stdout } = await work.run(["agent", "list"]);
  const at = work.path("agents");
  assert.equal(code, 0);
  assert.deepEqual(stdout.split("\n"), [
    `a  (${at}/a.md): First line`,
    `b  (${at}/gone.md)`,
    `  warning: cannot read ${at}/gone.md: no such file`,
    `c  (${at}/c.md)`,
    "",
  ]);
  const empty = await work.run(["agent", "list"], { directory: "none" });
  assert.equal(empty.code, 0);
  assert.match(empty.stdout, /^no agents defined in lait\.config\.yml.*`agents:`/);
});

Deno.test("agents-tools 11: --json tells the content, no reasoning, and the tokens of the whole run", async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const script = [
    { calls: [{ name: "tool__say" }], usage },
    { text: "done", reasoning: "hm", usage },
  ];
  const config = { default: { model: "m", tools: ["say"] }, tools: { say: { command: ["echo", "x"] } } };
  const { code, stdout } = await running({ "a.md": "---\n---\nx" }, ["a.md", "hi", "--json"], { script, config });
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), {
    content: "done",
    reasoning: null,
    usage: { prompt_tokens: 6, completion_tokens: 4, total_tokens: 10 },
  });
});

Deno.test("agents-tools 34: with tools the output schema comes last, without tools and without the answer before", async () => {
  const config = { tools: { say: { command: ["echo", "x"] } } };
  const agent = "---\ntools: [say]\noutput_schema: { type: object }\nschema_name: out\n---\nx";
  const script = [{ calls: [{ name: "tool__say" }] }, "draft", '{"a":1}'];
  const { stdout, requests } = await running({ "a.md": agent }, ["a.md", "hi"], { script, config });
  assert.equal(stdout, '{"a":1}\n');
  assert.deepEqual(requests.map(({ body }) => [body["response_format"] !== undefined, body.tools !== undefined]), [
    [false, true],
    [false, true],
    [true, false],
  ]);
  assert.deepEqual(requests[2]!.body.messages.map(({ role }) => role), ["system", "user", "assistant", "tool"]);
});

Deno.test("agent run: settings are the front matter's, then the alias's, then default's; the chat's variables do not count", async () => {
  await using server = new ModelServer(["a", "b"]);
  await using work = await Workspace.create({
    "a.md": "---\nmodel: small\ntemperature: 0.1\nmax_tokens: 7\nreasoning_effort: low\n---\n",
    "b.md": "---\ntop_p: 1\n---\nb",
    "lait.config.yml": JSON.stringify({
      base_url: server.url,
      default: { model: "m", temperature: 0.5, top_p: 0.5, system: "of chats" },
      models: {
        small: [{ provider: { base_url: server.url }, model_id: "id", default_temperature: 0.9, default_top_p: 0.3 }],
      },
    }),
  });
  const env = { LLM_MODEL: "no", OPENAI_BASE_URL: "http://127.0.0.1:9", OPENAI_API_KEY: "no", LLM_TEMPERATURE: "2" };
  for (const file of ["a.md", "b.md"]) assert.equal((await work.run(["agent", "run", file, "hi"], { env })).code, 0);
  const [a, b] = server.requests.map(({ body }) => body);
  assert.deepEqual([a!.model, a!["temperature"], a!["top_p"], a!["max_completion_tokens"], a!["reasoning_effort"]], [
    "id",
    0.1,
    0.3,
    7,
    "low",
  ]);
  assert.deepEqual(roles(a!.messages), [["user", "hi"]]);
  assert.deepEqual([b!.model, b!["temperature"], b!["top_p"]], ["m", 0.5, 1]);
  assert.deepEqual(roles(b!.messages), [["system", "b"], ["user", "hi"]]);
  const none = await work.run(["agent", "run", "b.md", "hi", "--no-config"]);
  assert.match(none.stderr, /a model is required: set `model` in the front matter of b\.md, or default\.model/);
});

Deno.test("agent run: an empty list in the front matter switches the default off, and an unknown name has its place", async () => {
  const config = { default: { model: "m", tools: ["say"] }, tools: { say: { command: ["echo"] } } };
  const off = await running({ "a.md": "---\ntools: []\n---\nx" }, ["a.md", "hi"], { config });
  assert.equal(off.body!.tools, undefined);
  const wrong = await running({ "a.md": "---\ntools:\n  - sya\n---\nx" }, ["a.md", "hi"], { config });
  assert.match(wrong.stderr, /agent 'a\.md': a\.md:3:5: unknown tool 'sya'.*did you mean `say`/);
  assert.equal(wrong.requests.length, 0);
});
