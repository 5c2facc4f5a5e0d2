import assert from "node:assert/strict";
import { ConfigurationError, ModelError } from "../../lib/base/errors.ts";
import { type ModelMessage, toolCalls } from "../../lib/model/message.ts";
import type { ModelRequest, ModelResult, ModelStreamEvent } from "../../lib/model/provider.ts";
import type { Script } from "../../lib/model/providers/script.ts";
import { createScriptedModelProvider } from "../../lib/model/providers/scripted.ts";
import { FakeClock } from "./_clock.ts";
import { collect, HI, modelError, rejection, streamedText, WAYS } from "./_servers.ts";

/** A request whose last message answers a call. */
function after(...results: string[]): ModelRequest {
  const messages: ModelMessage[] = [{ role: "user", content: [{ type: "text", text: "hi" }] }];
  results.forEach((content, index) => {
    const callId = `c${index}`;
    messages.push({ role: "assistant", content: [{ type: "tool-call", id: callId, name: "t", input: {} }] });
    messages.push({ role: "user", content: [{ type: "tool-result", callId, content }] });
  });
  return { model: "m", messages };
}

async function answer(script: Script, request: ModelRequest = HI): Promise<ModelResult> {
  return await createScriptedModelProvider(script).request(request);
}

async function events(script: Script, request: ModelRequest = HI): Promise<ModelStreamEvent[]> {
  return await collect(createScriptedModelProvider(script), request);
}

Deno.test("createScriptedModelProvider: answers come in order, a text is an answer, an object may say `answers`", async () => {
  for (const script of [["one", { text: "two" }], { answers: [{ text: "one" }, "two"] }]) {
    const provider = createScriptedModelProvider(script, { name: "s.yml" });
    assert.deepEqual(await provider.request(HI), {
      text: "one",
      content: [{ type: "text", text: "one" }],
      served: { endpoint: "s.yml", model: "m", source: "live" },
    });
    assert.equal((await provider.request({ ...HI, prompt: "more" })).text, "two");
    assert.deepEqual(provider.requests.map(({ prompt }) => prompt), ["hi", "more"]);
    provider.checkUsed();
  }
});

Deno.test("createScriptedModelProvider: reasoning, text and calls are blocks in this order", async () => {
  const { text, content } = await answer([{
    calls: [
      { name: "a", arguments: { x: 1 }, id: "given" },
      { name: "b" },
      { name: "c", arguments: '{"y": 2}' },
      { name: "d", arguments: "no JSON" },
    ],
    text: "Let me see.",
    reasoning: "hm",
  }]);
  assert.equal(text, "Let me see.");
  assert.deepEqual(content, [
    { type: "reasoning", provider: "scripted", model: "m", data: "hm", text: "hm" },
    { type: "text", text: "Let me see." },
    { type: "tool-call", id: "given", name: "a", input: { x: 1 }, arguments: '{"x":1}' },
    { type: "tool-call", id: "", name: "b", input: {}, arguments: "{}" },
    { type: "tool-call", id: "", name: "c", input: { y: 2 }, arguments: '{"y": 2}' },
    { type: "tool-call", id: "", name: "d", input: "no JSON", arguments: "no JSON" },
  ]);
});

Deno.test("createScriptedModelProvider: `{{ last }}` is the last tool result, in text, chunks and arguments", async () => {
  const request = after("first", "$& 'second'");
  const calls = [{ name: "a", arguments: { list: ["{{last}}", 1], deep: { text: "<{{ last }}>" } } }];
  const result = await answer([{ text: "{{ last }}, {{last}}!", calls }], request);
  assert.equal(result.text, "$& 'second', $& 'second'!");
  assert.deepEqual(toolCalls({ content: result.content! })[0]!.input, {
    list: ["$& 'second'", 1],
    deep: { text: "<$& 'second'>" },
  });
  const [first, second, end] = await events([{ chunks: ["say ", "{{ last }}"] }], request);
  assert.deepEqual([first, second], [
    { type: "text-delta", text: "say " },
    { type: "text-delta", text: "$& 'second'" },
  ]);
  assert(end?.type === "result" && end.result.text === "say $& 'second'");
  assert.equal((await answer(["[{{ last }}]"])).text, "[]");
});

Deno.test("createScriptedModelProvider: a streamed answer comes word by word, or in its chunks", async () => {
  const text = " Two  words\nand a line.\n";
  const streamed = await events([{ text, reasoning: "hm" }]);
  assert.deepEqual(streamed.map((event) => event.type === "result" ? event.result.text : event.text), [
    "hm",
    " Two",
    "  words",
    "\nand",
    " a",
    " line.\n",
    text,
  ]);
  assert.equal(streamedText(streamed), text);
  assert.equal(streamedText(await events([" \n"])), " \n");
  assert.deepEqual((await events([{ chunks: ["He", "", "llo"] }])).map(({ type }) => type), [
    "text-delta",
    "text-delta",
    "result",
  ]);
  assert.equal((await answer([{ chunks: ["He", "llo"] }])).text, "Hello");
  assert.deepEqual((await events([{ calls: [{ name: "a" }] }])).map(({ type }) => type), ["result"]);
});

Deno.test("createScriptedModelProvider: `when` picks the first answer left that fits, by system text and messages", async () => {
  const provider = createScriptedModelProvider([
    { text: "cats", when: { contains: "cat" } },
    { text: "results", when: { contains: "found: 3" } },
    { text: "system", when: { contains: "Be brief" } },
    "any",
    { text: "more cats", when: { contains: "cat" } },
  ]);
  const ask = async (request: ModelRequest) => (await provider.request(request)).text;
  assert.equal(await ask({ model: "m", prompt: "a dog" }), "any");
  assert.equal(await ask(after("found: 3")), "results");
  assert.equal(await ask({ model: "m", prompt: "a cat" }), "cats");
  assert.equal(await ask({ model: "m", prompt: "x", system: "Be brief." }), "system");
  const error = await modelError(provider.request({ model: "m", prompt: "a dog" }));
  assert.match(error.message, /no answer for request 5 \(5 scripted, 4 used; the `when` of none that is left fits\)/);
  assert.equal(await ask({ model: "m", prompt: "a cat" }), "more cats");
});

Deno.test("createScriptedModelProvider: a missing answer is a model error that names file and number", async () => {
  for (const [way, ask] of WAYS) {
    const provider = createScriptedModelProvider(["one"], { name: "dir/s.yml" });
    await ask(provider);
    const error = await modelError(ask(provider));
    assert.equal(error.message, "dir/s.yml: there is no answer for request 2 (1 scripted, 1 used)", way);
    assert.deepEqual(error.details, { request: 2 });
  }
});

Deno.test("createScriptedModelProvider: unused answers are an error at the end unless `strict: false`", async () => {
  const provider = createScriptedModelProvider(["one", "two", "three"], { name: "s.yml" });
  await provider.request(HI);
  assert.throws(() => provider.checkUsed(), (error) => {
    assert(error instanceof ConfigurationError);
    assert.match(
      error.message,
      /^s\.yml: 2 scripted answer\(s\) were not used, the first is answer 2; .*strict: false/,
    );
    return true;
  });
  createScriptedModelProvider({ answers: ["one"], strict: false }).checkUsed();
  createScriptedModelProvider([]).checkUsed();
});

Deno.test("createScriptedModelProvider: `delay_ms` waits before the answer, and between its chunks", async () => {
  const clock = new FakeClock();
  const script: Script = [{ text: "a", delay_ms: 50 }, "b", { chunks: ["c", "d", "e"], delay_ms: 7 }];
  const provider = createScriptedModelProvider(script, { clock });
  await provider.request(HI);
  assert.deepEqual(clock.sleeps, [50]);
  await provider.request(HI);
  assert.deepEqual(clock.sleeps, [50]);
  const seen: number[] = [];
  await collect(provider, HI, () => seen.push(clock.sleeps.length));
  assert.deepEqual(clock.sleeps, [50, 7, 7, 7]);
  assert.deepEqual(seen, [2, 3, 4, 4]);
});

Deno.test("createScriptedModelProvider: an abort rejects with the reason, before and while it waits", async () => {
  const reason = { because: "enough" };
  for (const [, ask] of WAYS) {
    const provider = createScriptedModelProvider(["a", { text: "b c", delay_ms: 60_000 }]);
    assert.equal(await rejection(ask(provider, { ...HI, signal: AbortSignal.abort(reason) })), reason);
    assert.equal(provider.requests.length, 0);
    await ask(provider);
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 5);
    assert.equal(await rejection(ask(provider, { ...HI, signal: controller.signal })), reason);
  }
});

Deno.test("createScriptedModelProvider: `status` fails as a server would; 2xx does not", async () => {
  for (const [, ask] of WAYS) {
    const provider = createScriptedModelProvider([
      { status: 429, text: "slow down" },
      { status: 503 },
      { status: 301 },
      { status: 200, text: "fine" },
    ], { name: "s.yml" });
    const [quota, unavailable, moved] = [
      await modelError(ask(provider)),
      await modelError(ask(provider)),
      await modelError(ask(provider)),
    ];
    assert.deepEqual([quota.code, quota.details, quota.message], [
      "quota",
      { status: 429 },
      "s.yml: the model server answered 429: slow down",
    ]);
    assert.deepEqual([unavailable.code, unavailable.details, unavailable.message], [
      "provider",
      { status: 503 },
      "s.yml: the model server answered 503",
    ]);
    assert.deepEqual(moved.details, { status: 301 });
    await ask(provider);
    provider.checkUsed();
  }
});

Deno.test("createScriptedModelProvider: usage in both spellings; without it none is reported", async () => {
  assert.deepEqual((await answer([{ text: "a", usage: { input: 10, cached: 4, output: 5 } }])).usage, {
    input: 10,
    cached: 4,
    output: 5,
  });
  const wire = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  assert.deepEqual((await answer([{ text: "a", usage: wire }])).usage, { input: 10, cached: 0, output: 5 });
  assert.deepEqual((await answer([{ text: "a", usage: { output: 5 } }])).usage, { input: 0, cached: 0, output: 5 });
  assert.equal("usage" in await answer(["a"]), false);
});

Deno.test("createScriptedModelProvider: finish in both spellings; without it the content decides", async () => {
  const spellings = {
    "end": "end",
    "stop": "end",
    "tool-calls": "tool-calls",
    "tool_calls": "tool-calls",
    "max-tokens": "max-tokens",
    "length": "max-tokens",
    "refusal": "refusal",
    "content_filter": "refusal",
  };
  for (const [finish, stopReason] of Object.entries(spellings)) {
    assert.equal((await answer([{ text: "a", finish }])).stopReason, stopReason);
  }
  assert.equal("stopReason" in await answer(["a"]), false);
});

Deno.test("createScriptedModelProvider: what is wrong in a script is named by the answer's number", () => {
  const faults: [script: unknown, said: RegExp][] = [
    [3, /^s\.yml: a script must be a list of answers, or an object with `answers`/],
    [{}, /^s\.yml: `answers` must be a list/],
    [{ answers: [], strikt: true }, /unknown option `strikt`.*did you mean `strict`/],
    [{ answers: [], strict: "no" }, /^s\.yml: `strict` must be true or false/],
    [["a", 3], /^s\.yml: answer 2 must be an object/],
    [["a", { txt: "b" }], /^s\.yml: answer 2: unknown option `txt`.*did you mean `text`/],
    [[{ text: 3 }], /^s\.yml: answer 1: `text` must be a text/],
    [[{ reasoning: [] }], /^s\.yml: answer 1: `reasoning` must be a text/],
    [[{ chunks: "a" }], /^s\.yml: answer 1: `chunks` must be a list of texts/],
    [[{ chunks: ["a", 1] }], /^s\.yml: answer 1: `chunks` must be a list of texts/],
    [[{ chunks: ["a"], text: "b" }], /^s\.yml: answer 1: `chunks` must come to `text`/],
    [[{ delay_ms: -1 }], /^s\.yml: answer 1: `delay_ms` must be an integer of at least 0/],
    [[{ status: "500" }], /^s\.yml: answer 1: `status` must be an integer/],
    [[{ status: 5000 }], /^s\.yml: answer 1: `status` must be a number from 100 to 599/],
    [[{ usage: { tokens: 3 } }], /^s\.yml: answer 1: `usage`: unknown option `tokens`/],
    [[{ usage: { input: "3" } }], /^s\.yml: answer 1: `usage`: `input` must be an integer/],
    [[{ finish: "done" }], /^s\.yml: answer 1: `finish` must be one of "end".*got "done"/],
    [[{ when: "x" }], /^s\.yml: answer 1: `when` must be an object/],
    [[{ when: {} }], /^s\.yml: answer 1: `when\.contains` must be a text/],
    [["a", "b", { calls: {} }], /^s\.yml: answer 3: `calls` must be a list/],
    [[{ calls: [{ name: "a" }, {}] }], /^s\.yml: answer 1: call 2: `name` must be a text/],
    [[{ calls: [{ name: "a", args: {} }] }], /^s\.yml: answer 1: call 1: unknown option `args`/],
    [
      [{ calls: [{ name: "a", arguments: [1] }] }],
      /^s\.yml: answer 1: call 1: `arguments` must be an object, or a text/,
    ],
    [[{ calls: [{ name: "a", id: 1 }] }], /^s\.yml: answer 1: call 1: `id` must be a text/],
  ];
  for (const [script, said] of faults) {
    assert.throws(() => createScriptedModelProvider(script as Script, { name: "s.yml" }), (error) => {
      assert(error instanceof ConfigurationError && !(error instanceof ModelError));
      assert.match(error.message, said);
      return true;
    });
  }
});
