import assert from "node:assert/strict";
import type { Config } from "../../lib/project/config_shape.ts";
import { mergeConfigs } from "../../lib/project/merge.ts";

/** The global configuration under the project's. */
function merge(global: Config, project: Config): Config {
  return mergeConfigs([{ directory: "/global", config: global }, { directory: "/project", config: project }]);
}

const entry = (name: string) => ({ command: [name], timeout: 1 });
const model = (name: string) => [{ provider: { base_url: `http://${name}` }, model_id: name }];

Deno.test("mergeConfigs: registries merge key by key; an entry is replaced whole, never mixed", () => {
  const globals: Config = {
    tools: { both: { ...entry("g"), cwd: "/g", env: { A: "1" } }, mine: entry("g") },
    models: { both: [...model("g"), ...model("g2")], mine: model("g") },
    prompts: { both: { template: "g", vars: { a: "1" } }, mine: { template: "g" } },
    mcp_servers: { both: { command: "g", args: ["a"] }, mine: { command: "g" } },
  };
  const project: Config = {
    tools: { both: { command: ["p"] }, own: entry("p") },
    models: { both: model("p"), own: model("p") },
    prompts: { both: { template: "p" }, own: { template: "p" } },
    mcp_servers: { both: { url: "http://p" }, own: { command: "p" } },
  };
  const merged = merge(globals, project);
  for (const key of ["tools", "models", "prompts", "mcp_servers"] as const) {
    assert.deepEqual(merged[key], { ...globals[key], ...project[key] }, key);
  }
  assert.deepEqual(merged.tools!["both"], { command: ["p"] });
});

Deno.test("mergeConfigs: paths of skills, agents and workflows belong to the directory of the file that has them", () => {
  const paths = { both: "g.md", mine: "sub/g.md", absolute: "/abs/g.md" };
  for (const key of ["skills", "agents", "workflows"] as const) {
    const merged = merge({ [key]: paths }, { [key]: { both: "p.md", own: "../p.md" } });
    assert.deepEqual(merged[key], {
      both: "/project/p.md",
      mine: "/global/sub/g.md",
      absolute: "/abs/g.md",
      own: "/p.md",
    });
  }
});

Deno.test("mergeConfigs: default merges field by field; a present field wins, also an empty list or false", () => {
  const merged = merge(
    { default: { model: "g", temperature: 0.1, tools: ["a"], mcp: ["m"], render: true, history: true } },
    { default: { model: "p", tools: [], render: false, max_tool_rounds: 2 } },
  );
  assert.deepEqual(merged.default, {
    model: "p",
    temperature: 0.1,
    tools: [],
    mcp: ["m"],
    render: false,
    history: true,
    max_tool_rounds: 2,
  });
});

Deno.test("mergeConfigs: default.compaction is one unit", () => {
  const merged = merge(
    { default: { compaction: { trigger_rounds: 2, keep_last_n: 1 } } },
    { default: { compaction: { trigger_tokens: 9 } } },
  );
  assert.deepEqual(merged.default, { compaction: { trigger_tokens: 9 } });
});

Deno.test("mergeConfigs: base_url is the project's if it has one", () => {
  assert.equal(merge({ base_url: "g" }, {}).base_url, "g");
  assert.equal(merge({ base_url: "g" }, { base_url: "p" }).base_url, "p");
});

Deno.test("mergeConfigs: api_key and api_key_cmd are one unit, at the top and in jev", () => {
  const keys = (config: Config) => [config.api_key, config.api_key_cmd];
  assert.deepEqual(keys(merge({ api_key: "g" }, {})), ["g", undefined]);
  assert.deepEqual(keys(merge({ api_key: "g" }, { api_key_cmd: "p" })), [undefined, "p"]);
  assert.deepEqual(keys(merge({ api_key_cmd: "g" }, { api_key: "p" })), ["p", undefined]);
  assert.deepEqual(keys(merge({ api_key: "g", api_key_cmd: "g" }, {})), ["g", "g"]);
  const jev = merge(
    { jev: { base_url: "g", api_key: "g", model: "g" } },
    { jev: { api_key_cmd: ["p"], model: "p" } },
  ).jev;
  assert.deepEqual(jev, { base_url: "g", model: "p", api_key_cmd: ["p"] });
  assert.deepEqual(merge({ jev: { api_key: "g" } }, { jev: { base_url: "p" } }).jev, { api_key: "g", base_url: "p" });
});

Deno.test("mergeConfigs: tool_policy adds up, the global patterns first", () => {
  const merged = merge(
    { tool_policy: { allow: ["g"], deny: ["g1", "g2"] } },
    { tool_policy: { deny: ["p"] } },
  );
  assert.deepEqual(merged.tool_policy, { allow: ["g"], deny: ["g1", "g2", "p"] });
  assert.deepEqual(merge({ tool_policy: { deny: ["g"] } }, {}).tool_policy, { allow: [], deny: ["g"] });
  assert.equal(merge({}, {}).tool_policy, undefined);
});

Deno.test("mergeConfigs: a name like `__proto__` is a name like any other", () => {
  const tools = JSON.parse('{"__proto__":{"command":["x"]}}') as NonNullable<Config["tools"]>;
  const merged = merge({ tools }, { tools: { other: entry("p") } });
  assert.deepEqual(Object.keys(merged.tools!), ["__proto__", "other"]);
  assert.equal(Object.getPrototypeOf(merged.tools), Object.prototype);
});
