/** The review program of the second founding document, as it stands there, on a real repository. */
import assert from "node:assert/strict";
import { Place, REPOSITORY } from "../_support/process.ts";
import { Project } from "./_setup.ts";

Deno.test("seed 002: the review program reads the last commit and prints its finding", async () => {
  await using project = await Project.make({
    "src/parser.ts": "export const parse = (text: string) => check(text);\n",
  });
  await project.write("src/parser.ts", "export const parse = (text: string) => text;\n");
  await project.git("commit", "-qam", "simplify the parser");
  await using place = await Place.make();
  const fixtures = `${REPOSITORY}fixtures/seed_002`;
  for await (const { name } of Deno.readDir(fixtures)) {
    await Deno.copyFile(`${fixtures}/${name}`, `${place.directory}/${name}`);
  }
  const { imports } = JSON.parse(await Deno.readTextFile(`${fixtures}/import_map.json`));
  const map = { imports: { ...imports, "@elie-laloum/outpost": `file://${REPOSITORY}mod.ts` } };
  await Deno.writeTextFile(`${place.directory}/import_map.json`, JSON.stringify(map));
  // What the model says is scripted; what it is told of the commit is Git's.
  await Deno.writeTextFile(
    `${place.directory}/read-model.ts`,
    `import { createScriptedModelProvider } from "@elie-laloum/outpost";
export const modelProvider = createScriptedModelProvider([
  { calls: [{ name: "git", arguments: { command: "show", arguments: ["--stat", "--format=%s", "HEAD"] } }] },
  { text: "The last commit accepts unchecked input:\\n{{ last }}" },
]);
`,
  );
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", `--import-map=${place.directory}/import_map.json`, `${place.directory}/review.ts`],
    cwd: project.root,
    env: { NO_COLOR: "1" },
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const printed = new TextDecoder().decode(stdout);
  assert.ok(printed.startsWith("The last commit accepts unchecked input:\n"), printed);
  assert.match(printed, /\nsimplify the parser\n\n src\/parser\.ts \| 2 \+-\n/);
  assert.equal(await project.git("status", "--short"), "");
});
