import assert from "node:assert/strict";
import { ModelServer } from "./_server.ts";
import { Workspace } from "./_lait.ts";

const ANSWER = { choices: [{ message: { content: "by the proxy" } }] };

/** A proxy for plain HTTP: it answers everything itself and keeps what it was asked for. */
function startProxy(): { url: string; asked: string[]; server: Deno.HttpServer<Deno.NetAddr> } {
  const asked: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    asked.push(request.url);
    await request.text();
    return Response.json(ANSWER);
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, asked, server };
}

Deno.test("proxies: HTTP_PROXY is used for the network, NO_PROXY is kept, and this machine is asked directly", async () => {
  await using direct = new ModelServer(() => "directly");
  await using work = await Workspace.create({
    "lait.config.yml": 'tools: { show: { command: ["printenv", "NO_PROXY"] } }\n',
  });
  const proxy = startProxy();
  try {
    const env = { HTTP_PROXY: proxy.url, NO_PROXY: "spared.test" };
    const far = await work.run(["--model", "m", "--base-url", "http://model.test/v1", "hi"], { env });
    assert.deepEqual([far.code, far.stdout], [0, "by the proxy\n"], far.stderr);
    assert.deepEqual(proxy.asked, ["http://model.test/v1/chat/completions"]);
    for (const host of ["127.0.0.1", "localhost"]) {
      const url = direct.url.replace("127.0.0.1", host);
      assert.equal((await work.run(["--model", "m", "--base-url", url, "hi", "-vv"], { env })).stdout, "directly\n");
    }
    const spared = await work.run(["--model", "m", "--base-url", "http://spared.test/v1", "hi"], { env });
    assert.equal(spared.code, 4);
    assert.equal(proxy.asked.length, 1);
  } finally {
    await proxy.server.shutdown();
  }
});

Deno.test("proxies: commands see NO_PROXY as it was", async () => {
  await using server = new ModelServer([{ calls: [{ name: "tool__show" }] }, "ok"]);
  await using work = await Workspace.create({
    "lait.config.yml": 'tools: { show: { command: ["sh", "-c", "echo ${NO_PROXY-unset}"] } }\n',
  });
  const env = { HTTP_PROXY: "http://127.0.0.1:9", NO_PROXY: undefined };
  const { code, stderr } = await work.run(["--model", "m", "--base-url", server.url, "--tool", "show", "hi"], { env });
  assert.equal(code, 0, stderr);
  assert.deepEqual(server.toolResults(), ["unset"]);
});

Deno.test("OPENAI_CUSTOM_HEADERS that are no headers change nothing", async () => {
  await using server = new ModelServer(["ok"]);
  await using work = await Workspace.create();
  const env = { OPENAI_CUSTOM_HEADERS: "bad header: x\nX-Extra: y" };
  const { code, stderr } = await work.run(["--model", "m", "--base-url", server.url, "hi"], { env });
  assert.equal(code, 0, stderr);
  assert.equal(server.requests[0]!.headers.get("x-extra"), null);
});
