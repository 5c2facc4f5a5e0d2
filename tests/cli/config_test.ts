import assert from "node:assert/strict";
import { ModelServer } from "./_server.ts";
import { Workspace } from "./_lait.ts";

Deno.test("cli 8: the nearest configuration upwards counts; --no-config uses none; a missing one is exit 1", async () => {
  await using server = new ModelServer(() => "ok");
  await using work = await Workspace.create({
    "lait.config.yml": "default: { model: upper }",
    "a/b/c/here": "",
    "a/lait.config.yml/no-file": "a directory of that name is passed over",
    "near/lait.config.yml": "default: { temperature: 1, model: near }",
  });
  const env = { OPENAI_BASE_URL: server.url };
  assert.equal((await work.run(["hi"], { env, directory: "a/b/c" })).code, 0);
  assert.equal((await work.run(["hi"], { env, directory: "near" })).code, 0);
  assert.deepEqual(server.requests.map(({ body }) => body.model), ["upper", "near"]);
  const none = await work.run(["--no-config", "hi"], { env, directory: "a/b/c" });
  assert.equal(none.code, 1);
  assert.match(none.stderr, /model is required/);
  for (const path of ["missing.yml", "a"]) {
    const { code, stdout, stderr } = await work.run(["--config", path, "hi"], { env });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, new RegExp(`cannot read ${work.path(path)}: (no such file|it is a directory)`));
  }
  assert.equal(server.requests.length, 2);
});

Deno.test("[D5] config: the .yaml name works, an empty file is an empty configuration, both names are an error", async () => {
  await using server = new ModelServer(() => "ok");
  await using work = await Workspace.create({
    "yaml/lait.config.yaml": "default: { model: m }",
    "empty/lait.config.yml": "# nothing\n",
    "both/lait.config.yml": "",
    "both/lait.config.yaml": "",
  });
  const env = { OPENAI_BASE_URL: server.url };
  assert.equal((await work.run(["hi"], { env, directory: "yaml" })).code, 0);
  assert.equal((await work.run(["--model", "m", "hi"], { env, directory: "empty" })).code, 0);
  const both = await work.run(["--model", "m", "hi"], { env, directory: "both" });
  assert.equal(both.code, 1);
  assert.match(both.stderr, /both .*lait\.config\.yml and .*lait\.config\.yaml exist/);
});

Deno.test("cli 9, [D19] [D35] config: all faults of a file at once, each with place, hint and id, and exit 3", async () => {
  await using server = new ModelServer([]);
  await using work = await Workspace.create({
    "lait.config.yml": "modle: x\ndefault:\n  model: m\n  reasoning_effort: hgih\n  tools: find\ntools:\n  find:\n" +
      "    commnd: [ls]\n    timeout: soon\n  bare: {}\ntool_policy: { denny: [a] }\nmodels: { m: [{ model_id: x }] }\n",
  });
  const { code, stdout, stderr } = await work.run(["--base-url", server.url, "hi"]);
  assert.deepEqual([code, stdout], [3, ""]);
  const lines = stderr.trimEnd().split("\n");
  const expected = [
    /^lait: lait\.config\.yml:1:1: unknown key `modle` .*\(did you mean `models`\?\) \[unknown-key\]$/,
    /:4:21: .*reasoning_effort` must be one of .*\(did you mean `high`\?\) \[invalid-value\]$/,
    /:5:10: `default\.tools` must be a list of strings \(got string\) \[wrong-type\]$/,
    /:8:5: unknown key `tools\.find\.commnd` .*\(did you mean `command`\?\) \[unknown-key\]$/,
    /:9:14: `tools\.find\.timeout` must be an integer .*\[wrong-type\]$/,
    /:8:5: `tools\.find` must have the key `command` \[missing-key\]$/,
    /:10:9: `tools\.bare` must have the key `command` \[missing-key\]$/,
    /:11:16: unknown key `tool_policy\.denny` .*\(did you mean `deny`\?\) \[unknown-key\]$/,
    /:12:15: `models\.m\[0\]` must have the key `provider` \[missing-key\]$/,
  ];
  for (const pattern of expected) assert(lines.some((line) => pattern.test(line)), `${pattern} in\n${stderr}`);
  assert.equal(lines.length, expected.length, stderr);
  assert.equal(server.requests.length, 0);
});

Deno.test("config: what is no YAML is exit 3 with its place; so is the global file's", async () => {
  await using work = await Workspace.create({
    "twice.yml": "default: { model: m }\ndefault: {}\n",
    "template.yml": "tools:\n  t:\n    command: [echo, {{ input.x }}]\n",
    "open.yml": "default: {\n",
    "tag.yml": "default: !env { model: m }\n",
    "global/.config/lait/config.yml": "- a list\n",
  });
  const cases: [file: string, said: RegExp][] = [
    ["twice.yml", /twice\.yml:2:1: .*default/],
    ["template.yml", /template\.yml:3:\d+: .*quote/],
    ["open.yml", /open\.yml:\d+:\d+: /],
    ["tag.yml", /tag\.yml:1:10: .*!env/],
  ];
  await Promise.all(cases.map(async ([file, said]) => {
    const { code, stdout, stderr } = await work.run(["--config", file, "hi"]);
    assert.deepEqual([code, stdout], [3, ""], stderr);
    assert.match(stderr, said);
    assert.match(stderr, /\[[a-z-]+\]$/m);
  }));
  const env = { XDG_CONFIG_HOME: work.path("global/.config") };
  const global = await work.run(["--model", "m", "hi"], { env });
  assert.equal(global.code, 3);
  assert.match(global.stderr, /config\.yml:1:1: /);
});

Deno.test("[D35] config: broken tools that nobody names stop nothing; a named one is exit 1 with its place", async () => {
  await using server = new ModelServer(() => "ok");
  const lines = [
    "tools:",
    "  empty: { command: [] }",
    "  list: { command: [ls], parameters: [] }",
    "  schema: { command: [ls], parameters: { type: objekt } }",
    '  template: { command: [ls, "{{ input.x"] }',
    '  helper: { command: [ls, "{{ nope input }}"] }',
    "  late: { command: [ls], timeout: -1 }",
    "  good: { command: [ls] }",
  ];
  await using work = await Workspace.create({ "lait.config.yml": `${lines.join("\n")}\n` });
  const at = ["--base-url", server.url, "--model", "m", "hi"];
  assert.equal((await work.run([...at, "--tool", "good"])).code, 0);
  const cases: [name: string, said: RegExp][] = [
    ["empty", /^lait: lait\.config\.yml:2:21: tools\.empty: `command` is empty.*\[empty-command\]$/m],
    ["list", /:3:38: tools\.list: `parameters` must be an object \(got array\).*\[tool-parameters\]/],
    ["schema", /:4:\d+: tools\.schema: parameters\.type .*\[tool-parameters\]/],
    ["template", /:5:\d+: .*\[[a-z-]+\]/],
    ["helper", /:6:\d+: .*nope.*\[[a-z-]+\]/],
    ["late", /:7:35: tools\.late: `timeout` must be at least 0.*\[range\]/],
  ];
  await Promise.all(cases.map(async ([name, said]) => {
    const { code, stdout, stderr } = await work.run([...at, "--tool", "good", "--tool", name]);
    assert.deepEqual([code, stdout], [1, ""], stderr);
    assert.match(stderr, said);
  }));
  assert.equal(server.requests.length, 1);
});

Deno.test("tool names: unknown, repeated, colliding and too long ones are exit 1 before any request", async () => {
  await using server = new ModelServer([]);
  const long = "n".repeat(59);
  await using work = await Workspace.create({
    "lait.config.yml": JSON.stringify({
      tools: Object.fromEntries(["find_text", "a.b", "a b", long].map((name) => [name, { command: ["ls"] }])),
    }),
    "none.yml": "default: { tools: [ghost] }",
  });
  const cases: [args: string[], said: RegExp][] = [
    [["--tool", "find_test"], /unknown tool 'find_test'.*`tools:`.*did you mean `find_text`/],
    [["--tool", "find_text", "--tool", "find_text"], /tools\.find_text is listed twice.*tool__find_text/],
    [["--tool", "a.b", "--tool", "a b"], /tools\.a\.b and tools\.a b would both.*`tool__a_b`/],
    [["--tool", long], new RegExp(`tool__${long}.*65 characters.*64`)],
    [["--tool", "toString"], /unknown tool 'toString'/],
    [["--config", "none.yml"], /unknown tool 'ghost'.*no `tools:`/],
  ];
  await Promise.all(cases.map(async ([args, said]) => {
    const { code, stdout, stderr } = await work.run(["--base-url", server.url, "--model", "m", ...args, "hi"]);
    assert.deepEqual([code, stdout], [1, ""], stderr);
    assert.match(stderr, said);
  }));
  assert.equal(server.requests.length, 0);
});
