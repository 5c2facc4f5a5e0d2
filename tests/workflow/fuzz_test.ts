/** Mutations of workflows: whatever a file says, it is taken, or refused with places; nothing else comes out of it. */
import assert from "node:assert/strict";
import { DiagnosticError } from "../../lib/base/errors.ts";
import { isJsonObject, type JsonValue } from "../../lib/base/json.ts";
import { nodeToJson } from "../../lib/source/node.ts";
import { compileSchema } from "../../lib/schema/schema.ts";
import { readYaml } from "../../lib/source/yaml.ts";
import { allSteps } from "../../lib/workflow/definition.ts";
import { drawWorkflow } from "../../lib/workflow/graph.ts";
import { KINDS } from "../../lib/workflow/kinds/kinds.ts";
import { parseWorkflow } from "../../lib/workflow/read/workflow_file.ts";
import { workflowSchema } from "../../lib/workflow/schema.ts";
import { Random } from "../_support/random.ts";

const WHOLE = `
version: 2
name: whole
description: every kind and field
inputs: { a: string, b: { type: integer, default: 1 }, c: }
input_schema: s
output: "[., $inputs.a]"
timeout: 60
default: { model: m, system: S, temperature: 1, retry: { max_attempts: 2 }, timeout: 9 }
models: { m: [{ provider: { script: s.yml } }] }
schemas: { s: { type: object }, f: { file: f.json } }
agents: { x: { system: "S {{ input }}", model: m, output_schema: { type: object }, schema_name: n } }
steps:
  - { id: p, prompt: "{{ input }}", system: S, output_schema: s, schema_name: n, files: [a], images: [b], tools: [t], mcp: [m] }
  - { agent: x, temperature: 0.5, files: ["{{ steps.p }}"], on_error: [{ jq: .error }] }
  - { run: [sh, -c, "{{ inputs.a }}"], env: { A: "\${B}" }, cwd: /, timeout: 3, retry: { max_attempts: 2, delay_seconds: 1, backoff: 1.5 } }
  - { decide: { n: { type: noul, criteria: { true: yes } }, c: { type: choice, criteria: { a: x, b: null } }, s: { type: score, criteria: [a, b] } }, model: j }
  - { workflow: ./c.yml, with: "{ a: . }" }
  - { id: j, when: . != null, input: ., jq: "[.]", output: first }
  - { ask: "Go?", choices: [a, b], default: a, multiline: false }
  - { write: "out/{{ input }}" }
  - { group: [{ jq: . }] }
  - { switch: [{ when: ., steps: [{ jq: . }] }], else: [{ stop: true }] }
  - { parallel: { l: [{ jq: . }], r: [{ group: [{ jq: . }] }] } }
  - { for_each: ., max_concurrency: 2, steps: [{ write: "{{ loop.index }}" }] }
  - { while: ., max_iterations: 2, steps: [{ break: true }] }
  - { until: ., max_iterations: 2, steps: [{ jq: . }] }
  - { stop: true, output: "1" }
`;

const PIECES = [
  "{{",
  "}}",
  "${",
  ": ",
  "- ",
  "\n",
  "\t",
  '"',
  "'",
  "&a ",
  "*a",
  "|",
  "null",
  "[",
  "]",
  "{",
  "}",
  "#",
  ",",
];

const PLACE = { shown: "w.yml", realPath: "/w.yml", directory: "/" };

/** Reads a file as the commands do; a refusal has at least one fault, each with a place and a rule. */
function attempt(text: string): boolean {
  try {
    const definition = parseWorkflow(text, PLACE);
    for (const step of allSteps(definition.steps)) step.kind.detail(step.body);
    drawWorkflow(definition, "dot");
    return true;
  } catch (error) {
    if (!(error instanceof DiagnosticError)) throw new Error(`of ${text}`, { cause: error });
    assert(error.diagnostics.length > 0);
    for (const { id, place, message } of error.diagnostics) {
      assert(id !== "" && message !== "" && place.line !== undefined, `${message} of ${text}`);
    }
    return false;
  }
}

const STRANGE: readonly JsonValue[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  "",
  " ",
  "x",
  "__proto__",
  "{{",
  "{{ input",
  ".[",
  "$vars",
  [],
  [null],
  {},
  { "": null },
  { __proto__: 1 },
  { file: 1 },
  [{ jq: "." }],
  { jq: "." },
];

/** A copy with one part of it replaced, taken away, doubled or renamed. */
function mutated(value: JsonValue, random: Random): JsonValue {
  const inner = Array.isArray(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : 0;
  if (inner === 0 || random.below(5) === 0) return random.pick(STRANGE);
  const at = random.below(inner);
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[];
    if (random.below(6) === 0) return items.filter((_, index) => index !== at);
    if (random.below(6) === 0) return [...items, items[at]!];
    return items.map((item, index) => index === at ? mutated(item, random) : item);
  }
  const entries = Object.entries(value as { readonly [key: string]: JsonValue });
  const rename = random.below(8) === 0 ? random.pick([...KINDS.keys(), "retry", "when", "steps", "x"]) : undefined;
  const drop = random.below(8) === 0;
  return Object.fromEntries(
    entries.flatMap(([key, item], index) => {
      if (index !== at) return [[key, item]];
      if (drop) return [];
      return [[rename ?? key, rename === undefined ? mutated(item, random) : item]];
    }),
  );
}

const schema = compileSchema(workflowSchema(), { name: "workflow" });

Deno.test("fuzz: the whole of it is taken, also by the schema", () => {
  assert(attempt(WHOLE));
  assert.equal(schema.explain(nodeToJson(readYaml(WHOLE, "w.yml").root!)), undefined);
});

Deno.test("fuzz: values of every kind in every place are taken, or refused with places", () => {
  const whole = nodeToJson(readYaml(WHOLE, "w.yml").root!);
  const random = new Random(7);
  let taken = 0;
  for (let round = 0; round < 800; round++) {
    let value = whole;
    for (let times = 1 + random.below(2); times > 0; times--) value = mutated(value, random);
    const fits = schema.explain(value) === undefined;
    if (!attempt(JSON.stringify(value))) continue;
    taken += 1;
    // The schema refuses nothing that reads.
    assert(fits, `${JSON.stringify(value)}: ${schema.explain(value)}`);
  }
  assert(taken > 20 && taken < 780, `${taken} were taken`);
});

Deno.test("fuzz: damaged texts are taken, or refused with places", () => {
  const random = new Random(11);
  for (let round = 0; round < 300; round++) attempt(random.mutate(WHOLE, PIECES));
});
