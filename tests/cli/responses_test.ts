import assert from "node:assert/strict";
import { ModelServer } from "./_server.ts";
import { Workspace } from "./_lait.ts";

/** A server that speaks the Responses API, and keeps paths and bodies. */
function serveResponses(answer: () => Response) {
  const requests: { path: string; body: Record<string, unknown> }[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    requests.push({ path: new URL(request.url).pathname, body: await request.json() });
    return answer();
  });
  return { url: `http://127.0.0.1:${server.addr.port}/v1`, requests, server };
}

const alias = (url: string, more = "") =>
  `default: { model: a }\nmodels: { a: [{ provider: { base_url: "${url}" }, model_id: m, api: responses }${more}] }\n`;

Deno.test("cli 19: api: responses sends instructions and input, stores nothing, and prints the text", async () => {
  const output = [{ type: "message", content: [{ type: "output_text", text: "hello" }] }];
  const { url, requests, server } = serveResponses(() => Response.json({ status: "completed", output }));
  await using work = await Workspace.create({ "lait.config.yml": alias(url) });
  try {
    const { code, stdout, stderr } = await work.run(["--system", "Be brief.", "hi"]);
    assert.deepEqual([code, stdout], [0, "hello\n"], stderr);
    assert.deepEqual(requests, [{
      path: "/v1/responses",
      body: {
        model: "m",
        instructions: "Be brief.",
        input: [{ role: "user", content: "hi" }],
        stream: false,
        store: false,
      },
    }]);
  } finally {
    await server.shutdown();
  }
});

Deno.test("cli 18: the fallback of a Responses server is asked by Chat Completions", async () => {
  const { url, requests, server } = serveResponses(() => new Response("down", { status: 500 }));
  await using second = new ModelServer(["from the second"]);
  await using work = await Workspace.create({
    "lait.config.yml": alias(url, `, { provider: { base_url: "${second.url}" }, model_id: n, api: responses }`),
  });
  try {
    const { code, stdout } = await work.run(["hi"]);
    assert.deepEqual([code, stdout], [0, "from the second\n"]);
    assert.equal(requests.length, 4);
    assert.equal(second.requests[0]!.path, "/v1/chat/completions");
  } finally {
    await server.shutdown();
  }
});
