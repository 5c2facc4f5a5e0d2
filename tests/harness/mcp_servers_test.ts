import assert from "node:assert/strict";
import { createAgent } from "../../lib/harness/agent.ts";
import { createHarness, type HarnessOptions } from "../../lib/harness/harness.ts";
import { defineMcpPrompt } from "../../lib/harness/mcp_prompt.ts";
import { runTurn } from "../../lib/harness/turn.ts";
import type { McpServers } from "../../lib/mcp/client/declaration.ts";
import { createScriptedModelProvider } from "../../lib/model/providers/scripted.ts";
import { createLocalSandboxProvider } from "../../lib/sandbox/providers/local.ts";
import { Journal, planned } from "../mcp/_mcp.ts";
import type { ServerPlan } from "../mcp/stdio_server.ts";
import { mcpProgram } from "../servers/mcp.ts";
import { running, until } from "../cli/_lait.ts";
import { callsOf, results, start, tool } from "./_setup.ts";

function program(words: readonly string[]) {
  return { command: words[0]!, arguments: words.slice(1) };
}

const server = (plan: ServerPlan) => program(planned(plan));
const everything = program(mcpProgram("everything", "stdio"));

function withServers(
  mcpServers: McpServers,
  script: Parameters<typeof start>[0]["script"],
  options: Partial<HarnessOptions> = {},
) {
  return start({ script, options: { mcpServers, ...options } });
}

Deno.test("mcpServers: tools, resources and prompts of a real server; media are markers", async () => {
  const { provider, result } = withServers({ ev: everything }, [
    {
      calls: [
        { name: "ev__echo", arguments: { message: "hi" } },
        { name: "ev__get-tiny-image" },
        { name: "ev__get-structured-content", arguments: { location: "Chicago" } },
        { name: "ev__get-sum", arguments: {} },
        { name: "mcp_list_resources", arguments: { server: "ev" } },
        { name: "mcp_list_prompts", arguments: { server: "ev" } },
        { name: "mcp_get_prompt", arguments: { server: "ev", name: "simple-prompt" } },
        { name: "mcp_get_prompt", arguments: { server: "ev", name: "no-such-prompt" } },
        { name: "mcp_read_resource", arguments: { server: "nobody", uri: "x:y" } },
      ],
    },
    "done",
  ]);
  assert.equal((await result).text, "done");
  const told = results(provider.requests[1]!.messages!.at(-1));
  assert.equal(told[0]!.content, "Echo: hi");
  assert.match(told[1]!.content, /^Here's the image you requested:\n\[image: image\/png\]\n/);
  assert.match(told[2]!.content, /^\{"temperature":36,/);
  assert.deepEqual([told[3]!.isError, /[Ii]nput validation/.test(told[3]!.content)], [true, true]);
  const listed = JSON.parse(told[4]!.content);
  assert(listed.resources.length > 0 && listed.resourceTemplates.length > 0);
  assert.match(told[5]!.content, /"simple-prompt"/);
  assert.match(told[6]!.content, /^user: This is a simple prompt/);
  assert.deepEqual([told[7]!.isError, /refused the request/.test(told[7]!.content)], [true, true]);
  assert.match(told[8]!.content, /^tool arguments failed validation/);
  const offered = provider.requests[0]!.tools!.map(({ name }) => name);
  assert(offered.includes("mcp_read_resource"));
  // Without anybody to ask, the server is not told that it could.
  assert(!offered.includes("ev__trigger-elicitation-request"));
});

Deno.test("defineMcpPrompt: the prompt is part of the system text; a server that is not there fails the turn", async () => {
  const args = { city: "Crimson City" };
  const { provider, result } = withServers({ ev: everything }, ["ok"], {
    instructions: ["Be brief.", defineMcpPrompt({ server: "ev", name: "args-prompt", arguments: args })],
  });
  await result;
  assert.match(provider.requests[0]!.system!, /^Be brief\.\n\nuser: What's weather in Crimson City\?$/);
  const missing = withServers({ ev: server({}) }, ["ok"], {
    instructions: [defineMcpPrompt({ server: "wiki", name: "x" })],
  });
  await assert.rejects(missing.result, { code: "configuration", message: /no MCP server `wiki`/ });
  const silent = withServers({ ev: server({}) }, ["ok"], {
    instructions: [defineMcpPrompt({ server: "ev", name: "x" })],
  });
  await assert.rejects(silent.result, { code: "configuration", message: /mcpServers\.ev offers no prompts/ });
  const none = start({ script: ["ok"], options: { instructions: [defineMcpPrompt({ server: "ev", name: "x" })] } });
  await assert.rejects(none.result, { code: "configuration", message: /it has no mcpServers/ });
});

Deno.test("mcpServers: names are cut with a hash, and filters are exact", async () => {
  const long = "x".repeat(100);
  const tools = ["do.it!", long, "purge"];
  const first = withServers({ s: { ...server({ tools }), tools: { exclude: ["purge"] } } }, ["ok"]);
  await first.result;
  const [short, cut, ...rest] = first.provider.requests[0]!.tools!.map(({ name }) => name);
  assert.equal(short, "s__do_it_");
  assert.match(cut!, /^s__x{52}_[0-9a-f]{8}$/);
  assert.deepEqual(rest, []);
  const absent = withServers({ s: { ...server({ tools }), tools: { include: ["absent"] } } }, ["ok"]);
  await assert.rejects(absent.result, {
    code: "configuration",
    message: /include names `absent`; the server has do\.it!/,
  });
  const meeting = withServers({ s: server({ tools: ["a.b", "a_b"] }) }, ["ok"]);
  await assert.rejects(meeting.result, { code: "configuration", message: /a\.b and the tool a_b/ });
  const clash = start({
    script: ["ok"],
    tools: [tool("s__a", () => "")],
    options: { mcpServers: { s: server({ tools: ["a"] }) } },
  });
  await assert.rejects(clash.result, { code: "configuration", message: /two tools are called `s__a`/ });
});

Deno.test("mcpServers: variables come from the sandbox, then from here; one that is missing fails the turn", async () => {
  const echo = { ...server({ tools: ["env"] }), variables: ["LAIT_TEST_SECRET"] };
  const none = withServers({ s: echo }, ["ok"]);
  await assert.rejects(none.result, { code: "configuration", message: /LAIT_TEST_SECRET is set neither/ });
  const seen: string[] = [];
  const http = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    seen.push(request.headers.get("authorization") ?? "");
    return new Response(null, { status: 401 });
  });
  const directory = Deno.cwd();
  const own = await createLocalSandboxProvider({ variables: { LAIT_TEST_TOKEN: "t0k" } }).acquire({ directory });
  const harness = createHarness({
    modelProvider: createScriptedModelProvider(["ok"]),
    mcpServers: { w: { url: `http://127.0.0.1:${http.addr.port}/mcp`, bearerTokenVariable: "LAIT_TEST_TOKEN" } },
  });
  await assert.rejects(runTurn(createAgent({ harness, model: "m" }), { lease: own, prompt: "go" }), (error: Error) => {
    assert.match(error.message, /answered 401.*check the token in LAIT_TEST_TOKEN/);
    assert(!error.message.includes("t0k"));
    return true;
  });
  assert.deepEqual(seen, ["Bearer t0k"]);
  await own.release();
  await http.shutdown();
});

Deno.test("mcpServers: a server that does not start fails the turn with what it said, and the others are ended", async () => {
  const mark = `3${Math.floor(Math.random() * 1e6)}.25`;
  const exits = withServers({ good: server({ sleep: mark }), bad: server({ exit: 3, stderr: "no licence\n" }) }, [
    "ok",
  ]);
  await assert.rejects(exits.result, {
    code: "process",
    message: /mcpServers\.bad has ended with status 3.*no licence/,
  });
  const mute = withServers({ bad: { ...server({ mute: true, sleep: mark }), startupTimeoutMs: 1_000 } }, ["ok"]);
  await assert.rejects(mute.result, { code: "timeout", message: /mcpServers\.bad was not ready within 1 s/ });
  const absent = withServers({ bad: { command: "lait-no-such-program" } }, ["ok"]);
  await assert.rejects(absent.result, { code: "process", message: /lait-no-such-program/ });
  await until(() => running(`sleep ${mark}`).length === 0, "the sleeps' ends");
});

Deno.test("mcpServers: a refused call is a result, a dead server follows onError and is started again once", async () => {
  await using journal = await Journal.make();
  const refused = withServers({ s: server({ error: { code: -32602, message: "no such thing" } }) }, [
    callsOf("s__echo"),
    "ok",
  ], {
    toolExecution: { onError: "fail" },
  });
  await refused.result;
  const [told] = results(refused.provider.requests[1]!.messages!.at(-1));
  assert.deepEqual([told!.isError, told!.content], [true, "the server refused the call: no such thing (code -32602)"]);
  const dying = withServers({ s: server({ journal: journal.path, onCall: "die" }) }, [
    callsOf("s__echo"),
    callsOf("s__echo"),
    callsOf("s__echo"),
    "ok",
  ]);
  await dying.result;
  const all = dying.provider.requests.slice(1).map(({ messages }) => results(messages!.at(-1))[0]!);
  assert.match(all[0]!.content, /has ended with status 7/);
  assert.match(all[1]!.content, /has ended with status 7/);
  assert.match(all[2]!.content, /has ended again/);
  const methods = await journal.methods();
  assert.deepEqual(methods.filter((method) => method === "start" || method === "tools/call"), [
    "start",
    "tools/call",
    "start",
    "tools/call",
  ]);
  const failing = withServers({ s: server({ onCall: "die" }) }, [callsOf("s__echo"), "ok"], {
    toolExecution: { onError: "fail" },
  });
  await assert.rejects(failing.result, { code: "process" });
});

Deno.test("mcpServers: a call's deadline is told to the server, which goes on for the next call", async () => {
  await using journal = await Journal.make();
  const plan = { journal: journal.path, tools: ["slow"], progress: { everyMs: 400, count: 2 } };
  const { provider, result } = withServers({ s: server(plan) }, [callsOf("s__slow"), "ok"], {
    toolExecution: { deadlineMs: 500 },
  });
  await result;
  assert.match(results(provider.requests[1]!.messages!.at(-1))[0]!.content, /did not finish within 500 ms/);
  const cancelled = (await journal.entries()).filter(({ method }) => method === "notifications/cancelled");
  assert.equal(cancelled.length, 1);
});

Deno.test("mcpServers: an abort ends the turn with its reason, and the servers with it", async () => {
  const mark = `4${Math.floor(Math.random() * 1e6)}.25`;
  const controller = new AbortController();
  const { result, events } = start({
    script: [callsOf("s__echo"), "ok"],
    options: { mcpServers: { s: server({ onCall: "hang", sleep: mark }) } },
    turn: { signal: controller.signal },
  });
  await until(() => events.some(({ kind }) => kind === "tool-started"), "the call");
  controller.abort("stop!");
  await assert.rejects(result, (error) => error === "stop!");
  assert.equal(running(`sleep ${mark}`).length, 0);
});

Deno.test("mcpServers: a turn that is aborted while its servers start leaves none behind", async () => {
  for (const after of [0, 1, 5, 20]) {
    const mark = crypto.randomUUID();
    const controller = new AbortController();
    const { result } = start({
      script: ["ok"],
      options: { mcpServers: { s: server({ stderr: mark, mute: true }) } },
      turn: { signal: controller.signal },
    });
    setTimeout(() => controller.abort("stop!"), after);
    await assert.rejects(result, (error) => error === "stop!");
    assert.equal(running(mark).length, 0);
  }
});

Deno.test("mcpServers: wrong declarations are refused when the harness is made", () => {
  const stdio = { command: "x" };
  const cases: [unknown, RegExp][] = [
    [{ "a b": stdio }, /1 to 32 letters/],
    [{ s: { command: "x", url: "http://h/" } }, /exactly one of/],
    [{ s: {} }, /exactly one of/],
    [{ s: { ...stdio, env: {} } }, /unknown option `env`/],
    [{ s: { ...stdio, arguments: ["${X}"] } }, /arguments\[0\] must hold no/],
    [{ s: { command: "a\0b" } }, /no NUL/],
    [{ s: { ...stdio, environment: { "1A": "x" } } }, /no name of a variable/],
    [{ s: { ...stdio, environment: { A: "x" }, variables: ["A"] } }, /both in/],
    [{ s: { url: "https://u:p@h/" } }, /no user or password/],
    [{ s: { url: "ftp://h/" } }, /http or https/],
    [{ s: { url: "h" } }, /http or https/],
    [{ s: { url: "http://h/", headers: { "a b": "x" } } }, /is no name/],
    [{ s: { url: "http://h/", headers: { a: "x\ny" } } }, /one line/],
    [{ s: { url: "http://h/", headers: { authorization: "x" }, bearerTokenVariable: "T" } }, /both an Authorization/],
    [{ s: { ...stdio, tools: {} } }, /`include` or `exclude`/],
    [{ s: { ...stdio, tools: { include: [] } } }, /must name a tool/],
    [{ s: { ...stdio, tools: { include: ["a", "a"] } } }, /twice/],
    [{ s: { ...stdio, tools: { exclude: ["a b"] } } }, /no name of an MCP tool/],
    [{ s: { ...stdio, startupTimeoutMs: 0 } }, /at least 1/],
    [{ s: { ...stdio, startupTimeoutMs: 2 ** 31 } }, /at most/],
  ];
  for (const [mcpServers, message] of cases) {
    const options = { modelProvider: createScriptedModelProvider([]), mcpServers: mcpServers as McpServers };
    assert.throws(() => createHarness(options), { code: "configuration", message }, JSON.stringify(mcpServers));
  }
  assert.throws(() => defineMcpPrompt({ server: "", name: "x" }), { code: "configuration" });
});

Deno.test("mcpServers: servers end with the turn", async () => {
  const mark = `5${Math.floor(Math.random() * 1e6)}.25`;
  await withServers({ s: server({ sleep: mark, stubborn: true }) }, ["ok"]).result;
  assert.equal(running(`sleep ${mark}`).length, 0);
});
