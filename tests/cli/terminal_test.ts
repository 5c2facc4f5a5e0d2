import assert from "node:assert/strict";
import { type Answer, ModelServer } from "./_server.ts";
import { configWith, screen, Workspace } from "./_lait.ts";

const say = { name: "tool__say", arguments: { text: "hi there" } };
const sayTool = { command: ["sh", "-c", 'echo "$0" >>log; echo "$0"', "{{ input.text }}"] };

/** A run with --approve-tools on a terminal that answers each question with the next line. */
async function approving(answers: readonly string[], script: readonly (string | Answer)[]) {
  await using server = new ModelServer(script);
  await using work = await Workspace.create({ "lait.config.yml": configWith({ say: sayTool, other: sayTool }) });
  const lait = work.terminal(["--base-url", server.url, "--approve-tools", "hi"]);
  for (const [index, answer] of answers.entries()) {
    await lait.saw(/run it\?/, index + 1);
    await lait.type(answer);
  }
  const { code, stdout } = await lait.ended();
  return {
    code,
    shown: stdout.replaceAll("\r\n", "\n"),
    questions: [...stdout.matchAll(/run it\?/g)].length,
    ran: await work.exists("log") ? (await work.read("log")).trimEnd().split("\n") : [],
    results: server.toolResults(),
    requests: server.requests.length,
  };
}

Deno.test("approval: y runs this call; the question shows name, raw arguments and the argv", async () => {
  const raw = { ...say, arguments: '{ "text":"hi there" }' };
  const { code, shown, ran, results } = await approving(["y\n"], [{ calls: [raw] }, "done"]);
  assert.deepEqual([code, ran, results], [0, ["hi there"], ["hi there"]]);
  assert.match(shown, /^tool call: tool__say$/m);
  assert.match(shown, /^arguments: \{ "text":"hi there" \}$/m);
  assert.match(shown, /^command: \["sh", "-c", "echo \\"\$0\\" >>log; echo \\"\$0\\"", "hi there"\]$/m);
  assert.match(shown, /^run it\?.*\by\b.*\bn\b.*\ba\b/m);
  assert.match(shown, /^done$/m);
});

Deno.test("approval: n, in either case, is told to the model, and the run goes on", async () => {
  for (const answer of ["n\n", "N\n"]) {
    const { code, ran, results } = await approving([answer], [{ calls: [say] }, "done"]);
    assert.deepEqual([code, ran], [0, []]);
    assert.match(results[0]!, /denied.*--approve-tools/i);
  }
});

Deno.test("agents-tools 35: a allows this tool from now on, in this answer and later ones, and no other", async () => {
  const other = { ...say, name: "tool__other" };
  const script = [{ calls: [say, say] }, { calls: [say, other] }, "done"];
  const { code, questions, ran } = await approving(["A\n", "y\n"], script);
  assert.deepEqual([code, questions, ran.length], [0, 2, 4]);
});

Deno.test("[D10] agents-tools 35: another answer is asked again, three times in all, then counts as n", async () => {
  const { code, questions, ran, results } = await approving(["yes\n", "\n", "what\n"], [{ calls: [say] }, "done"]);
  assert.deepEqual([code, questions, ran], [0, 3, []]);
  assert.match(results[0]!, /denied.*--approve-tools/i);
  const second = await approving(["yes\n", "y\n"], [{ calls: [say] }, "done"]);
  assert.deepEqual([second.code, second.questions, second.ran], [0, 2, ["hi there"]]);
});

Deno.test("[D10] approval: the end of the input is exit 1, and no call of that answer runs, not even an allowed one", async () => {
  const { code, shown, ran, requests } = await approving(["y\n", "\x04"], [{ calls: [say, say] }]);
  assert.deepEqual([code, ran, requests], [1, [], 1]);
  assert.match(shown, /^lait: --approve-tools: .*interactive/m);
});

Deno.test("approval: Ctrl-C at the question is 130, and nothing runs", async () => {
  const { code, shown, ran, requests } = await approving(["\x03"], [{ calls: [say] }]);
  assert.deepEqual([code, ran, requests], [130, [], 1]);
  assert.match(shown, /^lait: interrupted by SIGINT/m);
});

Deno.test("approval: a denied tool is not asked about, and what cannot be seen is shown", async () => {
  await using server = new ModelServer([
    { calls: [{ name: "tool__no" }, { name: "tool__say", arguments: '{"text":"a\u202eb"}' }] },
    "done",
  ]);
  await using work = await Workspace.create({
    "lait.config.yml": configWith({ say: sayTool, no: sayTool }, { tool_policy: { deny: ["tool__no"] } }),
  });
  const lait = work.terminal(["--base-url", server.url, "--approve-tools", "hi"]);
  await lait.saw(/run it\?/);
  assert.match(lait.stdout, /^arguments: \{"text":"a\\u\{202e\}b"\}\r?$/m);
  assert.match(lait.stdout, /^command: .*"a\\u\{202e\}b"\]\r?$/m);
  await lait.type("y\n");
  const { code, stdout } = await lait.ended();
  assert.equal(code, 0);
  assert.equal([...stdout.matchAll(/run it\?/g)].length, 1);
  assert.match(stdout, /✗ tool__no: .*denied/);
  assert.doesNotMatch(stdout, /tool call: tool__no/);
});

Deno.test("terminal: stderr shows what is waited for, then each tool with its argv and seconds; stdout is the answer", async () => {
  await using server = new ModelServer([
    { calls: [{ name: "tool__slow" }, { name: "tool__bad" }], delayMs: 700 },
    { text: "done", delayMs: 50 },
  ]);
  await using work = await Workspace.create({
    "lait.config.yml": configWith({ slow: { command: ["sleep", "0.8"] }, bad: { command: ["false"] } }),
  });
  const lait = work.terminal(["--base-url", server.url, "hi"], { redirect: ">out" });
  await lait.saw(/… waiting for m \d\.\ds/);
  await lait.saw(/… running tool__slow \["sleep", "0\.8"\].* \d\.\ds/);
  const { code, stdout } = await lait.ended();
  assert.equal(code, 0);
  assert.equal(await work.read("out"), "done\n");
  const [bad, slow, ...rest] = screen(stdout).filter((line) => line !== "");
  assert.match(bad!, /^✗ tool__bad \["false"\] \d\.\ds$/);
  assert.match(slow!, /^✓ tool__slow \["sleep", "0\.8"\] \d\.\ds$/);
  assert.deepEqual(rest, []);
});

Deno.test("terminal: with --quiet, or where a line cannot be redrawn, nothing is shown", async () => {
  for (const [args, env] of [[["--quiet"], {}], [[], { TERM: "dumb" }]] as const) {
    await using server = new ModelServer([{ calls: [{ name: "tool__slow" }], delayMs: 500 }, "done"]);
    await using work = await Workspace.create({
      "lait.config.yml": configWith({ slow: { command: ["sleep", "0.4"] } }),
    });
    const { code, stdout } = await work.terminal(["--base-url", server.url, ...args, "hi"], { env }).ended();
    assert.deepEqual([code, stdout], [0, "done\r\n"]);
  }
});

Deno.test("terminal: progress takes nothing away from a streamed answer, whose rounds have lines of their own", async () => {
  await using server = new ModelServer([
    { text: "I look.", calls: [{ name: "tool__slow" }, { name: "tool__no" }] },
    { chunks: ["All ", "done."], delayMs: 500 },
  ]);
  await using work = await Workspace.create({
    "lait.config.yml": configWith({ slow: { command: ["sleep", "0.6"] }, no: { command: ["true"] } }, {
      tool_policy: { deny: ["tool__no"] },
    }),
  });
  const lait = work.terminal(["--base-url", server.url, "--stream", "hi"]);
  await lait.saw(/running tool__slow/);
  assert.match(screen(lait.stdout)[0]!, /^I look\.$/);
  const { code, stdout } = await lait.ended();
  assert.equal(code, 0);
  const lines = screen(stdout).filter((line) => line !== "");
  assert.match(lines[1]!, /^✗ tool__no: `tool__no` is denied/);
  assert.match(lines[2]!, /^✓ tool__slow \["sleep", "0\.6"\]/);
  assert.deepEqual([lines[0], lines[3], lines.length], ["I look.", "All done.", 4]);
});

Deno.test("terminal: a long line of wide characters is cut to the terminal, so that it can be taken away again", async () => {
  await using server = new ModelServer([
    { calls: [{ name: "tool__slow", arguments: { text: "検索パターン".repeat(30) } }] },
    "done",
  ]);
  await using work = await Workspace.create({
    "lait.config.yml": configWith({ slow: { command: ["sh", "-c", "sleep 0.6", "{{ input.text }}"] } }),
  });
  const { stdout } = await work.terminal(["--base-url", server.url, "hi"]).ended();
  // deno-lint-ignore no-control-regex
  const shown = stdout.split(/\r\n|\x1b\[2K|\r/).filter((line) => /running|✓/.test(line));
  assert(shown.length > 1);
  for (const line of shown) {
    const cells = [...line].reduce((sum, character) => sum + (character > "\u2e7f" ? 2 : 1), 0);
    assert(cells <= 79, `${cells} cells: ${line}`);
  }
});

Deno.test("terminal: an interruption is said on a line of its own", async () => {
  await using server = new ModelServer([{ hang: true }]);
  await using work = await Workspace.create();
  const lait = work.terminal(["--base-url", server.url, "--model", "m", "hi"]);
  await lait.saw(/… waiting for m/);
  await lait.type("\x03");
  const { code, stdout } = await lait.ended();
  assert.equal(code, 130);
  assert(screen(stdout).some((line) => /^lait: interrupted by SIGINT/.test(line)), stdout);
});
