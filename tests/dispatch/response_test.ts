import assert from "node:assert/strict";
import { defineJsonResponse, defineTextResponse } from "../../lib/harness/response.ts";
import { recoveryDetails } from "../../lib/dispatch/recovery.ts";
import { messageText } from "../../lib/model/message.ts";
import { agentOf, failure, Project, scripted, shell } from "./_setup.ts";

const brief = { text: "Judge it." };
const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] } as const;
const verdict = (repairs = 0) => defineJsonResponse<{ ok: boolean }>({ tag: "verdict", schema, repairs });

Deno.test("response: the last tag counts, and the text stays whole", async () => {
  await using project = await Project.make();
  const text = 'First <verdict>{"ok":false}</verdict>, then\n<verdict>\n```json\n{"ok":true}\n```\n</verdict>';
  const result = await project.start({ brief, agent: agentOf([text]), response: verdict() }).result;
  assert.deepEqual(result.value, { ok: true });
  assert.equal(result.text, text);
  assert.equal(result.completed, true);
});

Deno.test("response: the agent is told the form behind the brief, in every turn", async () => {
  await using project = await Project.make();
  const { provider, agent } = scripted(["nothing", '<verdict>{"ok":true}</verdict>']);
  await project.start({ brief, agent, response: verdict(1) }).result;
  const [first, second] = provider.requests.map(({ messages }) => messageText(messages!.at(-1)!));
  assert.ok(first!.startsWith("Judge it.\n\n"));
  for (const prompt of [first!, second!]) {
    assert.match(prompt, /<verdict>…<\/verdict>/);
    assert.ok(prompt.includes(JSON.stringify(schema)));
  }
  assert.match(second!, /<verdict> is missing/);
  assert.match(second!, /Attempts left after this one: 0/);
});

Deno.test("response: an answer that does not fit is asked for again in the same conversation, to be read only", async () => {
  await using project = await Project.make();
  const { provider, agent } = scripted([
    shell("true"),
    '<verdict>{"ok":1}</verdict>',
    '<verdict>{"ok":true}</verdict>',
  ]);
  const { value, turns, text } = await project.start({ brief, agent, response: verdict(2) }).result;
  assert.deepEqual(value, { ok: true });
  assert.equal(turns.length, 2);
  assert.equal(turns[0]!.conversation, turns[1]!.conversation);
  assert.equal(text, '<verdict>{"ok":1}</verdict>\n<verdict>{"ok":true}</verdict>');
  // `shell` changes things, so it is not offered for a repair.
  assert.deepEqual(provider.requests.map(({ tools }) => tools?.length ?? 0), [1, 1, 0]);
});

Deno.test("response: without repairs, or when they are used up, the last failure is the error", async () => {
  await using project = await Project.make();
  const none = await failure(
    project.start({ brief, agent: agentOf(["nothing"]), response: verdict() }).result,
    "response",
  );
  assert.deepEqual(none.details, { tag: "verdict" });
  const agent = agentOf(["nothing", "<verdict>no</verdict>"]);
  const used = await failure(project.start({ brief, agent, response: verdict(1) }).result, "response");
  assert.equal(used.details.raw, "no");
  const { turns, conversation } = recoveryDetails(used)!;
  assert.equal(turns.length, 2);
  assert.equal(conversation, turns[1]!.conversation);
});

Deno.test("response: an agent that keeps no conversation is not asked again", async () => {
  await using project = await Project.make();
  const agent = agentOf(["nothing", "never"], { conversations: false });
  await failure(project.start({ brief, agent, response: verdict(3) }).result, "response");
});

Deno.test("response: a text; and one pass only", async () => {
  await using project = await Project.make();
  const response = defineTextResponse({ tag: "out" });
  const { value } = await project.start({ brief, agent: agentOf(["<out> it </out>"]), response }).result;
  assert.equal(value, "it");
  const { result, events } = project.start({ brief, agent: agentOf(["ok"]), response, passes: 2 });
  assert.match((await failure(result, "configuration")).message, /passes must be 1 with response/);
  assert.deepEqual(events, []);
});

Deno.test("resume, fork: a conversation goes on, or a copy of it, with the options of before", async () => {
  await using project = await Project.make();
  const { provider, agent } = scripted(["first", "second", "third"]);
  const branch = { mode: "named", name: "x" } as const;
  const first = await project.start({ brief, agent, branch }).result;
  const second = await first.resume({ brief: { text: "And?" } });
  assert.equal(second.branch, "x");
  assert.equal(second.conversation, first.conversation);
  assert.deepEqual(provider.requests[1]!.messages!.map(messageText), ["Judge it.", "first", "And?"]);
  const third = await first.fork({ brief: { text: "Or?" } });
  assert.notEqual(third.conversation, first.conversation);
  assert.deepEqual(provider.requests[2]!.messages!.map(messageText), ["Judge it.", "first", "And?", "second", "Or?"]);
  assert.ok((await Deno.stat(third.transcript!)).isFile);
});

Deno.test("resume: a conversation that was not kept, or is none, is an error", async () => {
  await using project = await Project.make();
  const forgetful = agentOf(["ok"], { conversations: false });
  const { resume } = await project.start({ brief, agent: forgetful }).result;
  await failure(Promise.resolve().then(() => resume({ brief })), "configuration");
  const continuation = { id: "nobody" };
  await failure(project.start({ brief, agent: forgetful, continuation }).result, "configuration");
  const id = crypto.randomUUID();
  await failure(project.start({ brief, agent: agentOf(["ok"]), continuation: { id } }).result, "session");
});
