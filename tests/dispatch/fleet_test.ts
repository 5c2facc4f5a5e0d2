/** Several programs at once, and programs that are killed. */
import assert from "node:assert/strict";
import { REPOSITORY } from "../_support/process.ts";
import { agentOf, commitOf, Project, shell } from "./_setup.ts";

const brief = { text: "go" };

/** A program that runs one dispatch and prints what came of it; its agent first runs `command`. */
function program(project: Project, branch: object, command: string): Deno.ChildProcess {
  const source = `
import { createAgent, createHarness, createHarnessShellTools, createLocalSandboxProvider, createScriptedModelProvider, dispatch }
  from "file://${REPOSITORY}mod.ts";
const modelProvider = createScriptedModelProvider([
  { calls: [{ name: "shell", arguments: { command: ${JSON.stringify(command)} } }] },
  "done",
]);
const harness = createHarness({ modelProvider, tools: [createHarnessShellTools()] });
try {
  const { commits } = await dispatch({
    repository: ${JSON.stringify(project.root)},
    sandboxProvider: createLocalSandboxProvider(),
    agent: createAgent({ harness, model: "m" }),
    brief: { text: "go" },
    branch: ${JSON.stringify(branch)},
    observe: (event) => event.kind === "tool-output" && console.log(event.text.trim()),
  });
  console.log("ended " + commits.length);
} catch (error) {
  console.log("failed " + error.code);
}`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "-"],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  void writer.write(new TextEncoder().encode(source)).then(() => writer.close());
  return child;
}

/** Reads a program's output until it holds a text. */
async function until(child: Deno.ChildProcess, text: string): Promise<{ seen: string; rest(): Promise<string> }> {
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  while (!seen.includes(text)) {
    const { value, done } = await reader.read();
    assert.ok(!done, `it ended with ${seen}`);
    seen += value;
  }
  return {
    seen,
    async rest() {
      for (let next = await reader.read(); !next.done; next = await reader.read()) seen += next.value;
      return seen;
    },
  };
}

async function output(child: Deno.ChildProcess): Promise<string> {
  const { stdout } = await child.output();
  return new TextDecoder().decode(stdout);
}

Deno.test("dispatch: two programs on one branch are one conflict, and nothing is lost", async () => {
  await using project = await Project.make();
  const branch = { mode: "named", name: "x" };
  const gate = `${project.root}/.git/gate`;
  const first = program(
    project,
    branch,
    `${commitOf("b.txt")}; echo at work; while [ ! -e '${gate}' ]; do sleep 0.05; done`,
  );
  const running = await until(first, "at work");
  assert.equal(await output(program(project, branch, commitOf("c.txt"))), "failed conflict\n");
  await Deno.writeTextFile(gate, "");
  assert.match(await running.rest(), /ended 1\n$/);
  await first.status;
  assert.deepEqual(await project.files("x"), ["a.txt", "b.txt"]);
});

Deno.test("dispatch: killed in the middle, it leaves no lock in the way, and its work is found", async () => {
  await using project = await Project.make();
  const works = `${commitOf("b.txt")}; echo more > c.txt; echo "at work $$."; exec sleep 600`;
  const kill = async (child: Deno.ChildProcess) => {
    const { seen } = await until(child, ".");
    child.kill("SIGKILL");
    await child.status;
    // What a killed program had started is nobody's child now.
    Deno.kill(Number(/at work (\d+)\./.exec(seen)![1]), "SIGKILL");
  };
  // A named branch: the next one on it goes on in its worktree.
  const named = program(project, { mode: "named", name: "x" }, works);
  await kill(named);
  const again = project.start({
    brief,
    agent: agentOf([shell("cat c.txt"), "ok"]),
    branch: { mode: "named", name: "x" },
  });
  const { retainedDirectory } = await again.result;
  assert.match(again.warnings.join("\n"), /of an earlier run on x was there still/);
  assert.equal(await Deno.readTextFile(`${retainedDirectory}/c.txt`), "more\n");
  // A branch of its own: the next dispatch tells of it, once.
  const own = program(project, { mode: "integrate" }, works);
  await kill(own);
  const [first, second] = [project, project].map((one) => () =>
    one.start({ brief, agent: agentOf(["ok"]), branch: { mode: "integrate" } })
  );
  const told = first!();
  await told.result;
  const [, branch, directory] = /cut off left its work: branch (\S+), 1 files in no commit, in (\S+)/.exec(
    told.warnings.join("\n"),
  )!;
  assert.equal(await Deno.readTextFile(`${directory}/c.txt`), "more\n");
  assert.deepEqual(await project.files(branch!), ["a.txt", "b.txt"]);
  const silent = second!();
  await silent.result;
  assert.deepEqual(silent.warnings, []);
});

Deno.test("dispatch: twenty on twenty branches all succeed, and the repository is sound", async () => {
  await using project = await Project.make();
  const runs = Array.from({ length: 20 }, (_, index) =>
    project.start({
      brief,
      agent: agentOf([shell(commitOf(`f${index}.txt`)), "done"]),
      branch: index % 2 === 0 ? { mode: "named", name: `n/${index}` } : { mode: "integrate" },
    }).result);
  const results = await Promise.all(runs);
  assert.ok(results.every(({ commits, retainedDirectory }) => commits.length === 1 && retainedDirectory === undefined));
  const odd = results.map((_, index) => `f${index}.txt`).filter((_, index) => index % 2 === 1);
  assert.deepEqual(await project.files("main"), ["a.txt", ...odd].toSorted());
  for (let index = 0; index < 20; index += 2) {
    assert.ok((await project.files(`n/${index}`)).includes(`f${index}.txt`));
  }
  assert.deepEqual(await project.worktrees(), []);
  await project.git("fsck", "--strict");
  assert.equal((await project.git("branch", "--format=%(refname:short)")).split("\n").length, 11);
  assert.equal(await project.git("status", "--short"), "");
});
