import assert from "node:assert/strict";
import { createSteering } from "../../lib/harness/steering.ts";
import { defineHarnessTool } from "../../lib/tool/define.ts";
import { messageText } from "../../lib/model/message.ts";
import type { ScriptedAnswer } from "../../lib/model/providers/script.ts";
import { isRunning } from "../_support/process.ts";
import { agentOf, commitOf, failure, Project, scripted, shell } from "./_setup.ts";

const brief = { text: "go" };

Deno.test("dispatch: an agent that says nothing is stopped, and says so", async () => {
  await using project = await Project.make();
  const silent = agentOf([{ text: "late", delay_ms: 60_000 }]);
  const { result, events } = project.start({ brief, agent: silent, idleMs: 50, idleWarningMs: 20 });
  assert.match((await failure(result, "timeout")).message, /silent for 50 ms/);
  assert.ok(events.some(({ kind }) => kind === "warning"));
  const last = events.at(-1)!;
  assert.deepEqual([last.kind, last.kind === "stopped" && last.reason], ["stopped", "idle-timeout"]);
});

Deno.test("dispatch: time in a tool is no silence", async () => {
  await using project = await Project.make();
  const { result } = project.start({ brief, agent: agentOf([shell("sleep 3"), "ok"]), idleMs: 2_000 });
  assert.equal((await result).text, "ok");
});

Deno.test("dispatch: a turn that takes too long is stopped with all that it runs", async () => {
  await using project = await Project.make();
  const mark = `8642${Math.floor(Math.random() * 1e6)}`;
  const agent = agentOf([shell(`sleep ${mark} & sleep ${mark}`), "never"]);
  const { result, events } = project.start({ brief, agent, deadlineMs: 700 });
  assert.match((await failure(result, "timeout")).message, /longer than 700 ms \(deadlineMs\)/);
  assert.equal(isRunning(`sleep ${mark}`), false);
  const last = events.at(-1)!;
  assert.deepEqual([last.kind, last.kind === "stopped" && last.reason], ["stopped", "deadline"]);
});

Deno.test("dispatch: rejects with the very reason of an abort, whatever it is and whenever it comes", async () => {
  await using project = await Project.make();
  for (const reason of ["stop", undefined, 0, new Error("mine")]) {
    const abort = new AbortController();
    const { result } = project.start({
      brief,
      agent: agentOf([{ text: "late", delay_ms: 60_000 }]),
      signal: abort.signal,
      observe: (event) => {
        if (event.kind === "step") abort.abort(reason);
      },
    });
    const thrown = await result.then(() => "nothing", (error) => error);
    assert.equal(thrown, abort.signal.reason);
  }
  const before = AbortSignal.abort("before");
  const { result, kinds } = project.start({ brief, agent: agentOf(["ok"]), signal: before });
  assert.equal(await result.then(() => "nothing", (error) => error), "before");
  assert.equal(kinds().includes("step"), false);
});

Deno.test("dispatch: durations must be whole milliseconds above 0, however long", async () => {
  await using project = await Project.make();
  for (const name of ["idleMs", "idleWarningMs", "settleMs", "deadlineMs", "expansionMs"]) {
    for (const value of [0, -1, 1.5, NaN, Infinity]) {
      const { result, events } = project.start({ brief, agent: agentOf(["ok"]), [name]: value });
      await failure(result, "configuration");
      assert.deepEqual(events, []);
    }
    // More than a timer takes.
    assert.equal((await project.start({ brief, agent: agentOf(["ok"]), [name]: 2 ** 40 }).result).text, "ok");
  }
});

Deno.test("dispatch: passes go on until a marker is there, each a new conversation on the same files", async () => {
  await using project = await Project.make();
  const { provider, agent } = scripted([shell(commitOf("b.txt")), "not yet", shell("cat b.txt"), "now OK", "never"]);
  const { result, events } = project.start({ brief, agent, passes: 3, until: "OK" });
  const { completed, completion, turns, text, commits } = await result;
  assert.deepEqual([completed, completion, turns.length, text], [true, "OK", 2, "not yet\nnow OK"]);
  assert.equal(provider.requests[2]!.messages!.length, 1);
  assert.notEqual(turns[0]!.conversation, turns[1]!.conversation);
  assert.equal(commits.length, 1);
  assert.deepEqual([...new Set(events.map(({ pass }) => pass))], [0, 1, 2]);
});

Deno.test("dispatch: without a marker to look for every pass runs; the default one ends them", async () => {
  await using project = await Project.make();
  const all = await project.start({ brief, agent: agentOf(["a", "b", "c"]), passes: 3, until: [] }).result;
  assert.deepEqual([all.turns.length, all.completed], [3, false]);
  const first = await project.start({ brief, agent: agentOf(["<lait>done</lait>", "never"]), passes: 3 }).result;
  assert.deepEqual([first.turns.length, first.completion], [1, "<lait>done</lait>"]);
  const list = await project.start({ brief, agent: agentOf(["it is B"]), until: ["A", "B"] }).result;
  assert.equal(list.completion, "B");
  for (const until of ["", [""], 5, ["a", ""]]) {
    await failure(project.start({ brief, agent: agentOf(["ok"]), until: until as never }).result, "configuration");
  }
});

Deno.test("dispatch: unknown options are refused, with the nearest name", async () => {
  await using project = await Project.make();
  for (const more of [{ deadlineMS: 5 }, { telemetry: {} }, { logging: false }]) {
    const { result, events } = project.start({ brief, agent: agentOf(["ok"]), ...more } as never);
    assert.match((await failure(result, "configuration")).message, /unknown option/);
    assert.deepEqual(events, []);
  }
  const typo = project.start({ brief, agent: agentOf(["ok"]), deadlineMS: 5 } as never);
  assert.match((await failure(typo.result, "configuration")).message, /did you mean `deadlineMs`/);
});

Deno.test("dispatch: where commands run must be said; the host is never taken for granted", async () => {
  await using project = await Project.make();
  const { result } = project.start({ brief, agent: agentOf(["ok"]), sandboxProvider: undefined } as never);
  assert.match(
    (await failure(result, "configuration")).message,
    /createLocalSandboxProvider\(\) for this machine without/,
  );
  const agent = project.start({ brief, agent: undefined } as never);
  assert.match((await failure(agent.result, "configuration")).message, /agent is missing/);
});

const noop = (input: Record<string, unknown>): ScriptedAnswer => ({ calls: [{ name: "look", arguments: input }] });
const look = defineHarnessTool({
  name: "look",
  description: "look",
  input: { type: "object" },
  execute: () => ({ content: "ok" }),
});

Deno.test("watchdog: the same call again and again stops the dispatch, the order of keys aside", async () => {
  await using project = await Project.make();
  const script = [
    noop({ a: 1, b: [1, 2] }),
    noop({ x: 1 }),
    noop({ b: [1, 2], a: 1 }),
    noop({ a: 1, b: [1, 2] }),
    "never",
  ];
  const agent = agentOf(script, { tools: [look as never] });
  const watchdog = { repetition: { window: 5, maxRepeats: 3 }, onStuck: "stop" } as const;
  const { result, events } = project.start({ brief, agent, watchdog });
  const error = await failure(result, "stuck");
  assert.deepEqual(error.details, { tool: "look", repeats: 3, window: 5 });
  assert.equal(events.filter(({ kind }) => kind === "stuck").length, 1);
  assert.deepEqual(events.at(-1)!.kind === "stopped" && events.at(-1), { ...events.at(-1), reason: "stuck" });
});

Deno.test("watchdog: other calls, other order in a list, and calls out of the window do not count", async () => {
  await using project = await Project.make();
  const script = [
    noop({ a: [1, 2] }),
    noop({ a: [2, 1] }),
    noop({ b: 1 }),
    noop({ b: 2 }),
    noop({ a: [1, 2] }),
    "done",
  ];
  const watchdog = { repetition: { window: 4, maxRepeats: 2 }, onStuck: "stop" } as const;
  const { result } = project.start({ brief, agent: agentOf(script, { tools: [look as never] }), watchdog });
  assert.equal((await result).text, "done");
});

Deno.test("watchdog: it can warn, or tell the agent, so many times before it stops", async () => {
  await using project = await Project.make();
  const many = Array.from({ length: 4 }, () => noop({ a: 1 }));
  const repetition = { window: 2, maxRepeats: 2 };
  const warned = project.start({
    brief,
    agent: agentOf([...many, "done"], { tools: [look as never] }),
    watchdog: { repetition, onStuck: "warn" },
  });
  assert.equal((await warned.result).text, "done");
  assert.equal(warned.kinds().filter((kind) => kind === "stuck").length, 2);
  const { provider, agent } = scripted([...many, "never"], { tools: [look as never] });
  const told = project.start({
    brief,
    agent,
    watchdog: { repetition, onStuck: { instruction: "try something else", maxInterventions: 1 } },
  });
  await failure(told.result, "stuck");
  assert.match(messageText(provider.requests[2]!.messages!.at(-1)!), /try something else/);
});

Deno.test("watchdog: wrong options are refused", async () => {
  await using project = await Project.make();
  const wrong = [
    {},
    { repetition: { window: 2, maxRepeats: 3 }, onStuck: "stop" },
    { repetition: { window: 2, maxRepeats: 1 }, onStuck: "stop" },
    { repetition: { window: 2, maxRepeats: 2 }, onStuck: "halt" },
    { repetition: { window: 2, maxRepeats: 2 }, onStuck: { instruction: "x" } },
  ];
  for (const watchdog of wrong) {
    await failure(
      project.start({ brief, agent: agentOf(["ok"]), watchdog: watchdog as never }).result,
      "configuration",
    );
  }
});

Deno.test("steering: before the turn, within it, and after the answer as a turn more", async () => {
  await using project = await Project.make();
  const steering = createSteering();
  const before = steering.send("before");
  let after: Promise<unknown> | undefined;
  const { provider, agent } = scripted([shell("true"), "first", "second"]);
  const { result, events } = project.start({
    brief,
    agent,
    steering,
    observe: (event) => {
      events.push(event);
      if (event.kind === "tool-started") void steering.send("within");
      if (event.kind === "turn") after ??= steering.send("after");
    },
  });
  const { turns, text } = await result;
  assert.deepEqual(await before, { mode: "injected" });
  assert.deepEqual(await after, { mode: "resumed" });
  assert.deepEqual([turns.length, text], [2, "first\nsecond"]);
  assert.equal(turns[0]!.conversation, turns[1]!.conversation);
  assert.equal(messageText(provider.requests[0]!.messages![0]!), "go\n\nbefore");
  assert.equal(messageText(provider.requests[2]!.messages!.at(-1)!), "after");
  assert.deepEqual(
    events.flatMap((event) => event.kind === "steer" ? [[event.text, event.mode]] : []),
    [["before", "injected"], ["within", "injected"], ["after", "resumed"]],
  );
});

Deno.test("steering: one dispatch at a time has it; what comes too late for an agent without memory is refused", async () => {
  await using project = await Project.make();
  await using other = await Project.make();
  const steering = createSteering();
  let late: Promise<unknown> | undefined;
  const { result } = project.start({
    brief,
    agent: agentOf([{ text: "ok", delay_ms: 50 }], { conversations: false }),
    steering,
    observe: (event) => {
      if (event.kind === "turn") late ??= steering.send("late").catch((error) => error);
    },
  });
  await failure(other.start({ brief, agent: agentOf(["ok"]), steering }).result, "steering");
  await result;
  assert.match(String(await late), /could not be delivered: the answer was there already/);
  assert.equal((await other.start({ brief, agent: agentOf(["ok"]), steering }).result).text, "ok");
});
