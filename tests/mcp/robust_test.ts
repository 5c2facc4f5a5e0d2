import assert from "node:assert/strict";
import type { Script } from "../../lib/model/providers/script.ts";
import { running, uniqueSeconds, until } from "../cli/_lait.ts";
import { Journal, mcpWorkspace, planned, stdio } from "./_mcp.ts";
import type { ServerPlan } from "./stdio_server.ts";

const echo = (args: unknown = { a: 1 }) => ({
  calls: [{ name: "s__echo", arguments: args as Record<string, unknown> }],
});
const twice: Script = [echo(), echo(), "{{ last }}"];

/** Runs lait with one server that follows a plan. */
async function lait(plan: ServerPlan, script: Script, more: { entry?: object; args?: string[]; rest?: object } = {}) {
  await using journal = await Journal.make();
  await using work = await mcpWorkspace(
    { s: stdio(planned({ ...plan, journal: journal.path }), { ...more.entry }) },
    script,
    { ...more.rest },
  );
  const ended = await work.run(["hi", ...more.args ?? []]);
  return { ...ended, entries: await journal.entries(), methods: await journal.methods() };
}

const callsIn = (methods: readonly string[]) =>
  methods.filter((method) => method === "start" || method === "tools/call");

Deno.test("mcp: a server that has died between two calls is started again once, and no call is sent twice", async () => {
  // The model takes its time, so that the server's end has come before the next call.
  const later = { ...echo(), delay_ms: 400 };
  const second = await lait({ diesAfterCalls: 1 }, [echo(), later, "{{ last }}"]);
  assert.deepEqual([second.code, second.stdout, second.stderr], [0, '{"a":1}\n', ""]);
  assert.deepEqual(callsIn(second.methods), ["start", "tools/call", "start", "tools/call"]);
  const third = await lait({ diesAfterCalls: 1 }, [echo(), later, later, "done"]);
  assert.equal(third.code, 1);
  assert.match(third.stderr, /mcp_servers\.s has ended again; it is started again once a run/);
  assert.deepEqual(callsIn(third.methods), ["start", "tools/call", "start", "tools/call"]);
});

Deno.test("mcp: a server that dies in the middle of a call ends the run with what it said; the call is sent once", async () => {
  const { code, stderr, methods } = await lait({ onCall: "die", stderr: "first\nlast words\n" }, twice);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^first\nlast words\nlait: .*mcp_servers\.s has ended with status 7; .*ended with: first\nlast words\n$/,
  );
  assert.deepEqual(callsIn(methods), ["start", "tools/call"]);
});

for (const lines of [true, false]) {
  Deno.test(`mcp: 100 MB of noise ${lines ? "in lines" : "without a line ending"} are bounded, and the error names their beginning`, async () => {
    const { code, stderr } = await lait({ noise: { bytes: 100 * 1024 * 1024, lines } }, ["done"]);
    assert.equal(code, 1);
    assert.match(stderr, /over 67108864 bytes to its standard output that are no MCP messages/);
    assert.match(stderr, /its first line on standard output was no message: npm notice this is no message/);
    assert(stderr.length < 2_000);
  });

  Deno.test(`mcp: noise ${lines ? "in lines" : "in one line"} before the first message is passed over`, async () => {
    const { code, stdout } = await lait({ noise: { bytes: 20 * 1024 * 1024, lines } }, [echo(), "{{ last }}"]);
    assert.deepEqual([code, stdout], [0, '{"a":1}\n']);
  });
}

Deno.test("mcp: a server that never speaks is named with its first line of noise and what it wrote to standard error", async () => {
  const plan: ServerPlan = { mute: true, noise: { bytes: 1_000, lines: true }, stderr: "waiting for a licence\n" };
  const { code, stderr } = await lait(plan, ["done"], { entry: { timeout: 1 } });
  assert.equal(code, 5);
  assert.match(
    stderr,
    /mcp_servers\.s was not ready within 1 s; .*npm notice this is no message; .*waiting for a licence/,
  );
});

Deno.test("mcp: 250 tools over pages are all offered, in order", async () => {
  const tools = Array.from({ length: 250 }, (_, index) => `t${index}`);
  const { code, stdout, methods } = await lait({ tools, pageSize: 40 }, [
    { calls: [{ name: "s__t249", arguments: { n: 249 } }] },
    "{{ last }}",
  ]);
  assert.deepEqual([code, stdout], [0, '{"n":249}\n']);
  assert.equal(methods.filter((method) => method === "tools/list").length, 7);
});

Deno.test("mcp: a cursor that is repeated ends the listing with an error that names it", async () => {
  const { code, stderr, methods } = await lait({ stuckCursor: "same" }, ["done"]);
  assert.equal(code, 1);
  assert.match(stderr, /its list of tools does not end: the cursor "same" is repeated/);
  assert.equal(methods.filter((method) => method === "tools/list").length, 2);
});

Deno.test("mcp: pages, tools of a page, and the size of their descriptions are bounded", async () => {
  const many = Array.from({ length: 1_025 }, (_, index) => `t${index}`);
  assert.match((await lait({ tools: many }, ["done"])).stderr, /a page of its list of tools has over 1024/);
  assert.match((await lait({ tools: many, pageSize: 8 }, ["done"])).stderr, /its list of tools has over 128 pages/);
  const large = Array.from({ length: 18 }, (_, index) => ({
    name: `t${index}`,
    description: "x".repeat(1024 * 1024),
    inputSchema: { type: "object" },
  }));
  const plan = await Journal.make();
  await using _ = plan;
  await Deno.writeTextFile(`${plan.path}.json`, JSON.stringify({ tools: large, pageSize: 4 }));
  await using work = await mcpWorkspace({ s: stdio([...planned({}).slice(0, -1), `@${plan.path}.json`]) }, ["done"]);
  const { stderr } = await work.run(["hi"]);
  assert.match(stderr, /the descriptions and schemas of its tools are over 16777216 bytes/);
});

Deno.test("mcp: a server that ignores the end of its input and SIGTERM is ended, with what it has started", async () => {
  const mark = uniqueSeconds();
  const { code, stdout } = await lait({ stubborn: true, sleep: mark }, [echo(), "{{ last }}"]);
  assert.deepEqual([code, stdout], [0, '{"a":1}\n']);
  await until(() => running(`sleep ${mark}`).length === 0, "the end of its background child");
});

Deno.test("mcp: nothing of a server is left after a failure, an unknown tool, or an interruption", async () => {
  for (const [plan, script] of [[{ onCall: "die" }, twice], [{}, [{ calls: [{ name: "nope" }] }]]] as const) {
    const mark = uniqueSeconds();
    assert.equal((await lait({ ...plan, sleep: mark }, script)).code, 1);
    await until(() => running(`sleep ${mark}`).length === 0, "the end of its background child");
  }
  const mark = uniqueSeconds();
  await using journal = await Journal.make();
  const plan: ServerPlan = { onCall: "hang", sleep: mark, journal: journal.path };
  await using work = await mcpWorkspace({ s: stdio(planned(plan)) }, [echo(), "done"]);
  const process = work.start(["hi"]);
  await until(async () => (await journal.methods()).includes("tools/call"), "the call");
  process.signal("SIGINT");
  assert.equal((await process.ended()).code, 130);
  assert.equal(running(`sleep ${mark}`).length, 0);
  assert((await journal.methods()).includes("notifications/cancelled"));
});

Deno.test("mcp: a message over the limit, a result that is none, and an answer to nobody end the run", async () => {
  const huge = await lait({ onCall: "huge" }, twice);
  assert.equal(huge.code, 1);
  assert.match(huge.stderr, /mcp_servers\.s sent a message over the limit of 16777216 bytes/);
  const garbage = await lait({ onCall: "garbage" }, twice);
  assert.equal(garbage.code, 1);
  assert.match(garbage.stderr, /mcp_servers\.s answered the tool echo with something that is no MCP/);
  const wrong = await lait({ onCall: "wrong-id" }, twice, { entry: { timeout: 1 } });
  assert.equal(wrong.code, 5);
  assert.match(wrong.stderr, /the tool echo did not answer within 1 s; raise its `timeout`/);
});

Deno.test("mcp: progress gives a call its time anew", async () => {
  const slow = await lait({ progress: { everyMs: 700, count: 3 } }, [echo(), "{{ last }}"], { entry: { timeout: 1 } });
  assert.deepEqual([slow.code, slow.stdout], [0, '{"a":1}\n']);
  const silent = await lait({ progress: { everyMs: 1_500, count: 1 } }, [echo()], { entry: { timeout: 1 } });
  assert.equal(silent.code, 5);
  assert(silent.methods.includes("notifications/cancelled"));
});

Deno.test("mcp: an error of the protocol and one of the tool are results, and the run goes on", async () => {
  const refused = await lait({ error: { code: -32602, message: "no such tool" } }, [echo(), "{{ last }}"]);
  assert.deepEqual([refused.code, refused.stdout], [
    0,
    "isError: true\n\nthe server refused the call: no such tool (code -32602)\n",
  ]);
  const result = { content: [{ type: "text", text: "details" }], structuredContent: { code: "x" }, isError: true };
  const failed = await lait({ result }, [echo(), "{{ last }}"]);
  assert.equal(failed.stdout, 'isError: true\n\ndetails\n\nstructuredContent:\n{"code":"x"}\n');
  assert.equal((await lait({ result: { content: [] } }, [echo(), "[{{ last }}]"])).stdout, "[]\n");
});

Deno.test("mcp: arguments are passed as they are; without any the field is absent", async () => {
  const script: Script = [
    {
      calls: [{ name: "s__echo", arguments: "" }, { name: "s__echo", arguments: "null" }, {
        name: "s__echo",
        arguments: "{}",
      }],
    },
    "done",
  ];
  const { code, entries, stderr } = await lait({}, script);
  assert.equal(code, 0, stderr);
  const sent = entries.filter(({ method }) => method === "tools/call").map(({ params }) => params!["arguments"]);
  assert.deepEqual(sent, [undefined, undefined, {}]);
  const list = await lait({}, [{ calls: [{ name: "s__echo", arguments: "[]" }] }, "done"]);
  assert.match(list.stderr, /must be a JSON object/);
  assert(!list.methods.includes("tools/call"));
});

Deno.test("mcp: a question is declined where nobody can be asked, whatever the setting", async () => {
  const elicit = { message: "who?", requestedSchema: { type: "object", properties: { a: { type: "string" } } } };
  for (const allow_elicitation of [true, false]) {
    const { code, stdout, stderr } = await lait({ elicit }, [echo(), "{{ last }}"], { entry: { allow_elicitation } });
    assert.deepEqual([code, stdout, stderr], [0, '{"action":"decline"}\n', ""]);
  }
});
