import assert from "node:assert/strict";
import * as api from "../mod.ts";
import { REPOSITORY } from "./_support/process.ts";

Deno.test("mod.ts: its values are exactly these; a new one is a decision", () => {
  assert.deepEqual(Object.keys(api).toSorted(), [
    "CancelledError",
    "ConfigurationError",
    "LaitError",
    "LimitError",
    "McpServerError",
    "ModelError",
    "ProcessError",
    "ResponseError",
    "TimeoutError",
    "ToolFailure",
    "calculateUsageCost",
    "changed",
    "createAgent",
    "createAnthropicModelProvider",
    "createApprovals",
    "createBubblewrapSandboxProvider",
    "createContainerSandboxProvider",
    "createHarness",
    "createHarnessConversations",
    "createHarnessEditTools",
    "createHarnessFileTools",
    "createHarnessGitTools",
    "createHarnessSearchTools",
    "createHarnessShellTools",
    "createLocalSandboxProvider",
    "createOpenAIModelProvider",
    "createReporter",
    "createSandbox",
    "createScriptedModelProvider",
    "createSteering",
    "defineHarnessContextStrategy",
    "defineHarnessHook",
    "defineHarnessInstructions",
    "defineHarnessPermissions",
    "defineHarnessSkill",
    "defineHarnessSubagent",
    "defineHarnessTool",
    "defineHarnessToolset",
    "defineJsonResponse",
    "defineMcpPrompt",
    "defineTextResponse",
    "dispatch",
    "openWorkspace",
    "recoveryDetails",
    "summarizeHistory",
    "truncateToolResults",
  ]);
});

interface GraphModule {
  readonly specifier: string;
  readonly dependencies?: readonly { readonly code?: { readonly specifier: string }; readonly isDynamic?: boolean }[];
}

/** Everything that importing a module loads: static imports only. */
async function loadedBy(entry: string): Promise<string[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json", entry], cwd: REPOSITORY })
    .output();
  const { modules, roots } = JSON.parse(new TextDecoder().decode(stdout)) as {
    modules: GraphModule[];
    roots: string[];
  };
  const bySpecifier = new Map(modules.map((module) => [module.specifier, module]));
  const seen = new Set<string>();
  const queue = [...roots];
  for (let specifier = queue.pop(); specifier !== undefined; specifier = queue.pop()) {
    if (seen.has(specifier)) continue;
    seen.add(specifier);
    for (const { code, isDynamic } of bySpecifier.get(specifier)?.dependencies ?? []) {
      if (code !== undefined && !isDynamic) queue.push(code.specifier);
    }
  }
  return [...seen].map((specifier) => specifier.replace(/^file:.*\/lib\//, "lib/"));
}

Deno.test("mod.ts: importing it loads no client library, no parser of files and no command line", async () => {
  const loaded = await loadedBy("mod.ts");
  assert(loaded.includes("lib/harness/harness.ts"));
  for (const name of ["openai", "anthropic", "commander", "handlebars", "yaml", "marked", "mcp"]) {
    assert(!loaded.includes(`lib/deps/${name}.ts`), `mod.ts loads ${name}`);
  }
  assert(loaded.every((specifier) => !/^lib\/(cli|project)\//.test(specifier)));
});

Deno.test("cli.ts: starting it loads no package but the command line's, and that only for a command", async () => {
  const loaded = await loadedBy("cli.ts");
  for (const name of ["openai", "anthropic", "ajv", "handlebars", "yaml", "marked", "mcp"]) {
    assert(!loaded.includes(`lib/deps/${name}.ts`), `cli.ts loads ${name}`);
  }
});
