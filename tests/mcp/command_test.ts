import assert from "node:assert/strict";
import { Workspace } from "../cli/_lait.ts";
import { Journal, planned, stdio } from "./_mcp.ts";
import type { ServerPlan } from "./stdio_server.ts";

const server = (plan: ServerPlan, more: Readonly<Record<string, unknown>> = {}) => stdio(planned(plan), more);

async function workspace(servers: Readonly<Record<string, unknown>>): Promise<Workspace> {
  return await Workspace.create({ "lait.config.yml": JSON.stringify({ mcp_servers: servers }) });
}

Deno.test("mcp list: servers, their state and their tools; without a model; a failure is exit 1", async () => {
  const tools = [{ name: "find", description: "Finds.\nMore.", inputSchema: { type: "object" } }, "drop"];
  await using work = await workspace({
    good: server({ tools }, { allowed_tools: ["find"] }),
    bad: server({ exit: 3, stderr: "no licence\n" }),
  });
  const { code, stdout, stderr } = await work.run(["mcp", "list"]);
  assert.equal(code, 1);
  const deno = Deno.execPath();
  assert.equal(
    stdout,
    `good (${deno}): ok, 2 tools\n  find: Finds.\n  drop (not in allowed_tools)\n` +
      `bad (${deno}): failed: mcp_servers.bad has ended with status 3; its standard error ended with: no licence\n`,
  );
  assert.equal(stderr, "no licence\nlait: 1 of 2 MCP servers failed\n");
  const one = await work.run(["mcp", "list", "good", "--json"]);
  assert.equal(one.code, 0);
  const [entry] = JSON.parse(one.stdout);
  assert.deepEqual([entry.name, entry.transport, entry.state], ["good", "stdio", "ok"]);
  assert.deepEqual(entry.tools[1], {
    name: "drop",
    offered: "good__drop",
    allowed: false,
    inputSchema: { type: "object" },
  });
  const unknown = await work.run(["mcp", "list", "god"]);
  assert.match(unknown.stderr, /unknown MCP server 'god'.*did you mean `good`/);
  const none = await work.run(["mcp", "list", "--no-config"]);
  assert.deepEqual([none.code, none.stdout], [
    0,
    "no MCP servers are defined in lait.config.yml; add some under `mcp_servers:`\n",
  ]);
});

Deno.test("mcp call: arguments from a word or standard input, the result on standard output, errors as exit 1", async () => {
  await using journal = await Journal.make();
  await using work = await workspace({
    s: server({ journal: journal.path }),
    failing: server({ result: { content: [{ type: "text", text: "broken" }], isError: true } }),
    refusing: server({ error: { code: -32602, message: "no" } }),
    few: server({ journal: journal.path }, { allowed_tools: [] }),
  });
  const word = await work.run(["mcp", "call", "s", "echo", '{"a":"ü"}']);
  assert.deepEqual([word.code, word.stdout, word.stderr], [0, '{"a":"ü"}\n', ""]);
  const piped = await work.run(["mcp", "call", "s", "echo", "-", "--json"], { stdin: '{"b":2}\n' });
  assert.deepEqual(JSON.parse(piped.stdout), { content: [{ type: "text", text: '{"b":2}' }] });
  assert.equal((await work.run(["mcp", "call", "s", "echo"])).stdout, "null\n");
  const failing = await work.run(["mcp", "call", "failing", "echo"]);
  assert.deepEqual([failing.code, failing.stdout], [1, "isError: true\n\nbroken\n"]);
  assert.match(failing.stderr, /the tool `echo` of mcp_servers\.failing reported an error\n$/);
  const refusing = await work.run(["mcp", "call", "refusing", "ecko"]);
  assert.deepEqual([refusing.code, refusing.stdout], [1, ""]);
  assert.match(refusing.stderr, /refused the call: no \(code -32602\); did you mean `echo`\?/);
  const before = (await journal.methods()).length;
  const few = await work.run(["mcp", "call", "few", "echo"]);
  assert.match(few.stderr, /`echo` is not in mcp_servers\.few\.allowed_tools/);
  assert.equal((await journal.methods()).length, before);
});

Deno.test("mcp: a command line that is wrong is exit 2 and says what there is", async () => {
  await using work = await workspace({ s: server({}) });
  const cases: [string[], RegExp][] = [
    [[], /lait mcp takes a command\nlait: it is one of list, call, login, logout/],
    [["lst"], /unknown command 'mcp lst'\nlait: did you mean `list`\?/],
    [["call", "s"], /takes a server, a tool and at most one JSON object/],
    [["call", "s", "echo", "{a"], /the arguments are not JSON/],
    [["call", "s", "echo", "[1]"], /must be a JSON object \(got array\)/],
    [["call", "s", "echo", "{}", "x"], /at most one JSON object/],
    [["login"], /takes the name of one server/],
  ];
  for (const [words, message] of cases) {
    const { code, stderr } = await work.run(["mcp", ...words]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
  }
  const { code, stderr } = await work.run(["mcp", "login", "s"]);
  assert.equal(code, 1);
  assert.match(stderr, /mcp_servers\.s has no `auth: oauth`/);
});
