import assert from "node:assert/strict";
import { ConfigurationError } from "../../lib/base/errors.ts";
import { defineHarnessTool } from "../../lib/tool/define.ts";
import { defineHarnessToolset } from "../../lib/tool/toolset.ts";
import { createHarnessEditTools } from "../../lib/tool/toolsets/edit.ts";
import { createHarnessFileTools } from "../../lib/tool/toolsets/files.ts";
import { createHarnessGitTools } from "../../lib/tool/toolsets/git.ts";
import { createHarnessSearchTools } from "../../lib/tool/toolsets/search.ts";
import { createHarnessShellTools } from "../../lib/tool/toolsets/shell.ts";

const tool = (name: string) =>
  defineHarnessTool({ name, description: name, input: { type: "object" }, execute: () => name });

Deno.test("defineHarnessToolset: nested sets are flattened where they stand, and all is frozen", () => {
  const inspect = defineHarnessToolset({
    name: "inspect",
    tools: [createHarnessFileTools(), createHarnessSearchTools(), createHarnessGitTools()],
  });
  const coding = defineHarnessToolset({
    name: "coding",
    tools: [tool("first"), inspect, createHarnessEditTools(), createHarnessShellTools(), tool("last")],
  });
  assert.deepEqual(
    coding.tools.map(({ name }) => name),
    ["first", "read_file", "list_files", "search", "git", "write_file", "edit_file", "shell", "last"],
  );
  assert.deepEqual([coding.kind, coding.name], ["toolset", "coding"]);
  assert(Object.isFrozen(coding) && Object.isFrozen(coding.tools) && coding.tools.every(Object.isFrozen));
});

Deno.test("harness 2: two tools with one name in one set fail where the set is made", () => {
  const one = defineHarnessToolset({ name: "same", tools: [tool("x")] });
  const other = defineHarnessToolset({ name: "same", tools: [tool("x")] });
  for (const tools of [[tool("x"), tool("x")], [one, other], [tool("x"), one], [one, one]]) {
    assert.throws(() => defineHarnessToolset({ name: "both", tools }), (error: unknown) => {
      assert(error instanceof ConfigurationError);
      assert.match(error.message, /`both`: tools\[0\].*tools\[1\].*`x`/);
      return true;
    });
  }
  assert.equal(defineHarnessToolset({ name: "same", tools: [one, tool("y")] }).tools.length, 2);
});

Deno.test("defineHarnessToolset: wrong options", () => {
  const wrong: [options: unknown, message: RegExp][] = [
    [undefined, /must be an object/],
    [{ name: " ", tools: [] }, /name must be a non-blank text/],
    [{ name: "a" }, /must be a list/],
    [{ name: "a", tools: [{}] }, /tools\[0\] of `a` is neither/],
    [{ name: "a", tools: [undefined] }, /tools\[0\] of `a` is neither/],
    [{ name: "a", tool: [], tools: [] }, /unknown option `tool`.*did you mean `tools`/],
  ];
  for (const [options, message] of wrong) {
    assert.throws(() => defineHarnessToolset(options as never), (error: unknown) => {
      assert(error instanceof ConfigurationError);
      assert.match(error.message, message);
      return true;
    });
  }
  assert.deepEqual(defineHarnessToolset({ name: "none", tools: [] }).tools, []);
});
