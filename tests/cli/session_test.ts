import assert from "node:assert/strict";
import { type Answer, ModelServer, type WireBody } from "./_server.ts";
import { Workspace } from "./_lait.ts";

const said = ({ messages }: WireBody) => messages.map(({ role, content }) => [role, content]);

Deno.test("cli-config 33 and 34: a session goes on, is listed, shown and deleted; a failed turn leaves no trace", async () => {
  await using server = new ModelServer(["one", "two", { status: 400, body: "{}" }]);
  await using work = await Workspace.create({ "f.txt": "file" });
  const args = ["--base-url", server.url, "--model", "m", "--system", "S", "--session", "d"];
  assert.equal((await work.run([...args, "first"], { stdin: "piped" })).code, 0);
  assert.equal((await work.run([...args, "--stream", "second", "--file", "f.txt"])).code, 0);
  assert.deepEqual(said(server.requests[1]!.body), [
    ["system", "S"],
    ["user", "first\n\npiped"],
    ["assistant", "one"],
    ["user", "second\n\n```f.txt\nfile\n```"],
  ]);
  const kept = await work.read(".lait/sessions/d.jsonl");
  assert.deepEqual(kept.trimEnd().split("\n").map((line) => JSON.parse(line)), [
    { role: "user", content: "first\n\npiped" },
    { role: "assistant", content: "one" },
    { role: "user", content: "second\n\n```f.txt\nfile\n```" },
    { role: "assistant", content: "two" },
  ]);
  assert.equal((await work.run([...args, "fails"])).code, 4);
  assert.equal(await work.read(".lait/sessions/d.jsonl"), kept);
  await work.write(".lait/sessions/notes.txt", "no session");
  assert.equal((await work.run(["sessions", "list"])).stdout, "d  (2 turns)\n");
  const shown = await work.run(["sessions", "show", "d"]);
  assert.match(shown.stdout, /^user: first\n\npiped\nassistant: one\nuser: second/);
  assert.match((await work.run(["sessions", "delete", "d"])).stdout, /deleted session d/);
  for (const action of ["delete", "show"]) assert.equal((await work.run(["sessions", action, "d"])).code, 1);
  assert.match((await work.run(["sessions", "list"])).stdout, /^no sessions/);
});

Deno.test("sessions: a name that is none, a line that is no message, and links are refused before any request", async () => {
  await using server = new ModelServer([]);
  await using work = await Workspace.create({
    ".lait/sessions/bad.jsonl": '{"role":"user","content":"x"}\n{"role":"tool"}\n',
  });
  await Deno.symlink(work.path("elsewhere"), work.path(".lait/sessions/link.jsonl"));
  const args = ["--base-url", server.url, "--model", "m", "hi", "--session"];
  const faults: [name: string, said: RegExp][] = [
    ["../x", /name of a session must be letters/],
    ["", /name of a session must be letters/],
    ["bad", /bad\.jsonl:2: not a message of a session/],
    ["link", /link\.jsonl is a symbolic link/],
  ];
  for (const [name, expected] of faults) {
    const { code, stderr } = await work.run([...args, name]);
    assert.equal(code, 1);
    assert.match(stderr, expected);
  }
  await Deno.rename(work.path(".lait"), work.path("real"));
  await Deno.symlink(work.path("real"), work.path(".lait"));
  assert.match((await work.run([...args, "ok"])).stderr, /\.lait is a symbolic link/);
  assert.equal(server.requests.length, 0);
  assert(!await work.exists("elsewhere"));
});

Deno.test("sessions: turns of several processes at once stay whole", async () => {
  await using server = new ModelServer(({ body }) => `to ${body.messages.at(-1)!.content}`);
  await using work = await Workspace.create();
  const args = ["--base-url", server.url, "--model", "m", "--session", "s"];
  const names = ["a", "b", "c", "d", "e", "f"];
  await Promise.all(names.map((name) => work.run([...args, name])));
  const contents = (await work.read(".lait/sessions/s.jsonl")).trimEnd().split("\n").map((line) =>
    JSON.parse(line).content
  );
  const pairs = names.map((_, index) => contents.slice(2 * index, 2 * index + 2)).toSorted();
  assert.deepEqual(pairs, names.map((name) => [name, `to ${name}`]));
});

/** Runs lait with these prompts. */
async function prompting(args: readonly string[], script: readonly (string | Answer)[] = ["done"], defaults = {}) {
  await using server = new ModelServer(script);
  await using work = await Workspace.create();
  const prompts = {
    polite: { template: "Rewrite in a {{ vars.tone }} tone:\n\n{{ input }}", vars: { tone: "friendly" }, model: "p" },
    field: { template: "{{ input.a }}" },
    json: { template: "{{ json input }}" },
    text: { template: "{{ input }}" },
    extra: { template: "{{ vars.k }}" },
  };
  await work.write(
    "lait.config.yml",
    JSON.stringify({ base_url: server.url, default: { model: "m", ...defaults }, prompts }),
  );
  return { ...await work.run(args), bodies: server.requests.map(({ body }) => body) };
}

Deno.test("cli-config 36: a prompt is rendered with its input and variables; what is wrong is told before any request", async () => {
  const sent = async (...args: string[]) => (await prompting(args)).bodies[0]?.messages.at(-1)?.content;
  assert.equal(await sent("-p", "field", '{"a":1}'), "1");
  assert.equal(await sent("-p", "json", '{"a": [1]}'), '{"a":[1]}');
  assert.equal(await sent("-p", "text", '"quoted"'), "quoted");
  assert.equal(await sent("-p", "text", "12345678901234567890"), "12345678901234567890");
  assert.equal(await sent("-p", "extra", "x", "--var", "k=a=b"), "a=b");
  assert.equal(await sent("-p", "polite", "hi", "--var", "tone=formal"), "Rewrite in a formal tone:\n\nhi");
  assert.equal(await sent("prompt", "run", "polite", "hi"), "Rewrite in a friendly tone:\n\nhi");
  assert.equal(await sent("-p", "text", "{{ vars.tone }}"), "{{ vars.tone }}");
  const faults: [args: string[], said: RegExp][] = [
    [["-p", "text", '{"a":1}'], /lait\.config\.yml:1:\d+.*json input|json input/],
    [["-p", "extra", "x"], /vars\.k/],
    [["-p", "extra", "x", "--var", "k"], /--var must be KEY=VALUE/],
    [["-p", "extra", "x", "--var", "=v"], /--var must be KEY=VALUE/],
    [
      ["-p", "polit", "x"],
      /unknown prompt 'polit' \(did you mean `polite`\?\); `prompts:` has extra, field, json, polite, text/,
    ],
    [["prompt", "run", "polite"], /INPUT is required/],
  ];
  for (const [args, expected] of faults) {
    const { code, stderr, bodies } = await prompting(args);
    assert.deepEqual([code, bodies.length], [1, 0]);
    assert.match(stderr, expected);
  }
});

Deno.test("cli-config 37: prompt run has no default system prompt, -p has; the prompt's model is weaker than the caller's", async () => {
  const defaults = { system: "S" };
  const run = await prompting(["prompt", "run", "polite", "x"], ["done"], defaults);
  assert.deepEqual([run.bodies[0]!.model, run.bodies[0]!.messages.map(({ role }) => role)], ["p", ["user"]]);
  const named = await prompting(["-p", "polite", "x"], ["done"], defaults);
  assert.deepEqual([named.bodies[0]!.model, named.bodies[0]!.messages[0]], ["p", { role: "system", content: "S" }]);
  const other = await prompting(["-p", "polite", "x", "--model", "mine"]);
  assert.equal(other.bodies[0]!.model, "mine");
});

Deno.test("prompt list: sorted, with the models that prompts bring", async () => {
  assert.equal((await prompting(["prompt", "list"])).stdout, "extra\nfield\njson\npolite  (model: p)\ntext\n");
  await using work = await Workspace.create();
  assert.match((await work.run(["prompt", "list"])).stdout, /^no prompts defined/);
});
