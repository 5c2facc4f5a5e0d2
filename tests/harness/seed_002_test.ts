/** The programs of the second founding document, as they stand there: they check, they run, and their tools work. */
import assert from "node:assert/strict";
import { type Ended, Place, REPOSITORY } from "../_support/process.ts";

const FIXTURES = `${REPOSITORY}fixtures/seed_002`;

async function deno(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: REPOSITORY,
    env: { NO_COLOR: "1", ...environment },
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

Deno.test("seed 002: every program type-checks", async () => {
  const programs = (await Array.fromAsync(Deno.readDir(FIXTURES))).filter(({ name }) => name.endsWith(".ts"));
  assert.equal(programs.length, 11);
  const { code, stderr } = await deno([
    "check",
    "--import-map",
    `${FIXTURES}/import_map.json`,
    ...programs.map(({ name }) => `${FIXTURES}/${name}`),
  ]);
  assert.equal(code, 0, stderr);
});

Deno.test("seed 002: the reviewer, the coding toolset and the test runner do what they say", async () => {
  await using place = await Place.make();
  const repository = place.directory;
  const init = await place.run("git", ["init", "-q"]);
  assert.equal(init.code, 0, init.stderr);
  await Deno.writeTextFile(
    `${repository}/package.json`,
    JSON.stringify({ name: "sample", scripts: { test: "node --test" }, type: "module" }),
  );
  await Deno.writeTextFile(
    `${repository}/sum.test.js`,
    'import test from "node:test";\nimport { sum } from "./sum.js";\n' +
      'test("sum adds", () => { if (sum(2, 3) !== 5) throw new Error("wrong"); });\n',
  );
  await Deno.writeTextFile(`${repository}/sum.js`, "export const sum = (a, b) => a - b;\n");
  const program = `${place.home}/program.ts`;
  await Deno.writeTextFile(
    program,
    `import { createAgent, createHarness, createLocalSandboxProvider, createScriptedModelProvider } from "@elie-laloum/outpost";
import { runAgent } from "${REPOSITORY}lib/testing/mod.ts";
import { coding } from "${FIXTURES}/coding-tools.ts";
import { reviewer } from "${FIXTURES}/reviewer.ts";
import { runTests } from "${FIXTURES}/run-tests.ts";
const modelProvider = createScriptedModelProvider([
  { calls: [{ name: "run_tests", arguments: { match: "adds" } }] },
  { calls: [{ name: "search", arguments: { pattern: "a - b" } }] },
  { calls: [{ name: "edit_file", arguments: { path: "sum.js", old_text: "a - b", new_text: "a + b" } }] },
  { calls: [{ name: "run_tests" }] },
  { calls: [{ name: "git", arguments: { command: "status", arguments: ["--short"] } }] },
  "done",
]);
const agent = createAgent({ model: "m", harness: createHarness({ modelProvider, tools: [coding, runTests] }) });
const lease = await createLocalSandboxProvider().acquire({ directory: ${JSON.stringify(repository)} });
const { text, messages } = await runAgent(agent, { lease, prompt: "Make the tests pass." });
await lease.release();
const results = messages.flatMap(({ content }) => content).filter(({ type }) => type === "tool-result");
console.log(JSON.stringify({
  text,
  results,
  model: reviewer.model,
  reviewerTools: reviewer.harness.tools.map(({ name }) => name),
  codingTools: coding.tools.map(({ name }) => name),
}));
`,
  );
  const { code, stdout, stderr } = await deno(
    ["run", "-A", "--quiet", "--import-map", `${FIXTURES}/import_map.json`, program],
    {
      ANTHROPIC_API_KEY: "a-key",
      npm_config_cache: `${place.home}/.npm`,
      npm_config_update_notifier: "false",
    },
  );
  assert.equal(code, 0, stderr);
  const { text, results, model, reviewerTools, codingTools } = JSON.parse(stdout);
  assert.equal(text, "done");
  assert.equal(model.name, "claude-sonnet-5-5");
  assert.equal(model.maxOutputTokens, 16_000);
  assert.deepEqual(reviewerTools, ["read_file", "list_files", "search", "git"]);
  assert.deepEqual(codingTools, [...reviewerTools, "write_file", "edit_file", "shell"]);
  const said: string[] = results.map((result: unknown) => JSON.stringify(result));
  assert.equal(said.length, 5);
  assert.match(said[0]!, /fail 1/);
  assert.match(said[1]!, /sum\.js:1:export const sum/);
  assert.match(said[2]!, /Replaced 1 occurrence/);
  assert.match(said[3]!, /pass 1/);
  assert.match(said[3]!, /fail 0/);
  assert.match(said[4]!, /\?\? sum\.js/);
});
