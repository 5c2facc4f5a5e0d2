import assert from "node:assert/strict";
import { ConfigurationError, DiagnosticError, FileError } from "../../lib/base/errors.ts";
import { findGlobalConfig, findProjectConfig, userDirectory } from "../../lib/project/discover.ts";
import { openProject } from "../../lib/project/project.ts";
import { Place } from "../_support/process.ts";

const environment = (variables: Record<string, string>) => (name: string) => variables[name];

async function write(path: string, text = ""): Promise<string> {
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, text);
  return path;
}

Deno.test("findProjectConfig: the nearest file upwards, under either name; a directory of that name is passed over", async () => {
  await using place = await Place.make();
  const { directory } = place;
  await Deno.mkdir(`${directory}/a/b/c`, { recursive: true });
  const top = await write(`${directory}/lait.config.yml`);
  assert.equal(await findProjectConfig(`${directory}/a/b/c`), top);
  await Deno.mkdir(`${directory}/a/b/lait.config.yml`);
  assert.equal(await findProjectConfig(`${directory}/a/b/c`), top);
  const near = await write(`${directory}/a/lait.config.yaml`);
  assert.equal(await findProjectConfig(`${directory}/a/b/c`), near);
  assert.equal(await findProjectConfig(`${directory}/a`), near);
  assert.equal(await findProjectConfig(directory), top);
});

Deno.test("findProjectConfig: both names in one directory are an error; in two they are not", async () => {
  await using place = await Place.make();
  await write(`${place.directory}/lait.config.yml`);
  const near = await write(`${place.directory}/a/lait.config.yaml`);
  assert.equal(await findProjectConfig(`${place.directory}/a`), near);
  await write(`${place.directory}/lait.config.yaml`);
  await assert.rejects(findProjectConfig(place.directory), FileError);
  assert.equal(await findProjectConfig(`${place.directory}/a`), near);
});

Deno.test("userDirectory: the XDG variable unless it is blank, else HOME, else USERPROFILE, else an error", () => {
  const find = (variables: Record<string, string>) =>
    userDirectory("XDG_CONFIG_HOME", ".config", environment(variables));
  assert.equal(find({ XDG_CONFIG_HOME: "/x", HOME: "/h" }), "/x");
  assert.equal(find({ XDG_CONFIG_HOME: " ", HOME: "/h" }), "/h/.config");
  assert.equal(find({ HOME: "/h", USERPROFILE: "/u" }), "/h/.config");
  assert.equal(find({ HOME: "", USERPROFILE: "/u" }), "/u/.config");
  assert.throws(() => find({}), (error) => error instanceof ConfigurationError && /HOME/.test(error.message));
});

Deno.test("findGlobalConfig: config.yml in lait's folder, when it is there", async () => {
  await using place = await Place.make();
  const variables = environment({ HOME: place.home });
  assert.equal(await findGlobalConfig(variables), undefined);
  const file = await write(`${place.home}/.config/lait/config.yml`);
  assert.equal(await findGlobalConfig(variables), file);
});

Deno.test("openProject: global below project; --config is one file alone; --no-config looks at nothing", async () => {
  await using place = await Place.make();
  const { directory, home } = place;
  const global = await write(`${home}/.config/lait/config.yml`, "default: { model: g, temperature: 1 }");
  const project = await write(`${directory}/lait.config.yml`, "default: { model: p }");
  const other = await write(`${directory}/other.yml`, "{}");
  const variables = environment({ HOME: home });
  const found = await openProject({ directory, environment: variables });
  assert.deepEqual(found.layers.map(({ file }) => file), [global, project]);
  assert.deepEqual(found.config.default, { model: "p", temperature: 1 });
  const one = await openProject({ directory, environment: environment({}), config: "other.yml" });
  assert.deepEqual(one.layers.map(({ file }) => file), [other]);
  const none = await openProject({ directory, environment: environment({}), noConfig: true });
  assert.deepEqual([none.layers, none.config], [[], {}]);
});

Deno.test("Project: a value's place is in the strongest file that has it", async () => {
  await using place = await Place.make();
  const { directory, home } = place;
  await write(`${home}/.config/lait/config.yml`, "default:\n  temperature: 1\n  top_p: 0.5\n");
  await write(`${directory}/lait.config.yml`, "default: { temperature: 2 }\n");
  const project = await openProject({ directory, environment: environment({ HOME: home }) });
  const { file, line, column } = project.placeOf("default", "temperature")!;
  assert.deepEqual([file, line, column], ["lait.config.yml", 1, 25]);
  assert.deepEqual(project.placeOf("default", "top_p")!.line, 3);
  assert.equal(project.placeOf("default", "model"), undefined);
  assert.equal(project.fault(["default", "model"], "id", "said").place.file, `${directory}/lait.config.yml`);
});

Deno.test("openProject: all faults of a file come at once, with their places", async () => {
  await using place = await Place.make();
  const { directory } = place;
  await write(`${directory}/lait.config.yml`, "a: 1\nb: 2\ndefault: { model: 3 }\n");
  const opening = openProject({ directory, environment: environment({ HOME: place.home }) });
  await assert.rejects(opening, (error) => {
    assert(error instanceof DiagnosticError);
    const found = error.diagnostics.map(({ id, place: { line, column } }) => [id, line, column]);
    assert.deepEqual(found, [["unknown-key", 1, 1], ["unknown-key", 2, 1], ["wrong-type", 3, 19]]);
    return true;
  });
});
