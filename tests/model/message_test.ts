import assert from "node:assert/strict";
import { ConfigurationError } from "../../lib/base/errors.ts";
import {
  argumentsObjectText,
  checkMessages,
  messageText,
  type ModelContentBlock,
  type ModelMessage,
  parseArguments,
  reasoningText,
  type ToolCallBlock,
} from "../../lib/model/message.ts";
import { requestMessages } from "../../lib/model/provider.ts";
import { wireMessages } from "../../lib/model/providers/chat_completions.ts";
import { addUsage, costOf, NO_USAGE, type Usage, usageFrom } from "../../lib/model/usage.ts";

const text = (value: string): ModelContentBlock => ({ type: "text", text: value });
const call = (id: string, input: unknown = {}, raw?: string): ToolCallBlock => ({
  type: "tool-call",
  id,
  name: "read",
  input,
  ...(raw === undefined ? {} : { arguments: raw }),
});
const result = (callId: string, content = "done"): ModelContentBlock => ({ type: "tool-result", callId, content });
const thought: ModelContentBlock = { type: "reasoning", provider: "p", model: "m", data: {}, text: "hm" };
const user = (...content: ModelContentBlock[]): ModelMessage => ({ role: "user", content });
const assistant = (...content: ModelContentBlock[]): ModelMessage => ({ role: "assistant", content });

Deno.test("checkMessages: conversations that are valid", () => {
  checkMessages([user(text("hi"))]);
  checkMessages([user(text("hi")), user(text("are you there?"))]);
  checkMessages([user(text("hi")), assistant(thought, text("yes")), user(text("well?"))]);
  checkMessages([user(text("hi")), assistant(call("a"), call("b")), user(result("b"), text("go on"), result("a"))]);
  checkMessages([
    user({ type: "image", url: "data:" }, { type: "file", name: "a", mediaType: "text/plain", data: "" }),
  ]);
  // An id may come again once its call has been answered: the loop makes them unique, a user's history may not.
  checkMessages([user(text("hi")), assistant(call("a")), user(result("a")), assistant(call("a")), user(result("a"))]);
});

Deno.test("checkMessages: what is not valid is named by the message's index", () => {
  const faults: [messages: ModelMessage[], said: RegExp][] = [
    [[], /it has no messages/],
    [[assistant(text("hi"))], /message 0 must be the user's/],
    [[user(text("hi")), assistant(text("yes"))], /message 1 must be the user's/],
    [[user(text("hi")), user()], /message 1 is empty/],
    [[user(text("hi")), assistant(), user(text("hi"))], /message 1 is empty/],
    [[{ role: "system" as "user", content: [text("hi")] }, user(text("hi"))], /message 0 must be the user's/],
    [
      [user(text("hi")), { role: "tool" as "user", content: [text("hi")] }, user(text("hi"))],
      /message 1 has the role "tool"/,
    ],
    [[{ role: "user", content: "hi" as unknown as [] }], /message 0 has content that is no list of blocks/],
    [[user(call("a"))], /message 0 is the user's and may not hold a block of the type tool-call/],
    [[user(thought)], /message 0 is the user's and may not hold a block of the type reasoning/],
    [
      [user(text("hi")), assistant({ type: "image", url: "" }), user(text("hi"))],
      /message 1 is the assistant's and may not hold a block of the type image/,
    ],
    [
      [user(text("hi")), assistant(result("a")), user(text("hi"))],
      /message 1 is the assistant's and may not hold a block of the type tool-result/,
    ],
    [[user(result("a"))], /message 0 answers the tool call a, which was not just made/],
    [[user(text("hi")), assistant(call("a")), user(text("no"))], /message 2 does not answer the tool call a/],
    [
      [user(text("hi")), assistant(call("a"), call("b")), user(result("a"))],
      /message 2 does not answer the tool call b/,
    ],
    [
      [user(text("hi")), assistant(call("a")), user(result("a"), result("a"))],
      /message 2 answers the tool call a twice/,
    ],
    [
      [user(text("hi")), assistant(call("a")), user(result("a")), user(result("a"))],
      /message 3 answers the tool call a, which was not just made/,
    ],
    [
      [user(text("hi")), assistant(call("a")), assistant(text("so")), user(result("a"))],
      /message 2 does not answer the tool call a/,
    ],
    [
      [user(text("hi")), assistant(call("a"), call("a")), user(result("a"))],
      /message 1 makes two tool calls with the id a/,
    ],
  ];
  for (const [messages, said] of faults) {
    assert.throws(() => checkMessages(messages), (error) => {
      assert(error instanceof ConfigurationError);
      assert.match(error.message, said);
      return true;
    });
  }
});

Deno.test("parseArguments: nothing, blanks and null are an empty object, JSON is a value, the rest stays text", () => {
  for (const nothing of [undefined, null, "", " \n", "null"]) assert.deepEqual(parseArguments(nothing), {});
  assert.deepEqual(parseArguments(' {"a": [1]} '), { a: [1] });
  assert.deepEqual([parseArguments("3"), parseArguments("[1]"), parseArguments('"a"')], [3, [1], "a"]);
  assert.equal(parseArguments('{"a": '), '{"a": ');
});

Deno.test("argumentsObjectText: always a JSON object's text, as the model wrote it where that is one", () => {
  const cases: [call: ToolCallBlock, expected: string][] = [
    [call("a", { x: 1 }, '{"x": 1.0}'), '{"x": 1.0}'],
    [call("a", { x: 1 }, ' {"x":1}\n'), '{"x":1}'],
    [call("a", { x: 1 }), '{"x":1}'],
    [call("a", {}, ""), "{}"],
    [call("a", {}, "null"), "{}"],
    [call("a", '{"x": ', '{"x": '), "{}"],
    [call("a", "no JSON", "no JSON"), "{}"],
    [call("a", [1], "[1]"), "{}"],
    [call("a", null, "null"), "{}"],
    [call("a", 3, "3"), "{}"],
  ];
  for (const [block, expected] of cases) assert.equal(argumentsObjectText(block), expected);
});

Deno.test("messageText, reasoningText: text blocks join as they are, reasoning with a blank line, blank reasoning is none", () => {
  assert.equal(messageText(assistant(text("a"), thought, text("b"))), "ab");
  assert.equal(reasoningText(assistant(thought, text("a"), thought)), "hm\n\nhm");
  assert.equal(reasoningText(assistant({ ...thought, text: " \n" } as ModelContentBlock)), undefined);
});

Deno.test("requestMessages: a prompt is one user message", () => {
  assert.deepEqual(requestMessages({ model: "m", prompt: "hi" }), [user(text("hi"))]);
  const messages = [user(text("a")), user(text("b"))];
  assert.equal(requestMessages({ model: "m", messages }), messages);
});

Deno.test("wireMessages: system first, tool results before their message's text, each as a message of its own", () => {
  const messages = [
    user(text("hi")),
    assistant(thought, text("Let me see."), call("a", { x: 1 }), call("b")),
    user(text("and"), result("b", "B"), text(" hurry"), { ...result("a", "A"), isError: true } as ModelContentBlock),
    assistant(call("c", "no JSON", "no JSON")),
    user(result("c")),
    assistant(thought, text("Done.")),
    user(text("thanks")),
  ];
  assert.deepEqual(wireMessages("Be brief.", messages), [
    { role: "system", content: "Be brief." },
    { role: "user", content: "hi" },
    {
      role: "assistant",
      content: "Let me see.",
      tool_calls: [
        { id: "a", type: "function", function: { name: "read", arguments: '{"x":1}' } },
        { id: "b", type: "function", function: { name: "read", arguments: "{}" } },
      ],
    },
    { role: "tool", tool_call_id: "b", content: "B" },
    { role: "tool", tool_call_id: "a", content: "A" },
    { role: "user", content: "and hurry" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "read", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c", content: "done" },
    { role: "assistant", content: "Done." },
    { role: "user", content: "thanks" },
  ]);
  assert.deepEqual(wireMessages(undefined, [user(text("hi"))]), [{ role: "user", content: "hi" }]);
});

Deno.test("wireMessages: images and files are parts beside the text", () => {
  const media = user(
    text("Look:"),
    { type: "image", url: "https://example.com/a.png" },
    { type: "file", name: "a.pdf", mediaType: "application/pdf", data: "QUJD" },
  );
  assert.deepEqual(wireMessages(undefined, [media]), [{
    role: "user",
    content: [
      { type: "text", text: "Look:" },
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,QUJD" } },
    ],
  }]);
});

Deno.test("usageFrom: good counts stay as they are", () => {
  assert.deepEqual(usageFrom({ input: 10, cached: 4, cacheCreated: 6, output: 5, reasoning: 5 }), {
    input: 10,
    cached: 4,
    cacheCreated: 6,
    output: 5,
    reasoning: 5,
  });
  assert.deepEqual(usageFrom({ input: "10", output: "5" }), { input: 10, cached: 0, output: 5 });
});

Deno.test("usageFrom: what is missing or contradicts itself is mended and marked", () => {
  const cases: [reported: Parameters<typeof usageFrom>[0], mended: Usage][] = [
    [{ input: undefined, output: 5 }, { input: 0, cached: 0, output: 5 }],
    [{ input: 10, output: null }, { input: 10, cached: 0, output: 0 }],
    [{ input: -1, output: 5 }, { input: 0, cached: 0, output: 5 }],
    [{ input: NaN, output: Infinity }, { input: 0, cached: 0, output: 0 }],
    [{ input: "1e3", output: " 5" }, { input: 0, cached: 0, output: 0 }],
    [{ input: 10, cached: 11, output: 5 }, { input: 10, cached: 10, output: 5 }],
    [{ input: 10, cached: 8, cacheCreated: 8, output: 5 }, { input: 10, cached: 8, cacheCreated: 2, output: 5 }],
    [{ input: 10, output: 5, reasoning: 9 }, { input: 10, cached: 0, output: 5, reasoning: 5 }],
  ];
  for (const [reported, mended] of cases) assert.deepEqual(usageFrom(reported), { ...mended, complete: false });
});

Deno.test("usageFrom: counts are safe integers", () => {
  const most = Number.MAX_SAFE_INTEGER;
  assert.deepEqual(usageFrom({ input: 1e300, output: 2.9 }), { input: most, cached: 0, output: 2 });
  assert.equal(addUsage({ input: most, cached: 0, output: 1 }, { input: 5, cached: 0, output: 1 }).input, most);
});

Deno.test("addUsage: sums part by part; incomplete stays incomplete", () => {
  const a: Usage = { input: 1, cached: 1, output: 2, reasoning: 1 };
  const b: Usage = { input: 3, cached: 0, cacheCreated: 2, output: 4, complete: false };
  assert.deepEqual(addUsage(a, b), {
    input: 4,
    cached: 1,
    cacheCreated: 2,
    output: 6,
    reasoning: 1,
    complete: false,
  });
  assert.deepEqual(addUsage(NO_USAGE, a), a);
  assert.equal(costOf({ input: 1e6, cached: 0, output: 5e5 }, { inputPerMillion: 1, outputPerMillion: 2 }), 2);
});
