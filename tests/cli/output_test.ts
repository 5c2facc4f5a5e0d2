import assert from "node:assert/strict";
import { type Answer, ModelServer } from "./_server.ts";
import { configWith, Workspace } from "./_lait.ts";

const at = (server: ModelServer) => ["--base-url", server.url, "--model", "m"];
const USAGE = { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 };

Deno.test("cli 23: --json is one line with content, reasoning and usage, null where there is none", async () => {
  await using server = new ModelServer([
    { text: "two\nlines", reasoning: "R", usage: USAGE },
    "A",
    { text: "A", reasoning: "legacy", reasoningField: "reasoning_content" },
    { text: "A", reasoning: " \n" },
  ]);
  await using work = await Workspace.create();
  const expected = [
    { content: "two\nlines", reasoning: "R", usage: USAGE },
    { content: "A", reasoning: null, usage: null },
    { content: "A", reasoning: "legacy", usage: null },
    { content: "A", reasoning: null, usage: null },
  ];
  for (const document of expected) {
    const { code, stdout, stderr } = await work.run([...at(server), "--json", "hi"]);
    assert.deepEqual([code, stdout, stderr], [0, `${JSON.stringify(document)}\n`, ""]);
  }
});

Deno.test("cli 23: with tools, --json carries the last request's usage, and --show-usage the sum", async () => {
  await using server = new ModelServer([{ calls: [{ name: "tool__ok" }], usage: USAGE }, { text: "A", usage: USAGE }]);
  await using work = await Workspace.create({ "lait.config.yml": configWith({ ok: { command: ["true"] } }) });
  const { stdout, stderr } = await work.run(["--base-url", server.url, "--json", "--show-usage", "hi"]);
  assert.deepEqual(JSON.parse(stdout), { content: "A", reasoning: null, usage: USAGE });
  assert.equal(stderr, "usage: prompt=24 completion=16 total=40 (2 requests)\n");
});

Deno.test("cli 24: --show-reasoning prints it before the answer, beside -o on stderr, and with --quiet not", async () => {
  const answer: Answer = { text: "A", reasoning: "R" };
  await using server = new ModelServer(() => answer);
  await using work = await Workspace.create();
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await work.run([...at(server), ...args, "hi"]);
    assert.equal(code, 0, stderr);
    return [stdout, stderr];
  };
  assert.deepEqual(await run("--show-reasoning"), ["Reasoning:\nR\n\nA\n", ""]);
  assert.deepEqual(await run("--show-reasoning", "--stream"), ["Reasoning:\nR\n\nA\n", ""]);
  assert.deepEqual(await run("--show-reasoning", "--quiet"), ["A\n", ""]);
  assert.deepEqual(await run("--show-reasoning", "--quiet", "--stream"), ["A\n", ""]);
  assert.deepEqual(await run("--stream"), ["A\n", ""]);
  assert.deepEqual(await run("--show-reasoning", "-o", "f"), ["", "Reasoning:\nR\n\n"]);
  assert.equal(await work.read("f"), "A\n");
  assert.deepEqual(await run("--show-reasoning", "--stream", "-o", "g"), ["", "Reasoning:\nR\n\n"]);
  assert.equal(await work.read("g"), "A\n");
  assert.deepEqual(await run("--show-reasoning", "-o", "-"), ["Reasoning:\nR\n\nA\n", ""]);
  assert.deepEqual(await run("--json", "-o", "h"), ["", ""]);
  assert.deepEqual(JSON.parse(await work.read("h")), { content: "A", reasoning: "R", usage: null });
});

Deno.test("cli 25: a failed request makes no file and keeps an old one; a stream that is cut leaves what came", async () => {
  await using server = new ModelServer(({ body }) =>
    body.stream ? { chunks: ["half ", "an answer"], cut: true } : { status: 500 }
  );
  await using work = await Workspace.create({ "old": "old content" });
  for (const file of ["new", "old"]) {
    const { code, stdout } = await work.run([...at(server), "-o", file, "hi"]);
    assert.deepEqual([code, stdout], [4, ""]);
  }
  assert(!await work.exists("new"));
  assert.equal(await work.read("old"), "old content");
  const file = await work.run([...at(server), "--stream", "-o", "partial", "hi"]);
  assert.deepEqual([file.code, file.stdout], [4, ""]);
  assert.equal(await work.read("partial"), "half an answer");
  const piped = await work.run([...at(server), "--stream", "hi"]);
  assert.deepEqual([piped.code, piped.stdout], [4, "half an answer"]);
  assert.match(piped.stderr, /^lait: .*\n$/);
});

Deno.test("output: a place that cannot be written is exit 1 before any request; -o over a file replaces it whole", async () => {
  await using server = new ModelServer(["short"]);
  await using work = await Workspace.create({ "folder/x": "", "file": "a much longer old content" });
  for (const [path, said] of [["no/where", "its directory does not exist"], ["folder", "it is a directory"]] as const) {
    for (const extra of [[], ["--stream"]]) {
      const { code, stdout, stderr } = await work.run([...at(server), ...extra, "-o", path, "hi"]);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, new RegExp(`cannot write .*${path}: ${said}`));
    }
  }
  assert.equal(server.requests.length, 0);
  assert.equal((await work.run([...at(server), "-o", "file", "hi"])).code, 0);
  assert.equal(await work.read("file"), "short\n");
  const left = (await Array.fromAsync(Deno.readDir(work.directory))).map(({ name }) => name);
  assert.deepEqual(left.sort(), ["file", "folder"]);
});

Deno.test("cli 26: --stream asks for a stream, and with --show-usage for its tokens; prices make a cost", async () => {
  const millions = { prompt_tokens: 1_000_000, completion_tokens: 1_000_000, total_tokens: 2_000_000 };
  await using server = new ModelServer([
    { text: "A", usage: USAGE },
    { text: "A", usage: USAGE },
    { text: "A", usage: millions },
    "A",
    { text: "A", usage: USAGE },
  ]);
  await using work = await Workspace.create({
    "priced.yml": JSON.stringify({
      models: {
        p: [{
          provider: { base_url: server.url },
          model_id: "big",
          pricing: { input_per_1m: 1, output_per_1m: 2 },
        }],
      },
    }),
  });
  const run = async (...args: string[]) => await work.run([...args, "hi"]);
  const streamed = await run(...at(server), "--stream", "--show-usage");
  assert.deepEqual([streamed.stdout, streamed.stderr], ["A\n", "usage: prompt=12 completion=8 total=20\n"]);
  const { stream, stream_options: options } = server.requests[0]!.body;
  assert.deepEqual([stream, options], [true, { include_usage: true }]);
  assert.equal((await run(...at(server), "--stream")).stderr, "");
  assert.equal(server.requests[1]!.body["stream_options"], undefined);
  const priced = await run("--config", "priced.yml", "--model", "p", "--show-usage", "--stream");
  assert.equal(priced.stderr, "usage: prompt=1000000 completion=1000000 total=2000000 ($3.0000)\n");
  assert.equal(server.requests[2]!.body.model, "big");
  assert.match((await run(...at(server), "--show-usage")).stderr, /^usage: \(.*none.*\)\n$/);
  assert.equal((await run(...at(server), "--show-usage", "--quiet")).stderr, "");
});

Deno.test("stream: rounds with tools follow each other on stdout; only the answer ends with a line ending", async () => {
  await using server = new ModelServer([
    { text: "I look. ", calls: [{ name: "tool__say", arguments: { text: "x" } }] },
    { chunks: ["Do", "ne", "."] },
  ]);
  await using work = await Workspace.create({
    "lait.config.yml": configWith({ say: { command: ["echo", "{{ input.text }}"] } }),
  });
  const { code, stdout, stderr } = await work.run(["--base-url", server.url, "--stream", "hi"]);
  assert.deepEqual([code, stdout, stderr], [0, "I look. Done.\n", ""]);
  assert.deepEqual(server.toolResults(), ["x"]);
  assert.equal((await work.run(["--base-url", server.url, "hi"])).code, 4);
});

Deno.test("closed stdout: `| head -c 1` on a long stream ends quietly, and the server sees the request go", async () => {
  await using server = new ModelServer([{ chunks: ["some words "], endless: true }]);
  await using work = await Workspace.create();
  const line = `(lait --base-url ${server.url} --model m --stream hi; echo "status $?" >&2) | head -c 1`;
  const { stdout, stderr } = await work.shell(line);
  assert.deepEqual([stdout, stderr], ["s", "status 0\n"]);
  await server.cancelled;
});

Deno.test("closed stdout: a whole answer, the help and the version that nobody reads end quietly, too", async () => {
  await using server = new ModelServer(["A"]);
  await using work = await Workspace.create();
  for (const args of [`--base-url ${server.url} --model m hi`, "--help", "--version"]) {
    const { stderr } = await work.shell(`(sleep 0.1; lait ${args}; echo "status $?" >&2) | true`);
    assert.equal(stderr, "status 0\n");
  }
});

Deno.test("full disk: an answer that cannot be written is exit 1 and said", async () => {
  await using server = new ModelServer(() => "A");
  await using work = await Workspace.create();
  for (
    const args of [`--base-url ${server.url} --model m hi`, `--base-url ${server.url} --model m --stream hi`, "-h"]
  ) {
    const { code, stderr } = await work.shell(`lait ${args} >/dev/full`);
    assert.equal(code, 1);
    assert.match(stderr, /^lait: cannot write to standard output: .*[Nn]o space left.*\n$/);
  }
});

Deno.test("stdout is the result alone and stderr stays empty while a tool runs, when both are piped", async () => {
  await using server = new ModelServer([{ calls: [{ name: "tool__slow" }], delayMs: 400 }, "A"]);
  await using work = await Workspace.create({
    "lait.config.yml": configWith({ slow: { command: ["sh", "-c", "sleep 0.5; echo said; echo said >&2"] } }),
  });
  const { code, stdout, stderr } = await work.run(["--base-url", server.url, "hi"]);
  assert.deepEqual([code, stdout, stderr], [0, "A\n", ""]);
});
