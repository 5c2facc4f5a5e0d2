import assert from "node:assert/strict";
import { type Answer, ModelServer } from "./_server.ts";
import { Workspace } from "./_lait.ts";

/** Runs lait in a project with these files and this configuration. */
async function asking(
  files: Readonly<Record<string, string>>,
  config: Readonly<Record<string, unknown>>,
  options: { readonly args?: readonly string[]; readonly script?: readonly (string | Answer)[] } = {},
) {
  await using server = new ModelServer(options.script ?? ["done"]);
  await using work = await Workspace.create(files);
  const { default: defaults, ...rest } = config;
  const all = { base_url: server.url, default: { model: "m", ...defaults as object }, ...rest };
  await work.write("lait.config.yml", JSON.stringify(all));
  const result = await work.run(options.args ?? ["hi"]);
  return {
    ...result,
    bodies: server.requests.map(({ body }) => body),
    system: server.requests[0]?.body.messages[0],
    work,
  };
}

const a = "---\ndescription: d\n---\n\nb\n";
const review = "---\nname: Code review\ndescription: How to review\n---\nLook at {{ everything }}.";
const both = { skills: { a: "s/a.md", "code-review": "s/r.md" }, default: { skills: ["a", "code-review"] } };
const files = { "s/a.md": a, "s/r.md": review };

Deno.test("agents-tools 17: skills stand behind the system prompt, word for word, and alone without one", async () => {
  const one = await asking({ ...files, "agent.md": "---\n---\nBe brief." }, { ...both, default: { skills: ["a"] } }, {
    args: ["agent", "run", "agent.md", "hi"],
  });
  assert.equal(one.system!.content, "Be brief.\n\n---\n\n## Skill: a\n\nd\n\nb");
  const alone = await asking(files, both);
  assert.deepEqual([alone.code, alone.stderr, alone.bodies.length, alone.bodies[0]!.tools], [0, "", 1, undefined]);
  assert.equal(
    alone.system!.content,
    "## Skill: a\n\nd\n\nb\n\n## Skill: Code review\n\nHow to review\n\nLook at {{ everything }}.",
  );
  const repeated = await asking(files, { ...both, default: { skills: ["a", "a"], system: "S" } });
  assert.equal(repeated.system!.content, "S\n\n---\n\n## Skill: a\n\nd\n\nb\n\n## Skill: a\n\nd\n\nb");
  const off = await asking({ ...files, "agent.md": "---\nskills: []\n---\n" }, both, {
    args: ["agent", "run", "agent.md", "hi"],
  });
  assert.deepEqual(off.bodies[0]!.messages.map(({ role }) => role), ["user"]);
});

Deno.test("skills: an unknown name and a wrong file are told before any request, each with its place", async () => {
  const unknown = await asking(files, { ...both, default: { skills: ["b"] } });
  assert.deepEqual([unknown.code, unknown.bodies.length], [1, 0]);
  assert.match(unknown.stderr, /lait\.config\.yml:1:\d+: unknown skill 'b'.*`skills:`/);
  const wrong = await asking({ "s/a.md": "---\nmodel: m\n---\nx", "s/r.md": "x" }, both);
  assert.deepEqual([wrong.code, wrong.bodies.length], [3, 0]);
  assert.match(wrong.stderr, /s\/a\.md:2:1: unknown key `model`|s\/r\.md:1:1: the first line/);
});

Deno.test("agents-tools 18: with progressive disclosure a tool gives the text, and the prompt only what it is for", async () => {
  const config = { ...both, default: { skills: ["code-review"], skill_progressive_disclosure: true } };
  const script = [{ calls: [{ name: "skill__code-review", arguments: "" }] }, "done"];
  const { code, system, bodies } = await asking(files, config, { script });
  assert.equal(code, 0);
  const text = String(system!.content);
  assert.match(text, /^## Skill: Code review\n\nHow to review\n\n.*`skill__code-review`/);
  assert.doesNotMatch(text, /everything/);
  assert.deepEqual(bodies[0]!.tools!.map(({ function: { name, parameters } }) => [name, parameters]), [
    ["skill__code-review", { type: "object", properties: {} }],
  ]);
  assert.equal(
    bodies[1]!.messages.at(-1)!.content,
    "## Skill: Code review\n\nHow to review\n\nLook at {{ everything }}.",
  );
  const denied = await asking(files, { ...config, tool_policy: { deny: ["*"] } }, { script });
  assert.match(String(denied.bodies[1]!.messages.at(-1)!.content), /denied by tool_policy/);
  const twice = await asking(files, { ...config, default: { ...config.default, skills: ["a", "a"] } });
  assert.deepEqual([twice.code, twice.bodies.length], [1, 0]);
  assert.match(twice.stderr, /skills\.a is listed twice/);
});

Deno.test("skill list: a directory is its SKILL.md; what cannot be read is listed with its reason", async () => {
  const { code, stdout, work } = await asking(
    {
      "s/style/SKILL.md": "---\nname: style\ndescription: Our style\n---\nx",
      "s/bad.md": "---\nnome: x\n---\n",
    },
    { skills: { style: "s/style", bad: "s/bad.md", gone: "s/gone" } },
    { args: ["skill", "list"] },
  );
  const at = work.directory;
  assert.equal(code, 0);
  assert.deepEqual(stdout.trimEnd().split("\n"), [
    `bad  (${at}/s/bad.md)`,
    "  warning: s/bad.md:2:1: unknown key `nome` (accepted: name, description) (did you mean `name`?) [unknown-key]",
    `gone  (${at}/s/gone)`,
    `  warning: cannot read ${at}/s/gone: no such file`,
    `style  (${at}/s/style/SKILL.md): Our style`,
  ]);
  const none = await asking({}, {}, { args: ["skill", "list"] });
  assert.match(none.stdout, /^no skills defined in lait\.config\.yml.*`skills:`/);
});

Deno.test("[D33] cli-config 41: compaction asks for a summary before the round that is due, and keeps the first message", async () => {
  const tools = { t: { command: ["echo", "result"] } };
  const compaction = { trigger_rounds: 2, keep_last_n: 2 };
  const config = { tools, default: { tools: ["t"], system: "S", compaction } };
  const { code, stdout, bodies } = await asking({}, config, {
    script: [{ calls: [{ name: "tool__t" }] }, "the summary", "done"],
  });
  assert.deepEqual([code, stdout, bodies.length], [0, "done\n", 3]);
  assert.equal(bodies[1]!.tools, undefined);
  assert.equal(bodies[1]!.messages.at(-1)!.role, "user");
  assert.deepEqual(bodies[2]!.messages.map(({ role }) => role), ["system", "user", "user", "assistant", "tool"]);
  assert.equal(bodies[2]!.messages[1]!.content, "hi");
  assert.match(String(bodies[2]!.messages[2]!.content), /Summary.*the summary/s);
  assert.equal(bodies[2]!.messages[4]!.content, "result");
});

Deno.test("compaction: by tokens of the round before, by another model with a line of its own, and not at all when all is kept", async () => {
  const usage = { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 };
  const tools = { t: { command: ["echo", "result"] } };
  const script = [{ calls: [{ name: "tool__t" }], usage }, { text: "the summary", usage }, { text: "done", usage }];
  const compaction = { trigger_tokens: 100, keep_last_n: 0, model: "small" };
  const config = { tools, default: { tools: ["t"], compaction } };
  const { code, stderr, bodies } = await asking({}, config, { script, args: ["--show-usage", "--stream", "hi"] });
  assert.equal(code, 0);
  assert.deepEqual(bodies.map(({ model }) => model), ["m", "small", "m"]);
  assert.deepEqual(bodies[2]!.messages.map(({ role }) => role), ["user", "user"]);
  assert.match(stderr, /^ {2}chat \(compaction\): prompt=100 completion=1 total=101$/m);
  const kept = { tools, default: { tools: ["t"], compaction: { trigger_rounds: 1 } } };
  const all = await asking({}, kept, { script: [{ calls: [{ name: "tool__t" }] }, "done"] });
  assert.deepEqual([all.code, all.bodies.length], [0, 2]);
});

Deno.test("compaction: what is wrong with it is told when a loop with tools begins, and never without tools", async () => {
  const tools = { t: { command: ["echo"] } };
  for (
    const [compaction, said] of [
      [{}, /lait\.config\.yml:1:\d+: default\.compaction needs `trigger_rounds` or `trigger_tokens`/],
      [{ trigger_rounds: 0 }, /default\.compaction\.trigger_rounds must be at least 1/],
      [{ trigger_rounds: 1, keep_last_n: -1 }, /default\.compaction\.keep_last_n must be at least 0/],
    ] as const
  ) {
    const wrong = await asking({}, { tools, default: { tools: ["t"], compaction } });
    assert.deepEqual([wrong.code, wrong.bodies.length], [1, 0]);
    assert.match(wrong.stderr, said);
    assert.equal((await asking({}, { tools, default: { compaction } })).code, 0);
  }
});
