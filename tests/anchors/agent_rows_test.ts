/** What hurts users of the peers, section G, in agent files: front matter, types of its values, patterns of tools. */
import assert from "node:assert/strict";
import { Workspace } from "../cli/_lait.ts";
import { ModelServer } from "../cli/_server.ts";

const say = { command: ["touch", "ran"] };

/** Runs an agent whose file has this text. */
async function run(text: string, config: Readonly<Record<string, unknown>> = {}) {
  await using server = new ModelServer(({ body }, index) =>
    body.tools === undefined || index > 0 ? "done" : { calls: [{ name: "tool__say" }] }
  );
  await using work = await Workspace.create({ "a.md": text });
  await work.write("lait.config.yml", JSON.stringify({ base_url: server.url, default: { model: "m" }, ...config }));
  const result = await work.run(["agent", "run", "a.md", "hi"]);
  return { ...result, bodies: server.requests.map(({ body }) => body), ran: await work.exists("ran") };
}

Deno.test("T7: lines --- in the body and in texts neither end nor restart the front matter", async () => {
  const body = "One.\n\n---\nname: not a setting\n---\n\nTwo.";
  const { code, bodies } = await run(`---\ndescription: |\n  above\n  ---\n  below\n---\n${body}\n`);
  assert.equal(code, 0);
  assert.equal(bodies[0]!.messages[0]!.content, body);
  const open = await run("---\ndescription: |\n  above\n  ---\n  below\n");
  assert.deepEqual([open.code, open.bodies.length], [3, 0]);
});

Deno.test("T6: an agent whose settings cannot be read never runs without them", async () => {
  const config = { default: { model: "m", tools: ["say"] }, tools: { say } };
  for (
    const text of [
      "---\ntools: []\n",
      "--- \ntools: []\n---\n",
      "---\ntools: []\nname: a: b\n---\n",
      "---\ntools:\n\t- none\n---\n",
      "---\ntools: []\ntools: [say]\n---\n",
      "---\n<<: { tools: [] }\n---\n",
      "---\ntoolz: []\n---\n",
      "\n---\ntools: []\n---\n",
    ]
  ) {
    const { code, bodies, ran } = await run(text, config);
    assert.deepEqual([code, bodies.length, ran], [3, 0, false], JSON.stringify(text));
  }
  const off = await run("\ufeff---\r\ntools: []\r\n---", config);
  assert.deepEqual([off.bodies[0]!.tools, off.ran], [undefined, false]);
});

Deno.test("T9: a name or description of another type is a fault with its place, not a crash and not a guess", async () => {
  for (const value of ["3000", "true", "null", "[a]", "{ a: 1 }", "2024-01-01 # cut"]) {
    const { code, stderr } = await run(`---\nname: ${value}\n---\n`);
    if (value.startsWith("2024")) assert.match(stderr, /^==> 2024-01-01$/m);
    else {
      assert.equal(code, 3);
      assert.match(stderr, /a\.md:2:7: `name` must be a string/);
    }
  }
});

Deno.test("T15: patterns in the tools of an agent offer all that they fit; one that fits nothing is an error; show tells", async () => {
  const config = { tools: { say, sing: say, other: say } };
  const { bodies } = await run('---\ntools: ["s*", say]\n---\n', config);
  assert.deepEqual(bodies[0]!.tools!.map(({ function: { name } }) => name).toSorted(), ["tool__say", "tool__sing"]);
  const none = await run('---\ntools: ["x*"]\n---\n', config);
  assert.deepEqual([none.code, none.bodies.length], [1, 0]);
  assert.match(none.stderr, /a\.md:2:9: unknown tool 'x\*'.*`tools:` has say, sing, other/);
  await using work = await Workspace.create({
    "a.md": '---\ntools: ["s*"]\nsubagents: ["*"]\ntemperature: 0.5\n---\nOn {{ input }}',
    "lait.config.yml": JSON.stringify({ ...config, default: { model: "m" }, agents: { a: "a.md", b: "a.md" } }),
  });
  const { code, stdout } = await work.run(["agent", "show", "b"]);
  assert.equal(code, 0);
  assert.match(stdout, /^tools: +agent__a, agent__b, tool__say, tool__sing$/m);
  assert.match(stdout, /^sampling: +temperature=0\.5$/m);
});
