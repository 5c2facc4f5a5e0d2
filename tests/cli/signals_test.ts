import assert from "node:assert/strict";
import { ModelServer } from "./_server.ts";
import { configWith, type LaitProcess, running, uniqueSeconds, until, Workspace } from "./_lait.ts";

/** A tool with children, one of them deaf to SIGTERM. */
function stubborn() {
  const marks = [uniqueSeconds(), uniqueSeconds(), uniqueSeconds()];
  const [a, b, c] = marks;
  const script = `sleep ${a} & (trap '' TERM; sleep ${b}) & sleep ${c}; exit`;
  const processes = () => marks.flatMap((mark) => running(`sleep ${mark}`));
  return {
    tool: { command: ["sh", "-c", script] },
    /** How many of the three commands run. */
    sleeping: () => processes().filter(({ command }) => /^sleep \S+ $/.test(command)).length,
    /** Everything of it that is still there. */
    left: processes,
  };
}

Deno.test("seed 000, agents-tools 31, cli 46, [D8]: INT, TERM and HUP while tools run end their trees; 130, 143, 129, nothing on stdout", async () => {
  for (const [name, expected] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    const { tool, left, sleeping } = stubborn();
    const calls = [{ name: "tool__slow" }, { name: "tool__slow" }];
    await using server = new ModelServer([{ text: "I look. ", calls }]);
    await using work = await Workspace.create({ "lait.config.yml": configWith({ slow: tool }) });
    const lait = work.start(["--base-url", server.url, "hi"]);
    await until(() => sleeping() === 6, "both calls to run");
    lait.signal(name);
    const { code, signal, stdout, stderr } = await lait.ended();
    assert.deepEqual([code, signal, stdout], [expected, null, ""]);
    assert.match(stderr, new RegExp(`^lait: interrupted by ${name}, .*\\n$`));
    assert.deepEqual(left(), []);
    assert.equal(server.requests.length, 1);
  }
});

Deno.test("[D8] signals: what an ended command left in the background ends with lait, too", async () => {
  const [background, main] = [uniqueSeconds(), uniqueSeconds()];
  await using server = new ModelServer([{ calls: [{ name: "tool__leave" }] }, { calls: [{ name: "tool__slow" }] }]);
  await using work = await Workspace.create({
    "lait.config.yml": configWith({
      leave: { command: ["sh", "-c", `sleep ${background} >/dev/null 2>&1 & echo left`] },
      slow: { command: ["sleep", main] },
    }),
  });
  const lait = work.start(["--base-url", server.url, "hi"]);
  await until(() => running(`sleep ${main}`).length === 1, "the second call");
  assert.deepEqual(server.toolResults(), ["left"]);
  assert.equal(running(`sleep ${background}`).length, 1);
  lait.signal("SIGTERM");
  assert.equal((await lait.ended()).code, 143);
  assert.deepEqual([...running(`sleep ${background}`), ...running(`sleep ${main}`)], []);
});

/** A lait that a signal cannot end soon: its answer goes to a pipe that nobody opens for reading. */
async function stuck(work: Workspace, server: ModelServer): Promise<LaitProcess> {
  await new Deno.Command("mkfifo", { args: [work.path("fifo")] }).output();
  const lait = work.start(["--base-url", server.url, "--stream", "-o", "fifo", "hi"]);
  await until(() => server.requests.length > 0, "the request");
  return lait;
}

Deno.test("signals: the second one ends lait at once, with what still runs", async () => {
  const { tool, left, sleeping } = stubborn();
  for (const [second, expected] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    // The first signal's code is 130: 143 shows that the second one did not wait for what the first one began.
    await using server = new ModelServer([{ text: "text", calls: [{ name: "tool__slow" }] }]);
    await using work = await Workspace.create({ "lait.config.yml": configWith({ slow: tool }) });
    const lait = await stuck(work, server);
    await until(() => sleeping() === 3, "the call");
    lait.signal("SIGINT");
    await lait.saw(/interrupted by SIGINT/);
    lait.signal(second);
    const { code, signal, stdout } = await lait.ended();
    assert.deepEqual([code, signal, stdout], [expected, null, ""]);
    // It did not wait for them to be gone.
    await until(() => left().length === 0, "the end of what was killed");
  }
});

Deno.test("cli 46: SIGINT while the model does not answer, or goes on and on, is 130 and keeps what was written", async () => {
  await using silent = new ModelServer([{ hang: true }]);
  await using work = await Workspace.create();
  const waiting = work.start(["--base-url", silent.url, "--model", "m", "hi"]);
  await until(() => silent.requests.length === 1, "the request");
  waiting.signal("SIGINT");
  const hung = await waiting.ended();
  assert.deepEqual([hung.code, hung.signal, hung.stdout], [130, null, ""]);
  assert.match(hung.stderr, /^lait: interrupted by SIGINT.*\n$/);

  await using talking = new ModelServer([{ chunks: ["words "], endless: true }]);
  const streaming = work.start(["--base-url", talking.url, "--model", "m", "--stream", "hi"]);
  await streaming.saw(/words words/);
  streaming.signal("SIGINT");
  const { code, stdout } = await streaming.ended();
  assert.equal(code, 130);
  assert.match(stdout, /^(words )+$/);
  await talking.cancelled;
});

Deno.test("signals: SIGINT while a key command runs ends the command", async () => {
  const seconds = uniqueSeconds();
  await using server = new ModelServer([]);
  await using work = await Workspace.create({ "lait.config.yml": `api_key_cmd: sleep ${seconds}; echo k\n` });
  const lait = work.start(["--base-url", server.url, "--model", "m", "hi"]);
  await until(() => running(`sleep ${seconds}`).length > 0, "the key command");
  lait.signal("SIGINT");
  const { code, stdout } = await lait.ended();
  assert.deepEqual([code, stdout], [130, ""]);
  assert.deepEqual(running(`sleep ${seconds}`), []);
  assert.equal(server.requests.length, 0);
});

Deno.test("closed stdout: a tool that runs then is ended", async () => {
  const seconds = uniqueSeconds();
  await using server = new ModelServer([{ text: "text ", calls: [{ name: "tool__slow" }], delayMs: 300 }]);
  await using work = await Workspace.create({
    "lait.config.yml": configWith({ slow: { command: ["sleep", seconds] } }),
  });
  const line = `(lait --base-url ${server.url} --stream hi; echo "status $?" >&2) | true`;
  const { stdout, stderr } = await work.shell(line);
  assert.deepEqual([stdout, stderr], ["", "status 0\n"]);
  assert.deepEqual(running(`sleep ${seconds}`), []);
  assert.equal(server.requests.length, 1);
});
