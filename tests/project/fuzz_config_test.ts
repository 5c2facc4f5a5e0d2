import assert from "node:assert/strict";
import { LaitError } from "../../lib/base/errors.ts";
import { ProjectSession } from "../../lib/project/open.ts";
import { openProject } from "../../lib/project/project.ts";
import { resolveSettings } from "../../lib/project/settings.ts";
import { Random } from "../_support/random.ts";

const SEED_CONFIG = `base_url: "http://\${HOST}/v1"
api_key: "\${KEY}"
default:
  model: draft
  temperature: 0.5
  max_tool_rounds: 4
  tools: [find_text, report]
models:
  draft:
    - provider: { base_url: "http://localhost:1234/v1", api_key_cmd: ["printf", "k"] }
      model_id: small
      default_top_p: 0.9
      pricing: { input_per_1m: 1, output_per_1m: 2 }
tools:
  find_text:
    description: "search"
    command: ["rg", "-n", "-e", "{{ input.pattern }}", "{{#if input.dir}}{{ input.dir }}{{else}}.{{/if}}"]
    parameters:
      type: object
      properties: { pattern: { type: string, minLength: 1 }, dir: { type: string } }
      required: [pattern]
    timeout: 10
  report:
    command: ["sh", "-c", "echo $X"]
    env: { PATH: "\${PATH}", X: "1" }
    cwd: "\${HOME}/scratch"
tool_policy:
  allow: ["tool__*"]
  deny: ["*__rm"]
`;

const PIECES = [
  "{{",
  "}}",
  "${",
  "}",
  ":",
  "- ",
  "\n",
  "\t",
  "  ",
  '"',
  "'",
  "&a ",
  "*a",
  "!!set ",
  "<<: ",
  "|",
  "0x1f",
  "null",
  "[",
  "]",
  "{",
  "# ",
  "---\n",
  "\u0000",
  "\ufeff",
  "é",
  "__proto__: 1\n",
  "{{#each x}}",
  "{{> p}}",
];

const environment = (name: string) => name === "HOST" ? "localhost" : undefined;

Deno.test("2 000 mutated configurations: each works or is refused by an error of lait's own", async () => {
  const directory = await Deno.makeTempDir();
  const random = new Random(20_261_130);
  let refused = 0;
  try {
    for (let i = 0; i < 2_000; i++) {
      const text = random.mutate(SEED_CONFIG, PIECES);
      await Deno.writeTextFile(`${directory}/c.yml`, text);
      try {
        const project = await openProject({ directory, config: "c.yml", environment });
        const settings = resolveSettings(project, {}, environment);
        const session = new ProjectSession(project, { environment, signal: new AbortController().signal });
        await session.agent(settings, { streaming: false, wantUsage: false });
      } catch (error) {
        assert(error instanceof LaitError, `mutation ${i} threw ${error}:\n${text}\n${(error as Error).stack}`);
        refused += 1;
      }
    }
    assert(refused > 200 && refused < 2_000, `the mutations are of no use: ${refused} refused`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
