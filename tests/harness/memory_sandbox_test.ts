import assert from "node:assert/strict";
import { createHarnessEditTools } from "../../lib/tool/toolsets/edit.ts";
import { createHarnessFileTools } from "../../lib/tool/toolsets/files.ts";
import { createHarnessShellTools } from "../../lib/tool/toolsets/shell.ts";
import { createHarness } from "../../lib/harness/harness.ts";
import { createAgent } from "../../lib/harness/agent.ts";
import { createMemorySandboxProvider, createScriptedModelProvider, runAgent } from "../../lib/testing/mod.ts";
import { results, start } from "./_setup.ts";
import { lease as local } from "./_setup.ts";

Deno.test("createMemorySandboxProvider: file and edit tools work on its files, commands are the expected ones", async () => {
  const sandbox = createMemorySandboxProvider({
    files: { "src/a.ts": "const a = 1;\n", "big": new Uint8Array(5 * 1024 * 1024) },
    commands: [{ executable: "npm", arguments: ["test"], status: 1, stdout: "1 failed\n" }],
  });
  const provider = createScriptedModelProvider([
    {
      calls: [
        { name: "read_file", arguments: { path: "./src/../src/a.ts" } },
        { name: "read_file", arguments: { path: "src" } },
        { name: "read_file", arguments: { path: "src/a.ts/x" } },
        { name: "read_file", arguments: { path: "big" } },
        { name: "read_file", arguments: { path: "../a" } },
        { name: "edit_file", arguments: { path: "src/a.ts", old_text: "1", new_text: "2" } },
        { name: "write_file", arguments: { path: "new/b.txt", content: "b" } },
        { name: "run", arguments: {} },
      ],
    },
    "done",
  ]);
  const harness = createHarness({
    modelProvider: provider,
    tools: [createHarnessFileTools(), createHarnessEditTools(), createHarnessShellTools()],
  });
  const lease = await sandbox.acquire({ directory: "/any" });
  await runAgent(createAgent({ harness, model: "m" }), { lease, prompt: "go" });
  const answers = results(provider.requests[1]!.messages!.at(-1)).map(({ content }) => content);
  assert.match(answers[0]!, /1\tconst a = 1;/);
  assert.match(answers[1]!, /is a directory/);
  assert.match(answers[2]!, /not a directory/);
  assert.match(answers[3]!, /larger than/);
  assert.match(answers[4]!, /outside/);
  assert.equal(sandbox.read("src/a.ts"), "const a = 2;\n");
  assert.deepEqual(sandbox.paths(), ["big", "new/b.txt", "src/a.ts"]);
  await assert.rejects(lease.invoke({ executable: "npm", arguments: ["run"] }), {
    code: "process",
    message: /cannot run \["npm","run"\]: it expected \["npm","test"\]/,
  });
  const seen: string[] = [];
  const result = await lease.invoke({
    executable: "npm",
    arguments: ["test"],
    observe: (channel, text) => void seen.push(channel + text),
  });
  assert.deepEqual(result, { status: 1, stdout: "1 failed\n", stderr: "" });
  assert.deepEqual(seen, ["stdout1 failed\n"]);
  assert.deepEqual(sandbox.remaining(), []);
  await lease.release();
  await assert.rejects(lease.invoke({ executable: "npm" }), { code: "configuration" });
  assert.throws(() => createMemorySandboxProvider({ files: { "../x": "" } }), { code: "configuration" });
  assert.throws(() => createMemorySandboxProvider({ comands: [] } as never), { code: "configuration" });
});

Deno.test("tool-output: what a tool's own helpers write is not told, what a command of the user's writes is", async () => {
  const { result, events } = start({
    script: [
      { calls: [{ name: "list_files", arguments: {} }, { name: "shell", arguments: { command: "echo hi" } }] },
      ".",
    ],
    tools: [...createHarnessFileTools().tools, ...createHarnessShellTools().tools],
    turn: { lease: local },
  });
  await result;
  const told = events.filter((event) => event.kind === "tool-output").map(({ text }) => text);
  assert.deepEqual(told, ["hi\n"]);
});

Deno.test("workspace: tools that need Git say so", () => {
  const marks = (tools: readonly { name: string; workspace?: string }[]) => tools.map(({ workspace }) => workspace);
  assert.deepEqual(marks(createHarnessFileTools().tools), [undefined, "git"]);
  assert.deepEqual(marks(createHarnessFileTools({ selection: "filesystem" }).tools), [undefined, undefined]);
});
