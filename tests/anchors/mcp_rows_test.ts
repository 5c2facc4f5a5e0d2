/** What users of others complain about in their MCP clients. More of it is in tests/mcp. */
import assert from "node:assert/strict";
import type { Script } from "../../lib/model/providers/script.ts";
import { running, uniqueSeconds, until, Workspace } from "../cli/_lait.ts";
import { ModelServer } from "../cli/_server.ts";
import { echoed, events, HttpMcpServer } from "../mcp/_http_server.ts";
import { Journal, mcpWorkspace, planned, stdio } from "../mcp/_mcp.ts";
import type { ServerPlan } from "../mcp/stdio_server.ts";

const call = { calls: [{ name: "s__echo", arguments: { a: 1 } }] };
const once: Script = [call, "{{ last }}"];

async function lait(entry: Readonly<Record<string, unknown>>, script: Script = once, env: Record<string, string> = {}) {
  await using work = await mcpWorkspace({ s: entry }, script);
  return await work.run(["hi"], { env });
}

const server = (plan: ServerPlan, more: Readonly<Record<string, unknown>> = {}) => stdio(planned(plan), more);

Deno.test("B8: the result of a failed tool is told, whatever output schema the tool has", async () => {
  const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const plan: ServerPlan = {
    tools: [{ name: "echo", inputSchema: { type: "object" }, outputSchema }],
    result: { content: [{ type: "text", text: "the disk is full" }], isError: true },
  };
  const { code, stdout } = await lait(server(plan));
  assert.deepEqual([code, stdout], [0, "isError: true\n\nthe disk is full\n"]);
});

Deno.test("C18: arguments of a server with spaces and quotes arrive as they are", async () => {
  const script = 'printf "<%s>" "$@" >&2; exit 1';
  const { stderr } = await lait({ command: "sh", args: ["-c", script, "sh", "a b", 'c"d', "", "e=f=g"] });
  assert.match(stderr, /^<a b><c"d><><e=f=g>$/m);
});

Deno.test("E1: banners on standard output are passed over, and the first is named when the server fails", async () => {
  const noise = { bytes: 2_000, lines: true };
  assert.equal((await lait(server({ noise }))).stdout, '{"a":1}\n');
  const { stderr } = await lait(server({ noise, onCall: "die", stderr: "fatal: no key\n" }));
  assert.match(stderr, /no message: npm notice this is no message; .*ended with: fatal: no key/);
});

Deno.test("E2: a session that the server has forgotten is made anew, and the call repeated once", async () => {
  let executed = 0;
  await using http: HttpMcpServer = new HttpMcpServer({
    onCall: (message, count) => {
      if (count === 1) {
        http.forget();
        return new Response(null, { status: 404 });
      }
      executed++;
      return echoed(message);
    },
  });
  const { code, stdout } = await lait({ url: http.url });
  assert.deepEqual([code, stdout, executed], [0, '{"a":1}\n', 1]);
});

Deno.test("E4: a cursor that never advances ends the listing", async () => {
  assert.match((await lait(server({ stuckCursor: "c1" }))).stderr, /the cursor "c1" is repeated/);
});

Deno.test("E5: a server is told that a call is not waited for any more", async () => {
  await using journal = await Journal.make();
  const { code } = await lait(server({ journal: journal.path, onCall: "hang" }, { timeout: 1 }));
  assert.equal(code, 5);
  const entries = await journal.entries();
  const told = entries.find(({ method }) => method === "notifications/cancelled");
  assert.equal(typeof told!.params!["requestId"], "number");
});

Deno.test("E7: progress is asked for, and gives a call its time anew", async () => {
  const { code } = await lait(server({ progress: { everyMs: 600, count: 3 } }, { timeout: 1 }));
  assert.equal(code, 0);
});

Deno.test("E8: a stream that breaks off is resumed after the server's own pause, or the call fails at once", async () => {
  const gone = new HttpMcpServer({ onCall: () => events(": bye\n\n") });
  await using _ = gone;
  assert.match((await lait({ url: gone.url })).stderr, /the answer's stream ended without the answer/);
});

Deno.test("E10: a launcher that dies leaves no server behind", async () => {
  const mark = uniqueSeconds();
  const { code } = await lait({ command: "sh", args: ["-c", `sleep ${mark} & exit 4`] });
  assert.equal(code, 1);
  await until(() => running(`sleep ${mark}`).length === 0, "the end of the launched program");
});

Deno.test("E11: placeholders are replaced in every field, once; one that is not set is named with its field", async () => {
  await using journal = await Journal.make();
  const [command, ...args] = planned({ journal: journal.path });
  const env = { DENO: command, DIR: "${HOME}" };
  const entry = { command: "${DENO}", args, env: { X: "${DIR}" } };
  assert.equal((await lait(entry, once, env)).code, 0);
  for (const [field, value] of [["args", ["${NOPE}"]], ["env", { A: "${NOPE}" }], ["cwd", "${NOPE}"]] as const) {
    const { stderr } = await lait({ command, args, [field]: value });
    assert.match(stderr, new RegExp(`mcp_servers\\.s\\.${field}\\S*: environment variable .NOPE. is not set`));
  }
});

Deno.test("E13: a server on this machine is asked directly, whatever the proxy variables say", async () => {
  await using http = new HttpMcpServer();
  const proxy = "http://127.0.0.1:9";
  const env = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy };
  assert.equal((await lait({ url: http.url }, once, env)).code, 0);
});

Deno.test("E14: a server does not get the model keys unless its entry lists them", async () => {
  const script = 'echo "[$OPENAI_API_KEY][$MY_KEY]" >&2; exit 1';
  const env = { OPENAI_API_KEY: "sk-1", MY_KEY: "k-2" };
  await using model = new ModelServer(["done"]);
  for (const [listed, shown] of [[{}, "[][]"], [{ MY_KEY: "${MY_KEY}" }, "[][k-2]"]] as const) {
    const config = {
      base_url: model.url,
      api_key: "${MY_KEY}",
      default: { model: "m", mcp: ["s"] },
      mcp_servers: { s: { command: "sh", args: ["-c", script], env: listed } },
    };
    await using work = await Workspace.create({ "lait.config.yml": JSON.stringify(config) });
    const { stderr } = await work.run(["hi"], { env });
    assert(stderr.startsWith(`${shown}\n`), stderr);
  }
});

Deno.test("E16: values of variables are kept whole, also with = in them or empty", async () => {
  const script = 'env | grep "^[XY]_LAIT=" | sort >&2; exit 1';
  const { stderr } = await lait({ command: "sh", args: ["-c", script], env: { X_LAIT: "x=y=z", Y_LAIT: "" } });
  assert.match(stderr, /^X_LAIT=x=y=z\nY_LAIT=$/m);
});

Deno.test("E17: a server without a stream of its own works, and one call's end is not the others'", async () => {
  await using http = new HttpMcpServer({
    onAny: (request) => request.method === "GET" ? new Response(null, { status: 500 }) : undefined,
  });
  const { code, stderr } = await lait({ url: http.url });
  assert.deepEqual([code, stderr], [0, ""]);
});

Deno.test("E19: a server is named by its key, whatever starts it and whatever it calls itself", async () => {
  const { stderr } = await lait({ command: "lait-no-such-launcher" });
  assert.match(stderr, /^lait: mcp_servers\.s: cannot find the program `lait-no-such-launcher`/);
});
