import assert from "node:assert/strict";
import { ModelServer } from "./_server.ts";
import { configWith, Workspace } from "./_lait.ts";

const KEY = "sk-very-secret-1234567890";

Deno.test("[D17] secrets: the key is in no line of stderr, at any verbosity, also when the server sends it back", async () => {
  const echo = JSON.stringify({ error: { message: `bad key ${KEY}, as in Bearer ${KEY}` } });
  const script = (index: number) =>
    [{ status: 401, body: echo }, { body: `<p>${KEY}</p>` }, { status: 500, body: KEY }][index % 3]!;
  await using server = new ModelServer((_, index) => script(index));
  await using work = await Workspace.create({
    "literal.yml": `default: { model: m }\nbase_url: ${server.url}\napi_key: ${KEY}\n`,
    "variable.yml": `default: { model: m }\nbase_url: ${server.url}\napi_key: \${THE_KEY}\n`,
    "command.yml": `default: { model: m }\nbase_url: ${server.url}\napi_key_cmd: cat key\n`,
    "key": `${KEY}\n`,
  });
  const at = ["--model", "m", "--base-url", server.url];
  const cases: [args: string[], env: Record<string, string>][] = [
    [["--config", "literal.yml"], {}],
    [["--config", "variable.yml"], { THE_KEY: KEY }],
    [["--config", "command.yml"], {}],
    [[...at, "--api-key", KEY], {}],
    [at, { OPENAI_API_KEY: KEY }],
    [at, { OPENAI_API_KEY: `${KEY}\n` }],
    [[...at, "--stream"], { OPENAI_API_KEY: KEY }],
  ];
  for (const [args, env] of cases) {
    for (const verbose of [[], ["-v"], ["-vv"]]) {
      const { code, stdout, stderr } = await work.run([...args, ...verbose, "hi"], { env });
      assert.deepEqual([code, stdout], [4, ""], stderr);
      assert(!`${stderr}`.includes(KEY), `${args} ${verbose} showed the key: ${stderr}`);
    }
  }
  assert(server.requests.every(({ headers }) => headers.get("authorization") === `Bearer ${KEY}`));
});

Deno.test("[D17] secrets: a key that no header can carry is exit 1 before any request, and is not shown", async () => {
  await using server = new ModelServer([]);
  await using work = await Workspace.create();
  for (const key of [`${KEY}\nX-Evil: 1`, `${KEY} é`, `${KEY} 鍵`, `${KEY} b`]) {
    const { code, stdout, stderr } = await work.run(["--base-url", server.url, "--model", "m", "-vv", "hi"], {
      env: { OPENAI_API_KEY: key },
    });
    assert.deepEqual([code, stdout], [1, ""], stderr);
    assert.match(stderr, /API key cannot be sent/);
    assert(!stderr.includes(KEY), stderr);
  }
  assert.equal(server.requests.length, 0);
});

Deno.test("secrets: a blank key counts as none", async () => {
  await using server = new ModelServer(() => "ok");
  await using work = await Workspace.create({ "lait.config.yml": 'api_key: " "\n' });
  for (const env of [{ OPENAI_API_KEY: "" }, { OPENAI_API_KEY: "  " }]) {
    assert.equal((await work.run(["--base-url", server.url, "--model", "m", "hi"], { env })).code, 0);
    assert.equal(server.requests.at(-1)!.headers.get("authorization"), "Bearer lm-studio");
  }
});

Deno.test("[D6] secrets: model keys, and variables that api_key fields name, are not inherited by tools", async () => {
  await using server = new ModelServer([{ calls: [{ name: "tool__all" }, { name: "tool__listed" }] }, "done"]);
  await using work = await Workspace.create({
    "~/.config/lait/config.yml": 'api_key: "${GLOBAL_KEY}"\n',
    "lait.config.yml": configWith({
      all: { command: ["env"] },
      listed: { command: ["/usr/bin/env"], env: { MINE: "${ALIAS_KEY}" } },
    }, {
      api_key: "a${TOP_KEY}b",
      models: {
        m: [
          { provider: { base_url: server.url }, model_id: "m" },
          { provider: { base_url: server.url, api_key: "${ALIAS_KEY}" }, model_id: "m" },
        ],
      },
      jev: { api_key: "${JEV_KEY}" },
    }),
  });
  const names = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GLOBAL_KEY", "TOP_KEY", "ALIAS_KEY", "JEV_KEY"];
  const env = { ...Object.fromEntries(names.map((name) => [name, `${KEY}-${name}`])), PLAIN: "seen" };
  const { code } = await work.run(["hi"], { env });
  assert.equal(code, 0);
  const [all, listed] = server.toolResults();
  assert.match(all!, /^PLAIN=seen$/m);
  assert(!all!.includes(KEY), all);
  assert.equal(listed, `MINE=${KEY}-ALIAS_KEY`);
});

Deno.test("-v says on stderr what is done, with the key's source; stdout stays the answer", async () => {
  await using server = new ModelServer([{ calls: [{ name: "tool__say", arguments: { text: "x\u001b[2J" } }] }, "done"]);
  await using work = await Workspace.create({
    "lait.config.yml": configWith({ say: { command: ["echo", "{{ input.text }}"] } }, {
      models: { m: [{ provider: { base_url: server.url }, model_id: "real", default_temperature: 0.5 }] },
    }),
  });
  const { code, stdout, stderr } = await work.run(["-v", "hi"]);
  assert.deepEqual([code, stdout], [0, "done\n"]);
  const said = [/real.*alias m/, /temperature":0\.5/, new RegExp(server.url), /key: absent/, /tools: say/, /tool__say/];
  for (const pattern of said) assert.match(stderr, pattern);
  assert(stderr.trimEnd().split("\n").every((line) => line.startsWith("debug: ")), stderr);
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(stderr, /\x1b/);
});

Deno.test("what a model or its server says cannot steer the terminal through an error", async () => {
  await using server = new ModelServer([
    { calls: [{ name: "tool__\u001b]0;x\u0007" }] },
    { status: 400, body: "bad \u001b[2J \u202e thing\nsecond line" },
  ]);
  await using work = await Workspace.create();
  for (const expected of [1, 4]) {
    const { code, stderr } = await work.run(["--base-url", server.url, "--model", "m", "hi"]);
    assert.equal(code, expected, stderr);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(stderr, /[\x00-\x09\x0b-\x1f\x7f\u202e]/);
    assert.match(stderr, /\\u\{1b\}/);
  }
});
