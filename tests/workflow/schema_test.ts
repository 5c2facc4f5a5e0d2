import assert from "node:assert/strict";
import { nodeToJson } from "../../lib/source/node.ts";
import { readYaml } from "../../lib/source/yaml.ts";
import { compileSchema } from "../../lib/schema/schema.ts";
import { workflowSchema } from "../../lib/workflow/schema.ts";
import { Flow } from "./_flow.ts";

const schema = compileSchema(workflowSchema(), { name: "workflow" });

const REFUSED: readonly string[] = [
  "{}",
  "steps: []",
  "steps: [{}]",
  "stpes: [{ jq: . }]\nsteps: [{ jq: . }]",
  "version: 3\nsteps: [{ jq: . }]",
  "steps: [{ jq: ., prompt: a }]",
  "steps: [{ jq: ., model: m }]",
  "steps: [{ jq: ., when: true }]",
  "steps: [{ jq: ., timeout: 0 }]",
  "steps: [{ jq: ., timeout: '30' }]",
  "steps: [{ jq: ., id: 1a }]",
  "steps: [{ jq: ., retry: {} }]",
  "steps: [{ jq: ., on_error: [] }]",
  "steps: [{ stop: true, retry: { max_attempts: 1 } }]",
  "steps: [{ stop: false }]",
  "steps: [{ prompt: a, temperature: 3 }]",
  "steps: [{ prompt: a, reasoning_effort: huge }]",
  "steps: [{ prompt: a, output_schema: {}, schema_name: a b }]",
  "steps: [{ run: echo }]",
  "steps: [{ run: [] }]",
  "steps: [{ run: [a], env: [b] }]",
  "steps: [{ agent: ' ' }]",
  "steps: [{ ask: a, choices: [] }]",
  "steps: [{ for_each: . }]",
  "steps: [{ while: ., steps: [{ jq: . }] }]",
  "steps: [{ switch: [{ when: . }] }]",
  "steps: [{ parallel: {} }]",
  "steps: [{ parallel: { a b: [{ jq: . }] } }]",
  "steps: [{ decide: { a: { type: choice, criteria: { b: c } } } }]",
  "steps: [{ decide: { a: { type: score, criteria: [b, null] } } }]",
  "inputs: { a: 5 }\nsteps: [{ jq: . }]",
  "agents: { a: { model: m } }\nsteps: [{ jq: . }]",
  "models: { a: [] }\nsteps: [{ jq: . }]",
];

Deno.test("schema: what is wrong in a file without reading expressions, editors can tell", () => {
  for (const text of REFUSED) {
    assert.notEqual(schema.explain(nodeToJson(readYaml(text, "w.yml").root!)), undefined, text);
  }
});

Deno.test("lait schema workflow: prints the schema", async () => {
  await using flow = await Flow.create();
  const { code, stdout, stderr } = await flow.lait(["schema", "workflow"]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(JSON.parse(stdout), workflowSchema());
  assert.equal(JSON.parse(stdout).$schema, "https://json-schema.org/draft/2020-12/schema");
});
