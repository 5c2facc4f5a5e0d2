import assert from "node:assert/strict";
import { ModelServer } from "../cli/_server.ts";
import { Workspace } from "../cli/_lait.ts";
import { Journal, planned, stdio } from "./_mcp.ts";
import type { ServerPlan } from "./stdio_server.ts";

const server = (plan: ServerPlan, more: Readonly<Record<string, unknown>> = {}) => stdio(planned(plan), more);

/** Runs lait against a model that makes these calls and then is done; what was offered, and told. */
async function lait(
  config: Readonly<Record<string, unknown>>,
  args: readonly string[] = [],
  calls: readonly string[] = [],
) {
  await using model = new ModelServer(
    calls.length === 0 ? ["done"] : [{ calls: calls.map((name) => ({ name, arguments: { a: 1 } })) }, "done"],
  );
  await using work = await Workspace.create({ "lait.config.yml": JSON.stringify(config) });
  const ended = await work.run(["--model", "m", "--base-url", model.url, ...args, "hi"]);
  const offered = model.requests[0]?.body.tools?.map((tool) => tool.function) ?? [];
  return {
    ...ended,
    requests: model.requests.length,
    tools: offered,
    names: offered.map(({ name }) => name),
    results: model.requests.length > 1 ? model.toolResults() : [],
  };
}

Deno.test("mcp: --mcp and default.mcp choose servers; the flag replaces the defaults, and others are not started", async () => {
  await using journal = await Journal.make();
  const config = {
    default: { mcp: ["b"] },
    mcp_servers: { a: server({ tools: ["x"] }), b: server({ journal: journal.path }), c: server({ tools: ["z"] }) },
  };
  const both = await lait(config, ["--mcp", "c", "--mcp", "a"]);
  assert.deepEqual([both.code, both.names], [0, ["c__z", "a__x"]]);
  assert.deepEqual(await journal.methods(), []);
  assert.deepEqual((await lait(config)).names, ["b__echo"]);
  assert.deepEqual(await journal.methods(), ["start", "initialize", "notifications/initialized", "tools/list"]);
  const unknown = await lait(config, ["--mcp", "aa"]);
  assert.match(unknown.stderr, /unknown MCP server 'aa': it is not under `mcp_servers:`/);
  assert.equal(unknown.requests, 0);
});

Deno.test("mcp: names are those of the server's key and the tool; description and schema go as they are", async () => {
  const inputSchema = {
    type: "object",
    properties: { q: { type: "string", pattern: "^[\\w-.]+$" } },
    title: "kept",
  };
  const tool = { name: "tool.name", description: "Does it.", inputSchema };
  const config = { mcp_servers: { "my server": server({ tools: [tool, "x".repeat(70)] }) } };
  const { code, tools, results } = await lait(config, ["--mcp", "my server"], ["my_server__tool_name"]);
  assert.equal(code, 0);
  assert.deepEqual(tools[0], { name: "my_server__tool_name", description: "Does it.", parameters: inputSchema });
  assert.match(tools[1]!.name, /^my_server__x{44}_[0-9a-f]{8}$/);
  assert.deepEqual(results, ['{"a":1}']);
});

Deno.test("mcp: two tools of one name are an error before any request that names both", async () => {
  const echo = { command: ["true"] };
  const cases: [Record<string, unknown>, string[], RegExp][] = [
    [
      { mcp_servers: { tool: server({}) }, tools: { echo } },
      ["--mcp", "tool", "--tool", "echo"],
      /mcp_servers\.tool \(echo\) and tools\.echo/,
    ],
    [{ mcp_servers: { s: server({}) } }, ["--mcp", "s", "--mcp", "s"], /mcp_servers\.s \(echo\) is listed twice/],
    [
      { mcp_servers: { s: server({ tools: ["a.b", "a_b"] }) } },
      ["--mcp", "s"],
      /mcp_servers\.s \(a\.b\) and mcp_servers\.s \(a_b\)/,
    ],
  ];
  for (const [config, args, message] of cases) {
    const { code, stderr, requests } = await lait(config, args);
    assert.deepEqual([code, requests], [1, 0]);
    assert.match(stderr, message);
  }
});

Deno.test("mcp: --tool server__pattern offers single tools and connects that server alone", async () => {
  const files = server({ tools: ["read_file", "write_file", "list.dir"] });
  const config = {
    default: { mcp: [] },
    mcp_servers: { files, other: server({ exit: 1 }) },
    tools: { t: { command: ["true"] } },
  };
  assert.deepEqual((await lait(config, ["--tool", "files__*_file", "--tool", "t"])).names, [
    "files__read_file",
    "files__write_file",
    "tool__t",
  ]);
  assert.deepEqual((await lait(config, ["--tool", "files__list.dir"])).names, ["files__list_dir"]);
  assert.deepEqual((await lait(config, ["--tool", "files__list_dir"])).names, ["files__list_dir"]);
  assert.equal((await lait(config, ["--tool", "files__*", "--mcp", "files"])).names.length, 3);
  const none = await lait(config, ["--tool", "files__read_fil"]);
  assert.match(
    none.stderr,
    /unknown tool 'files__read_fil': no tool of mcp_servers\.files fits it; did you mean `files__read_file`/,
  );
  const nowhere = await lait(config, ["--tool", "fils__x"]);
  assert.match(nowhere.stderr, /unknown MCP server 'fils'.*did you mean `files`/);
  const own = await lait({ mcp_servers: { a: server({ exit: 1 }) }, tools: { a__b: { command: ["true"] } } }, [
    "--tool",
    "a__b",
  ]);
  assert.deepEqual(own.names, ["tool__a__b"]);
});

Deno.test("mcp: a tool that is not in allowed_tools is shown, and ends the run when it is called, before anything is asked", async () => {
  await using journal = await Journal.make();
  const config = { mcp_servers: { mock: server({ journal: journal.path }, { allowed_tools: ["other"] }) } };
  const { code, stderr, names } = await lait(config, ["--mcp", "mock", "--approve-tools"], ["mock__echo"]);
  assert.deepEqual([code, names], [1, ["mock__echo"]]);
  assert.match(stderr, /`echo`, which is not in mcp_servers\.mock\.allowed_tools/);
  assert.deepEqual(await journal.methods(), ["start", "initialize", "notifications/initialized", "tools/list"]);
});

Deno.test("mcp: tool_policy holds for the tools of servers", async () => {
  await using journal = await Journal.make();
  const mcp_servers = { db: server({ journal: journal.path, tools: ["echo", "drop_table"] }) };
  for (
    const [tool_policy, name] of [
      [{ deny: ["db__echo"] }, "db__echo"],
      [{ deny: ["*__drop_*"] }, "db__drop_table"],
      [{ allow: ["other"] }, "db__echo"],
    ] as const
  ) {
    const { code, results } = await lait({ mcp_servers, tool_policy }, ["--mcp", "db"], [name]);
    assert.equal(code, 0);
    assert.match(results[0]!, /denied.*tool_policy/);
  }
  assert(!(await journal.methods()).includes("tools/call"));
});

Deno.test("mcp: --approve-tools asks about a tool of a server", async () => {
  await using model = new ModelServer([{ calls: [{ name: "s__echo", arguments: { a: 1 } }] }, "done"]);
  await using work = await Workspace.create({ "lait.config.yml": JSON.stringify({ mcp_servers: { s: server({}) } }) });
  const run = work.terminal(["--model", "m", "--base-url", model.url, "--mcp", "s", "--approve-tools", "hi"]);
  await run.saw(/run it\?/);
  assert.match(run.stdout, /^tool call: s__echo\r?\narguments: \{"a":1\}\r?$/m);
  await run.type("n\n");
  assert.equal((await run.ended()).code, 0);
  assert.match(model.toolResults()[0]!, /denied.*--approve-tools/);
});

Deno.test("mcp: on a terminal it is said which servers are waited for", async () => {
  await using model = new ModelServer(["done"]);
  const [command, ...args] = planned({});
  const slow = { command: "sh", args: ["-c", 'sleep 1; exec "$@"', "sh", command, ...args] };
  await using work = await Workspace.create({ "lait.config.yml": JSON.stringify({ mcp_servers: { slow } }) });
  const run = work.terminal(["--model", "m", "--base-url", model.url, "--mcp", "slow", "hi"]);
  await run.saw(/… waiting for the MCP server slow \d\.\ds/);
  assert.equal((await run.ended()).code, 0);
});

Deno.test("mcp: a server inherits the environment without model keys, and env adds to it; cwd and placeholders are replaced", async () => {
  const script = [
    'read a; echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":0,\\"error\\":{\\"code\\":-1,\\"message\\":\\"$1 $OPENAI_API_KEY $SHARED $OWN ',
    "$(pwd)",
    '\\"}}"',
  ].join("");
  const entry = { command: "${SH}", args: ["-c", script, "sh", "${ARG}"], env: { OWN: "own=${ARG}=" }, cwd: "sub" };
  await using work = await Workspace.create({
    "lait.config.yml": JSON.stringify({ mcp_servers: { s: entry } }),
    "sub/x": "",
  });
  const env = { SH: "sh", ARG: "arg", OPENAI_API_KEY: "sk-secret", SHARED: "shared" };
  const { stderr } = await work.run(["--model", "m", "--base-url", "http://127.0.0.1:9", "--mcp", "s", "hi"], { env });
  assert.match(stderr, /mcp_servers\.s refused the handshake: arg {2}shared own=arg= \S*\/sub$/m);
});
