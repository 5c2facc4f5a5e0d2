import assert from "node:assert/strict";
import { createAgent } from "../../lib/harness/agent.ts";
import { createHarness } from "../../lib/harness/harness.ts";
import { runTurn } from "../../lib/harness/turn.ts";
import { createChatCompletionsProvider } from "../../lib/model/providers/chat_completions.ts";
import { createLocalSandboxProvider } from "../../lib/sandbox/providers/local.ts";
import { defineHarnessTool } from "../../lib/tool/define.ts";
import type { HarnessTool } from "../../lib/tool/tool.ts";

const tool = defineHarnessTool({
  name: "t",
  description: "t",
  input: { type: "object" },
  execute: () => "r",
}) as HarnessTool;

/** The messages of the second request of a turn whose first answer reasons and calls a tool. */
async function secondRequest(field: string, returnsReasoning: boolean): Promise<Record<string, unknown>[]> {
  const bodies: { messages: Record<string, unknown>[] }[] = [];
  const answers = [
    { content: null, [field]: "thinking", tool_calls: [{ id: "c", function: { name: "t", arguments: "{}" } }] },
    { content: "done", [field]: "more" },
  ];
  const modelProvider = createChatCompletionsProvider({
    baseUrl: "http://model.test/v1",
    apiKey: false,
    timeoutMs: 10_000,
    timeoutCovers: "exchange",
    maxResponseBytes: 1_000_000,
    storeFalse: false,
    returnsReasoning,
    send: (_, { body }) => {
      bodies.push(JSON.parse(String(body)));
      return Promise.resolve(Response.json({ choices: [{ message: answers[bodies.length - 1] }] }));
    },
  });
  const lease = await createLocalSandboxProvider().acquire({ directory: Deno.cwd() });
  const provider = { ...modelProvider, request: modelProvider.request.bind(modelProvider), stream: undefined };
  const { stream: _, ...whole } = provider;
  const agent = createAgent({ harness: createHarness({ modelProvider: whole, tools: [tool] }), model: "m" });
  assert.equal((await runTurn(agent, { lease, prompt: "go" })).reasoning, "more");
  return bodies[1]!.messages;
}

for (const field of ["reasoning_content", "reasoning"]) {
  Deno.test(`A11: ${field} goes back with its tool calls where the server wants it, and nowhere else`, async () => {
    const [, wanted] = await secondRequest(field, true);
    assert.equal(wanted![field], "thinking");
    const [, plain] = await secondRequest(field, false);
    assert.equal(field in plain!, false);
    assert.equal(plain!["content"], null);
  });
}
