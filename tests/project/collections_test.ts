import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { messageChain } from "../../lib/base/errors.ts";
import { ProjectAgents } from "../../lib/project/agents/agents.ts";
import { ProjectSkills } from "../../lib/project/agents/skills.ts";
import type { Config } from "../../lib/project/config_shape.ts";
import { Project } from "../../lib/project/project.ts";
import { REPOSITORY } from "../_support/process.ts";

const COLLECTIONS = `${REPOSITORY}fixtures/collections`;

function project(directory: string, ...configs: Record<string, unknown>[]): Project {
  return new Project(
    directory,
    configs.map((config, index) => ({
      file: join(directory, `${index}`, "..", "lait.config.yml"),
      config: config as Config,
    })),
  );
}

/** What a collection of agents holds: names, and what was told. */
async function agentsOf(directory: string, ...configs: Record<string, unknown>[]) {
  const notes: string[] = [];
  const agents = new ProjectAgents(project(directory, ...configs), (note) => notes.push(note));
  const entries = await agents.list();
  const shown = entries.map(({ name, failure }) => failure === undefined ? name : `${name}: ${messageChain(failure)}`);
  return { shown, notes: notes.toSorted(), agents };
}

async function inFiles<T>(
  files: Readonly<Record<string, string>>,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.mkdir(dirname(join(directory, name)), { recursive: true });
      await Deno.writeTextFile(join(directory, name), text);
    }
    return await work(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const config = { agents: { all: ".claude/agents" } };

Deno.test("collections: plain agents with a model of another program load, and each says that it is ignored", async () => {
  const { shown, notes, agents } = await agentsOf(`${COLLECTIONS}/plain`, config);
  assert.deepEqual(shown, ["code-reviewer", "sql-helper", "test-writer"]);
  assert.deepEqual(notes, [
    ".claude/agents/code-reviewer.md: `model` belongs to another program and is ignored",
    ".claude/agents/test-writer.md: `model` belongs to another program and is ignored",
  ]);
  const { fields, body } = await agents.named("code-reviewer");
  assert.deepEqual(Object.keys(fields), ["name", "description"]);
  assert.match(typeof body === "string" ? body : body.source, /^You review[^]*\n---\n[^]*the worst first\.$/);
});

Deno.test("collections: descriptions that YAML would want quoted, colours and tools as text load with one note a file", async () => {
  const { shown, notes, agents } = await agentsOf(`${COLLECTIONS}/examples`, config);
  assert.deepEqual(shown, ["backend-architect", "rapid-prototyper", "ux-writer"]);
  assert.deepEqual(notes, [
    ".claude/agents/design/writer.md: `color` belongs to another program and is ignored",
    ".claude/agents/engineering/backend.md: `color` and `tools` belong to another program and are ignored; " +
    "`description` should be quoted and is taken as text",
    ".claude/agents/engineering/prototyper.md: `color` and `tools` belong to another program and are ignored",
  ]);
  const { description } = (await agents.named("backend-architect")).fields;
  assert.match(description!, /^Use this agent when[^]*Context: A new API[^]*<\/example>$/);
});

Deno.test("collections: nested folders with documents, foreign rights, braces in the body, CRLF and a byte order mark load", async () => {
  const { shown, notes, agents } = await agentsOf(`${COLLECTIONS}/tools`, config);
  assert.deepEqual(shown, ["accessibility", "ci-doctor", "style-keeper"]);
  assert.deepEqual(notes, [
    ".claude/agents/01-core/ci-doctor.md: `tools`, `disallowedTools`, `permissionMode`, `maxTurns` and `model` belong " +
    "to another program and are ignored; its {{ … }} are taken as text",
    ".claude/agents/02-quality/accessibility.md: `tools`, `skills` and `memory` belong to another program and are ignored",
    ".claude/agents/02-quality/style.md: `model` belongs to another program and is ignored",
  ]);
  const { body } = await agents.named("ci-doctor");
  assert.match(body as string, /\$\{\{ github\.ref \}\}/);
});

Deno.test("collections: directories of skills load, their other files are no skills, and one note a file is told", async () => {
  const notes: string[] = [];
  const skills = new ProjectSkills(
    project(`${COLLECTIONS}/skills`, { skills: { a: ".claude/skills", b: ".agents/skills" } }),
    (note) => notes.push(note),
  );
  const entries = await skills.list();
  assert.deepEqual(entries.map(({ name, failure }) => [name, failure]), [
    ["commit-style", undefined],
    ["inner", undefined],
    ["pdf-forms", undefined],
    ["release-notes", undefined],
  ]);
  assert.deepEqual(notes.toSorted(), [
    ".agents/skills/commit-style/SKILL.md: `compatibility` belongs to another program and is ignored",
    ".claude/skills/release-notes/SKILL.md: `license`, `allowed-tools` and `metadata` belong to another program and are ignored",
  ]);
  assert.match((await skills.named("pdf-forms")).body, /\{\{ field \}\}/);
});

Deno.test("collections: two files of one name are an error that names both; a stronger configuration wins; a link to the same file is no second", async () => {
  const agent = "---\nname: a\n---\nx";
  await inFiles({ "one/x.md": agent, "two/y.md": agent, "three.md": "---\n---\n" }, async (directory) => {
    const twice = await agentsOf(directory, { agents: { one: "one", two: "two", other: "three.md" } });
    assert.match(twice.shown.join("\n"), /^a: .*two agents are called `a`: one\/x\.md and two\/y\.md[^]*\nother$/);
    await assert.rejects(twice.agents.named("a"), /one\/x\.md and two\/y\.md/);
    assert.equal((await twice.agents.named("other")).shown, "three.md");
    const single = await agentsOf(directory, { agents: { one: "one", a: "three.md" } });
    await assert.rejects(single.agents.named("a"), /one\/x\.md and three\.md|three\.md and one\/x\.md/);
    const layers = await agentsOf(directory, { agents: { one: "one" } }, { agents: { two: "two" } });
    assert.equal((await layers.agents.named("a")).shown, "two/y.md");
    await Deno.symlink(join(directory, "one"), join(directory, "linked"));
    assert.deepEqual((await agentsOf(directory, { agents: { one: "one", linked: "linked" } })).shown, ["a"]);
  });
});

Deno.test("collections: a glob names its files; one that fits nothing, and a broken file, are told where they matter", async () => {
  const files = {
    "team/a.agent.md": "---\n---\n{{ input }}",
    "team/notes.md": "no front matter",
    "team/sub/b.agent.md": "---\nname: [x]\n---\n",
  };
  await inFiles(files, async (directory) => {
    const globbed = await agentsOf(directory, { agents: { team: "team/**/*.agent.md", none: "gone/*.md" } });
    assert.equal(globbed.shown[0], "a.agent");
    assert.match(globbed.shown[1]!, /^b\.agent: team\/sub\/b\.agent\.md:2:7: `name` must be a string/);
    assert.match(globbed.shown[2]!, /^none: no file fits .*gone\/\*\.md/);
    await assert.rejects(globbed.agents.named("b.agent"), /`name` must be a string/);
    await assert.rejects(globbed.agents.named("c"), /no file fits/);
    const whole = await agentsOf(directory, { agents: { team: "team" } });
    assert.match(whole.shown.join("\n"), /notes: team\/notes\.md:1:1: the first line must be exactly `---`/);
    await assert.rejects(whole.agents.named("team"), /unknown agent 'team'.*`agents:` has a\.agent, b\.agent, notes/);
  });
});

Deno.test("collections: lait's own settings hold in them, and what nobody knows is refused", async () => {
  const files = {
    "c/a.md": "---\nmodel: small\ntools: [find]\n---\nOn {{ input.x }}",
    "c/b.md": "---\nmodell: x\n---\n",
    "c/c.md": "---\nname: c\n",
  };
  await inFiles(files, async (directory) => {
    const { shown, notes, agents } = await agentsOf(directory, { agents: { c: "c" } });
    assert.equal(shown[0], "a");
    assert.match(shown[1]!, /^b: c\/b\.md:2:1: unknown key `modell`.*did you mean `model`/);
    assert.match(shown[2]!, /^c: c\/c\.md:1:1: the front matter is not closed/);
    assert.deepEqual(notes, []);
    const { fields, body } = await agents.named("a");
    assert.deepEqual([fields.model, fields.tools, typeof body], ["small", ["find"], "object"]);
  });
});
