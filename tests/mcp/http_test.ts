import assert from "node:assert/strict";
import type { Script } from "../../lib/model/providers/script.ts";
import { echoed, events, HttpMcpServer, reply } from "./_http_server.ts";
import { mcpWorkspace } from "./_mcp.ts";

const echo = { calls: [{ name: "s__echo", arguments: { a: 1 } }] };
const once: Script = [echo, "{{ last }}"];

async function lait(
  server: HttpMcpServer | string,
  script: Script = once,
  entry: object = {},
  env: Record<string, string> = {},
) {
  const url = typeof server === "string" ? server : server.url;
  await using work = await mcpWorkspace({ s: { url, ...entry } }, script);
  return await work.run(["hi"], { env });
}

Deno.test("mcp over HTTP: a session is made, used and ended; headers go to the address alone", async () => {
  await using server = new HttpMcpServer();
  const headers = { Authorization: "Bearer ${TOKEN}", "X-Team": "a" };
  const { code, stdout, stderr } = await lait(server, once, { headers }, { TOKEN: "t0k3n" });
  assert.deepEqual([code, stdout, stderr], [0, '{"a":1}\n', ""]);
  assert.deepEqual(server.methods, ["initialize", "notifications/initialized", "tools/list", "tools/call", "DELETE"]);
  assert(server.requests.every((one) => one.headers.get("authorization") === "Bearer t0k3n"));
  assert.equal(server.requests.at(-1)!.session, "session-1");
});

for (const [name, answer] of [["404", { status: 404 }], ["400", { status: 400 }]] as const) {
  Deno.test(`mcp over HTTP: a server that forgot the session (${name}) gets a new one, and the call once`, async () => {
    let executed = 0;
    await using server: HttpMcpServer = new HttpMcpServer({
      onCall: (message, count) => {
        if (count === 2) {
          server.forget();
          return new Response("Bad Request: No valid session ID provided", answer);
        }
        executed++;
        return echoed(message);
      },
    });
    const { code, stdout } = await lait(server, [echo, echo, "{{ last }}"]);
    assert.deepEqual([code, stdout, executed], [0, '{"a":1}\n', 2]);
    assert.equal(server.methods.filter((method) => method === "initialize").length, 2);
  });
}

Deno.test("mcp over HTTP: a server that forgets every session ends the run", async () => {
  await using server: HttpMcpServer = new HttpMcpServer({
    onCall: () => new Response("no such session", { status: 404 }),
  });
  const { code, stderr } = await lait(server);
  assert.equal(code, 1);
  assert.match(stderr, /forgets its sessions/);
  assert.equal(server.methods.filter((method) => method === "tools/call").length, 2);
});

Deno.test("mcp over HTTP: a stream that ends or breaks without the answer ends the run, and the call is sent once", async () => {
  const ends = [
    () => events(": nothing\n\n"),
    () => new Response(null, { status: 202 }),
    () => {
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(": wait\n\n"));
          setTimeout(() => controller.error(new Error("gone")), 50);
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  ];
  for (const end of ends) {
    await using server = new HttpMcpServer({ onCall: () => end() });
    const { code, stderr } = await lait(server);
    assert.equal(code, 1);
    assert.match(stderr, /mcp_servers\.s: the connection to http:\S+ was lost: /);
    assert.equal(server.methods.filter((method) => method === "tools/call").length, 1);
  }
});

Deno.test("mcp over HTTP: a stream that breaks off is resumed where the server can, and given up where it cannot", async () => {
  for (const can of [true, false]) {
    let id: number | undefined;
    const resumed: (string | null)[] = [];
    await using server = new HttpMcpServer({
      onCall: (message) => {
        id = message.id;
        return events("id: e1\nretry: 20\ndata:\n\n");
      },
      onAny: (request) => {
        const last = request.headers.get("last-event-id");
        if (request.method !== "GET" || last === null) return undefined;
        resumed.push(last);
        if (!can) return new Response(null, { status: 405 });
        const result = { content: [{ type: "text", text: "late" }] };
        return events(`id: e2\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
      },
    });
    const { code, stdout, stderr } = await lait(server);
    if (can) assert.deepEqual([code, stdout], [0, "late\n"]);
    else assert.match(stderr, /broke off and could not be resumed/);
    assert.equal(resumed[0], "e1");
    assert.equal(server.methods.filter((method) => method === "tools/call").length, 1);
  }
});

Deno.test("mcp over HTTP: a body over the limit, redirects and answers that are no MCP are errors", async () => {
  const big = "x".repeat(17 * 1024 * 1024);
  await using large = new HttpMcpServer({
    onCall: ({ id }) => reply(id!, { content: [{ type: "text", text: big }] }),
  });
  assert.match((await lait(large)).stderr, /is over the limit of 16777216 bytes/);
  await using streamed = new HttpMcpServer({ onCall: () => events(`: ${big}\n\n`) });
  assert.match((await lait(streamed)).stderr, /is over the limit of 16777216 bytes/);
  await using moved: HttpMcpServer = new HttpMcpServer({
    onAny: (request) =>
      new URL(request.url).pathname === "/mcp" ? Response.redirect(`${moved.origin}/new`, 307) : undefined,
  });
  const redirected = await lait(moved);
  assert.match(redirected.stderr, /redirects to http:\S+\/new, which is not followed; set `url`/);
  assert.equal(moved.requests.length, 1);
  await using page = new HttpMcpServer({
    onAny: () => new Response("<html>", { headers: { "content-type": "text/html" } }),
  });
  assert.match((await lait(page)).stderr, /Unexpected content type: text\/html/);
  const nobody = await lait("http://127.0.0.1:9/mcp");
  assert.match(nobody.stderr, /mcp_servers\.s: cannot reach http:\/\/127\.0\.0\.1:9\/mcp: /);
});

Deno.test("mcp over HTTP: a 401 says what to set, and an error quotes no secret", async () => {
  await using locked = new HttpMcpServer({ onAny: () => new Response("who?", { status: 401 }) });
  const { code, stderr } = await lait(locked);
  assert.equal(code, 1);
  assert.match(stderr, /answered 401.*headers: \{ Authorization: "Bearer \$\{TOKEN\}" \}/);
  assert.match(stderr, /auth: oauth/);
  await using telling = new HttpMcpServer({
    onAny: (request) => new Response(`bad key ${request.headers.get("x-key")}`, { status: 500 }),
  });
  const secret = await lait(`${telling.origin}/\${PART}/mcp`, once, {}, { PART: "p4th-secret" });
  assert.match(secret.stderr, /http:\S+\/\$\{PART\}\/mcp answered 500/);
  assert(!secret.stderr.includes("p4th-secret"));
  const told = await lait(telling, once, { headers: { "X-Key": "s3cr3t-value" } });
  assert.match(told.stderr, /answered 500: bad key \*\*\*/);
});

Deno.test("mcp over HTTP: a server on this machine is asked directly, whatever the proxy", async () => {
  await using server = new HttpMcpServer();
  const { code } = await lait(server, once, {}, { HTTP_PROXY: "http://127.0.0.1:9", http_proxy: "http://127.0.0.1:9" });
  assert.equal(code, 0);
});

Deno.test("mcp over HTTP: entries that cannot work are faults at their place", async () => {
  const cases: [object, RegExp][] = [
    [{ headers: { "Mcp-Session-Id": "x" } }, /the header `Mcp-Session-Id` belongs to the protocol/],
    [{ headers: { "a b": "x" } }, /has a name or value that cannot be sent/],
    [
      { headers: { A: "${LAIT_NOT_SET}" } },
      /mcp_servers\.s\.headers\.A: environment variable `LAIT_NOT_SET` is not set/,
    ],
    [{ url: "ftp://x/" }, /`url` must be an absolute http or https address/],
    [{ url: "https://u:p@x/" }, /must not hold a user or password/],
    [{ command: "x" }, /has both `command` and `url`/],
    [{ cwd: "x" }, /has `cwd`, which does not go with `url`/],
    [{ timeout: 0 }, /`timeout` must be at least 1 second/],
    [{ auth: "oauth", headers: { authorization: "x" } }, /both `auth` and an `Authorization` header/],
  ];
  for (const [entry, message] of cases) {
    const { code, stderr } = await lait("http://127.0.0.1:9/", once, entry);
    assert.equal(code, 1, stderr);
    assert.match(stderr, message);
    assert.match(stderr, /lait\.config\.yml:\d+:\d+/);
  }
});
