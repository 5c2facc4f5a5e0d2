import assert from "node:assert/strict";
import type { LaitError } from "../../lib/base/errors.ts";
import { createAgent } from "../../lib/harness/agent.ts";
import { type ConversationStore, createHarnessConversations } from "../../lib/harness/conversations.ts";
import { truncateToolResults } from "../../lib/harness/context.ts";
import { createHarness, type HarnessOptions } from "../../lib/harness/harness.ts";
import { defineHarnessSubagent } from "../../lib/harness/subagents.ts";
import { runTurn, type TurnOptions } from "../../lib/harness/turn.ts";
import { messageText } from "../../lib/model/message.ts";
import type { Script } from "../../lib/model/providers/script.ts";
import { createScriptedModelProvider } from "../../lib/model/providers/scripted.ts";
import type { HarnessEvent } from "../../lib/harness/events.ts";
import { defineTextResponse } from "../../lib/harness/response.ts";
import { callsOf, lease, results, tool } from "./_setup.ts";

interface Kept {
  readonly repository: string;
  read(id: string): Promise<Record<string, unknown>[]>;
  turn(script: Script, turn?: Partial<TurnOptions>, options?: Partial<HarnessOptions>): ReturnType<typeof started>;
}

function started(repository: string, script: Script, turn: Partial<TurnOptions>, options: Partial<HarnessOptions>) {
  const provider = createScriptedModelProvider(script);
  const events: HarnessEvent[] = [];
  const agent = createAgent({ harness: createHarness({ modelProvider: provider, ...options }), model: "m" });
  const result = runTurn(agent, {
    lease,
    repository,
    prompt: "go",
    observe: (event) => void events.push(event),
    ...turn,
  });
  result.catch(() => {});
  return { provider, events, result };
}

async function kept(work: (kept: Kept) => Promise<void>): Promise<void> {
  const repository = await Deno.makeTempDir();
  try {
    await work({
      repository,
      read: async (id) =>
        (await Deno.readTextFile(`${repository}/.lait/conversations/harness/${id}.jsonl`)).trimEnd().split("\n")
          .map((line) => JSON.parse(line)),
      turn: (script, turn = {}, options = {}) => started(repository, script, turn, options),
    });
  } finally {
    await Deno.remove(repository, { recursive: true });
  }
}

Deno.test("conversations: the transcript is written as it happens, for this user alone, hidden from Git", async () => {
  await kept(async ({ repository, read, turn }) => {
    let during: Record<string, unknown>[] = [];
    const { result, events } = turn([callsOf("look"), "done"], {}, {
      tools: [tool("look", async () => {
        during = await read((await until(events)).id);
        return "seen";
      })],
    });
    const { id } = await until(events);
    assert.equal((await result).conversation, id);
    assert.deepEqual(during.map(({ type }) => type), ["session", "message", "message"]);
    const records = await read(id);
    assert.deepEqual({ ...records[0], createdAt: typeof records[0]!["createdAt"] }, {
      type: "session",
      version: 1,
      id,
      model: "m",
      createdAt: "string",
    });
    assert.deepEqual(
      records.slice(1).map(({ message }) => (message as { role: string }).role),
      ["user", "assistant", "user", "assistant"],
    );
    const folder = `${repository}/.lait/conversations/harness`;
    assert.equal((await Deno.stat(folder)).mode! & 0o777, 0o700);
    assert.equal((await Deno.stat(`${folder}/${id}.jsonl`)).mode! & 0o777, 0o600);
    assert.equal(await Deno.readTextFile(`${repository}/.lait/.gitignore`), "*\n");
  });
});

async function until(events: readonly HarnessEvent[]): Promise<{ id: string }> {
  for (;;) {
    const found = events.find((event) => event.kind === "conversation");
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

Deno.test("conversations: a turn goes on with all that was said; a fork leaves the original as it is", async () => {
  await kept(async ({ read, turn }) => {
    const first = await turn(["one"], { prompt: "first" }).result;
    const second = turn(["two"], { prompt: "second", continuation: { id: first.conversation! } });
    assert.equal((await second.result).conversation, first.conversation);
    assert.deepEqual(second.provider.requests[0]!.messages!.map(messageText), ["first", "one", "second"]);
    const before = await read(first.conversation!);
    const forked = turn(["three"], { prompt: "other", continuation: { id: first.conversation!, fork: true } });
    const { conversation } = await forked.result;
    assert.notEqual(conversation, first.conversation);
    assert.deepEqual(forked.provider.requests[0]!.messages!.map(messageText), [
      "first",
      "one",
      "second",
      "two",
      "other",
    ]);
    assert.deepEqual(await read(first.conversation!), before);
    assert.equal((await read(conversation!))[0]!["parent"], first.conversation);
  });
});

Deno.test("harness 34: an unanswered call is answered as interrupted before the new prompt", async () => {
  await kept(async ({ turn }) => {
    const controller = new AbortController();
    const stopped = turn([callsOf("hang")], { signal: controller.signal }, {
      tools: [tool("hang", () => {
        controller.abort("enough");
        return new Promise<string>(() => {});
      })],
    });
    assert.equal(await stopped.result.catch((error) => error), "enough");
    const { id } = await until(stopped.events);
    const resumed = turn(["fine"], { prompt: "again", continuation: { id } });
    assert.equal((await resumed.result).text, "fine");
    const messages = resumed.provider.requests[0]!.messages!;
    const [healed] = results(messages.at(-2));
    assert(healed!.isError && healed!.content.startsWith("interrupted"), healed!.content);
    assert.equal(messageText(messages.at(-1)!), "again");
  });
});

Deno.test("harness 34: of two turns that go on with one conversation at once, one is a conflict", async () => {
  await kept(async ({ turn, read }) => {
    const { conversation: id } = await turn(["one"]).result;
    const outcomes = await Promise.allSettled(
      ["a", "b"].map((prompt) => turn([{ text: "two", delay_ms: 500 }], { prompt, continuation: { id: id! } }).result),
    );
    const failed = outcomes.filter((outcome) => outcome.status === "rejected");
    assert.equal(failed.length, 1);
    assert.equal((failed[0]!.reason as LaitError).code, "conflict");
    assert.equal((await read(id!)).length, 5);
    await turn(["three"], { continuation: { id: id! } }).result;
  });
});

Deno.test("conversations: what cannot be read is a `session` error that names the line; a torn end is cut off", async () => {
  await kept(async ({ repository, read, turn }) => {
    const code = async (id: string) =>
      await turn(["x"], { continuation: { id } }).result.then(() => "", (error) => `${error.code}: ${error.message}`);
    assert.match(await code("nothing"), /^session: there is no conversation nothing/);
    assert.match(await code("../../etc/passwd"), /^session: .* is no id/);
    const { conversation: id } = await turn(["one"]).result;
    const path = `${repository}/.lait/conversations/harness/${id}.jsonl`;
    const good = await Deno.readTextFile(path);
    const broken = async (text: string, expected: RegExp) => {
      await Deno.writeTextFile(path, text);
      assert.match(await code(id!), expected);
    };
    await broken("", /^session: .*line 1 is missing/);
    await broken(`${good}{"type":"message"\n`, /^session: .*line 4 is no JSON/);
    await broken(`${good}{"type":"mystery"}\n`, /^session: .*line 4 is a record of the type "mystery"/);
    await broken(good.replace('"version":1', '"version":9'), /^session: .*version 9/);
    await broken(good.split("\n").slice(1).join("\n"), /^session: .*line 1 is no `session` record/);
    await Deno.writeTextFile(path, `${good}{"type":"mess`);
    assert.equal((await turn(["two"], { continuation: { id: id! } }).result).text, "two");
    assert.equal((await read(id!)).length, 5);
  });
});

Deno.test("conversations: a compaction is a record, and what a later turn starts from", async () => {
  await kept(async ({ read, turn }) => {
    const long = tool("long", () => "x".repeat(100));
    const context = truncateToolResults({ keepRecent: 1, maxCharacters: 10 });
    const { conversation: id } = await turn([callsOf("long"), callsOf("long"), "done"], {}, { tools: [long], context })
      .result;
    assert((await read(id!)).some(({ type }) => type === "compaction"));
    const again = turn(["fine"], { prompt: "next", continuation: { id: id! } });
    await again.result;
    const contents = again.provider.requests[0]!.messages!.flatMap(results).map(({ content }) => content);
    assert.equal(contents.length, 2);
    assert(contents[0]!.length < 100 && contents[1]!.length === 100);
  });
});

Deno.test("conversations: a subagent's run has its own, which names its parent, also when it fails", async () => {
  await kept(async ({ read, turn }) => {
    const helper = (script: Script) =>
      defineHarnessSubagent({
        name: "helper",
        description: "helps",
        agent: createAgent({
          harness: createHarness({ modelProvider: createScriptedModelProvider(script) }),
          model: "small",
        }),
      });
    const call = { calls: [{ name: "helper", arguments: { prompt: "p" }, id: "c9" }] };
    const { result, events, provider } = turn([call, "done"], {}, { tools: [helper(["inner"])] });
    const { conversation } = await result;
    const answer = JSON.parse(results(provider.requests[1]!.messages!.at(-1))[0]!.content);
    assert.equal(answer.text, "inner");
    const [header] = await read(answer.conversation);
    assert.equal(header!["parentConversation"], conversation);
    assert.equal(header!["parentCallId"], "c9");
    const told = events.filter((event) => event.kind === "subagent");
    assert.deepEqual(told.map(({ conversation }) => conversation), [answer.conversation, answer.conversation]);
    const failing = turn([call, "done"], {}, { tools: [helper([{ status: 500 }])] });
    await failing.result;
    const failed = failing.events.findLast((event) => event.kind === "subagent")!;
    assert.equal(failed.status, "failed");
    assert.deepEqual((await read(failed.conversation!)).map(({ type }) => type), ["session", "message"]);
  });
});

Deno.test("conversations: false keeps nothing, goes on with nothing and repairs nothing", async () => {
  await kept(async ({ repository, turn }) => {
    const options: Partial<HarnessOptions> = { conversations: false };
    assert.equal((await turn(["one"], {}, options).result).conversation, undefined);
    await assert.rejects(Deno.stat(`${repository}/.lait`));
    await assert.rejects(turn(["x"], { continuation: { id: "a" } }, options).result, { code: "configuration" });
    const response = defineTextResponse({ tag: "t", repairs: 1 });
    await assert.rejects(turn(["no", "<t>yes</t>"], { response }, options).result, { code: "response" });
    const harness = createHarness({ modelProvider: createScriptedModelProvider([]), conversations: false });
    const { capture, resumable } = createAgent({ harness, model: "m" });
    assert.deepEqual({ capture, resumable }, { capture: false, resumable: false });
  });
});

Deno.test("conversations: a store of the user's own, and what is none", async () => {
  const texts = new Map<string, string>();
  const store: ConversationStore = {
    locate: (id) => Promise.resolve(`memory:${id}`),
    capture: (id) =>
      Promise.resolve({
        append: (lines) => Promise.resolve(void texts.set(id, (texts.get(id) ?? "") + lines)),
        close: () => Promise.resolve(),
      }),
    restore: (id) => Promise.resolve(texts.get(id) ?? ""),
  };
  const run = (script: Script, more: Partial<TurnOptions> = {}) => {
    const modelProvider = createScriptedModelProvider(script);
    const agent = createAgent({ harness: createHarness({ modelProvider, conversations: store }), model: "m" });
    assert.equal(agent.storage, store);
    return runTurn(agent, { lease, prompt: "go", ...more });
  };
  const { conversation } = await run(["one"]);
  const again = await run(["two"], { continuation: { id: conversation! } });
  assert.deepEqual(again.messages.map(messageText), ["go", "one", "go", "two"]);
  const modelProvider = createScriptedModelProvider([]);
  for (const conversations of [{}, "x", { ...store, format: "claude" }] as never[]) {
    assert.throws(() => createHarness({ modelProvider, conversations }), { code: "configuration" });
  }
  const here = createHarnessConversations({ directory: "/nowhere" });
  assert.equal(await here.locate("abc", { repository: undefined }), "/nowhere/abc.jsonl");
});
