import assert from "node:assert/strict";
import type { DispatchObservation } from "../../lib/dispatch/observation.ts";
import { calculateUsageCost } from "../../lib/dispatch/prices.ts";
import { createReporter } from "../../lib/dispatch/reporter.ts";
import { agentOf, commitOf, failure, Project, scripted, shell } from "./_setup.ts";

const brief = { text: "go" };
const usage = { input: 1_000_000, output: 500_000 };

Deno.test("observe: what it throws, now or later, is in the result and changes nothing", async () => {
  await using project = await Project.make();
  let first = true;
  const { result } = project.start({
    brief,
    agent: agentOf([shell(commitOf("b.txt")), "ok"]),
    observe: (event) => {
      if (event.kind === "tool") throw new Error("thrown");
      if (first) {
        first = false;
        return Promise.reject(new Error("rejected")) as never;
      }
    },
  });
  const { observerErrors, text } = await result;
  assert.equal(text, "ok");
  assert.deepEqual(observerErrors!.map((error) => (error as Error).message).toSorted(), ["rejected", "thrown"]);
});

Deno.test("observe: events are numbered, dated and end exactly once, behind the cleaning up", async () => {
  await using project = await Project.make();
  const worktrees: Promise<string[]>[] = [];
  const events: DispatchObservation[] = [];
  const { result } = project.start({
    brief,
    agent: agentOf(["ok"]),
    branch: { mode: "integrate" },
    observe: (event) => {
      events.push(event);
      if (event.kind === "finished") worktrees.push(project.worktrees());
    },
  });
  await result;
  assert.deepEqual(events.map(({ seq }) => seq), events.map((_, index) => index));
  assert.ok(events.every(({ at }) => new Date(at).toISOString() === at));
  assert.deepEqual(events.filter(({ kind }) => ["finished", "failure", "stopped"].includes(kind)).length, 1);
  assert.deepEqual(await worktrees[0], []);
  const prompt = events.find((event) => event.kind === "prompt");
  assert.equal(prompt?.kind === "prompt" && prompt.text, "go");
});

Deno.test("redact: events, the report and the stored conversation have no secret; the caller has all", async () => {
  await using project = await Project.make();
  const secret = "sk-abc123";
  const { provider, agent } = scripted([shell(`echo ${secret}; echo ${secret} >&2; exit 1`), `it is ${secret}`]);
  const { result, events } = project.start({ brief: { text: `use ${secret}` }, agent, redact: [/sk-\w+/] });
  const { text, report, transcript } = await result;
  assert.equal(text, `it is ${secret}`);
  for (
    const stored of [JSON.stringify(events), report(), report({ format: "json" }), await Deno.readTextFile(transcript!)]
  ) {
    assert.equal(stored.includes(secret), false);
    assert.match(stored, /REDACTED/);
  }
  assert.ok(JSON.stringify(provider.requests[0]).includes(secret));
});

Deno.test("redact: what would fit everywhere, or is no expression, is refused", async () => {
  await using project = await Project.make();
  for (const redact of [[/x*/], ["x"], /x/]) {
    await failure(project.start({ brief, agent: agentOf(["ok"]), redact: redact as never }).result, "configuration");
  }
});

Deno.test("report: what changed, what failed, what it cost", async () => {
  await using project = await Project.make({ "a.txt": "one\ntwo\n", "old.txt": "1\n2\n3\n" });
  const command = `printf 'one\\nTWO\\nthree\\n' > a.txt; git mv old.txt new.txt; printf 'a\\0' > b.bin; git add -A; ` +
    "git commit -qm '*All* of it'; exit 7";
  const { result } = project.start({
    brief,
    agent: agentOf([{ ...shell(command), usage }, { text: "done <b>", usage }]),
    branch: { mode: "integrate" },
    prices: { currency: "EUR", models: { m: { input: 2, output: 10 } } },
  });
  const { report, commits, usage: total } = await result;
  assert.deepEqual(total.models, { m: { input: 2_000_000, cached: 0, output: 1_000_000 } });
  const json = JSON.parse(report({ format: "json" }));
  assert.equal(json.version, 1);
  assert.deepEqual(json.cost, { currency: "EUR", amount: 14, complete: true });
  const { files, ...sums } = json.diff;
  assert.deepEqual(files, [
    { paths: ["a.txt"], added: 2, removed: 1, binary: false },
    { paths: ["b.bin"], added: 0, removed: 0, binary: true },
    { paths: ["old.txt", "new.txt"], added: 0, removed: 0, binary: false },
  ]);
  const { head, baseline, ...counts } = sums;
  assert.deepEqual([head, baseline], [commits[0]!.oid, await project.git("rev-parse", "main~1")]);
  assert.deepEqual(counts, { filesChanged: 3, added: 2, removed: 1, binaryFiles: 1 });
  assert.equal(json.failedTools.length, 1);
  assert.deepEqual([json.failedTools[0].tool, json.failedTools[0].pass], ["shell", 1]);
  const text = report();
  assert.match(text, /- `[0-9a-f]{12}` \\\*All\\\* of it/);
  assert.match(text, /> done \\<b\\>/);
  assert.match(text, /- Cost: 14\.0000 EUR\n/);
  assert.match(text, /- `old\.txt` → `new\.txt` \+0 −0/);
  // The same later on, whatever happens to the repository.
  await Deno.rename(`${project.root}/.git`, `${project.root}/gone`);
  assert.equal(report(), text);
  await Deno.rename(`${project.root}/gone`, `${project.root}/.git`);
  assert.throws(() => report({ format: "html" as never }), { code: "configuration" });
});

Deno.test("report: the first 100 failed calls are listed, the others counted", async () => {
  await using project = await Project.make();
  const calls = Array.from(
    { length: 104 },
    (_, index) => ({ name: "shell", arguments: { command: `exit ${index + 1}` } }),
  );
  const { report } = await project.start({ brief, agent: agentOf([{ calls }, "ok"]) }).result;
  const json = JSON.parse(report({ format: "json" }));
  assert.deepEqual([json.failedTools.length, json.omittedFailures], [100, 4]);
});

Deno.test("prices: cached tokens have their own; a lower bound says so", () => {
  const prices = { currency: "USD", models: { m: { input: 10, cached: 1, cacheCreated: 20, output: 30 } } } as const;
  const m = { input: 3e6, cached: 1e6, cacheCreated: 1e6, output: 1e6 };
  assert.deepEqual(calculateUsageCost({ ...m, models: { m } }, prices), {
    currency: "USD",
    amount: 61,
    complete: true,
  });
  const plain = { currency: "USD", models: { m: { input: 10, output: 30 } } } as const;
  assert.equal(calculateUsageCost({ ...m, models: { m } }, plain).amount, 60);
  const other = calculateUsageCost({ ...m, models: { n: m } }, prices);
  assert.deepEqual([other.amount, other.complete], [0, false]);
  assert.equal(calculateUsageCost({ ...m, models: { m: { ...m, complete: false } } }, prices).complete, false);
  assert.equal(calculateUsageCost(m, prices).complete, false);
  assert.throws(() => calculateUsageCost(m, { currency: "CHF" as never, models: {} }), { code: "configuration" });
  assert.throws(() => calculateUsageCost(m, { currency: "EUR", models: { m: { input: -1, output: 0 } } }), {
    code: "configuration",
  });
});

Deno.test("reporter: a line for each thing worth seeing, and one at the end", async () => {
  await using project = await Project.make();
  let printed = "";
  await project.start({
    brief,
    agent: agentOf([shell("echo hi"), { text: "Two\nlines\x1b[2J", usage: { input: 3, output: 4 } }]),
    observe: createReporter({ label: "fix", color: false, write: (text) => printed += text }),
  }).result;
  const lines = printed.replace(/\d+\.\ds/g, "0.0s").split("\n");
  assert.deepEqual(lines, [
    "[fix] ▸ workspace",
    "[fix] ▸ sandbox",
    "[fix] ▸ brief",
    "[fix · pass 1] ▸ agent on main",
    '[fix · pass 1] ✓ shell {"command":"echo hi"} 0.0s',
    "[fix · pass 1] Two",
    "[fix · pass 1] lines\\u{1b}[2J",
    "[fix · pass 1] ▸ collect",
    "[fix · pass 1] ▸ close",
    "[fix · pass 1] ✓ finished after 0.0s, 3 tokens in, 4 out at least",
    "",
  ]);
});
