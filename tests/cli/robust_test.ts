import assert from "node:assert/strict";
import { ModelServer } from "./_server.ts";
import { Workspace } from "./_lait.ts";

const at = (server: ModelServer) => ["--base-url", server.url, "--model", "m"];

Deno.test("cli 7: options that exclude each other are exit 2, before any request", async () => {
  await using server = new ModelServer(["no"]);
  await using work = await Workspace.create({ "s.json": "{}" });
  const pairs = [
    ["--config", "a.yml", "--no-config"],
    ["--cache", "--no-cache"],
    ["--stream", "--json"],
    ["--schema-name", "x"],
    ["--system", "a", "--system-file", "b"],
  ];
  for (const pair of pairs) {
    const { code, stdout, stderr } = await work.run([...at(server), ...pair, "hi"]);
    assert.deepEqual([code, stdout], [2, ""], `${pair}: ${stderr}`);
    assert(pair.filter((word) => word.startsWith("--")).every((flag) => stderr.includes(flag)), stderr);
  }
  assert.equal(server.requests.length, 0);
});

Deno.test("cli 10: the global file adds what the project does not set, and its denials stay; --config leaves it out", async () => {
  await using server = new ModelServer(() => ({ text: "ok" }));
  await using work = await Workspace.create({
    "~/.config/lait/config.yml": 'default: { temperature: 0.1 }\ntool_policy: { deny: ["*"] }\n',
    "lait.config.yml": "default: { model: m }\n",
  });
  assert.equal((await work.run(["--base-url", server.url, "hi"])).code, 0);
  assert.equal(server.requests[0]!.body["temperature"], 0.1);
  assert.equal((await work.run(["--base-url", server.url, "--config", "lait.config.yml", "hi"])).code, 0);
  assert.equal(server.requests[1]!.body["temperature"], undefined);
});

Deno.test("cli 10: a global `deny: [*]` holds for a project's tools", async () => {
  await using server = new ModelServer([{ calls: [{ name: "tool__touch" }] }, "ok"]);
  await using work = await Workspace.create({
    "~/.config/lait/config.yml": 'tool_policy: { deny: ["*"] }\n',
    "lait.config.yml": 'default: { model: m, tools: [touch] }\ntools: { touch: { command: ["touch", "made"] } }\n',
  });
  assert.equal((await work.run(["--base-url", server.url, "hi"])).code, 0);
  assert.match(server.toolResults()[0]!, /denied by tool_policy/);
  assert.equal(await work.exists("made"), false);
});

Deno.test("cli 11: a project's key replaces the global key command whole", async () => {
  await using server = new ModelServer(["ok"]);
  await using work = await Workspace.create({
    "~/.config/lait/config.yml": 'api_key_cmd: "echo a"\n',
    "lait.config.yml": "api_key: b\n",
  });
  assert.equal((await work.run([...at(server), "hi"])).code, 0);
  assert.equal(server.requests[0]!.headers.get("authorization"), "Bearer b");
});

Deno.test("cli 17: after four attempts the next entry serves; a 401 does not fall back; a key of the caller's forbids it", async () => {
  await using busy = new ModelServer(() => ({ status: 503, body: "busy" }));
  await using denying = new ModelServer(() => ({ status: 401, body: "who are you" }));
  await using serving = new ModelServer(() => "served");
  const alias = (first: ModelServer) =>
    `models: { a: [{ provider: { base_url: "${first.url}" }, model_id: big, default_temperature: 0.3 },` +
    ` { provider: { base_url: "${serving.url}" }, model_id: small, default_temperature: 0.9 }] }\n`;
  await using work = await Workspace.create({ "busy.yml": alias(busy), "denying.yml": alias(denying) });

  const first = await work.run(["--config", "busy.yml", "--model", "a", "hi"]);
  assert.deepEqual([first.code, first.stdout], [0, "served\n"], first.stderr);
  assert.equal(busy.requests.length, 4);
  const warnings = first.stderr.split("\n").filter((line) => line.startsWith("warning: "));
  assert.equal(warnings.length, 1, first.stderr);
  assert(
    warnings[0]!.includes(busy.url) && warnings[0]!.includes("small") && warnings[0]!.includes("503"),
    warnings[0],
  );
  assert.deepEqual([serving.onlyBody.model, serving.onlyBody["temperature"]], ["small", 0.3]);

  const second = await work.run(["--config", "denying.yml", "--model", "a", "hi"]);
  assert.equal(second.code, 4, second.stderr);
  assert.equal(denying.requests.length, 1);
  const third = await work.run(["--config", "busy.yml", "--model", "a", "hi"], { env: { OPENAI_API_KEY: "x" } });
  assert.equal(third.code, 4);
  assert.equal(serving.requests.length, 1);
});

Deno.test("cli 17: with every entry down the last error is reported, streamed too", async () => {
  await using one = new ModelServer(() => ({ status: 500, body: "one" }));
  await using two = new ModelServer(() => ({ status: 502, body: "two" }));
  const models = `models: { a: [{ provider: { base_url: "${one.url}" }, model_id: x },` +
    ` { provider: { base_url: "${two.url}" }, model_id: y }] }\n`;
  await using work = await Workspace.create({ "lait.config.yml": models });
  for (const mode of [[], ["--stream"]]) {
    const { code, stdout, stderr } = await work.run(["--model", "a", "hi", ...mode]);
    assert.deepEqual([code, stdout], [4, ""], stderr);
    assert.match(stderr.trimEnd().split("\n").at(-1)!, /^lait: .*502.*two/);
  }
});

Deno.test("cli 20: the chat reads OPENAI_BASE_URL and OPENAI_API_KEY; a flag beats them", async () => {
  await using server = new ModelServer(() => "ok");
  await using other = new ModelServer(() => "other");
  await using work = await Workspace.create();
  const env = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "from-env", LLM_MODEL: "m" };
  assert.equal((await work.run(["hi"], { env })).stdout, "ok\n");
  assert.equal(server.requests[0]!.headers.get("authorization"), "Bearer from-env");
  assert.equal((await work.run(["hi", "--base-url", other.url, "--api-key", "flag"], { env })).stdout, "other\n");
  assert.equal(other.requests[0]!.headers.get("authorization"), "Bearer flag");
});

Deno.test("[D12] cli 21: .env fills in for what is not set; a bad line is exit 1 with its place, but not for --version", async () => {
  await using server = new ModelServer(() => "ok");
  await using work = await Workspace.create({ ".env": "export LLM_MODEL=from-file\n" });
  const args = ["--base-url", server.url, "hi"];
  assert.equal((await work.run(args)).code, 0);
  assert.equal(server.requests[0]!.body.model, "from-file");
  assert.equal((await work.run(args, { env: { LLM_MODEL: "exported" } })).code, 0);
  assert.equal(server.requests[1]!.body.model, "exported");
  const without = await work.run(["--no-env", ...args]);
  assert.deepEqual([without.code, /model is required/.test(without.stderr)], [1, true]);
  await work.write(".env", "BAD\n");
  const bad = await work.run(args);
  assert.equal(bad.code, 1);
  assert.match(bad.stderr, /^lait: \.env:1:1: /);
  for (const flag of ["--version", "--help"]) assert.equal((await work.run([flag])).code, 0);
  assert.equal(server.requests.length, 2);
});

Deno.test("cli 22: quoted values of .env reach the tools", async () => {
  await using server = new ModelServer([{ calls: [{ name: "tool__show" }] }, "ok"]);
  await using work = await Workspace.create({
    ".env": 'K="a\\nb # c" # d\n',
    "lait.config.yml": 'tools: { show: { command: ["printenv", "K"] } }\n',
  });
  assert.equal((await work.run([...at(server), "--tool", "show", "hi"])).code, 0);
  assert.deepEqual(server.toolResults(), ["a\nb # c"]);
});

Deno.test("cli 25: a failed answer makes no file; a stream that is cut keeps what came, exit 4", async () => {
  await using failing = new ModelServer(() => ({ status: 500, body: "no" }));
  await using cut = new ModelServer([{ chunks: ["half ", "of it"], cut: true }]);
  await using work = await Workspace.create({ "old.txt": "old\n" });
  for (const file of ["f.txt", "old.txt"]) {
    const { code } = await work.run([...at(failing), "-o", file, "hi"]);
    assert.equal(code, 4);
  }
  assert.equal(await work.exists("f.txt"), false);
  assert.equal(await work.read("old.txt"), "old\n");
  const streamed = await work.run([...at(cut), "--stream", "-o", "s.txt", "hi"]);
  assert.equal(streamed.code, 4, streamed.stderr);
  assert.match(await work.read("s.txt"), /^half of it/);
});

Deno.test("cli 28: a schema is sent strict and named; a bad name or schema is exit 1 without a request", async () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  await using server = new ModelServer(() => '```json\n{"a":"x"}\n```');
  await using work = await Workspace.create({
    "s.json": JSON.stringify(schema),
    "broken.json": "{",
    "invalid.json": '{"type":"objekt"}',
    "list.json": "[]",
  });
  const good = await work.run([...at(server), "--json-schema", "s.json", "hi"]);
  assert.deepEqual([good.code, good.stdout], [0, '{"a":"x"}\n'], good.stderr);
  assert.deepEqual(server.requests[0]!.body["response_format"], {
    type: "json_schema",
    json_schema: { name: "structured_output", schema, strict: true },
  });
  const bad = [
    ["s.json", ["--schema-name", "a b"], /--schema-name/],
    ["broken.json", [], /broken\.json is not JSON/],
    ["invalid.json", [], /invalid\.json: .*type/],
    ["list.json", [], /must be an object/],
    ["missing.json", [], /missing\.json/],
  ] as const;
  for (const [file, more, message] of bad) {
    const { code, stderr } = await work.run([...at(server), "--json-schema", file, ...more, "hi"]);
    assert.equal(code, 1, stderr);
    assert.match(stderr, message);
  }
  assert.equal(server.requests.length, 1);
});

Deno.test("cli 28: with a tool the schema comes last, alone, and without the draft", async () => {
  await using server = new ModelServer([{ calls: [{ name: "tool__list" }] }, "a draft", '{"a":1}']);
  await using work = await Workspace.create({
    "s.json": "{}",
    "lait.config.yml": 'tools: { list: { command: ["ls"] } }\n',
  });
  const { code, stdout } = await work.run([...at(server), "--tool", "list", "--json-schema", "s.json", "hi"]);
  assert.deepEqual([code, stdout], [0, '{"a":1}\n']);
  const [first, second, last] = server.requests.map(({ body }) => body);
  assert(first!.tools && second!.tools && !("response_format" in first!) && !("response_format" in second!));
  assert(!("tools" in last!) && "response_format" in last!);
  assert.deepEqual(last!.messages, second!.messages);
});

Deno.test("cli 29: text files are fenced behind the prompt, PDFs stand beside it; what is neither is refused", async () => {
  await using server = new ModelServer(() => "ok");
  await using work = await Workspace.create({ "a.txt": "one\n```\ntwo", "b.txt": "b", "doc.pdf": "%PDF-1.4 x" });
  await Deno.writeFile(work.path("bin"), new Uint8Array([0, 255, 254]));
  await Deno.writeFile(work.path("big.txt"), new Uint8Array(11 * 1024 * 1024).fill(120));
  const text = await work.run([...at(server), "--file", "a.txt", "--file", "b.txt", "q"], { stdin: "piped" });
  assert.equal(text.code, 0, text.stderr);
  assert.equal(
    server.requests[0]!.body.messages[0]!.content,
    "q\n\npiped\n\n````a.txt\none\n```\ntwo\n````\n\n```b.txt\nb\n```",
  );
  assert.equal((await work.run([...at(server), "--file", "doc.pdf", "q"])).code, 0);
  assert.deepEqual(server.requests[1]!.body.messages[0]!.content, [
    { type: "text", text: "q" },
    { type: "file", file: { filename: "doc.pdf", file_data: `data:application/pdf;base64,${btoa("%PDF-1.4 x")}` } },
  ]);
  for (
    const [file, message] of [["bin", /bin: it is neither UTF-8/], ["big.txt", /big\.txt.*10485760/], [
      "none",
      /none/,
    ]] as const
  ) {
    const { code, stderr } = await work.run([...at(server), "--file", file, "q"]);
    assert.equal(code, 1);
    assert.match(stderr, message);
  }
  assert.equal(server.requests.length, 2);
});

Deno.test("cli 30: an image is known by its bytes, else by its name; a URL goes through", async () => {
  await using server = new ModelServer(() => "ok");
  await using work = await Workspace.create({ "x.txt": "no image", "y.JPG": "no magic" });
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]);
  await Deno.writeFile(work.path("x"), png);
  const { code, stderr } = await work.run([
    ...at(server),
    "--image",
    "x",
    "--image",
    "https://h/i?x",
    "--image",
    "y.JPG",
    "q",
  ]);
  assert.equal(code, 0, stderr);
  const content = server.onlyBody.messages[0]!.content as { type: string; image_url?: { url: string } }[];
  assert.deepEqual(content.map(({ type }) => type), ["text", "image_url", "image_url", "image_url"]);
  assert.equal(content[1]!.image_url!.url, `data:image/png;base64,${btoa(String.fromCharCode(...png))}`);
  assert.equal(content[2]!.image_url!.url, "https://h/i?x");
  assert.match(content[3]!.image_url!.url, /^data:image\/jpeg;base64,/);
  const bad = await work.run([...at(server), "--image", "x.txt", "q"]);
  assert.equal(bad.code, 1);
  assert.match(bad.stderr, /x\.txt: it is no PNG/);
});

Deno.test("cli 47: -vv shows the exchange and never the key; LAIT_LOG=off silences it", async () => {
  await using server = new ModelServer(() => ({ text: "the answer", usage: { prompt_tokens: 1 } }));
  await using work = await Workspace.create();
  const key = "sk-very-secret-0123456789";
  for (const mode of [[], ["--stream"]]) {
    const { code, stderr } = await work.run([...at(server), "--api-key", key, "-vv", "hi", ...mode]);
    assert.equal(code, 0);
    assert.match(stderr, /trace: POST http.*"messages":\[\{"role":"user","content":"hi"\}\]/);
    assert.match(stderr, /trace: .*nswer/);
    assert.equal(stderr.includes(key), false);
  }
  const silent = await work.run([...at(server), "-vv", "hi"], { env: { LAIT_LOG: "off" } });
  assert.equal(silent.stderr, "");
  const odd = await work.run([...at(server), "-v", "hi"], { env: { LAIT_LOG: "loud" } });
  assert.match(odd.stderr, /^debug: /);
  const target = await work.run([...at(server), "hi"], { env: { LAIT_LOG: "other=trace,lait=debug" } });
  assert.match(target.stderr, /^debug: /);
  assert.doesNotMatch(target.stderr, /trace: /);
});

Deno.test("--system-file: its text without the space at its end is the system prompt", async () => {
  await using server = new ModelServer(["ok"]);
  await using work = await Workspace.create({
    "s.txt": "Be kind.\n\n",
    "lait.config.yml": "default: { system: other }\n",
  });
  assert.equal((await work.run([...at(server), "--system-file", "s.txt", "hi"])).code, 0);
  assert.deepEqual(server.onlyBody.messages[0], { role: "system", content: "Be kind." });
});

Deno.test("--render: styled on a terminal, raw in a pipe and in JSON; NO_COLOR leaves the layout", async () => {
  const markdown = "# Title\n\n- **bold** item";
  await using server = new ModelServer(() => markdown);
  await using work = await Workspace.create();
  assert.equal((await work.run([...at(server), "--render", "hi"])).stdout, `${markdown}\n`);
  const json = await work.run([...at(server), "--render", "--json", "hi"]);
  assert.equal(JSON.parse(json.stdout).content, markdown);
  const plain = await work.terminal([...at(server), "--render", "--no-stdin", "hi"]).ended();
  assert.match(plain.stdout, /Title\r\n\r\n• bold item/);
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(plain.stdout, /\x1b\[1m/);
  const colored = await work.terminal([...at(server), "--render", "--no-stdin", "hi"], { env: { NO_COLOR: undefined } })
    .ended();
  // deno-lint-ignore no-control-regex
  assert.match(colored.stdout, /\x1b\[1m.*Title/);
});

Deno.test("a model's control characters do not reach a terminal, and do reach a pipe", async () => {
  const nasty = "a\x1b]0;title\x07b";
  await using server = new ModelServer(() => nasty);
  await using work = await Workspace.create();
  assert.equal((await work.run([...at(server), "hi"])).stdout, `${nasty}\n`);
  for (const mode of [[], ["--stream"], ["--render"]]) {
    const { stdout } = await work.terminal([...at(server), ...mode, "--no-stdin", "hi"]).ended();
    assert.match(stdout, /a\\u\{1b\}\]0;title\\u\{7\}b/);
  }
});

Deno.test("a configuration that is a pipe is waited for, and Ctrl-C ends the waiting", async () => {
  await using server = new ModelServer(["ok"]);
  await using work = await Workspace.create();
  await new Deno.Command("mkfifo", { args: [work.path("pipe.yml")] }).output();
  const waiting = work.start([...at(server), "--config", "pipe.yml", "--no-stdin", "hi"]);
  setTimeout(() => waiting.signal("SIGINT"), 600);
  assert.equal((await waiting.ended()).code, 130);

  const served = work.start(["--base-url", server.url, "--config", "pipe.yml", "--no-stdin", "hi"]);
  await Deno.writeTextFile(work.path("pipe.yml"), "default: { model: piped }\n");
  assert.equal((await served.ended()).code, 0);
  assert.equal(server.onlyBody.model, "piped");
});

Deno.test("a configuration over the read limit is refused", async () => {
  await using work = await Workspace.create();
  await Deno.writeFile(work.path("lait.config.yml"), new Uint8Array(16 * 1024 * 1024 + 1).fill(35));
  const { code, stderr } = await work.run(["--model", "m", "hi"]);
  assert.equal(code, 1);
  assert.match(stderr, /lait\.config\.yml: it is over the read limit of 16777216 bytes/);
});

Deno.test("both names of the configuration in one directory are an error that names both", async () => {
  await using work = await Workspace.create({ "lait.config.yml": "{}", "lait.config.yaml": "{}" });
  const { code, stderr } = await work.run(["--model", "m", "hi"]);
  assert.equal(code, 1);
  assert.match(stderr, /lait\.config\.yml and .*lait\.config\.yaml/);
});

Deno.test("colour on stderr: NO_COLOR beats FORCE_COLOR beats the terminal", async () => {
  await using work = await Workspace.create();
  const prefix = async (env: Record<string, string | undefined>) =>
    (await work.run(["--modle", "x"], { env: { NO_COLOR: undefined, ...env } })).stderr.split(" ")[0];
  assert.equal(await prefix({}), "lait:");
  assert.equal(await prefix({ FORCE_COLOR: "1" }), "\x1b[31mlait:\x1b[39m");
  assert.equal(await prefix({ FORCE_COLOR: "1", NO_COLOR: "1" }), "lait:");
  assert.equal(await prefix({ FORCE_COLOR: "0" }), "lait:");
  const terminal = await work.terminal(["--modle", "x"], { env: { NO_COLOR: undefined } }).ended();
  assert(terminal.stdout.includes("\x1b[31mlait:"), terminal.stdout);
});
