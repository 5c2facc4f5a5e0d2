import assert from "node:assert/strict";
import { createAgent } from "../../lib/harness/agent.ts";
import { createHarness } from "../../lib/harness/harness.ts";
import { createSteering } from "../../lib/harness/steering.ts";
import { defineHarnessSubagent } from "../../lib/harness/subagents.ts";
import { messageText } from "../../lib/model/message.ts";
import { createScriptedModelProvider } from "../../lib/model/providers/scripted.ts";
import { callsOf, start, tool } from "./_setup.ts";

Deno.test("createSteering: before the turn it is part of the prompt, in a step it follows the results", async () => {
  const steering = createSteering();
  const first = steering.send("before");
  const { result, provider, events } = start({
    script: [callsOf("work"), "done"],
    tools: [tool("work", () => {
      void steering.send("during");
      return "worked";
    })],
    turn: { steering },
  });
  await result;
  assert.deepEqual(await first, { mode: "injected" });
  assert.equal(messageText(provider.requests[0]!.messages![0]!), "go\n\nbefore");
  const results = provider.requests[1]!.messages!.at(-1)!;
  assert.deepEqual(results.content.map(({ type }) => type), ["tool-result", "text"]);
  assert.equal(messageText(results), "during");
  assert.deepEqual(
    events.filter((event) => event.kind === "steer").map(({ text, mode }) => [text, mode]),
    [["before", "injected"], ["during", "injected"]],
  );
});

Deno.test("createSteering: an answer that was about to be the last one is gone on from", async () => {
  const steering = createSteering();
  const { result, provider } = start({
    script: [{ text: "first" }, "second"],
    turn: {
      steering,
      observe: (event) => {
        if (event.kind === "text" && event.text === "first") void steering.send("one more thing");
      },
    },
  });
  assert.equal((await result).text, "second");
  assert.deepEqual(provider.requests[1]!.messages!.map(messageText), ["go", "first", "one more thing"]);
});

Deno.test("createSteering: a subagent's run, the outermost agent alone, or whichever asks next", async () => {
  const steering = createSteering();
  let run = "";
  const seen = createScriptedModelProvider([callsOf("inner"), "inner done"]);
  const sent: Promise<unknown>[] = [];
  const inner = createAgent({
    harness: createHarness({
      modelProvider: seen,
      tools: [tool("inner", () => {
        sent.push(steering.send("to the run", { subagent: run }));
        sent.push(steering.send("to the outermost", { subagent: null }));
        sent.push(steering.send("to whoever is next"));
        return "ok";
      })],
    }),
    model: "m",
  });
  const { result, provider } = start({
    script: [{ calls: [{ name: "helper", arguments: { prompt: "p" } }] }, "done"],
    tools: [defineHarnessSubagent({ name: "helper", description: "h", agent: inner })],
    turn: {
      steering,
      observe: (event) => {
        if (event.kind === "subagent" && event.status === "started") run = event.id;
      },
    },
  });
  await result;
  await Promise.all(sent);
  const texts = (index: number, from: typeof provider) =>
    from.requests[index]!.messages!.at(-1)!.content.flatMap((block) => block.type === "text" ? [block.text] : []);
  assert.deepEqual(texts(1, seen), ["to the run", "to whoever is next"]);
  assert.deepEqual(texts(1, provider), ["to the outermost"]);
  await assert.rejects(steering.send("late", { subagent: run }), { code: "steering" });
});

Deno.test("createSteering: one turn at a time; closed, it refuses what waits and what comes", async () => {
  const steering = createSteering();
  let second: Promise<unknown> | undefined;
  const { result } = start({
    script: [callsOf("work"), "done"],
    tools: [tool("work", async () => {
      second = start({ script: ["x"], turn: { steering } }).result;
      await assert.rejects(second, { code: "steering" });
      return "";
    })],
    turn: { steering },
  });
  await result;
  assert.equal((await start({ script: ["again"], turn: { steering } }).result).text, "again");
  const waiting = steering.send("never");
  steering.close();
  await assert.rejects(waiting, { code: "steering", details: { text: "never" } });
  await assert.rejects(steering.send("later"), { code: "steering" });
  await assert.rejects(start({ script: ["x"], turn: { steering: {} as never } }).result, { code: "configuration" });
});
