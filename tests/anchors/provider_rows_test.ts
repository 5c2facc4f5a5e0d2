/** What hurts users of the peers, section A: the wire format of providers. */
import assert from "node:assert/strict";
import { withRetries } from "../../lib/model/layers/retry.ts";
import { reasoningText, toolCalls } from "../../lib/model/message.ts";
import { Workspace } from "../cli/_lait.ts";
import { ModelServer, type WireBody } from "../cli/_server.ts";
import { FakeClock } from "../model/_clock.ts";
import { HI, modelError, plain, provider, StubServer } from "../model/_servers.ts";
import { at, call, calling, TEXT } from "./_calling.ts";
import { answerTo, callsOf, delta, piece, pieces } from "./_streams.ts";

Deno.test("A1: each fragment of arguments counts once, the first one too, and a null one is empty", async () => {
  const calls = await callsOf(
    pieces(piece(0, "c1", "read", '{"pa')),
    pieces(piece(0, undefined, undefined, null)),
    pieces(piece(0, undefined, undefined, 'th":"a')),
    pieces(piece(0, undefined, undefined, 'a"}')),
    pieces(piece(0, undefined, undefined, null)),
  );
  assert.deepEqual(calls, [["c1", "read", '{"path":"aa"}']]);
});

Deno.test("A2: without an index a new id is a new call, and no id goes on with the call in progress", async () => {
  const calls = await callsOf(
    pieces(piece(undefined, "c1", "read", '{"path":')),
    pieces(piece(undefined, undefined, undefined, '"a"}')),
    pieces(piece(undefined, "c2", "read", "")),
    pieces(piece(undefined, undefined, undefined, '{"path":"b"}')),
  );
  assert.deepEqual(calls, [["c1", "read", '{"path":"a"}'], ["c2", "read", '{"path":"b"}']]);
});

Deno.test("A4: a seen id beats the index, and an unknown index goes to the call that is being streamed", async () => {
  const head = [pieces(piece(0, "c1", "read", '{"path":"a"}')), pieces(piece(0, "c2", "read", '{"pa'))];
  const expected = [["c1", "read", '{"path":"a"}'], ["c2", "read", '{"path":"b"}']];
  assert.deepEqual(await callsOf(...head, pieces(piece(1, "c2", undefined, 'th":"b"}'))), expected);
  assert.deepEqual(await callsOf(...head, pieces(piece(1, undefined, undefined, 'th":"b"}'))), expected);
});

Deno.test("A5: two entries of one chunk with the same index are one call", async () => {
  const calls = await callsOf(
    pieces(piece(0, "c1", "read", ""), piece(0, undefined, undefined, '{"path":')),
    pieces(piece(0, undefined, undefined, '"a"}')),
  );
  assert.deepEqual(calls, [["c1", "read", '{"path":"a"}']]);
});

/** An answer in one piece that calls a tool with these arguments; undefined leaves the field out. */
function callingWith(...args: readonly unknown[]): string {
  const made = args.map((given, index) => piece(undefined, `c${index}`, "tool__now", given));
  return JSON.stringify({ choices: [{ message: { content: null, tool_calls: made }, finish_reason: "tool_calls" }] });
}

/** The arguments of the calls that a request gives back to the model. */
function echoed({ messages }: WireBody): string[] {
  return messages.flatMap(({ tool_calls: made = [] }) => made.map((one) => one.function.arguments));
}

Deno.test("A7: empty, blank and missing arguments of a tool without parameters are {}", async () => {
  for (const given of ["", " \n", null, undefined]) {
    const { content = [] } = await answerTo(pieces(piece(0, "c1", "now", given)), delta({}, "tool_calls"));
    assert.deepEqual(toolCalls({ content }).map(({ input }) => input), [{}]);
  }
  await using server = new ModelServer([{ body: callingWith("", " \n", null, undefined) }, "done"]);
  await using work = await Workspace.create({
    "lait.config.yml": 'tools: { now: { command: ["echo", "{{ input }}"] } }',
  });
  const { code, stdout, stderr } = await work.run([...at(server), "--tool", "now", "hi"]);
  assert.deepEqual([code, stdout, stderr], [0, "done\n", ""]);
  assert.deepEqual(server.toolResults(), ["{}", "{}", "{}", "{}"]);
});

Deno.test("A8: whatever the arguments were, the text of a JSON object goes back to the server", async () => {
  await using work = await Workspace.create();
  const tools = { now: { command: ["true"] } };
  const given = ["", " \n", "null", ' {"a": 1}', '{"b":[2]}'];
  const { code, bodies } = await calling(work, tools, given.map((text) => call("now", text)));
  assert.equal(code, 0);
  assert.deepEqual(echoed(bodies[1]!), ["{}", "{}", "{}", '{"a": 1}', '{"b":[2]}']);
});

Deno.test("A10: an assistant message with calls and no text has the content null; a text beside calls is kept", async () => {
  await using work = await Workspace.create({
    "lait.config.yml": 'tools: { now: { command: ["true"] } }',
  });
  await using server = new ModelServer([
    { text: "", calls: [call("now")] },
    { text: "I look.", calls: [call("now")] },
    "done",
  ]);
  assert.equal((await work.run([...at(server), "--tool", "now", "hi"])).code, 0);
  const spoken = server.requests.at(-1)!.body.messages.filter(({ role }) => role === "assistant");
  assert.deepEqual(spoken.map(({ content }) => content), [null, "I look."]);
});

Deno.test("A11: reasoning is kept under the field it came in, and never sent back in Chat Completions [harness 11.2]", async () => {
  for (const field of ["reasoning", "reasoning_content"]) {
    const { content = [] } = await answerTo(
      delta({ [field]: "Let me " }),
      delta({ [field]: "see." }),
      pieces(piece(0, "c1", "now", "")),
      delta({}, "tool_calls"),
    );
    const [block] = content;
    assert(block?.type === "reasoning");
    assert.deepEqual([block.data, reasoningText({ content })], [{ [field]: "Let me see." }, "Let me see."]);
    assert.equal(toolCalls({ content }).length, 1);
    await using server = new ModelServer([
      { reasoning: "Let me see.", reasoningField: field, calls: [call("now")] },
      "done",
    ]);
    await using work = await Workspace.create({ "lait.config.yml": 'tools: { now: { command: ["true"] } }' });
    assert.equal((await work.run([...at(server), "--tool", "now", "hi"])).code, 0);
    assert.deepEqual(Object.keys(server.requests[1]!.body.messages[1]!), ["role", "content", "tool_calls"]);
  }
});

/** The ids of the calls in a request, and the contents of their results by id. */
function ids({ messages }: WireBody): { calls: string[]; results: Record<string, unknown> } {
  return {
    calls: messages.flatMap(({ tool_calls: made = [] }) => made.map(({ id }) => id)),
    results: Object.fromEntries(
      messages.filter(({ role }) => role === "tool").map((message) => [message.tool_call_id, message.content]),
    ),
  };
}

const say = { command: ["echo", "{{ input.text }}"], parameters: TEXT };

Deno.test("A13: two calls with one id get unique ids, and each result follows its call", async () => {
  await using work = await Workspace.create();
  const texts = ["first", "second", "third"];
  const { code, bodies } = await calling(work, { say }, texts.map((text) => call("say", { text }, "same")));
  assert.equal(code, 0);
  const { calls, results } = ids(bodies[1]!);
  assert.equal(new Set(calls).size, 3);
  assert.deepEqual(calls.map((id) => results[id]), texts);
});

Deno.test("A14: ids that begin anew each turn, and names used as ids, are unique over the whole conversation", async () => {
  await using work = await Workspace.create({
    "lait.config.yml": JSON.stringify({ tools: { say } }),
  });
  const round = (id: string, text: string) => ({ calls: [call("say", { text }, id)] });
  await using server = new ModelServer([
    round("call_0", "a"),
    round("call_0", "b"),
    round("tool__say", "c"),
    round("tool__say", "d"),
    "done",
  ]);
  assert.equal((await work.run([...at(server), "--tool", "say", "hi"])).code, 0);
  const { calls, results } = ids(server.requests.at(-1)!.body);
  assert.equal(new Set(calls).size, 4);
  assert.deepEqual(calls.map((id) => results[id]), ["a", "b", "c", "d"]);
});

const busy = (headers: Record<string, string> = {}) => new Response("busy", { status: 429, headers });

Deno.test("A16: Retry-After is honoured in seconds and as a date, four attempts are the most, a longer wait fails", async () => {
  const asked = async (header: string, status = 429) => {
    await using server = new StubServer(() => new Response("busy", { status, headers: { "retry-after": header } }));
    const clock = new FakeClock();
    const error = await modelError(withRetries(provider(server.baseUrl), { clock }).request(HI));
    return { sleeps: clock.sleeps, attempts: server.received.length, error };
  };
  const seconds = await asked("7");
  assert.deepEqual([seconds.sleeps, seconds.attempts], [[7_000, 7_000, 7_000], 4]);
  const date = await asked(new Date(Date.now() + 40_000).toUTCString(), 503);
  assert.equal(date.attempts, 4);
  assert(date.sleeps.every((ms) => ms > 20_000 && ms <= 40_000), String(date.sleeps));
  const hour = await asked("3600");
  assert.deepEqual([hour.sleeps, hour.attempts], [[], 1]);
  assert.match(hour.error.message, /come back in 3600 s.*waits 60 s at most/);
});

Deno.test("A16: each retry is told on stderr, and what the server then says is the answer", async () => {
  await using server = new StubServer((_, count) => count < 3 ? busy({ "retry-after": "0" }) : plain("at last"));
  await using work = await Workspace.create();
  const { code, stdout, stderr } = await work.run(["--base-url", server.baseUrl, "--model", "m", "hi"]);
  assert.deepEqual([code, stdout, server.received.length], [0, "at last\n", 3]);
  assert.match(stderr, /^note: trying again in 0 s \(attempt 2 of 4\): .*429.*\nnote: .*\(attempt 3 of 4\).*\n$/);
});

Deno.test("A17: requests that one server refused together come back one at a time until it lets one through", async () => {
  const COUNT = 12;
  let open = 0;
  let crowd = 0;
  await using server = new StubServer(async (_, count) => {
    if (count <= COUNT) return busy({ "retry-after-ms": "20" });
    open += 1;
    if (count === COUNT + 1) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      crowd = open;
    }
    return plain("ok");
  });
  const shared = withRetries(provider(server.baseUrl));
  const answers = await Promise.all(Array.from({ length: COUNT }, () => shared.request(HI)));
  assert.deepEqual(answers.map(({ text }) => text), Array(COUNT).fill("ok"));
  assert.deepEqual([crowd, server.received.length], [1, 2 * COUNT]);
});

Deno.test("A19: of cumulative usage frames the last one counts, once", async () => {
  const usage = (prompt_tokens: number, completion_tokens: number) => ({ usage: { prompt_tokens, completion_tokens } });
  const chunks = [
    { ...delta({ content: "Hel" }) as object, ...usage(10, 1) },
    { ...delta({ content: "lo" }) as object, ...usage(10, 2) },
    { ...delta({}, "stop") as object, ...usage(10, 5) },
    { choices: [], ...usage(10, 5) },
  ];
  assert.deepEqual((await answerTo(...chunks)).usage, { input: 10, cached: 0, output: 5 });
  const body = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  await using server = new StubServer(() =>
    new Response(`${body}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } })
  );
  await using work = await Workspace.create();
  const args = ["--base-url", server.baseUrl, "--model", "m", "--stream", "--show-usage", "hi"];
  const { code, stdout, stderr } = await work.run(args);
  assert.deepEqual([code, stdout, stderr], [0, "Hello\n", "usage: prompt=10 completion=5 total=15\n"]);
});

Deno.test("A20: a fence around the whole structured answer is taken off; any other answer stays raw [cli-config 7.4]", async () => {
  const json = '{"a":"`x` and ```sh"}';
  const block = `\`\`\`json\n${json}\n\`\`\``;
  const fenced = [block, `\n${block.replace("json", "")}\n`, block.replace("json", "json5"), `\`${block}\``, json];
  const raw = [`Here it is:\n${block}`, `${block}\nor\n${block}`, "no JSON at all"];
  await using server = new ModelServer([...fenced, ...raw]);
  await using work = await Workspace.create({ "s.json": '{"type":"object"}' });
  for (const printed of [...fenced.map(() => json), ...raw]) {
    const { code, stdout } = await work.run([...at(server), "--json-schema", "s.json", "hi"]);
    assert.deepEqual([code, stdout], [0, `${printed}\n`]);
  }
});
