import assert from "node:assert/strict";
import { createHarness } from "../../lib/harness/harness.ts";
import { defineHarnessSkill } from "../../lib/harness/skills.ts";
import { createScriptedModelProvider } from "../../lib/model/providers/scripted.ts";
import { defineHarnessPermissions } from "../../lib/tool/permissions.ts";
import { defineHarnessToolset } from "../../lib/tool/toolset.ts";
import { createLocalSandboxProvider } from "../../lib/sandbox/providers/local.ts";
import { createHarnessEditTools } from "../../lib/tool/toolsets/edit.ts";
import { start, tool } from "./_setup.ts";

Deno.test("harness 2: one name for two tools, in two toolsets or with a skill's tool, is refused", () => {
  const modelProvider = createScriptedModelProvider(["ok"]);
  const set = (name: string) => defineHarnessToolset({ name, tools: [tool("x", () => "")] });
  assert.throws(() => createHarness({ modelProvider, tools: [set("a"), set("b")] }), { code: "configuration" });
  const skill = defineHarnessSkill({ name: "s", description: "d", instructions: "i", tools: [tool("x", () => "")] });
  assert.throws(() => createHarness({ modelProvider, tools: [set("a")], skills: [skill] }), { code: "configuration" });
});

Deno.test("harness 27: what permissions deny is told as denied, to observers and to the model; the rest runs", async () => {
  const directory = await Deno.makeTempDir({ prefix: "lait-test-" });
  const here = await createLocalSandboxProvider().acquire({ directory });
  try {
    const permissions = defineHarnessPermissions({
      default: "deny",
      rules: [{ effect: "allow", tools: ["write_file"], paths: ["src/**"] }],
    });
    await Deno.mkdir(`${directory}/src`);
    const calls = ["src/a", "b"].map((path) => ({ name: "write_file", arguments: { path, content: "x" } }));
    const { result, events } = start({
      script: [{ calls }, "done"],
      options: { permissions, tools: [createHarnessEditTools()] },
      turn: { lease: here },
    });
    const { messages } = await result;
    const results = messages.flatMap(({ content }) => content).flatMap((block) =>
      block.type === "tool-result" ? [block] : []
    );
    assert.equal(await Deno.readTextFile(`${directory}/src/a`), "x");
    assert.equal(await Deno.stat(`${directory}/b`).then(() => true, () => false), false);
    assert.deepEqual(results.map(({ isError = false }) => isError), [false, true]);
    assert.match(String(results[1]!.content), /^Denied: /);
    assert.deepEqual(
      events.filter(({ kind }) => kind === "tool-denied").map((event) => "name" in event && event.name),
      [
        "write_file",
      ],
    );
  } finally {
    await here.release();
    await Deno.remove(directory, { recursive: true });
  }
});
