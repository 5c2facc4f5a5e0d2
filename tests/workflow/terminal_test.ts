import assert from "node:assert/strict";
import { ModelServer } from "../cli/_server.ts";
import { screen, until, Workspace } from "../cli/_lait.ts";

Deno.test("live view: what runs, for how long, and how far a loop is; nothing of it stays", async () => {
  await using work = await Workspace.create({
    "w.yml": `steps:
  - parallel:
      slow: [{ id: fetch, run: [sh, -c, "until [ -e go ]; do sleep 0.05; done"] }]
      loop: [{ id: items, for_each: "[1, 2]", max_concurrency: 2, steps: [{ when: ". == 2", run: [sh, -c, "until [ -e go ]; do sleep 0.05; done"] }] }]
  - jq: '"done"'`,
  });
  const lait = work.terminal(["run", "w.yml", "x"]);
  await lait.saw(/… \[loop\] items 1\/2 \d\.\ds/);
  await lait.saw(/… \[slow\] fetch \d\.\ds/);
  await lait.saw(/… \[loop\] \[item-2\] step-1 \(run\) \d\.\ds/);
  await work.write("go", "");
  const { code, stdout } = await lait.ended();
  assert.equal(code, 0);
  const lines = screen(stdout).filter((line) => line !== "");
  assert.equal(lines.at(-1), "done");
  assert.deepEqual(lines.filter((line) => line.includes("…")), []);
  assert(lines.includes("    -> branches joined"), lines.join("\n"));
});

Deno.test("live view: the tool that a step uses at the moment", async () => {
  await using server = new ModelServer([{ calls: [{ name: "tool__wait" }] }, "done"]);
  await using work = await Workspace.create({
    "lait.config.yml": `base_url: ${server.url}
default: { model: m }
tools: { wait: { command: [sh, -c, "until [ -e go ]; do sleep 0.05; done"] } }`,
    "w.yml": "steps: [{ id: look, prompt: p, tools: [wait] }]",
  });
  const lait = work.terminal(["run", "w.yml", "x"]);
  await lait.saw(/… look · tool__wait \d\.\ds/);
  await work.write("go", "");
  assert.equal((await lait.ended()).code, 0);
});

Deno.test("live view: neither piped, nor quiet, nor on a terminal that cannot", async () => {
  await using work = await Workspace.create({ "w.yml": "steps: [{ run: [sleep, '0.7'], output: '\"out\"' }]" });
  const piped = await work.run(["run", "w.yml", "x"]);
  assert.equal(piped.stderr, "[1] step-1 (run)\n");
  const dumb = await work.terminal(["run", "w.yml", "x"], { env: { TERM: "dumb" } }).ended();
  assert.equal(dumb.stdout, "[1] step-1 (run)\r\nout\r\n");
  const quiet = await work.terminal(["run", "w.yml", "x", "--quiet"]).ended();
  assert.equal(quiet.stdout, "out\r\n");
});

Deno.test("workflow 21: on a terminal ask reads a line, which must be a choice; the default is not used", async () => {
  await using work = await Workspace.create({
    "w.yml": 'steps: [{ ask: "Which {{ input }}?", choices: [red, blue], default: red }, { jq: ascii_upcase }]',
    "free.yml": 'steps: [{ ask: "Name?", default: nobody }, { jq: "[.]" }]',
  });
  const good = work.terminal(["run", "w.yml", "one"]);
  await good.saw(/Which one\?\r?\nchoices: red, blue/);
  await good.type("blue\n");
  assert.match((await good.ended()).stdout, /BLUE\r\n$/);
  const bad = work.terminal(["run", "w.yml", "one"]);
  await bad.saw(/choices/);
  await bad.type("Red\n");
  const { code, stdout } = await bad.ended();
  assert.equal(code, 1);
  assert.match(stdout, /step 'step-1 \(ask\)': the answer 'Red' is none of the choices: red, blue/);
  const empty = work.terminal(["run", "free.yml", "x"]);
  await empty.saw(/Name\?/);
  await empty.type("\n");
  assert.match((await empty.ended()).stdout, /\[""\]\r\n$/);
});

Deno.test("ask: Ctrl-C while it waits ends the run with 130", async () => {
  await using work = await Workspace.create({ "w.yml": 'steps: [{ ask: "Name?" }]' });
  const lait = work.terminal(["run", "w.yml", "x"]);
  await lait.saw(/Name\?/);
  await lait.type("\x03");
  assert.equal((await lait.ended()).code, 130);
});

Deno.test("live view: an interruption leaves its message on the terminal", async () => {
  await using work = await Workspace.create({
    "w.yml": "steps: [{ parallel: { a: [{ run: [sh, -c, 'echo > began; sleep 60'] }], b: [{ run: [sleep, '60'] }] } }]",
  });
  const lait = work.terminal(["run", "w.yml", "x"]);
  await until(() => work.exists("began"), "the program");
  await lait.saw(/… \[b\] step-1 \(run\)/);
  await lait.type("\x03");
  const { code, stdout } = await lait.ended();
  assert.equal(code, 130);
  assert(screen(stdout).some((line) => /^lait: interrupted by SIGINT/.test(line)), stdout);
});
