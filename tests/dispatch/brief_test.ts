import assert from "node:assert/strict";
import { messageText } from "../../lib/model/message.ts";
import { failure, Project, scripted } from "./_setup.ts";

/** What the agent was told by the brief of a file with this content. */
async function told(project: Project, content: string, values?: Record<string, string | number | boolean>, more = {}) {
  const file = `${project.root}/brief.md`;
  await Deno.writeTextFile(file, content);
  const { provider, agent } = scripted(["ok"]);
  const { result } = project.start({ agent, brief: { file, ...(values === undefined ? {} : { values }) }, ...more });
  await result;
  return messageText(provider.requests[0]!.messages![0]!);
}

Deno.test("brief: a text is taken literally", async () => {
  await using project = await Project.make();
  const { provider, agent } = scripted(["ok"]);
  const text = "do {{A}} and !`id` ${B}";
  await project.start({ agent, brief: { text } }).result;
  assert.equal(messageText(provider.requests[0]!.messages![0]!), text);
});

Deno.test("brief: a file's places are filled with values, the branches among them", async () => {
  await using project = await Project.make();
  const content = "{{ A }}{{B}} {{C}} on {{WORK_BRANCH}} from {{BASE_BRANCH}}\n";
  const named = { branch: { mode: "named", name: "x/y" } };
  assert.equal(await told(project, content, { A: "a{{B}}", B: 2, C: true }, named), "a{{B}}2 true on x/y from main\n");
});

Deno.test("brief: a missing value says where, and the nearest name", async () => {
  await using project = await Project.make();
  const { message, details } = await failure(told(project, "one\n  {{TICKT}}", { TICKET: 1 }), "prompt");
  assert.match(message, /brief\.md:2:3: there is no value for \{\{TICKT\}\}; did you mean \{\{TICKET\}\}\?/);
  assert.deepEqual(details, { name: "TICKT" });
  await failure(told(project, "{{A}}"), "prompt");
});

Deno.test("brief: a command of the file runs in the sandbox; one that a value brings does not", async () => {
  await using project = await Project.make();
  const content = "log: !`git log -1 --format=%s`\nvalue: {{A}}\nwithin: !`printf '%s' {{B}}`\n";
  const text = await told(project, content, { A: "!`touch pwned`", B: "$(echo x)" });
  assert.equal(text, "log: first\nvalue: !`touch pwned`\nwithin: x\n");
  assert.equal(await Deno.stat(`${project.root}/pwned`).then(() => true, () => false), false);
});

Deno.test("brief: what a command prints is inserted as it is", async () => {
  await using project = await Project.make({ "evil.txt": "{{A}} !`touch pwned`" });
  assert.equal(await told(project, "!`cat evil.txt`", { A: 1 }), "{{A}} !`touch pwned`");
});

Deno.test("brief: a command that fails, or takes too long, ends it with its place", async () => {
  await using project = await Project.make();
  const failing = await failure(told(project, "a\n!`echo no >&2; exit 3`"), "prompt");
  assert.match(failing.message, /brief\.md:2:1: the command `echo no >&2; exit 3` ended with status 3: no/);
  const slow = await failure(told(project, "!`sleep 60`", {}, { expansionMs: 50 }), "timeout");
  assert.match(slow.message, /brief\.md:1:1: the command `sleep 60` took longer than 50 ms/);
});

Deno.test("brief: nothing runs while a value is missing", async () => {
  await using project = await Project.make();
  await failure(told(project, "!`touch ran` {{A}}"), "prompt");
  assert.equal(await Deno.stat(`${project.root}/ran`).then(() => true, () => false), false);
});

Deno.test("brief: how much a command added is told", async () => {
  await using project = await Project.make();
  const figures: string[] = [];
  await told(project, "!`printf '%400s' x`", {}, { diagnostic: (message: string) => void figures.push(message) });
  assert.match(figures.join(), /added about 100 tokens/);
});

Deno.test("brief: a file is read anew for each pass", async () => {
  await using project = await Project.make();
  const file = `${project.root}/brief.md`;
  await Deno.writeTextFile(file, "one");
  const { provider, agent } = scripted(["first", "second"]);
  const { result } = project.start({
    agent,
    brief: { file },
    passes: 2,
    observe: (event) => {
      if (event.kind === "result") Deno.writeTextFileSync(file, "two");
    },
  });
  await result;
  assert.deepEqual(provider.requests.map(({ messages }) => messageText(messages![0]!)), ["one", "two"]);
});

Deno.test("brief: a wrong one is refused before anything happens", async () => {
  await using project = await Project.make();
  const briefs = [undefined, {}, { text: " " }, { text: "a", file: "b" }, { text: "a", values: {} }, { txt: "a" }, {
    file: "b",
    values: { A: [] },
  }];
  for (const brief of briefs) {
    const { result, events } = project.start({ agent: scripted(["ok"]).agent, brief: brief as never });
    await failure(result, "configuration");
    assert.deepEqual(events, []);
  }
  const { result } = project.start({ agent: scripted(["ok"]).agent, brief: { file: `${project.root}/none.md` } });
  assert.match((await failure(result, "prompt")).message, /none\.md: no such file/);
});
