import assert from "node:assert/strict";
import { McpPool } from "../../lib/mcp/client/pool.ts";
import type { McpServer } from "../../lib/mcp/client/server.ts";
import { createLocalSandboxProvider } from "../../lib/sandbox/providers/local.ts";
import { running, uniqueSeconds, until } from "../cli/_lait.ts";
import { Journal, planned } from "./_mcp.ts";
import type { ServerPlan } from "./stdio_server.ts";

/** A server of a pool, with its journal. */
async function withServer(
  plan: ServerPlan,
  work: (server: McpServer, journal: Journal) => Promise<void>,
  freshAfterCancel = true,
): Promise<void> {
  await using journal = await Journal.make();
  const lease = await createLocalSandboxProvider().acquire({ directory: Deno.cwd() });
  const pool = new McpPool({ lease: () => Promise.resolve(lease), freshAfterCancel });
  const [executable, ...args] = planned({ ...plan, journal: journal.path });
  try {
    await work(
      pool.server("s", () => ({
        name: "s",
        label: "mcp_servers.s",
        resolve: () => ({ kind: "stdio", command: { executable, arguments: args } }),
        startMs: 20_000,
        requestMs: 20_000,
      })),
      journal,
    );
  } finally {
    await pool.close();
    await lease.release();
  }
}

const never = new AbortController().signal;
const starts = async (journal: Journal) => (await journal.methods()).filter((method) => method === "initialize").length;

Deno.test("McpServer: those who need it at once share one start and one list", async () => {
  await withServer({}, async (server, journal) => {
    const lists = await Promise.all([server.tools(never), server.tools(never), server.tools(never)]);
    assert(lists.every((list) => list === lists[0]));
    await Promise.all([1, 2, 3].map((n) => server.call("echo", { n }, { signal: never })));
    assert.deepEqual(await journal.methods(), [
      "start",
      "initialize",
      "notifications/initialized",
      "tools/list",
      "tools/call",
      "tools/call",
      "tools/call",
    ]);
  });
});

Deno.test("McpServer: one who gives up does not take the start away from the others; all do", async () => {
  await withServer({}, async (server) => {
    const controller = new AbortController();
    const given = server.tools(controller.signal);
    const waiting = server.tools(never);
    controller.abort("enough");
    await assert.rejects(given, (error) => error === "enough");
    assert.equal((await waiting).length, 1);
  });
  const mark = uniqueSeconds();
  await withServer({ mute: true, sleep: mark }, async (server) => {
    const controller = new AbortController();
    const both = [server.tools(controller.signal), server.tools(controller.signal)];
    await until(() => running(`sleep ${mark}`).length === 1, "the start");
    controller.abort("enough");
    for (const given of both) await assert.rejects(given, (error) => error === "enough");
    await until(() => running(`sleep ${mark}`).length === 0, "its end");
  });
});

for (const fresh of [true, false]) {
  Deno.test(`McpServer: a call that is given up is told, and ${fresh ? "costs the connection" : "is the only one to end"}`, async () => {
    const progress = { everyMs: 300, count: 2 };
    await withServer({ progress }, async (server, journal) => {
      const controller = new AbortController();
      const beside = server.call("echo", { n: 1 }, { signal: never });
      const given = server.call("echo", { n: 2 }, { signal: controller.signal });
      await until(
        async () => (await journal.methods()).filter((method) => method === "tools/call").length === 2,
        "both calls",
      );
      controller.abort("enough");
      await assert.rejects(given, (error) => error === "enough");
      const next = await server.call("echo", { n: 3 }, { signal: never });
      assert.deepEqual(next.content, [{ type: "text", text: '{"n":3}' }]);
      // What ran beside it goes on to its end.
      assert.deepEqual((await beside).content, [{ type: "text", text: '{"n":1}' }]);
      assert((await journal.methods()).includes("notifications/cancelled"));
      assert.equal(await starts(journal), fresh ? 2 : 1);
    }, fresh);
  });
}

Deno.test("McpServer: a list that failed is asked for anew, by a fresh connection", async () => {
  await withServer({ stuckCursor: "x" }, async (server, journal) => {
    await assert.rejects(server.tools(never), /is repeated/);
    await assert.rejects(server.tools(never), /is repeated/);
    assert.equal(await starts(journal), 2);
  });
});

Deno.test("McpServer: once it is closed nothing is started any more", async () => {
  await withServer({}, async (server, journal) => {
    await server.tools(never);
    await server.close();
    await assert.rejects(server.call("echo", {}, { signal: never }), /is not used any more/);
    assert.equal(await starts(journal), 1);
    assert.equal(running(journal.path).length, 0);
  });
});
