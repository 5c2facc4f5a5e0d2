import assert from "node:assert/strict";
import { LimitError, ResponseError } from "../../lib/base/errors.ts";
import { createAgent } from "../../lib/harness/agent.ts";
import { defineHarnessContextStrategy, summarizeHistory, truncateToolResults } from "../../lib/harness/context.ts";
import { createHarness, type HarnessOptions } from "../../lib/harness/harness.ts";
import { defineHarnessHook, type HarnessHook } from "../../lib/harness/hooks.ts";
import { defineHarnessInstructions } from "../../lib/harness/instructions.ts";
import { defineJsonResponse, defineTextResponse } from "../../lib/harness/response.ts";
import { defineHarnessSkill } from "../../lib/harness/skills.ts";
import { defineHarnessSubagent } from "../../lib/harness/subagents.ts";
import type { ModelMessage } from "../../lib/model/message.ts";
import type { Script } from "../../lib/model/providers/script.ts";
import { createScriptedModelProvider } from "../../lib/model/providers/scripted.ts";
import { createApprovals } from "../../lib/tool/approvals.ts";
import { callsOf, lastMessage, results, start, tool } from "./_setup.ts";

const call = (name: string, input: unknown = {}, id?: string) => ({
  calls: [{ name, arguments: input, ...(id === undefined ? {} : { id }) }],
});

Deno.test("instructions: texts and resolvers in order, blanks left out, the skills last, once a turn", async () => {
  let resolved = 0;
  const { result, provider, events } = start({
    script: [call("t"), "ok"],
    tools: [tool("t", () => "")],
    options: {
      instructions: [
        "First.",
        defineHarnessInstructions(async ({ model }) => {
          resolved += 1;
          await Promise.resolve();
          return `For ${model.name}.`;
        }),
        defineHarnessInstructions(() => "  "),
      ],
      skills: [defineHarnessSkill({ name: "s", description: "When needed.", instructions: "x" })],
    },
  });
  await result;
  assert.equal(resolved, 1);
  const [first, second] = provider.requests.map(({ system }) => system);
  assert.match(first!, /^First\.\n\nFor m\.\n\nSkills .*\n- s: When needed\.$/s);
  assert.equal(second, first);
  const loaded = events.find((event) => event.kind === "instructions-loaded")!;
  assert(loaded.kind === "instructions-loaded" && loaded.count === 2);
  assert.throws(() => defineHarnessInstructions(" "), { code: "configuration" });
  const wrong = start({
    script: ["x"],
    options: { instructions: defineHarnessInstructions(() => 3 as unknown as string) },
  });
  await assert.rejects(wrong.result, { code: "configuration" });
});

Deno.test("harness 30: a skill's tool is locked until load_skill has succeeded in the history, also in a later turn", async () => {
  let ran = 0;
  const skill = defineHarnessSkill({
    name: "deploy",
    description: "Deploying.",
    instructions: ({ model }) => `How ${model.name} deploys.`,
    tools: [tool("ship", () => String(++ran))],
  });
  const both = { calls: [{ name: "load_skill", arguments: { name: "deploy" } }, { name: "ship" }] };
  const first = start({ script: [callsOf("ship"), both, callsOf("ship"), "ok"], options: { skills: [skill] } });
  const { messages } = await first.result;
  const told = first.provider.requests.slice(1).map(({ messages }) => results(messages!.at(-1)!));
  assert.match(told[0]![0]!.content, /^Denied: .*`deploy`.*load_skill/);
  assert.match(told[1]![0]!.content, /^How m deploys\.\n\nTools that can be used now: ship$/);
  assert.match(told[1]![1]!.content, /^Denied: /, "a call beside its load_skill is still locked");
  assert.equal(told[2]![0]!.content, "1");
  assert.deepEqual(first.provider.requests[0]!.tools!.map(({ name }) => name), ["ship", "load_skill"]);
  const names = first.events.filter((event) => event.kind === "skills-loaded").map(({ names }) => names);
  assert.deepEqual(names, [["deploy"]]);

  const again = [...messages, { role: "user" as const, content: [{ type: "text" as const, text: "again" }] }];
  const second = start({ script: [callsOf("ship"), "ok"], options: { skills: [skill] }, turn: { messages: again } });
  await second.result;
  assert.equal(ran, 2);
});

Deno.test("createHarness: skills add to the one scope of tool names; two skills of one name are refused", () => {
  const modelProvider = createScriptedModelProvider(["x"]);
  const skill = (name: string) =>
    defineHarnessSkill({ name, description: "d", instructions: "i", tools: [tool("t", () => "")] });
  const wrong: [Partial<HarnessOptions>, RegExp][] = [
    [{ tools: [tool("t", () => "")], skills: [skill("a")] }, /two tools are called `t`/],
    [{ skills: [skill("a"), skill("a")] }, /two skills are called `a`/],
    [{ skills: [skill("a"), skill("b")] }, /two tools are called `t`/],
    [{ hooks: [{} as HarnessHook] }, /defineHarnessHook/],
    [{ run: () => {} } as Partial<HarnessOptions>, /`run` is no option/],
  ];
  for (const [options, message] of wrong) assert.throws(() => createHarness({ modelProvider, ...options }), message);
});

Deno.test("hooks: each phase at its place, with what it may change", async () => {
  const order: string[] = [];
  const log = (name: string) => void order.push(name);
  const hooks = [
    defineHarnessHook({
      on: "session-start",
      run: ({ prompt }) => (log(`start ${prompt}`), { instructions: "Hooked." }),
    }),
    defineHarnessHook({ on: "before-model", run: ({ step, messages }) => log(`before ${step} ${messages.length}`) }),
    defineHarnessHook({ on: "after-model", run: ({ step }) => log(`after ${step}`) }),
    defineHarnessHook({
      on: "before-tool",
      run: ({ call }) => ({ input: { n: (call.input as { n: number }).n + 1 } }),
    }),
    defineHarnessHook({
      on: "before-tool",
      run: ({ call }) => ({ input: { n: (call.input as { n: number }).n * 10 } }),
    }),
    defineHarnessHook({
      on: "after-tool",
      run: ({ call, result }) => ({ result: `${JSON.stringify(call.input)}→${result.content}` }),
    }),
    defineHarnessHook({
      on: "stop",
      name: "once",
      run: ({ text }) => text === "done" ? { continue: "Go on." } : undefined,
    }),
  ];
  const { result, provider, events } = start({
    script: [call("t", { n: 1 }), "done", "really done"],
    tools: [tool("t", ({ n }) => String(n))],
    options: { hooks },
  });
  assert.equal((await result).text, "really done");
  assert.deepEqual(order, ["start go", "before 1 1", "after 1", "before 2 3", "after 2", "before 3 5", "after 3"]);
  assert.equal(provider.requests[0]!.system, "Hooked.");
  assert.equal(results(provider.requests[1]!.messages!.at(-1)!)[0]!.content, '{"n":1}→20');
  assert.deepEqual(provider.requests[2]!.messages!.at(-1)!.content, [{ type: "text", text: "Go on." }]);
  assert.equal(events.filter(({ kind }) => kind === "stop-prevented").length, 1);
  assert(
    events.some((event) => event.kind === "hook" && event.phase === "stop" && event.name === "once" && event.changed),
  );
});

Deno.test("harness 28: what a before-tool hook changes is checked again, by schema and permissions", async () => {
  let ran = 0;
  const rewriting = (input: unknown) => [defineHarnessHook({ on: "before-tool", run: () => ({ input }) })];
  const permissions = {
    kind: "permissions" as const,
    evaluate: (_: string, { paths = [] }: { paths?: readonly string[] }) =>
      paths.includes("secret") ? { allowed: false as const, reason: "secret" } : { allowed: true as const },
  };
  const writing = {
    ...tool("w", () => String(++ran)),
    resources: (input: unknown) => ({ paths: [(input as { path: string }).path] }),
  };
  const denied = start({
    script: [call("w", { path: "a" }), "ok"],
    tools: [Object.freeze(writing)],
    options: { permissions, hooks: rewriting({ path: "secret" }) },
  });
  await denied.result;
  assert.equal(results(lastMessage(denied.provider))[0]!.content, "Denied: secret");
  const invalid = start({
    script: [call("w", { path: "a" }), "ok"],
    tools: [Object.freeze(writing)],
    options: { hooks: rewriting("no object") },
  });
  await invalid.result;
  assert.match(results(lastMessage(invalid.provider))[0]!.content, /failed validation/);
  assert.equal(ran, 0);
});

Deno.test("hooks: a deny stops the later ones; what throws or has the wrong shape fails the turn", async () => {
  let later = 0;
  const hooks = [
    defineHarnessHook({ on: "before-tool", run: () => ({ deny: "not today" }) }),
    defineHarnessHook({ on: "before-tool", run: () => void later++ }),
  ];
  const { result, provider } = start({
    script: [callsOf("t"), "ok"],
    tools: [tool("t", () => "ran")],
    options: { hooks },
  });
  await result;
  assert.equal(results(lastMessage(provider))[0]!.content, "Denied: not today");
  assert.equal(later, 0);
  for (
    const run of [() => ({ deny: " " }), () => ({ dney: "x" }), () => "no", () => {
      throw new Error("boom");
    }]
  ) {
    const hook = defineHarnessHook({ on: "before-tool", run: run as unknown as () => undefined });
    await assert.rejects(
      start({ script: [callsOf("t")], tools: [tool("t", () => "")], options: { hooks: [hook] } }).result,
    );
  }
  assert.throws(() => defineHarnessHook({ on: "sometimes" as "stop", run: () => {} }), { code: "configuration" });
});

Deno.test("harness 29: a stop hook that always goes on ends at maxSteps", async () => {
  const hooks = [defineHarnessHook({ on: "stop", run: () => ({ continue: "more" }) })];
  const { result, provider } = start({ script: ["a", "b", "c"], options: { hooks, limits: { maxSteps: 3 } } });
  await assert.rejects(result, (error) => error instanceof LimitError);
  assert.equal(provider.requests.length, 3);
});

Deno.test("harness 32: truncateToolResults cuts the older results only, and the same way each step", async () => {
  const long = "x".repeat(40);
  const { result, provider, events } = start({
    script: [callsOf("t"), callsOf("t"), callsOf("t"), callsOf("t"), "ok"],
    tools: [tool("t", () => long)],
    options: { context: truncateToolResults({ keepRecent: 1, maxCharacters: 10 }) },
  });
  await result;
  const contents = provider.requests[3]!.messages!.flatMap((message) => results(message)).map(({ content }) => content);
  assert.deepEqual(contents, [...Array(2).fill(`${"x".repeat(10)}\n[cut to 10 of 40 characters]`), long]);
  assert.equal(events.filter(({ kind }) => kind === "compaction").length, 3, "what is cut is not cut again");
});

Deno.test("harness 32: summarizeHistory keeps the first message and the newest, and asks without tools", async () => {
  const summary = (text: string) => ({ text, usage: { input: 7, output: 1 }, when: { contains: "Summarize the" } });
  const script: Script = [summary("so far"), callsOf("t"), callsOf("t"), callsOf("t"), "ok"];
  const { result, provider } = start({
    script,
    tools: [tool("t", () => "y".repeat(60))],
    options: { context: summarizeHistory({ triggerCharacters: 800, keepRecentMessages: 2 }) },
  });
  const { usage } = await result;
  assert.equal(usage.input, 7);
  const asking = provider.requests.find(({ tools }) => tools === undefined)!;
  assert.match(asking.system!, /Summarize/);
  const after = provider.requests.at(-1)!.messages!;
  assert.deepEqual(after[0]!.content, [{ type: "text", text: "go" }]);
  assert.match(JSON.stringify(after[1]), /Summary.*so far/);
  assert.equal(after[2]!.role, "assistant");
  const blank = start({
    script: [summary(" "), callsOf("t"), callsOf("t"), callsOf("t"), "ok"],
    tools: [tool("t", () => "y".repeat(60))],
    options: { context: summarizeHistory({ triggerCharacters: 500, keepRecentMessages: 2 }) },
  });
  await assert.rejects(blank.result, (error) => error instanceof ResponseError);
});

Deno.test("context strategies: what they give back must be a conversation, and loses its reasoning", async () => {
  const orphan: ModelMessage[] = [{ role: "user", content: [{ type: "tool-result", callId: "x", content: "" }] }];
  const bad = defineHarnessContextStrategy({ name: "bad", compact: () => orphan });
  await assert.rejects(start({ script: ["x"], options: { context: bad } }).result, /context strategy `bad`/);
  const same = defineHarnessContextStrategy({ name: "same", compact: ({ messages }) => messages });
  const { result, provider } = start({
    script: [{ reasoning: "hm", ...callsOf("t") }, "ok"],
    tools: [tool("t", () => "")],
    options: { context: same },
  });
  await result;
  assert.equal(JSON.stringify(provider.requests[1]!.messages).includes("hm"), false);
});

function subagent(script: Script, options: Partial<HarnessOptions> = {}) {
  const provider = createScriptedModelProvider(script);
  const agent = createAgent({ harness: createHarness({ modelProvider: provider, ...options }), model: "small" });
  return { provider, tool: defineHarnessSubagent({ name: "helper", description: "Helps.", agent }) };
}

Deno.test("subagents: a history of their own, the result as JSON, usage counted once, events with their id", async () => {
  const inner = subagent([{ ...callsOf("look"), usage: { input: 5, output: 1 } }, {
    text: "found",
    usage: { input: 6, output: 2 },
  }], {
    tools: [tool("look", () => "there")],
    instructions: "You look.",
  });
  const { result, provider, events } = start({
    script: [{ ...call("helper", { prompt: "find it" }), usage: { input: 1, output: 1 } }, {
      text: "ok",
      usage: { input: 1, output: 1 },
    }],
    tools: [inner.tool],
  });
  const { usage } = await result;
  assert.deepEqual([usage.input, usage.output], [13, 5]);
  assert.equal(results(lastMessage(provider))[0]!.content, '{"text":"found"}');
  assert.equal(inner.provider.requests[0]!.system, "You look.");
  assert.deepEqual(inner.provider.requests[0]!.messages, [{
    role: "user",
    content: [{ type: "text", text: "find it" }],
  }]);
  const status = events.filter((event) => event.kind === "subagent").map(({ status }) => status);
  assert.deepEqual(status, ["started", "finished"]);
  const theirs = events.filter(({ subagentId }) => subagentId !== undefined);
  assert(
    theirs.some(({ kind }) => kind === "tool-result") &&
      theirs.every(({ scope }) => scope.path.join() === "turn,helper"),
  );
  assert.deepEqual(events.map(({ seq }) => seq), events.map((_, index) => index));
  assert.equal(events.filter(({ kind }) => ["finished", "failure", "stopped"].includes(kind)).length, 1);
});

Deno.test("harness 36: a subagent's call must pass both permissions, and depth 0 is an error result", async () => {
  let ran = 0;
  const inner = subagent([callsOf("write_file"), "{{ last }}"], { tools: [tool("write_file", () => String(++ran))] });
  const permissions = {
    kind: "permissions" as const,
    evaluate: (name: string) =>
      name === "write_file" ? { allowed: false as const, reason: "read only" } : { allowed: true as const },
  };
  const outer = start({
    script: [call("helper", { prompt: "p" }), "ok"],
    tools: [inner.tool],
    options: { permissions },
  });
  await outer.result;
  assert.equal(JSON.parse(results(lastMessage(outer.provider))[0]!.content).text, "Denied: read only");
  assert.equal(ran, 0);
  const none = start({
    script: [call("helper", { prompt: "p" }), "ok"],
    tools: [subagent(["never"]).tool],
    options: { limits: { maxDelegationDepth: 0 } },
  });
  await none.result;
  const [told] = results(lastMessage(none.provider));
  assert(told!.isError && /`helper`.*too deep/.test(told!.content));
});

Deno.test("subagents: a budget of their own is an error result, one of the parent's ends the turn", async () => {
  const expensive: Script = [{ text: "x", usage: { input: 1, output: 50 } }];
  const own = subagent(expensive, { limits: { usage: { output: 10 } } });
  const goesOn = start({ script: [call("helper", { prompt: "p" }), "ok"], tools: [own.tool] });
  await goesOn.result;
  assert.match(results(lastMessage(goesOn.provider))[0]!.content, /limits\.usage\.output is 10/);
  const ends = start({
    script: [{ ...call("helper", { prompt: "p" }), usage: { input: 1, output: 1 } }, "ok"],
    tools: [subagent(expensive).tool],
    options: { limits: { usage: { output: 10 } } },
  });
  await assert.rejects(ends.result, (error) => error instanceof LimitError && error.details["limit"] === "usage");
});

Deno.test("subagents: the parent's cancellation reaches their calls; executed alone they are refused", async () => {
  const controller = new AbortController();
  const inner = subagent([callsOf("wait")], {
    tools: [tool("wait", () => {
      setTimeout(() => controller.abort("enough"), 5);
      return new Promise<string>(() => {});
    })],
  });
  const { result } = start({
    script: [call("helper", { prompt: "p" })],
    tools: [inner.tool],
    turn: { signal: controller.signal },
  });
  assert.equal(await result.catch((error) => error), "enough");
  assert.throws(() => inner.tool.execute({ prompt: "p" }, {} as never), /only within the turn/);
});

Deno.test("harness 35: an answer that does not fit is asked for again, with read-only tools; then it is the value", async () => {
  const response = defineJsonResponse({
    tag: "verdict",
    schema: (value) => {
      if (typeof (value as { ok?: unknown }).ok !== "boolean") throw new Error("ok must be a boolean");
      return value as { ok: boolean };
    },
    jsonSchema: { type: "object" },
    repairs: 1,
  });
  const tools = [tool("r", () => "", { readOnly: true }), tool("w", () => "")];
  const fixed = start({
    script: ['<verdict>{"ok":1}</verdict>', '<verdict>\n```json\n{"ok":true}\n```\n</verdict>'],
    tools,
    turn: { response },
  });
  assert.deepEqual((await fixed.result).value, { ok: true });
  assert.deepEqual(fixed.provider.requests[1]!.tools!.map(({ name }) => name), ["r"]);
  const asked = JSON.stringify(fixed.provider.requests[1]!.messages!.at(-1));
  assert(/ok must be a boolean/.test(asked) && /Attempts left after this one: 0/.test(asked), asked);
  const lost = start({ script: ["no tag", "<verdict>{bad</verdict>"], tools, turn: { response } });
  await assert.rejects(lost.result, (error) => error instanceof ResponseError && error.details["raw"] === "{bad");
});

Deno.test("defineTextResponse: the last complete tag, trimmed", async () => {
  const { read } = defineTextResponse({ tag: "out" });
  assert.equal(await read("<out>a</out> then <out>\n b \n</out> and <out>open"), "b");
  await assert.rejects(read("nothing"), (error) => error instanceof ResponseError);
  assert.throws(() => defineTextResponse({ tag: "1x" }), { code: "configuration" });
});

Deno.test("createApprovals: calls wait until they are decided elsewhere; an unknown or settled id throws", async () => {
  const approvals = createApprovals();
  const { result, provider } = start({
    script: [{ calls: [{ name: "t", id: "a" }, { name: "t", id: "b" }] }, callsOf("t"), "ok"],
    tools: [tool("t", () => "ran")],
    options: { approve: approvals.approve },
  });
  const waiting = async () => {
    while (approvals.pending().length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    return approvals.pending()[0]!;
  };
  assert.equal((await waiting()).callId, "a");
  approvals.decide("a", "deny");
  assert.throws(() => approvals.decide("a", "allow"), /no tool call/);
  assert.equal((await waiting()).callId, "b");
  approvals.decide("b", "allow-always");
  await result;
  assert.deepEqual(results(provider.requests[1]!.messages!.at(-1)!).map(({ content }) => content), [
    "Denied: the user denied this call",
    "ran",
  ]);
  assert.equal(results(lastMessage(provider))[0]!.content, "ran", "the tool was allowed for good");
});
