import assert from "node:assert/strict";
import { LimitError, ModelError, ResponseError, ToolFailure } from "../../lib/base/errors.ts";
import { createAgent } from "../../lib/harness/agent.ts";
import { createHarness, type HarnessOptions } from "../../lib/harness/harness.ts";
import { runTurn } from "../../lib/harness/turn.ts";
import { messageText } from "../../lib/model/message.ts";
import { createScriptedModelProvider } from "../../lib/model/providers/scripted.ts";
import { queueApprovals } from "../../lib/tool/approval.ts";
import { defineHarnessTool } from "../../lib/tool/define.ts";
import type { HarnessTool, HarnessToolContext } from "../../lib/tool/tool.ts";
import { callsOf, COMMAND, lastMessage, lease, results, start, tool } from "./_setup.ts";

const TERMINAL = ["finished", "failure", "stopped"];

Deno.test("runTurn: a plain answer, its events in order and one terminal event", async () => {
  const { result, events, kinds } = start({ script: [{ text: "hello", usage: { input: 3, output: 2 } }] });
  const { text, usage, steps, messages } = await result;
  assert.equal(text, "hello");
  assert.deepEqual(usage, { input: 3, cached: 0, output: 2 });
  assert.equal(steps, 1);
  assert.deepEqual(messages.map(({ role }) => role), ["user", "assistant"]);
  assert.deepEqual(kinds(), ["instructions-loaded", "step", "text-delta", "usage", "text", "result", "finished"]);
  assert.deepEqual(events.map(({ seq }) => seq), events.map((_, index) => index));
  assert.deepEqual(events[0]!.scope, { label: "turn", path: ["turn"] });
});

Deno.test("runTurn: a tool call, its result under the call's id, then the answer", async () => {
  const { result, provider, kinds } = start({
    script: [{ text: "let me see", calls: [{ name: "add", arguments: { a: 2, b: 3 }, id: "c1" }] }, "{{ last }}!"],
    tools: [tool("add", ({ a, b }) => String(Number(a) + Number(b)))],
  });
  assert.equal((await result).text, "5!");
  const [user, assistant, answer] = provider.requests[1]!.messages!;
  assert.equal(messageText(user!), "go");
  assert.deepEqual(assistant!.content.map((block) => block.type), ["text", "tool-call"]);
  assert.deepEqual(results(answer), [{ id: "c1", content: "5", isError: false }]);
  assert.deepEqual(kinds().filter((kind) => kind.startsWith("tool")), [
    "tool",
    "tool-started",
    "tool-ended",
    "tool-result",
  ]);
  assert.deepEqual(provider.requests[0]!.tools?.map(({ name }) => name), ["add"]);
});

Deno.test("runTurn: 19 calls run 8 at a time and are answered in order", async () => {
  let running = 0;
  let most = 0;
  const numbers = Array.from({ length: 19 }, (_, index) => index);
  const { result, provider } = start({
    script: [{ calls: numbers.map((n) => ({ name: "wait", arguments: { n } })) }, "done"],
    tools: [tool("wait", async ({ n }) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, (Number(n) * 7) % 13));
      running -= 1;
      return String(n);
    })],
    options: { toolExecution: { concurrency: 8, scheduling: "parallel" } },
  });
  await result;
  assert.equal(most, 8);
  assert.deepEqual(results(lastMessage(provider)).map(({ content }) => content), numbers.map(String));
  assert.equal(new Set(results(lastMessage(provider)).map(({ id }) => id)).size, 19);
});

Deno.test("runTurn: read-only neighbours run together, any other call alone and in order", async () => {
  const log: string[] = [];
  const logged = (name: string, readOnly: boolean) =>
    tool(name, async () => {
      log.push(`+${name}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      log.push(`-${name}`);
      return name;
    }, { readOnly });
  const { result, provider } = start({
    script: [callsOf("r1", "r2", "w", "r3"), "done"],
    tools: [logged("r1", true), logged("r2", true), logged("w", false), logged("r3", true)],
  });
  await result;
  assert.deepEqual(log.slice(0, 2), ["+r1", "+r2"]);
  assert.deepEqual(log.slice(4), ["+w", "-w", "+r3", "-r3"]);
  assert.deepEqual(results(lastMessage(provider)).map(({ content }) => content), ["r1", "r2", "w", "r3"]);
});

Deno.test("runTurn: maxSteps allows that many requests, and the error carries the configured name", async () => {
  let ran = 0;
  const { result, provider, events } = start({
    script: [{ ...callsOf("t"), usage: { input: 5, output: 1 } }],
    tools: [tool("t", () => String(++ran))],
    options: { limits: { maxSteps: 1 } },
    profile: COMMAND,
  });
  await assert.rejects(result, (error) => error instanceof LimitError && /max_tool_rounds \(1\)/.test(error.message));
  assert.equal(provider.requests.length, 1);
  assert.equal(ran, 1);
  const last = events.at(-1)!;
  assert(last.kind === "failure" && last.code === "limit");
  assert.deepEqual(last.usage, { input: 5, cached: 0, output: 1 });
  assert.equal(events.filter(({ kind }) => TERMINAL.includes(kind)).length, 1);
});

Deno.test("runTurn: maxToolCalls stops before any call of the answer that goes over it", async () => {
  let ran = 0;
  const { result } = start({
    script: [callsOf("t", "t")],
    tools: [tool("t", () => String(++ran))],
    options: { limits: { maxToolCalls: 1 } },
  });
  await assert.rejects(result, (error) => error instanceof LimitError && error.details["limit"] === "maxToolCalls");
  assert.equal(ran, 0);
});

Deno.test("runTurn: a token budget fails a turn that goes over it, also with its final answer", async () => {
  const over = start({
    script: [{ text: "x", usage: { input: 1, output: 11 } }],
    options: { limits: { usage: { output: 10 } } },
  });
  await assert.rejects(over.result, (error) => error instanceof LimitError && /output/.test(error.message));
  const at = start({
    script: [{ text: "x", usage: { input: 1, output: 10 } }],
    options: { limits: { usage: { output: 10 } } },
  });
  assert.equal((await at.result).text, "x");
  const silent = start({ script: ["x"], options: { limits: { usage: { output: 10 } } } });
  await assert.rejects(silent.result, /reports its tokens/);
});

Deno.test("runTurn: what a tool throws goes back to the model, or ends the turn", async () => {
  const boom = tool("t", () => {
    throw new Error("boom");
  });
  const back = start({ script: [callsOf("t"), "ok"], tools: [boom] });
  await back.result;
  assert.deepEqual(results(lastMessage(back.provider)).map(({ content, isError }) => [content, isError]), [[
    "boom",
    true,
  ]]);
  const ends = start({ script: [callsOf("t")], tools: [boom], options: { toolExecution: { onError: "fail" } } });
  await assert.rejects(ends.result, /boom/);
});

Deno.test("runTurn: a fatal failure stops the calls beside it and starts no more", async () => {
  const aborted: string[] = [];
  let started = 0;
  const slow = tool("slow", async (_, { signal }) => {
    started += 1;
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    aborted.push("slow");
    return "late";
  });
  const fatal = tool("fatal", async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    throw new ToolFailure("lost", { fatal: true });
  });
  const { result, events } = start({
    script: [callsOf("slow", "fatal", "slow", "slow")],
    tools: [slow, fatal],
    options: { toolExecution: { concurrency: 2, scheduling: "parallel" } },
  });
  await assert.rejects(result, /lost/);
  assert.equal(started, 1);
  assert.deepEqual(aborted, ["slow"]);
  assert.equal(events.at(-1)!.kind, "failure");
});

for (const mode of ["return-to-model", "fail"] as const) {
  Deno.test(`runTurn: an unknown tool and arguments that are no object, with onInvalidCall "${mode}"`, async () => {
    let ran = 0;
    const counting = tool("known", () => String(++ran));
    for (
      const [call, message] of [
        [{ name: "knwon" }, /unknown tool 'knwon' \(did you mean `known`\?\)/],
        [{ name: "known", arguments: "[1]" }, /JSON object/],
        [{ name: "known", arguments: "{bad" }, /JSON object/],
      ] as const
    ) {
      const { result, provider } = start({
        script: [{ calls: [{ name: "known" }, call] }, "ok"],
        tools: [counting],
        options: { toolExecution: { onInvalidCall: mode } },
      });
      ran = 0;
      if (mode === "fail") {
        await assert.rejects(result, message);
        assert.equal(ran, 0, "no call of the answer may have run");
      } else {
        await result;
        assert.match(results(lastMessage(provider))[1]!.content, message);
        assert.equal(ran, 1);
      }
    }
  });
}

Deno.test("runTurn: empty, blank and null arguments are an empty object", async () => {
  const { result, provider } = start({
    script: [{ calls: ["", "  ", "null"].map((text) => ({ name: "t", arguments: text })) }, "ok"],
    tools: [tool("t", (input) => JSON.stringify(input))],
  });
  await result;
  assert.deepEqual(results(lastMessage(provider)).map(({ content }) => content), ["{}", "{}", "{}"]);
});

Deno.test("runTurn: arguments that break the schema go back to the model and nothing runs", async () => {
  let ran = 0;
  const strict = defineHarnessTool({
    name: "t",
    description: "t",
    input: { type: "object", required: ["text"] },
    execute: () => String(++ran),
  });
  const { result, provider } = start({ script: [callsOf("t"), "ok"], tools: [strict as HarnessTool] });
  await result;
  assert.match(results(lastMessage(provider))[0]!.content, /^tool arguments failed validation: .*text/);
  assert.equal(ran, 0);
});

Deno.test("runTurn: the policy comes before the approver, and both are told to the model", async () => {
  const asked: string[] = [];
  const { result, provider, events } = start({
    script: [callsOf("no", "ask", "yes"), "ok"],
    tools: ["no", "ask", "yes"].map((name) => tool(name, () => name)),
    options: {
      approve: ({ tool }) => {
        asked.push(tool);
        return Promise.resolve(tool === "ask" ? "deny" : "allow");
      },
    },
    profile: { ...COMMAND, policy: (name) => name === "no" ? { allowed: false, reason: "never" } : { allowed: true } },
  });
  await result;
  assert.deepEqual(asked, ["ask", "yes"]);
  const contents = results(lastMessage(provider)).map(({ content }) => content);
  assert.equal(contents[0], "Denied: never");
  assert.match(contents[1]!, /denied.*--approve-tools/);
  assert.equal(contents[2], "yes");
  assert.equal(events.filter(({ kind }) => kind === "tool-denied").length, 2);
});

Deno.test("runTurn: an approver that throws ends the turn before any call of the answer has run", async () => {
  let ran = 0;
  const { result } = start({
    script: [callsOf("a", "b")],
    tools: [tool("a", () => String(++ran)), tool("b", () => String(++ran))],
    options: {
      approve: ({ tool }) => tool === "b" ? Promise.reject(new Error("nobody there")) : Promise.resolve("allow"),
    },
  });
  await assert.rejects(result, /nobody there/);
  assert.equal(ran, 0);
});

Deno.test("queueApprovals: one question at a time, none about what was allowed for good", async () => {
  let open = 0;
  const asked: string[] = [];
  const approve = queueApprovals(async ({ tool }) => {
    assert.equal(++open, 1);
    asked.push(tool);
    await new Promise((resolve) => setTimeout(resolve, 2));
    open -= 1;
    return tool === "a" ? "allow-always" : "allow";
  });
  const ask = (tool: string) =>
    approve({ callId: "c", tool, input: {}, arguments: "{}", signal: new AbortController().signal });
  await Promise.all([ask("a"), ask("a"), ask("b"), ask("b")]);
  assert.deepEqual(asked, ["a", "b", "b"]);
});

Deno.test("runTurn: the signal reaches requests and calls, and the turn rejects with exactly its reason", async () => {
  const inRequest = new AbortController();
  const waiting = start({ script: [{ text: "x", delay_ms: 60_000 }], turn: { signal: inRequest.signal } });
  setTimeout(() => inRequest.abort("stop!"), 5);
  assert.equal(await waiting.result.catch((error) => error), "stop!");
  assert.equal(waiting.events.at(-1)!.kind, "stopped");

  const inCall = new AbortController();
  let toolSignal: AbortSignal | undefined;
  const calling = start({
    script: [callsOf("t")],
    tools: [tool("t", (_, { signal }) => {
      toolSignal = signal;
      setTimeout(() => inCall.abort("enough"), 5);
      return new Promise<string>(() => {});
    })],
    turn: { signal: inCall.signal },
  });
  assert.equal(await calling.result.catch((error) => error), "enough");
  assert.equal(toolSignal!.aborted, true);
  assert.equal(calling.events.filter(({ kind }) => TERMINAL.includes(kind)).length, 1);
});

Deno.test("runTurn: a command that a cancelled call started has ended when the turn rejects", async () => {
  const controller = new AbortController();
  const directory = await Deno.makeTempDir();
  try {
    const { result } = start({
      script: [callsOf("t")],
      tools: [tool("t", async (_, { sandbox }) => {
        setTimeout(() => controller.abort("now"), 100);
        const script = `trap '' TERM; sleep 1; touch ${directory}/late`;
        return (await sandbox.invoke({ executable: "sh", arguments: ["-c", script] })).stdout;
      })],
      turn: { signal: controller.signal },
    });
    assert.equal(await result.catch((error) => error), "now");
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await assert.rejects(Deno.stat(`${directory}/late`), Deno.errors.NotFound);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("runTurn: a call's deadline is an error result naming tool and time, and ends its signal and sandbox", async () => {
  let context: HarnessToolContext | undefined;
  const { result, provider } = start({
    script: [callsOf("slow"), "ok"],
    tools: [tool("slow", (_, given) => {
      context = given;
      return new Promise<string>(() => {});
    })],
    options: { toolExecution: { deadlineMs: 50 } },
  });
  await result;
  assert.match(results(lastMessage(provider))[0]!.content, /slow.*50 ms/);
  assert.equal(context!.signal.aborted, true);
  await assert.rejects(context!.sandbox.invoke({ executable: "true" }));
  await assert.rejects(context!.sandbox.release(), /lent/);
  assert.throws(() => context!.observe({ kind: "text", text: "late" }), /ended/);
});

Deno.test("runTurn: a long result is cut with a note; one of exactly the limit is not", async () => {
  const { result, provider, events } = start({
    script: [callsOf("long", "exact"), "ok"],
    tools: [tool("long", () => "x".repeat(100_005)), tool("exact", () => "x".repeat(100_000))],
  });
  await result;
  const [long, exact] = results(lastMessage(provider));
  assert.equal(long!.content, `${"x".repeat(100_000)}\n[truncated 5 characters]`);
  assert.equal(exact!.content.length, 100_000);
  const told = events.find((event) => event.kind === "tool-result")!;
  assert(told.kind === "tool-result" && told.characters === 100_005 && told.preview.length === 2_000);
});

Deno.test("runTurn: a malformed output is an error result", async () => {
  const wrong = tool("t", () => 42 as unknown as string);
  const { result, provider } = start({ script: [callsOf("t"), "ok"], tools: [wrong] });
  await result;
  assert.match(results(lastMessage(provider))[0]!.content, /must return a text/);
});

Deno.test("runTurn: an answer cut by its output cap fails, or is kept with a warning; its calls never run", async () => {
  let ran = 0;
  const tools = [tool("t", () => String(++ran))];
  const script = [{ text: "half", ...callsOf("t"), finish: "length" }];
  await assert.rejects(
    start({ script, tools }).result,
    (e) => e instanceof LimitError && e.details["limit"] === "maxOutputTokens",
  );
  const kept = start({ script, tools, profile: COMMAND });
  assert.equal((await kept.result).text, "half");
  assert(kept.kinds().includes("warning"));
  assert.equal(ran, 0);
});

Deno.test("runTurn: a refusal and an empty answer are response errors", async () => {
  await assert.rejects(
    start({ script: [{ text: "no", finish: "refusal" }] }).result,
    (e) => e instanceof ResponseError,
  );
  await assert.rejects(
    start({ script: [{ text: "" }] }).result,
    (e) => e instanceof ResponseError && /empty/.test(e.message),
  );
});

Deno.test("runTurn: with tools the final format is withheld, then sent alone with the history before the answer", async () => {
  const responseFormat = { name: "out", schema: { type: "object" } };
  const { result, provider } = start({
    script: [
      { ...callsOf("t"), usage: { input: 1, output: 1 } },
      { text: "draft", usage: { input: 1, output: 1 } },
      { text: "{}", usage: { input: 1, output: 1 } },
    ],
    tools: [tool("t", () => "r")],
    turn: { responseFormat },
  });
  const { text, steps, usage } = await result;
  assert.equal(text, "{}");
  assert.equal(steps, 2);
  assert.equal(usage.input, 3);
  const [first, second, last] = provider.requests;
  assert.equal(first!.responseFormat, undefined);
  assert.equal(second!.responseFormat, undefined);
  assert.deepEqual(last!.responseFormat, responseFormat);
  assert.equal(last!.tools, undefined);
  assert.deepEqual(last!.messages, second!.messages);
  const plain = start({ script: ["{}"], turn: { responseFormat } });
  await plain.result;
  assert.deepEqual(plain.provider.requests[0]!.responseFormat, responseFormat);
});

Deno.test("runTurn: ids that are empty or repeated become deterministic ones, also against the history", async () => {
  const script = [{ calls: [{ name: "t", id: "a" }, { name: "t", id: "a" }, { name: "t" }] }, callsOf("t"), "ok"];
  const runs = [start({ script, tools: [tool("t", () => "r")] }), start({ script, tools: [tool("t", () => "r")] })];
  for (const { result } of runs) await result;
  const ids = runs.map(({ provider }) =>
    provider.requests.at(-1)!.messages!.flatMap((message) => results(message)).map(({ id }) => id)
  );
  assert.deepEqual(ids[0], ["a", "call_1_1", "call_1_2", "call_2_0"]);
  assert.deepEqual(ids[1], ids[0]);
});

Deno.test("runTurn: a model error is a failure event with its code and comes through", async () => {
  const { result, events } = start({ script: [{ status: 429, text: "slow down" }] });
  await assert.rejects(result, (error) => error instanceof ModelError && error.code === "quota");
  const last = events.at(-1)!;
  assert(last.kind === "failure" && last.code === "quota");
});

Deno.test("runTurn: a stream with no result, or two, is an error", async () => {
  const provider = (count: number) => ({
    name: "odd",
    request: () => Promise.resolve({ text: "x" }),
    stream: async function* () {
      for (let i = 0; i < count; i++) yield { type: "result" as const, result: { text: "x" } };
    },
  });
  for (const [count, code] of [[0, "response"], [2, "configuration"]] as const) {
    const agent = createAgent({ harness: createHarness({ modelProvider: provider(count) }), model: "m" });
    await assert.rejects(runTurn(agent, { lease, prompt: "x" }), { code });
  }
});

Deno.test("runTurn: what an observer throws changes nothing", async () => {
  const { result } = start({
    script: ["fine"],
    turn: {
      observe: () => {
        throw new Error("observer");
      },
    },
  });
  assert.equal((await result).text, "fine");
});

Deno.test("runTurn: a conversation that is not valid is refused before any request", async () => {
  const provider = createScriptedModelProvider(["x"]);
  const agent = createAgent({ harness: createHarness({ modelProvider: provider }), model: "m" });
  const text = (role: "user" | "assistant") => ({ role, content: [{ type: "text" as const, text: "t" }] });
  const orphan = { role: "user" as const, content: [{ type: "tool-result" as const, callId: "x", content: "" }] };
  for (const messages of [[], [text("assistant")], [text("user"), text("assistant")], [orphan]]) {
    await assert.rejects(runTurn(agent, { lease, messages }), { code: "configuration" });
  }
  assert.equal(provider.requests.length, 0);
});

Deno.test("createHarness: refuses unknown options, two tools of one name, wrong numbers, what is no provider", () => {
  const modelProvider = createScriptedModelProvider(["x"]);
  const same = () => tool("x", () => "");
  const wrong: [object, RegExp][] = [
    [{ modelProvider, tols: [] }, /unknown option `tols`.*did you mean `tools`/],
    [{ modelProvider, tools: [same(), same()] }, /two tools are called `x`/],
    [{ modelProvider, limits: { maxSteps: 0 } }, /maxSteps/],
    [{ modelProvider, toolExecution: { concurrency: 1.5 } }, /concurrency/],
    [{ modelProvider, toolExecution: { onError: "x" } }, /onError/],
    [{ modelProvider: {} }, /request/],
  ];
  for (const [options, message] of wrong) assert.throws(() => createHarness(options as HarnessOptions), message);
  assert(Object.isFrozen(createHarness({ modelProvider })));
});

Deno.test("createAgent: checks the model, and the provider checks it, too", () => {
  const harness = createHarness({
    modelProvider: {
      name: "p",
      request: () => Promise.resolve({ text: "" }),
      validate(model) {
        if (model.maxOutputTokens === undefined) throw new Error("needs maxOutputTokens");
      },
    },
  });
  assert.throws(() => createAgent({ harness, model: "m" }), /needs maxOutputTokens/);
  assert.equal(createAgent({ harness, model: { name: "m", maxOutputTokens: 1 } }).model.name, "m");
  for (const model of ["", { name: "m", reasoning: "huge" }, { name: "m", maxOutputTokens: 0 }, { name: "m", x: 1 }]) {
    assert.throws(() => createAgent({ harness, model: model as string }), { code: "configuration" });
  }
  assert.throws(() => createAgent({ harness: {} as typeof harness, model: "m" }), /createHarness/);
});

Deno.test("defineHarnessTool: names, descriptions and schemas are checked when it is defined", () => {
  const good = { description: "d", input: { type: "object" }, execute: () => "" } as const;
  for (const name of ["a b", "x".repeat(65), ""]) {
    assert.throws(() => defineHarnessTool({ name, ...good }), { code: "configuration" });
  }
  for (const name of ["a-b_9", "x".repeat(64)]) assert.equal(defineHarnessTool({ name, ...good }).name, name);
  assert.throws(() => defineHarnessTool({ ...good, name: "t", input: { type: "string" } }), { code: "configuration" });
  assert.throws(() => defineHarnessTool({ ...good, name: "t", description: " " }), /description/);
});
