import assert from "node:assert/strict";
import { type Answer, ModelServer } from "./_server.ts";
import { configWith, Workspace } from "./_lait.ts";

const at = (server: ModelServer) => ["--base-url", server.url, "--model", "m"];

Deno.test("cli 1: one request with what was asked and nothing else; the answer and a line ending on stdout", async () => {
  await using server = new ModelServer(["hello there"]);
  await using work = await Workspace.create();
  const { code, stdout, stderr } = await work.run([...at(server), "hi"]);
  assert.deepEqual([code, stdout, stderr], [0, "hello there\n", ""]);
  assert.deepEqual(server.onlyBody, { model: "m", messages: [{ role: "user", content: "hi" }], stream: false });
  const [request] = server.requests;
  assert.deepEqual([request!.method, request!.path], ["POST", "/v1/chat/completions"]);
  assert.equal(request!.headers.get("authorization"), "Bearer lm-studio");
  assert.equal(request!.headers.get("content-type"), "application/json");
});

Deno.test("cli 2: sampling flags and the system prompt are sent under the wire's names", async () => {
  await using server = new ModelServer(["ok"]);
  await using work = await Workspace.create();
  const sampling = ["--max-tokens", "5", "--temperature", "0.5", "--top-p", "0", "--reasoning-effort", "low"];
  const { code } = await work.run([...at(server), ...sampling, "--system", "Be brief. ", "hi"]);
  assert.equal(code, 0);
  assert.deepEqual(server.onlyBody, {
    model: "m",
    messages: [{ role: "system", content: "Be brief. " }, { role: "user", content: "hi" }],
    stream: false,
    reasoning_effort: "low",
    temperature: 0.5,
    top_p: 0,
    max_completion_tokens: 5,
  });
});

Deno.test("cli 3: sampling out of its range is exit 1 before any request, and names the field and the model", async () => {
  await using server = new ModelServer(["no"]);
  await using work = await Workspace.create({
    "alias.yml": "models: { warm: [{ provider: { base_url: 'http://x' }, model_id: w, default_temperature: 3 }] }",
    "default.yml": "default: { top_p: -0.1 }",
  });
  const cases: [args: string[], named: RegExp][] = [
    [["--temperature", "2.1"], /temperature must be from 0 to 2 \(got 2.1\).*`m`/],
    [["--temperature", "-0.1"], /temperature/],
    [["--max-tokens", "0"], /max_tokens must be from 1/],
    [["--top-p", "1.01"], /top_p/],
    [["--config", "default.yml"], /default\.yml:1:19: default\.top_p must be from 0 to 1 .*\[range\]/],
    [["--config", "alias.yml", "--model", "warm"], /alias\.yml:1:\d+: models\.warm\[0\]\.default_temperature.*`warm`/],
  ];
  await Promise.all(cases.map(async ([args, named]) => {
    const { code, stdout, stderr } = await work.run([...at(server), ...args, "hi"]);
    assert.deepEqual([code, stdout], [1, ""], stderr);
    assert.match(stderr, named);
  }));
  assert.equal(server.requests.length, 0);
});

Deno.test("cli 4: an effort that is none is exit 2; a flag beats its variable, and a variable works alone", async () => {
  await using server = new ModelServer(() => "ok");
  await using work = await Workspace.create();
  const wrong = await work.run([...at(server), "--reasoning-effort", "extreme", "hi"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /extreme.*none, minimal, low, medium, high, xhigh/s);
  const env = {
    LLM_REASONING_EFFORT: "low",
    LLM_MODEL: "from-env",
    LLM_TEMPERATURE: "0.25",
    LLM_TOP_P: "0.5",
    LLM_MAX_TOKENS: "7",
    OPENAI_BASE_URL: server.url,
    OPENAI_API_KEY: "key-of-env",
  };
  assert.equal(
    (await work.run(["--reasoning-effort", "high", "--model", "m", "--api-key", "k", "hi"], { env })).code,
    0,
  );
  assert.equal((await work.run(["hi"], { env })).code, 0);
  const [flags, variables] = server.requests;
  assert.deepEqual([flags!.body.model, flags!.body["reasoning_effort"]], ["m", "high"]);
  assert.equal(flags!.headers.get("authorization"), "Bearer k");
  const { messages: _, ...sent } = variables!.body;
  const numbers = { temperature: 0.25, top_p: 0.5, max_completion_tokens: 7 };
  assert.deepEqual(sent, { model: "from-env", stream: false, reasoning_effort: "low", ...numbers });
  assert.equal(variables!.headers.get("authorization"), "Bearer key-of-env");
});

Deno.test("cli 4: a variable that is no value of its flag is exit 2 and named", async () => {
  await using work = await Workspace.create();
  const cases = { LLM_TEMPERATURE: "abc", LLM_REASONING_EFFORT: "extreme", LLM_MAX_TOKENS: "1.5", LLM_TOP_P: "1e" };
  await Promise.all(
    Object.entries(cases).map(async ([name, value]) => {
      const { code, stderr } = await work.run(["--model", "m", "hi"], { env: { [name]: value } });
      assert.equal(code, 2, stderr);
      assert.match(stderr, new RegExp(`${name}.*"${value}"`));
    }),
  );
});

Deno.test("cli 10: the global file adds its defaults and its policy; --config uses neither", async () => {
  await using server = new ModelServer(({ body }) =>
    body.messages.length > 1 ? "done" : { calls: [{ name: "tool__touch" }] }
  );
  const project = configWith({ touch: { command: ["touch", "ran"] } });
  await using work = await Workspace.create({
    "~/.config/lait/config.yml": 'default: { temperature: 0.1, model: other }\ntool_policy: { deny: ["*"] }\n',
    "lait.config.yml": project,
    "project.yml": project,
  });
  assert.equal((await work.run(["--base-url", server.url, "hi"])).code, 0);
  assert.deepEqual([server.requests[0]!.body.model, server.requests[0]!.body["temperature"]], ["m", 0.1]);
  assert.match(server.toolResults()[0]!, /denied/);
  assert(!await work.exists("ran"));
  assert.equal((await work.run(["--base-url", server.url, "--config", "project.yml", "hi"])).code, 0);
  assert.equal(server.requests[2]!.body["temperature"], undefined);
  assert(await work.exists("ran"));
});

Deno.test("cli 11: the project's key replaces the global key command, without a conflict and without running it", async () => {
  await using server = new ModelServer(["ok"]);
  await using work = await Workspace.create({
    "~/.config/lait/config.yml": "api_key_cmd: touch ran; echo a\n",
    "lait.config.yml": "api_key: b\n",
  });
  assert.equal((await work.run([...at(server), "hi"])).code, 0);
  assert.equal(server.requests[0]!.headers.get("authorization"), "Bearer b");
  assert(!await work.exists("ran"));
});

Deno.test("cli 13: ${VAR} is looked up when its value is used, and names its place; flags take none", async () => {
  await using server = new ModelServer(["ok"]);
  await using work = await Workspace.create({
    "lait.config.yml": "base_url: http://${HOST_X}/v1\napi_key: ${KEY_X}\n",
  });
  const unset = await work.run(["--model", "m", "hi"], { env: { KEY_X: "k" } });
  assert.equal(unset.code, 1);
  assert.match(unset.stderr, /^lait: lait\.config\.yml:1:11: base_url: .*`HOST_X` is not set.*\[unset-variable\]$/m);
  const noKey = await work.run([...at(server), "hi"]);
  assert.equal(noKey.code, 1);
  assert.match(noKey.stderr, /lait\.config\.yml:2:10: api_key: .*`KEY_X`/);
  assert.equal((await work.run([...at(server), "--api-key", "k", "hi"])).code, 0);
  const flag = await work.run(["--model", "m", "--base-url", "http://${HOST_X}/v1", "--api-key", "k", "hi"], {
    env: { HOST_X: new URL(server.url).host },
  });
  assert.notEqual(flag.code, 0);
  assert.match(flag.stderr, /\$\{host_x\}/i);
  assert.equal(server.requests.length, 1);
});

Deno.test("cli 14: slashes at the end of a base URL are removed", async () => {
  await using server = new ModelServer(["a", "b"]);
  await using work = await Workspace.create({ "lait.config.yml": `base_url: ${server.url}///\n` });
  assert.equal((await work.run(["--model", "m", "hi"])).code, 0);
  assert.equal((await work.run(["--model", "m", "--base-url", `${server.url}/`, "hi"])).code, 0);
  assert.deepEqual(server.requests.map(({ path }) => path), ["/v1/chat/completions", "/v1/chat/completions"]);
});

Deno.test("cli 15: api_key and api_key_cmd in one place exclude each other, even with --api-key", async () => {
  await using server = new ModelServer([]);
  const provider = "provider: { base_url: 'http://x', api_key: a, api_key_cmd: b }";
  await using work = await Workspace.create({
    "top.yml": "api_key: a\napi_key_cmd: echo b\n",
    "second.yml":
      `models:\n  d:\n    - { provider: { base_url: "http://x" }, model_id: m }\n    - { ${provider}, model_id: m }\n`,
  });
  const top = await work.run([...at(server), "--config", "top.yml", "--api-key", "k", "hi"]);
  assert.equal(top.code, 1);
  assert.match(top.stderr, /top\.yml:2:14: api_key and api_key_cmd exclude each other.*\[exclusive-keys\]/);
  const second = await work.run([...at(server), "--config", "second.yml", "--model", "d", "hi"]);
  assert.equal(second.code, 1);
  assert.match(second.stderr, /second\.yml:4:\d+: models\.d\[1\]\.provider: api_key and api_key_cmd exclude/);
  const unused = await work.run(["--base-url", "http://127.0.0.1:9", "--config", "second.yml", "--model", "raw", "hi"]);
  assert.equal(unused.code, 4, unused.stderr);
  assert.equal(server.requests.length, 0);
});

Deno.test("cli 16: a key command's output is the key, as a shell line or a list; it runs once for two requests", async () => {
  await using server = new ModelServer([{ calls: [{ name: "tool__ok" }] }, "done", "done"]);
  await using work = await Workspace.create({
    "line.yml": configWith({ ok: { command: ["true"] } }, { api_key_cmd: "echo ran >>log; echo k" }),
    "list.yml": configWith({}, { api_key_cmd: ["printf", "k"] }),
  });
  assert.equal((await work.run(["--base-url", server.url, "--config", "line.yml", "hi"])).code, 0);
  assert.equal((await work.run(["--base-url", server.url, "--config", "list.yml", "hi"])).code, 0);
  assert.deepEqual(server.requests.map(({ headers }) => headers.get("authorization")), Array(3).fill("Bearer k"));
  assert.equal(await work.read("log"), "ran\n");
});

Deno.test("cli 16: a key command that gives no key is exit 1 with its place, and nothing it wrote is shown", async () => {
  await using server = new ModelServer([]);
  await using work = await Workspace.create();
  const cases: [command: unknown, said: RegExp][] = [
    [[], /empty list/],
    ["true", /printed nothing/],
    ["echo sk-secret; echo sk-secret >&2; exit 7", /status 7/],
    ["printf 'sk-secret\\nsk-secret'", /more than one line/],
    ["printf 'sk-secret\\377'", /UTF-8/],
    ["yes sk-secret", /more than 65536 bytes/],
    [["no-such-program-here"], /no-such-program-here/],
  ];
  await Promise.all(cases.map(async ([command, said], index) => {
    await work.write(`${index}.yml`, JSON.stringify({ api_key_cmd: command }));
    const { code, stdout, stderr } = await work.run([...at(server), "--config", `${index}.yml`, "-vv", "hi"]);
    assert.deepEqual([code, stdout], [1, ""], stderr);
    assert.match(stderr, said);
    assert.match(stderr, new RegExp(`lait: ${index}\\.yml:1:\\d+: api_key_cmd: .*\\[key-command\\]`));
    assert.doesNotMatch(stderr, /sk-secret(?!;)(?!')/);
  }));
  assert.equal(server.requests.length, 0);
});

Deno.test("cli 27: an empty answer is exit 1, also when it is streamed", async () => {
  const empty: Answer = { text: "" };
  await using server = new ModelServer([empty, empty, { body: '{"choices":[]}' }]);
  await using work = await Workspace.create();
  for (const extra of [[], ["--stream"], []]) {
    const { code, stdout, stderr } = await work.run([...at(server), ...extra, "hi"]);
    assert.deepEqual([code, stdout], [1, ""], stderr);
    assert.match(stderr, /empty/);
  }
});

Deno.test("cli 46: what the model server refuses or garbles is exit 4, and says so", async () => {
  await using server = new ModelServer([
    { status: 401, body: '{"error":{"message":"no such key"}}' },
    { body: "<html>" },
    { body: '{"hello":1}' },
  ]);
  await using work = await Workspace.create();
  for (const said of [/401.*no such key/, /not JSON/, /`choices`/]) {
    const { code, stdout, stderr } = await work.run([...at(server), "hi"]);
    assert.deepEqual([code, stdout], [4, ""], stderr);
    assert.match(stderr, said);
  }
  const gone = await work.run(["--base-url", "http://127.0.0.1:9/v1", "--model", "m", "hi"]);
  assert.equal(gone.code, 4);
  assert.match(gone.stderr, /127\.0\.0\.1:9/);
});

Deno.test("requests: without a model, exit 1 says how to name one; a blank one does not fall through", async () => {
  await using work = await Workspace.create({
    "lait.config.yml": "default: { system: s }\n",
    "m.yml": "default: { model: m }",
  });
  for (const args of [["hi"], ["--model", "", "hi"], ["--config", "m.yml", "--model", " ", "hi"]]) {
    const { code, stderr } = await work.run(args);
    assert.equal(code, 1);
    assert.match(stderr, /a model is required.*--model.*default\.model/);
  }
});

Deno.test("requests: a base URL that is none is exit 1 before any request", async () => {
  await using work = await Workspace.create({ "blank.yml": 'base_url: " / "\n' });
  const cases: [args: string[], said: RegExp][] = [
    [["--base-url", ""], /base URL is empty/],
    [["--config", "blank.yml"], /base URL is empty/],
    [["--base-url", "localhost:1234"], /http:\/\/ or https:\/\//],
    [["--base-url", "not a url"], /http:\/\/localhost/],
    [["--base-url", "http://me:pa55word@localhost/v1"], /user or password/],
    [["--base-url", "ftp://me:pa55word@localhost/v1"], /http:\/\/ or https:\/\/|user or password/],
  ];
  await Promise.all(cases.map(async ([args, said]) => {
    const { code, stderr } = await work.run(["--model", "m", ...args, "hi"]);
    assert.equal(code, 1, stderr);
    assert.match(stderr, said);
    assert.doesNotMatch(stderr, /pa55word/);
  }));
});
