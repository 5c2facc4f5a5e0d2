import assert from "node:assert/strict";
import { join } from "node:path";
import type { HarnessEvent } from "../../lib/harness/events.ts";
import { runTurn } from "../../lib/harness/turn.ts";
import { textBlock, userMessage } from "../../lib/harness/turn_messages.ts";
import { agentRequest } from "../../lib/project/agents/request.ts";
import { ProjectSession } from "../../lib/project/open.ts";
import { openProject, type Project } from "../../lib/project/project.ts";

/** A project in a temporary directory. */
async function inProject<T>(
  files: Readonly<Record<string, string>>,
  work: (project: Project, session: ProjectSession) => Promise<T>,
): Promise<T> {
  const directory = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(join(directory, name), text);
    const environment = (name: string) => name === "HOME" ? directory : undefined;
    const { signal } = new AbortController();
    const project = await openProject({ directory, environment, config: "lait.config.yml" });
    return await work(project, new ProjectSession(project, { environment, signal }));
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const none = () => undefined;

Deno.test("agentRequest: a step's settings go before the agent's, a workflow's behind them, default's last; lists count when empty", async () => {
  await inProject({
    "lait.config.yml":
      "default: { model: d, temperature: 0.1, max_tokens: 5, top_p: 0.9, tools: [t] }\ntools: { t: { command: [echo] } }",
    "a.md": "---\nmodel: a\ntemperature: 0.2\n---\n{{ steps.one }} {{ input }} {{ loop.index }}",
  }, async (project, session) => {
    const definition = await session.agents.file("a.md");
    const { settings } = agentRequest(project, definition, {
      input: { x: 1 },
      data: { steps: { one: "first" }, loop: { index: 0 } },
      over: [{ temperature: 0.3, tools: [] }],
      under: [{ model: "w", maxTokens: 7, maxToolRounds: 3 }],
    }, none);
    assert.deepEqual(settings.model, { name: "a", temperature: 0.3, topP: 0.9, maxOutputTokens: 7 });
    assert.deepEqual([settings.tools, settings.maxToolRounds, settings.system], [[], 3, 'first {"x":1} 0']);
  });
});

Deno.test("agentRequest: a value of the front matter that cannot be used is told with its place there", async () => {
  await inProject({
    "lait.config.yml": "default: { model: d }",
    "a.md": "---\ntools:\n  - gone\n---\n",
  }, async (project, session) => {
    const definition = await session.agents.file("a.md");
    const { settings } = agentRequest(project, definition, { input: null }, none);
    await assert.rejects(
      session.agent(settings, { streaming: false, wantUsage: false }),
      /a\.md:3:5: unknown tool 'gone'/,
    );
  });
});

Deno.test("subagents: events carry the path of the runs that they come from, and each usage its own label", async () => {
  await inProject({
    "lait.config.yml": "default: { model: s, subagents: [a] }\nagents: { a: a.md, b: b.md }\n" +
      "models: { s: [{ provider: { script: s.json } }] }",
    "a.md": "---\nname: Alpha\nsubagents: [b]\n---\n",
    "b.md": "---\nsubagents: []\n---\n",
    "s.json": JSON.stringify([
      { calls: [{ name: "agent__a", arguments: { input: "1" } }], usage: { input: 1, output: 1 } },
      { calls: [{ name: "agent__b", arguments: { input: "2" } }], usage: { input: 2, output: 1 } },
      { text: "b says", usage: { input: 3, output: 1 } },
      { text: "a says", usage: { input: 4, output: 1 } },
      { text: "done", usage: { input: 5, output: 1 } },
    ]),
  }, async (project, session) => {
    const { resolveSettings } = await import("../../lib/project/settings.ts");
    const agent = await session.agent(resolveSettings(project, {}, none), { streaming: false, wantUsage: false });
    const lease = await session.lease();
    const events: HarnessEvent[] = [];
    const { text, usage } = await runTurn(agent, {
      lease,
      messages: [userMessage([textBlock("hi")])],
      label: "chat",
      observe: (event) => void events.push(event),
    });
    await lease.release();
    assert.deepEqual([text, usage.input], ["done", 15]);
    const used = events.filter((event) => event.kind === "usage");
    const [chat, a, b] = ["chat", "subagent 'a'", "subagent 'b'"];
    assert.deepEqual(used.map(({ scope, tokens }) => [scope.path, tokens.input]), [
      [[chat], 1],
      [[chat, a], 2],
      [[chat, a, b], 3],
      [[chat, a], 4],
      [[chat], 5],
    ]);
    assert.deepEqual(events.map(({ seq }) => seq), events.map((_, index) => index));
    assert.deepEqual(events.filter(({ kind }) => kind === "finished" || kind === "result").length, 2);
    session.checkScripts();
  });
});
