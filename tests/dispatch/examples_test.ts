/** The example programs, as a reader would run them: offline, on repositories of their own. */
import assert from "node:assert/strict";
import { denoCache, Place, REPOSITORY } from "../_support/process.ts";

const EXAMPLES = `${REPOSITORY}fixtures/examples`;

async function example(name: string) {
  const place = await Place.make();
  const { denoDir } = await denoCache();
  const ended = await place.run(Deno.execPath(), ["run", "-A", "--quiet", `${EXAMPLES}/${name}.ts`], {
    DENO_DIR: denoDir,
    TMPDIR: place.directory,
  });
  return { ...ended, place, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

Deno.test("examples: the review of the last commit gives a verdict", async () => {
  await using ended = await example("review_last_commit");
  assert.equal(ended.stdout, "risk: high\n- parse() takes anything now\n", ended.stderr);
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /\[review · pass 1\] ✓ git /);
});

Deno.test("examples: a fix is merged when the check passes, not when the agent says so", async () => {
  await using ended = await example("fix_and_verify");
  const { code, stdout, stderr } = ended;
  const lines = ["attempt 1: the check ends with 1", "attempt 2: the check ends with 0", "merged into main", ""];
  assert.deepEqual(stdout.split("\n"), lines, stderr);
  assert.equal(code, 0);
});

Deno.test("examples: three repositories at once get a branch each", async () => {
  await using ended = await example("fan_out");
  const lines = ended.stdout.trim().split("\n");
  assert.equal(lines.length, 3, ended.stderr);
  for (const [index, name] of ["one", "two", "three"].entries()) {
    const [, repository] = /^(.*): 1 commits on agents\/license$/.exec(lines[index]!)!;
    assert.ok(repository!.endsWith(`-${name}`));
    const args = ["-C", repository!, "show", "--format=%s", "agents/license:LICENSE"];
    assert.equal((await ended.place.run("git", args)).stdout, "MIT License\n");
  }
});
