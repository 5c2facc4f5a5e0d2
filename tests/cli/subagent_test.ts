import assert from "node:assert/strict";
import { type Answer, type Call, ModelServer, type Script, type WireBody } from "./_server.ts";
import { running, uniqueSeconds, until, Workspace } from "./_lait.ts";

const agentCall = (name: string, args?: unknown): Call => ({ name: `agent__${name}`, arguments: args });

/** Runs lait in a project with these agents (name → file text). */
async function asking(
  agents: Readonly<Record<string, string>>,
  script: Script,
  options: {
    readonly args?: readonly string[];
    readonly config?: Readonly<Record<string, unknown>>;
    readonly defaults?: Readonly<Record<string, unknown>>;
    readonly files?: Readonly<Record<string, string>>;
  } = {},
) {
  await using server = new ModelServer(script);
  await using work = await Workspace.create(options.files ?? {});
  for (const [name, text] of Object.entries(agents)) await work.write(`agents/${name}.md`, text);
  const paths = Object.fromEntries(Object.keys(agents).map((name) => [name, `agents/${name}.md`]));
  const defaults = { model: "m", ...options.defaults };
  await work.write(
    "lait.config.yml",
    JSON.stringify({ base_url: server.url, agents: paths, ...options.config, default: defaults }),
  );
  const result = await work.run(options.args ?? ["hi"]);
  return { ...result, bodies: server.requests.map(({ body }) => body), results: server.toolResults(), work };
}

const said = ({ messages }: WireBody) => messages.map(({ role, content }) => [role, content]);
const plain = "---\n---\nYou help: {{ input }}";

Deno.test("agents-tools 12: a subagent gets its input as the user's message, and its answer is the call's result", async () => {
  const script = [{ calls: [agentCall("researcher", { input: "look" })] }, "found it", "done"];
  const { code, stdout, stderr, bodies } = await asking({ researcher: plain }, script, {
    args: ["--subagent", "researcher", "hi"],
  });
  assert.deepEqual([code, stdout, stderr], [0, "done\n", ""]);
  assert.deepEqual(bodies[0]!.tools, [{
    type: "function",
    function: {
      name: "agent__researcher",
      description: "Runs the 'researcher' subagent for a delegated task.",
      parameters: {
        type: "object",
        properties: { input: { description: "What the subagent is to work on: a text, or any JSON value" } },
        required: ["input"],
      },
    },
  }]);
  assert.deepEqual(said(bodies[1]!), [["system", "You help: look"], ["user", "look"]]);
  assert.equal(bodies[1]!.tools, undefined);
  assert.deepEqual(bodies[2]!.messages.slice(-1), [{ role: "tool", tool_call_id: "c0", content: "found it" }]);
});

Deno.test("subagents: an input that is JSON is not read, other JSON is compact text, and a schema takes the whole arguments", async () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const agents = {
    a: plain,
    b: `---\ndescription: Counts\ninput_schema: ${JSON.stringify(schema)}\n---\nN={{ input.n }}`,
  };
  const script = [
    {
      calls: [
        agentCall("a", { input: '{"x":1}' }),
        agentCall("a", { input: { x: [1, 2] } }),
        agentCall("b", '{ "n": 3 }'),
      ],
    },
  ];
  const answer = (request: { body: WireBody }, index: number): string | Answer =>
    index === 0 ? script[0]! : `answer to ${request.body.messages.at(-1)!.content}`;
  const { code, bodies } = await asking(agents, answer, { defaults: { subagents: ["a", "b"] } });
  assert.equal(code, 0);
  assert.deepEqual(bodies[0]!.tools!.map(({ function: { name, description } }) => [name, description]), [
    ["agent__a", "Runs the 'a' subagent for a delegated task."],
    ["agent__b", "Counts"],
  ]);
  assert.deepEqual(bodies[0]!.tools![1]!.function.parameters, schema);
  const inner = bodies.slice(1, 4).map(said).toSorted();
  assert.deepEqual(inner, [
    [["system", "N=3"], ["user", '{"n":3}']],
    [["system", 'You help: {"x":1}'], ["user", '{"x":1}']],
    [["system", 'You help: {"x":[1,2]}'], ["user", '{"x":[1,2]}']],
  ]);
  const results = bodies[4]!.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  assert.deepEqual(results, ['answer to {"x":1}', 'answer to {"x":[1,2]}', 'answer to {"n":3}']);
});

Deno.test("subagents: arguments that do not fit end the run before any call of that answer", async () => {
  const agents = { a: plain, b: "---\ninput_schema: { type: object, required: [n] }\n---\n" };
  const config = { tools: { touch: { command: ["touch", "ran"] } } };
  for (
    const [call, expected] of [
      [agentCall("a", {}), /subagent 'a': .*`input`/],
      [agentCall("a", ""), /subagent 'a': .*`input`/],
      [agentCall("b", { m: 1 }), /subagent 'b': .*input_schema.*n/],
      [agentCall("a", "[1]"), /agent__a.*JSON object/],
    ] as const
  ) {
    const script = [{ calls: [{ name: "tool__touch" }, call] }];
    const defaults = { subagents: ["a", "b"], tools: ["touch"] };
    const { code, stderr, bodies } = await asking(agents, script, { config, defaults });
    assert.deepEqual([code, bodies.length], [1, 1]);
    assert.match(stderr, expected);
  }
});

Deno.test("agents-tools 13: a subagent has nothing of its caller: not the URL, the model, the sampling or the lists", async () => {
  await using caller = new ModelServer([{ calls: [agentCall("a", { input: "x" })] }, "done"]);
  const own = ["--base-url", caller.url, "--model", "big", "--api-key", "k", "--temperature", "1", "--subagent", "a"];
  const config = { tools: { t: { command: ["echo"] } } };
  const { code, bodies } = await asking({ a: plain }, ["inner"], { args: [...own, "--tool", "t", "hi"], config });
  assert.equal(code, 0);
  assert.equal(caller.requests.length, 2);
  assert.deepEqual([bodies.length, bodies[0]!.model, bodies[0]!["temperature"], bodies[0]!.tools], [
    1,
    "m",
    undefined,
    undefined,
  ]);
});

Deno.test("agents-tools 14: an unknown subagent, or one listed twice, is told before any request", async () => {
  const unknown = await asking({ a: plain }, [], { args: ["--subagent", "nope", "hi"] });
  assert.deepEqual([unknown.code, unknown.bodies.length], [1, 0]);
  assert.match(unknown.stderr, /unknown subagent 'nope'.*`agents:` in lait\.config\.yml/);
  const placed = await asking({ a: plain }, [], { defaults: { subagents: ["b"] } });
  assert.match(placed.stderr, /lait\.config\.yml:1:\d+: unknown subagent 'b'/);
  const twice = await asking({ a: plain }, [], { args: ["--subagent", "a", "--subagent", "a", "hi"] });
  assert.deepEqual([twice.code, twice.bodies.length], [1, 0]);
  assert.match(twice.stderr, /agents\.a is listed twice/);
});

Deno.test("agents-tools 15: an agent that calls itself fails at that call, from agent run after one request", async () => {
  const self = { self: "---\nsubagents: [self]\n---\nx" };
  const script = () => ({ calls: [agentCall("self", { input: "x" })] });
  const direct = await asking(self, script, { args: ["agent", "run", "self", "hi"] });
  assert.deepEqual([direct.code, direct.bodies.length], [1, 1]);
  assert.match(direct.stderr, /subagent 'self': a cycle of subagents/);
  const chat = await asking(self, script, { args: ["--subagent", "self", "hi"] });
  assert.deepEqual([chat.code, chat.bodies.length], [1, 2]);
  const around = { a: "---\nsubagents: [b]\n---\n", b: "---\nsubagents: [a]\n---\n" };
  const other = ({ body }: { body: WireBody }) => ({
    calls: [{ name: body.tools![0]!.function.name, arguments: { input: 1 } }],
  });
  const pair = await asking(around, other, { args: ["agent", "run", "a", "hi"] });
  assert.deepEqual([pair.code, pair.bodies.length], [1, 2]);
  assert.match(pair.stderr, /cycle.*a\.md → .*b\.md → .*a\.md/);
});

Deno.test("agents-tools 16: sixteen agents may run within each other from a prompt, fifteen below an agent that is run", async () => {
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, index) => {
        const next = index + 1 < length ? `[s${index + 1}]` : "[]";
        return [`s${index}`, `---\nsubagents: ${next}\n---\n`];
      }),
    );
  const script = ({ body }: { body: WireBody }): string | Answer => {
    const tool = body.tools?.[0]?.function.name;
    const answered = body.messages.at(-1)!.role === "tool";
    return tool === undefined || answered ? "ok" : { calls: [{ name: tool, arguments: { input: "x" } }] };
  };
  const fits = await asking(chain(16), script, { args: ["--subagent", "s0", "hi"] });
  assert.deepEqual([fits.code, fits.stdout], [0, "ok\n"], fits.stderr);
  const over = await asking(chain(17), script, { args: ["--subagent", "s0", "hi"] });
  assert.deepEqual([over.code, over.bodies.length], [1, 17]);
  assert.match(over.stderr, /subagent 's16': .*one level of delegation too deep/);
  assert.equal((await asking(chain(16), script, { args: ["agent", "run", "s0", "hi"] })).code, 0);
  assert.equal((await asking(chain(17), script, { args: ["agent", "run", "s0", "hi"] })).code, 1);
});

Deno.test("subagents: whatever fails within ends the run with its exit code, and says where", async () => {
  const agents = { a: "---\nmax_tool_rounds: 1\ntools: [t]\n---\n{{ input.gone }}", b: plain };
  const config = { tools: { t: { command: ["echo"] } } };
  const template = await asking(agents, [{ calls: [agentCall("a", { input: {} })] }], {
    config,
    defaults: { subagents: ["a"] },
  });
  assert.equal(template.code, 1);
  assert.match(template.stderr, /^lait: subagent 'a': .*agents\/a\.md:5/);
  const model = await asking(agents, [
    { calls: [agentCall("b", { input: "x" })] },
    { status: 401, body: '{"error":{"message":"who are you"}}' },
  ], { defaults: { subagents: ["b"] } });
  assert.equal(model.code, 4);
  assert.match(model.stderr, /^lait: subagent 'b': .*who are you/);
  const rounds = await asking({ a: "---\nmax_tool_rounds: 1\ntools: [t]\n---\n" }, [
    { calls: [agentCall("a", { input: "x" })] },
    { calls: [{ name: "tool__t" }] },
  ], { config, defaults: { subagents: ["a"] } });
  assert.equal(rounds.code, 1);
  assert.match(rounds.stderr, /subagent 'a': max_tool_rounds \(1\)/);
});

Deno.test("subagents: the policy holds for them and within them, and usage has a line of each", async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const denied = await asking({ a: plain }, [{ calls: [agentCall("a", { input: "x" })] }, "done"], {
    defaults: { subagents: ["a"] },
    config: { tool_policy: { deny: ["agent__*"] } },
  });
  assert.deepEqual([denied.code, denied.bodies.length], [0, 2]);
  assert.match(denied.results[0]!, /denied by tool_policy/);
  const agent = "---\nname: Helper\ntools: [t]\n---\n";
  const { stderr, bodies } = await asking({ a: agent }, [
    { calls: [agentCall("a", { input: "x" })], usage },
    { calls: [{ name: "tool__t" }], usage },
    { text: "inner", usage },
    { text: "done", usage },
  ], {
    args: ["--show-usage", "--stream", "hi"],
    defaults: { subagents: ["a"] },
    config: { tool_policy: { deny: ["tool__t"] }, tools: { t: { command: ["touch", "ran"] } } },
  });
  assert.match(String(bodies[2]!.messages.at(-1)!.content), /denied by tool_policy/);
  assert.deepEqual(stderr.trimEnd().split("\n"), [
    "usage:",
    "  chat: prompt=2 completion=2 total=4 (2 requests)",
    "  subagent 'a': prompt=2 completion=2 total=4 (2 requests)",
    "  total: prompt=4 completion=4 total=8 (4 requests)",
  ]);
});

Deno.test("subagents: with --stream only the answer is printed, and an agent's output_schema asks once more at its end", async () => {
  const agents = { a: "---\ntools: [t]\noutput_schema: { type: object }\n---\n" };
  const { stdout, bodies } = await asking(agents, [
    { calls: [agentCall("a", { input: "x" })] },
    "inner draft",
    '{"inner":1}',
    "outer answer",
  ], { args: ["--stream", "hi"], defaults: { subagents: ["a"] }, config: { tools: { t: { command: ["echo"] } } } });
  assert.equal(stdout, "outer answer\n");
  assert.deepEqual(bodies.map(({ stream }) => stream), [true, false, false, true]);
  assert.equal(bodies[3]!.messages.at(-1)!.content, '{"inner":1}');
});

Deno.test("subagents: Ctrl-C ends the whole tree: requests, and what tools have started", async () => {
  const seconds = uniqueSeconds();
  const both = { calls: [agentCall("a", { input: "x" }), agentCall("b", { input: "x" })] };
  await using server = new ModelServer(({ body }, index) => {
    if (index === 0) return both;
    return body.tools === undefined ? { hang: true } : { calls: [{ name: "tool__sleep" }] };
  });
  await using work = await Workspace.create({
    "lait.config.yml": JSON.stringify({
      base_url: server.url,
      default: { model: "m" },
      agents: { a: "a.md", b: "b.md" },
      tools: { sleep: { command: ["sh", "-c", `sleep ${seconds} & wait`] } },
    }),
    "a.md": "---\ntools: [sleep]\n---\n",
    "b.md": plain,
  });
  const lait = work.start(["--subagent", "a", "--subagent", "b", "hi"]);
  await until(() => running(seconds).length >= 2 && server.requests.length === 3, "both subagents at work");
  lait.signal("SIGINT");
  const { code, stdout } = await lait.ended();
  assert.deepEqual([code, stdout, server.requests.length], [130, "", 3]);
  assert.deepEqual(running(seconds), []);
});

Deno.test("subagents: calls of one answer run at the same time, and a failure of one ends the others", async () => {
  const both = { calls: [agentCall("a", { input: "1" }), agentCall("b", { input: "2" })] };
  const leaf = "---\nsubagents: []\n---\n";
  const met = Promise.withResolvers<void>();
  let inside = 0;
  await using server = new ModelServer(({ body }) => {
    if (body.tools === undefined && ++inside === 2) met.resolve();
    return body.tools !== undefined && body.messages.at(-1)!.role === "user" ? both : { text: "ok", delayMs: 300 };
  });
  await using work = await Workspace.create({ "a.md": leaf, "b.md": leaf });
  const config = (url: string) =>
    JSON.stringify({ base_url: url, default: { model: "m", subagents: ["a", "b"] }, agents: { a: "a.md", b: "b.md" } });
  await work.write("lait.config.yml", config(server.url));
  const ran = work.run(["hi"]);
  await met.promise; // Neither has been answered when the second asks.
  assert.deepEqual([(await ran).code, server.requests.length], [0, 4]);
  await using failing = new ModelServer(({ body }, index) => {
    if (index === 0) return both;
    return body.messages.at(-1)!.content === "1"
      ? { status: 400, body: "{}", delayMs: 300 }
      : { chunks: ["x"], hang: true };
  });
  await work.write("lait.config.yml", config(failing.url));
  const { code, stdout, stderr } = await work.run(["hi"]);
  assert.deepEqual([code, stdout, failing.requests.length], [4, "", 3]);
  assert.match(stderr, /^lait: subagent 'a': /);
});

Deno.test("subagents: --approve-tools asks within them, too, and what was allowed for good holds everywhere", async () => {
  await using server = new ModelServer(({ body }) => {
    const answered = body.messages.filter(({ role }) => role === "tool").length;
    const name = body.tools![0]!.function.name;
    if (answered > 0) return "ok";
    return { calls: [{ name, arguments: { input: "x" } }, ...name === "tool__t" ? [{ name }] : []] };
  });
  await using work = await Workspace.create({
    "a.md": "---\ntools: [t]\nsubagents: []\n---\n",
    "lait.config.yml": JSON.stringify({
      base_url: server.url,
      default: { model: "m", subagents: ["a"] },
      agents: { a: "a.md" },
      tools: { t: { command: ["sh", "-c", "echo x >>log"] } },
    }),
  });
  const lait = work.terminal(["--approve-tools", "hi"]);
  await lait.saw(/tool call: agent__a[^]*run it\?/);
  await lait.type("y\n");
  await lait.saw(/tool call: tool__t[^]*run it\?/);
  await lait.type("a\n");
  const { code, stdout } = await lait.ended();
  assert.deepEqual([code, [...stdout.matchAll(/run it\?/g)].length], [0, 2]);
  assert.equal(await work.read("log"), "x\nx\n");
});
