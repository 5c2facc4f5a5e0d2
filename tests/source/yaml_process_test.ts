import assert from "node:assert/strict";

/** What a program that reads YAML writes, run with only the permissions that the package's list of variables asks for. */
async function run(code: string, environment: Record<string, string>, permissions: string[]) {
  const directory = await Deno.makeTempDir();
  try {
    const script = `${directory}/script.ts`;
    await Deno.writeTextFile(script, code);
    const output = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-prompt", "--no-lock", "--no-config", ...permissions, script],
      env: environment,
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    return { code: output.code, stdout: decoder.decode(output.stdout), stderr: decoder.decode(output.stderr) };
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const yaml = new URL("../../lib/source/yaml.ts", import.meta.url).href;
const deps = new URL("../../lib/deps/yaml.ts", import.meta.url).href;
const handlebarsDeps = new URL("../../lib/deps/handlebars.ts", import.meta.url).href;
const template = new URL("../../lib/source/template/template.ts", import.meta.url).href;

const readAll = `
import { readYaml } from "${yaml}";
const texts = ["prompt: {{ input }}", "? [a]\\n: 1", "a: !foo 1", "a: !!binary aGk=", "<<: {a: 1}", "a: *x", "%FOO\\n---\\na", "a: [", "%YAML 1.1\\n---\\na"];
for (const text of texts) readYaml(text, "f.yml");
`;

Deno.test("readYaml: prints nothing, with the listed variables as its only permission", async () => {
  const { YAML_ENVIRONMENT } = await import("../../lib/deps/yaml.ts");
  const allowed = [`--allow-env=${YAML_ENVIRONMENT.join(",")}`];
  assert.deepEqual(await run(readAll, {}, allowed), { code: 0, stdout: "", stderr: "" });
});

Deno.test("readYaml: the variables that make the package print do not, and are still set afterwards", async () => {
  const check = `console.log(Deno.env.get("LOG_TOKENS"), Deno.env.get("LOG_STREAM"));`;
  const output = await run(readAll + check, { LOG_TOKENS: "1", LOG_STREAM: "2" }, ["--allow-env"]);
  assert.deepEqual(output, { code: 0, stdout: "1 2\n", stderr: "" });
});

Deno.test("YAML_ENVIRONMENT: the package does read those variables", async () => {
  const parse = `import { parseDocument } from "${deps}";\nparseDocument("a: 1");`;
  const { code, stderr } = await run(parse, {}, ["--allow-env=LOG_STREAM"]);
  assert.equal(code, 1);
  assert.match(stderr, /LOG_TOKENS/);
});

Deno.test("HANDLEBARS_ENVIRONMENT: templates need no permission and print nothing", async () => {
  const code = `
import { HANDLEBARS_ENVIRONMENT } from "${handlebarsDeps}";
import { parseTemplate } from "${template}";
try { parseTemplate("{{log input}}"); } catch (error) { console.log(error.diagnostics[0].id); }
console.log(HANDLEBARS_ENVIRONMENT.length, parseTemplate("{{#each a}}{{this}},{{/each}}").render({ a: [1, 2] }));
`;
  assert.deepEqual(await run(code, {}, []), { code: 0, stdout: "template-helper\n0 1,2,\n", stderr: "" });
});
