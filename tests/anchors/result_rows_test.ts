/** What hurts users of the peers, section C: the cap on tool results, which the API has. */
import assert from "node:assert/strict";
import { createAgent } from "../../lib/harness/agent.ts";
import { createHarness } from "../../lib/harness/harness.ts";
import { runTurn } from "../../lib/harness/turn.ts";
import type { ToolResultBlock } from "../../lib/model/message.ts";
import { createScriptedModelProvider } from "../../lib/model/providers/scripted.ts";
import { createLocalSandboxProvider } from "../../lib/sandbox/providers/local.ts";
import { createCommandTool } from "../../lib/tool/command.ts";
import { defineHarnessTool } from "../../lib/tool/define.ts";
import type { HarnessTool } from "../../lib/tool/tool.ts";

/** What a model is told when it calls each of these tools once, with the given cap or the default one. */
async function resultsOf(
  tools: readonly HarnessTool[],
  maxResultCharacters?: number,
): Promise<readonly ToolResultBlock[]> {
  const modelProvider = createScriptedModelProvider([{ calls: tools.map(({ name }) => ({ name })) }, "done"]);
  const harness = createHarness({
    modelProvider,
    tools,
    ...(maxResultCharacters === undefined ? {} : { toolExecution: { maxResultCharacters } }),
  });
  const lease = await createLocalSandboxProvider().acquire({ directory: Deno.cwd() });
  try {
    await runTurn(createAgent({ harness, model: "m" }), { lease, prompt: "go" });
  } finally {
    await lease.release();
  }
  return modelProvider.requests[1]!.messages!.at(-1)!.content.filter((block) => block.type === "tool-result");
}

function tool(name: string, execute: () => string | { content: string; isError: boolean }): HarnessTool {
  return defineHarnessTool({ name, description: name, input: { type: "object" }, execute }) as HarnessTool;
}

Deno.test("C9: a result is cut between characters, and says how many were dropped", async () => {
  const [odd, even] = await resultsOf([
    tool("odd", () => `a${"𝄞".repeat(60_000)}`),
    tool("even", () => "𝄞".repeat(50_000)),
  ]);
  assert.equal(odd!.content, `a${"𝄞".repeat(49_999)}\n[truncated 20002 characters]`);
  assert.equal(even!.content, "𝄞".repeat(50_000));
});

Deno.test("C10: one cap holds for every result: of a function, of a command, of an error, of a failure", async () => {
  const long = "x".repeat(500);
  const command = createCommandTool("command", { command: ["sh", "-c", `echo ${long}; exit 1`] }, {
    variable: () => undefined,
    placeOf: () => undefined,
  }) as HarnessTool;
  const results = await resultsOf([
    tool("plain", () => long),
    tool("failing", () => ({ content: long, isError: true })),
    tool("throwing", () => {
      throw new Error(long);
    }),
    command,
  ], 100);
  assert.equal(results.length, 4);
  for (const { content } of results) assert.match(content, /^[^\n]*(\n[^\n]*)*\n\[truncated \d{3} characters\]$/);
  assert.deepEqual(results.map(({ content }) => content.indexOf("\n[truncated")), [100, 100, 100, 100]);
});
