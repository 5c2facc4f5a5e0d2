import assert from "node:assert/strict";
import { running, until, Workspace } from "../cli/_lait.ts";
import { mcpProgram } from "../servers/mcp.ts";
import { mcpWorkspace, stdio } from "./_mcp.ts";

const calls = (...list: { name: string; arguments?: Record<string, unknown> }[]) => ({ calls: list });

Deno.test("mcp: server-everything over stdio: text, structured content, an image, an error, progress, a declined question", async () => {
  await using work = await mcpWorkspace({ ev: stdio(mcpProgram("everything", "stdio")) }, [
    calls({ name: "ev__echo", arguments: { message: "hello" } }),
    { text: "{{ last }}|", ...calls({ name: "ev__get-structured-content", arguments: { location: "Chicago" } }) },
    { text: "{{ last }}|", ...calls({ name: "ev__get-tiny-image" }) },
    { text: "{{ last }}|", ...calls({ name: "ev__get-sum", arguments: { a: "no number", b: 1 } }) },
    {
      text: "{{ last }}|",
      ...calls({ name: "ev__trigger-long-running-operation", arguments: { duration: 1, steps: 4 } }),
    },
    { text: "{{ last }}|", ...calls({ name: "ev__trigger-elicitation-request" }) },
    "{{ last }}|",
  ]);
  const { code, stdout, stderr } = await work.run(["hi", "--stream"]);
  assert.equal(code, 0, stderr);
  const [echo, structured, image, error, long, declined] = stdout.split(/\|\n?/);
  assert.equal(echo, "Echo: hello");
  assert.match(structured!, /^\{"temperature":.*\}\n\nstructuredContent:\n\{"temperature":36,"conditions":/);
  assert.match(
    image!,
    /^Here's the image you requested:\n\n\{"type":"image","data":"iVBOR[\w+/=]+","mimeType":"image\/png"/,
  );
  assert.match(error!, /^isError: true\n\n.*[Ii]nput validation error/);
  assert.equal(long, "Long running operation completed. Duration: 1 seconds, Steps: 4.");
  assert.match(declined!, /declined/);
  assert.equal(stderr, "Starting default (STDIO) server...\n");
});

Deno.test("mcp: server-everything over Streamable HTTP", async () => {
  await using programs = await Workspace.create();
  const port = freePort();
  const server = programs.startProgram(mcpProgram("everything", "streamableHttp"), { env: { PORT: String(port) } });
  await server.saw(/listening on port/);
  await using work = await mcpWorkspace({ ev: { url: `http://127.0.0.1:${port}/mcp` } }, [
    calls({ name: "ev__echo", arguments: { message: "hello" } }, { name: "ev__get-sum", arguments: { a: 2, b: 40 } }),
    { text: "{{ last }}|", ...calls({ name: "ev__get-structured-content", arguments: { location: "Chicago" } }) },
    {
      text: "{{ last }}|",
      ...calls({ name: "ev__trigger-long-running-operation", arguments: { duration: 1, steps: 4 } }),
    },
    { text: "{{ last }}|", ...calls({ name: "ev__trigger-elicitation-request" }) },
    "{{ last }}|",
  ]);
  const { code, stdout, stderr } = await work.run(["hi", "--stream"]);
  assert.deepEqual([code, stderr], [0, ""]);
  const [sum, structured, long, declined] = stdout.split(/\|\n?/);
  assert.equal(sum, "The sum of 2 and 40 is 42.");
  assert.match(structured!, /structuredContent:/);
  assert.match(long!, /completed/);
  assert.match(declined!, /declined/);
  assert.match(server.stdout + server.stderr, /Received session termination request/);
});

Deno.test("mcp: server-everything over Streamable HTTP, restarted between two calls", async () => {
  await using programs = await Workspace.create();
  const port = freePort();
  const serve = async () => {
    const server = programs.startProgram(mcpProgram("everything", "streamableHttp"), { env: { PORT: String(port) } });
    await server.saw(/listening on port/);
    return server;
  };
  const first = await serve();
  const echo = { name: "ev__echo", arguments: { message: "again" } };
  await using work = await mcpWorkspace({ ev: { url: `http://127.0.0.1:${port}/mcp` } }, [
    calls(echo),
    { ...calls(echo), delay_ms: 5_000 },
    "{{ last }}",
  ]);
  const lait = work.start(["-v", "hi"]);
  await lait.saw(/tool ev__echo gave/);
  await first.kill();
  const second = await serve();
  const { code, stdout } = await lait.ended();
  assert.deepEqual([code, stdout], [0, "Echo: again\n"]);
  await second.saw(/Session initialized/);
});

Deno.test("mcp: server-filesystem and server-memory side by side; nothing of them is left", async () => {
  await using work = await mcpWorkspace({
    files: stdio(mcpProgram("filesystem", "${SHARED}")),
    memory: stdio(mcpProgram("memory"), { env: { MEMORY_FILE_PATH: "${SHARED}/memory.json" } }),
  }, [
    calls(
      { name: "files__read_text_file", arguments: { path: "note.txt" } },
      {
        name: "memory__create_entities",
        arguments: { entities: [{ name: "Ada", entityType: "person", observations: ["counts"] }] },
      },
    ),
    { text: "{{ last }}|", ...calls({ name: "files__read_text_file", arguments: { path: "/etc/hostname" } }) },
    { text: "{{ last }}|", ...calls({ name: "memory__open_nodes", arguments: { names: ["Ada"] } }) },
    "{{ last }}|",
  ]);
  await work.write("shared/note.txt", "remember the milk\n");
  const shared = work.path("shared");
  const { code, stdout, stderr } = await work.run(["hi", "--stream"], { env: { SHARED: shared } });
  assert.equal(code, 0, stderr);
  const [, refused, nodes] = stdout.split(/\|\n?/);
  assert.match(refused!, /^isError: true\n\n.*outside allowed directories/);
  assert.match(nodes!, /"name":"Ada"|"name": "Ada"/);
  assert.match(await work.read("shared/memory.json"), /Ada/);
  await until(() => running(shared).length === 0, "the servers' ends");
});

Deno.test("mcp: a question is answered on the terminal, where the server may ask", async () => {
  await using work = await mcpWorkspace({
    ev: stdio(mcpProgram("everything", "stdio"), { allow_elicitation: true }),
  }, [calls({ name: "ev__trigger-elicitation-request" }), "{{ last }}"]);
  const lait = work.terminal(["hi"]);
  await lait.saw(/a JSON object, or decline, or cancel/);
  assert.match(lait.stdout, /^mcp_servers\.ev: Please provide inputs/m);
  assert.match(lait.stdout, /^ {2}- name \(required\): string — Your full, legal name/m);
  await lait.type('{"name":"Ada LOVELACE"}\n');
  const { code, stdout } = await lait.ended();
  assert.equal(code, 0);
  assert.match(stdout, /provided the requested information/);
  assert.match(stdout, /Ada LOVELACE/);
});

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}
