import assert from "node:assert/strict";
import { type Answer, ModelServer, type Script } from "./_server.ts";
import { configWith, type LaitProcess, screen, Workspace } from "./_lait.ts";

const UP = "\x1b[A";
const LEFT = "\x1b[D";

/** A chat on a terminal; `talk` types into it. */
async function chatting(
  script: Script,
  talk: (lait: LaitProcess, server: ModelServer, work: Workspace) => Promise<void>,
  options: { readonly args?: readonly string[]; readonly files?: Readonly<Record<string, string>> } = {},
) {
  await using server = new ModelServer(script);
  await using work = await Workspace.create(options.files ?? {});
  const lait = work.terminal(["--base-url", server.url, "--model", "m", ...options.args ?? []]);
  await prompted(lait, 1);
  await talk(lait, server, work);
  const { code, stdout } = await lait.ended();
  const bodies = server.requests.map(({ body }) => body);
  const session = await work.exists(".lait/sessions/s.jsonl") ? await work.read(".lait/sessions/s.jsonl") : undefined;
  return { code, stdout, lines: screen(plain(stdout)).map((line) => line.trimEnd()), bodies, session };
}

const contents = (body: { readonly messages: readonly { readonly content: unknown }[] }) =>
  body.messages.map(({ content }) => content);
/** Waits until the prompt stands there for the nth time. */
// deno-lint-ignore no-control-regex
const prompted = (lait: LaitProcess, times: number) => lait.saw(/\x1b\[\?2004h/, times);

Deno.test("chat: bare lait on a terminal is a chat: answers stream to it, and each turn knows the ones before", async () => {
  const { code, lines, bodies } = await chatting([{ chunks: ["Hel", "lo!"], pauseMs: 50 }, "two"], async (lait) => {
    await lait.type("hi\r");
    await prompted(lait, 2);
    await lait.type("more\r");
    await prompted(lait, 3);
    await lait.type("/exit\r");
  });
  assert.equal(code, 0);
  assert(lines.includes("Hello!") && lines.includes("two"), lines.join("\n"));
  assert.deepEqual(bodies.map(({ stream }) => stream), [true, true]);
  assert.deepEqual(bodies.map(contents), [["hi"], ["hi", "Hello!", "more"]]);
});

Deno.test("chat: the line before is recalled and edited with the arrows, and Ctrl-D leaves", async () => {
  const { code, bodies } = await chatting(["one", "two"], async (lait) => {
    await lait.type("helo\r");
    await prompted(lait, 2);
    await lait.type(UP + LEFT + "l");
    await lait.type("\r");
    await prompted(lait, 3);
    await lait.type("\x04");
  });
  assert.equal(code, 0);
  assert.deepEqual(bodies.map((body) => contents(body).at(-1)), ["helo", "hello"]);
});

Deno.test("chat: letters that come in pieces, wide ones and emoji are sent as they were typed", async () => {
  const text = "日本語 é 👩‍🚀";
  const { bodies } = await chatting(["ok"], async (lait) => {
    const bytes = new TextEncoder().encode(text);
    await lait.typeBytes(bytes.slice(0, 4));
    await lait.saw(/日/);
    await lait.typeBytes(bytes.slice(4));
    await lait.type("\r");
    await prompted(lait, 2);
    await lait.type("\x04");
  });
  assert.deepEqual(contents(bodies[0]!), [text]);
});

Deno.test("chat: several lines: a backslash, three quotes, and what is pasted", async () => {
  const { bodies } = await chatting(["a", "b", "c"], async (lait) => {
    await lait.type("one\\\rtwo\r");
    await prompted(lait, 3);
    await lait.type('"""first\rsecond\\\r"""\r');
    await prompted(lait, 6);
    await lait.type("\x1b[200~x\r\ny\tz\x1b[201~!\r");
    await prompted(lait, 7);
    await lait.type("\x04");
  });
  assert.deepEqual(bodies.map((body) => contents(body).at(-1)), ["one\ntwo", "first\nsecond\\", "x\ny    z!"]);
});

Deno.test("chat: Ctrl-C stops the answer, the session stays usable, and the next turn does not know the stopped one", async () => {
  const script = (_: unknown, index: number): Answer =>
    index === 1 ? { chunks: ["endless "], endless: true } : { text: `answer ${index}` };
  const { code, lines, bodies, session } = await chatting(script, async (lait, server) => {
    await lait.type("one\r");
    await prompted(lait, 2);
    await lait.type("stop me\r");
    await lait.saw(/endless endless/);
    await lait.type("\x03");
    await server.cancelled;
    await prompted(lait, 3);
    await lait.type("three\r");
    await prompted(lait, 4);
    await lait.type("\x04");
  }, { args: ["--session", "s"] });
  assert.equal(code, 0, lines.join("\n"));
  assert(lines.some((line) => /^note: stopped/.test(line)), lines.join("\n"));
  assert.deepEqual(contents(bodies[2]!), ["one", "answer 0", "three"]);
  assert.deepEqual(session!.trimEnd().split("\n").map((line) => JSON.parse(line).content), [
    "one",
    "answer 0",
    "three",
    "answer 2",
  ]);
});

Deno.test("chat: a second Ctrl-C leaves with 130: behind a stopped answer, and at an empty prompt", async () => {
  const stopped = await chatting([{ chunks: ["x "], endless: true }], async (lait, server) => {
    await lait.type("go\r");
    await lait.saw(/x x /);
    await lait.type("\x03");
    await server.cancelled;
    await prompted(lait, 2);
    await lait.type("\x03");
  });
  assert.equal(stopped.code, 130);
  const idle = await chatting([], async (lait) => {
    await lait.type("typed\x03");
    await prompted(lait, 2);
    await lait.type("\x03");
  });
  assert.deepEqual([idle.code, idle.bodies.length], [130, 0]);
});

Deno.test("chat: a tool is approved within the chat, a for good holds in later turns, and what follows is not lost", async () => {
  const calls = [{ name: "tool__say", arguments: { text: "hi there" } }];
  const say = { command: ["sh", "-c", 'echo "$0" >>log; echo "$0"', "{{ input.text }}"] };
  const { code, stdout, bodies } = await chatting([{ calls }, "said", { calls }, "again"], async (lait) => {
    await lait.type("say it\r");
    await lait.saw(/run it\?/);
    await lait.type("a\n");
    await prompted(lait, 2);
    await lait.type("once more\r");
    await prompted(lait, 3);
    await lait.type("\x04");
  }, { args: ["--approve-tools"], files: { "lait.config.yml": configWith({ say }) } });
  assert.deepEqual([code, bodies.length], [0, 4]);
  assert.equal([...stdout.matchAll(/run it\?/g)].length, 1);
  assert.deepEqual(bodies[3]!.messages.map(({ role }) => role), ["user", "assistant", "user", "assistant", "tool"]);
});

Deno.test("chat: Ctrl-C at an approval question stops the turn, and the next line is whole", async () => {
  const say = { command: ["touch", "ran"] };
  const { code, bodies } = await chatting([{ calls: [{ name: "tool__say" }] }, "fine"], async (lait, _, work) => {
    await lait.type("say it\r");
    await lait.saw(/run it\?/);
    await lait.type("\x03");
    await prompted(lait, 2);
    await lait.type("next\r");
    await prompted(lait, 3);
    await lait.type("\x04");
    assert(!await work.exists("ran"));
  }, { args: ["--approve-tools"], files: { "lait.config.yml": configWith({ say }) } });
  assert.equal(code, 0);
  assert.deepEqual(contents(bodies[1]!), ["next"]);
});

Deno.test("cli-config 35: piped in, each line is a turn; /model changes it, unknown commands send nothing, errors go on", async () => {
  await using server = new ModelServer([
    "one",
    { status: 400, body: '{"error":{"message":"no"}}' },
    "three",
  ]);
  await using work = await Workspace.create();
  const stdin = "hi\n\n/nope\n/model\n/model n\nfails\n /system be brief\nyo\\\n/exit\nnever\n";
  const { code, stdout, stderr } = await work.run(["chat", "--model", "m", "--base-url", server.url], { stdin });
  assert.deepEqual([code, stdout], [0, "one\nthree\n"]);
  const bodies = server.requests.map(({ body }) => body);
  assert.deepEqual(bodies.map(({ model }) => model), ["m", "n", "n"]);
  assert.deepEqual(bodies[2]!.messages.map(({ role, content }) => [role, content]), [
    ["system", "be brief"],
    ["user", "hi"],
    ["assistant", "one"],
    ["user", "yo\\"],
  ]);
  assert.match(stderr, /^note: unknown command \/nope/m);
  assert.match(stderr, /^note: usage: \/model NAME$/m);
  assert.match(stderr, /^lait: .*no/m);
  assert.doesNotMatch(stderr, /^> /m);
});

Deno.test("chat: /clear forgets what was said and leaves the session's file; a missing model is told at each turn", async () => {
  await using server = new ModelServer(["one", "two"]);
  await using work = await Workspace.create();
  const stdin = "hi\n/model m\nfirst\n/clear\nsecond\n";
  const { code, stderr } = await work.run(["chat", "--session", "s", "--base-url", server.url], { stdin });
  assert.equal(code, 0);
  assert.match(stderr, /^lait: a model is required: name one with \/model NAME/);
  assert.deepEqual(server.requests.map(({ body }) => contents(body)), [["first"], ["second"]]);
  assert.equal((await work.read(".lait/sessions/s.jsonl")).trimEnd().split("\n").length, 4);
});

Deno.test("chat: --show-usage counts on from turn to turn, and a chat takes no prompt", async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  await using server = new ModelServer([{ text: "one", usage }, { text: "two", usage }]);
  await using work = await Workspace.create();
  const args = ["chat", "--model", "m", "--base-url", server.url];
  const { stderr } = await work.run([...args, "--show-usage"], { stdin: "a\nb\n" });
  assert.deepEqual(stderr.trimEnd().split("\n"), [
    "usage: prompt=3 completion=2 total=5",
    "usage: prompt=6 completion=4 total=10 (2 requests)",
  ]);
  const wrong = await work.run([...args, "hello"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /a chat takes no prompt/);
});

/** The text without colours. */
function plain(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replaceAll(/\x1b\[[\d;?]*[A-Za-z]/g, "");
}
