import assert from "node:assert/strict";
import { ModelServer, type WireBody } from "./_server.ts";
import { Workspace } from "./_lait.ts";

const at = (server: ModelServer) => ["--base-url", server.url, "--model", "m"];
const prompt = (body: WireBody) => body.messages.at(-1)!.content;

Deno.test("cli 5: what is piped in is added to the prompt; blank input counts as none; - reads it", async () => {
  await using server = new ModelServer(() => "ok");
  await using work = await Workspace.create();
  const cases: [stdin: string, args: string[], sent: string][] = [
    ["ctx\n", ["q"], "q\n\nctx"],
    [" \n", ["q"], "q"],
    ["", ["q"], "q"],
    ["x", ["-"], "x"],
    ["x", [""], "x"],
    ["a\r\nb\r\n\n\n", [], "a\r\nb"],
    ["  two words", ["q "], "q \n\n  two words"],
    ["日本語\n", ["検索"], "検索\n\n日本語"],
  ];
  for (const [stdin, args, sent] of cases) {
    const { code, stderr } = await work.run([...at(server), ...args], { stdin });
    assert.deepEqual([code, stderr], [0, ""]);
    assert.equal(prompt(server.requests.at(-1)!.body), sent);
  }
});

Deno.test("cli 5: without a prompt from anywhere it is exit 1 and no request", async () => {
  await using server = new ModelServer([]);
  await using work = await Workspace.create();
  const cases: [args: string[], stdin: string | undefined][] = [
    [[], undefined],
    [["-"], undefined],
    [[], " \n\n"],
    [[""], undefined],
    [[" "], "\n"],
  ];
  for (const [args, stdin] of cases) {
    const { code, stdout, stderr } = await work.run([...at(server), ...args], stdin === undefined ? {} : { stdin });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /PROMPT is required/);
  }
  assert.equal(server.requests.length, 0);
});

Deno.test("stdin: a file of many megabytes is read whole", async () => {
  await using server = new ModelServer(["ok"]);
  await using work = await Workspace.create();
  const text = "0123456789abcdef".repeat(1 << 19);
  assert.equal((await work.run(at(server), { stdin: text })).code, 0);
  assert.equal(prompt(server.onlyBody), text);
});

Deno.test("stdin: what is no UTF-8, or no file, is exit 1 and no request", async () => {
  await using server = new ModelServer([]);
  await using work = await Workspace.create();
  const bytes = await work.run([...at(server), "q"], { stdin: new Uint8Array([0x61, 0xff, 0xfe]) });
  assert.deepEqual([bytes.code, bytes.stdout], [1, ""]);
  assert.match(bytes.stderr, /standard input is not UTF-8/);
  const folder = await work.shell(`lait --base-url ${server.url} --model m q </tmp`);
  assert.deepEqual([folder.code, folder.stdout], [1, ""]);
  assert.match(folder.stderr, /cannot read standard input: it is a directory/);
  assert.equal(server.requests.length, 0);
});

Deno.test("stdin: with --no-stdin it is not read, with </dev/null it is empty", async () => {
  await using server = new ModelServer(() => "ok");
  await using work = await Workspace.create();
  assert.equal((await work.run([...at(server), "--no-stdin", "q"], { stdin: "not this" })).code, 0);
  assert.equal((await work.run([...at(server), "--no-stdin", "q"], { stdin: "open" })).code, 0);
  assert.equal((await work.shell(`lait --base-url ${server.url} --model m q </dev/null`)).code, 0);
  assert.deepEqual(server.requests.map(({ body }) => prompt(body)), ["q", "q", "q"]);
  const both = await work.run([...at(server), "--no-stdin", "-"], { stdin: "x" });
  assert.equal(both.code, 2);
  assert.match(both.stderr, /--no-stdin/);
});

Deno.test("[D11] stdin: a silent pipe beside a prompt makes a note that names --no-stdin; SIGINT ends the wait with 130", async () => {
  await using server = new ModelServer([]);
  await using work = await Workspace.create();
  const lait = work.start([...at(server), "q"], { stdin: "open" });
  await lait.saw(/^note: .*standard input.*--no-stdin.*<\/dev\/null/m);
  lait.signal("SIGINT");
  const { code, signal, stdout } = await lait.ended();
  assert.deepEqual([code, signal, stdout], [130, null, ""]);
  assert.equal(server.requests.length, 0);
});

Deno.test("[D11] stdin: a pipe that spoke in time is waited for without a note", async () => {
  await using server = new ModelServer(["ok"]);
  await using work = await Workspace.create();
  const line = `(echo begun; sleep 2.3; echo ended) | lait --base-url ${server.url} --model m q`;
  const { code, stderr } = await work.shell(line);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.equal(prompt(server.onlyBody), "q\n\nbegun\nended");
});
