import assert from "node:assert/strict";
import { denoCache, isRunning, Place, REPOSITORY } from "../_support/process.ts";

const { denoDir: DENO_DIR } = await denoCache();

/** Runs lait under exactly these flags. */
async function lait(place: Place, flags: readonly string[], ...args: string[]) {
  const options = ["run", "--quiet", "--no-prompt", ...flags, `${REPOSITORY}cli.ts`, ...args];
  return await place.run(Deno.execPath(), options, { DENO_DIR, TMPDIR: place.home });
}

/** What the demo needs, each with what is said without it. */
function demoFlags(place: Place): [string, RegExp][] {
  return [
    ["--allow-env=PATH,LOG_TOKENS,LOG_STREAM", /--allow-env=(PATH|LOG_TOKENS)/],
    [`--allow-read=${place.home}`, /--allow-read/],
    [`--allow-write=${place.home}`, /--allow-write/],
    ["--allow-run=grep", /--allow-run=(\S*\/)?grep/],
  ];
}

Deno.test("rights: the demo runs under the smallest flags", async () => {
  await using place = await Place.make();
  const { code, stdout, stderr } = await lait(place, demoFlags(place).map(([flag]) => flag), "demo");
  assert.equal(code, 0, stderr);
  assert.match(stdout, /notes\/garden\.md:3:TODO/);
});

Deno.test("rights: --help and --version need none", async () => {
  await using place = await Place.make();
  for (const flag of ["--help", "--version"]) {
    const { code, stderr } = await lait(place, [], flag);
    assert.deepEqual([code, stderr], [0, ""]);
  }
});

Deno.test("rights: each missing flag is named in a sentence", async (t) => {
  await using place = await Place.make();
  const flags = demoFlags(place);
  for (const [missing, message] of flags) {
    await t.step(missing.split("=")[0]!, async () => {
      const { stdout, stderr } = await lait(
        place,
        flags.map(([flag]) => flag).filter((flag) => flag !== missing),
        "demo",
      );
      assert.match(stdout + stderr, message);
      assert.doesNotMatch(stderr, /^\s+at /m);
    });
  }
});

const CONFIG = `default: { model: s, tools: [count, first] }
models: { s: [ { provider: { script: script.json } } ] }
tools:
  count: { command: ["wc", "-l", "{{ input.file }}"], env: { PATH: "\${PATH}" } }
  first: { command: ["head", "-n", "1", "{{ input.file }}"], env: { PATH: "\${PATH}" } }
  nowhere: { command: ["lait-no-such-program"], env: { PATH: "\${PATH}" } }
  slow: { command: ["sh", "-c", "trap '' TERM; sleep 87.25 & sleep 87.5"], timeout: 1, env: { PATH: "\${PATH}" } }
`;

async function project(script: unknown): Promise<Place> {
  const place = await Place.make();
  await Deno.writeTextFile(`${place.directory}/lait.config.yml`, CONFIG);
  await Deno.writeTextFile(`${place.directory}/script.json`, JSON.stringify(script));
  await Deno.writeTextFile(`${place.directory}/a.txt`, "one\ntwo\n");
  return place;
}

/** The variables that a prompt looks at are read only when they may be. */
const ENVIRONMENT = "--allow-env=HOME,PATH,LOG_TOKENS,LOG_STREAM";

/** The directories that are searched upwards for a configuration, and the project itself. */
function reads(place: Place): string {
  return `--allow-read=${place.directory},${place.home}`;
}

Deno.test("rights: a configuration with two tools runs under the smallest flags", async () => {
  const file = { file: "a.txt" };
  await using place = await project([
    { calls: [{ name: "tool__count", arguments: file }, { name: "tool__first", arguments: file }] },
    "the first line is {{ last }}",
  ]);
  const flags = [ENVIRONMENT, reads(place), "--allow-run=wc,head"];
  assert.deepEqual(await lait(place, flags, "hi"), { code: 0, stdout: "the first line is one\n", stderr: "" });
});

Deno.test("rights: a program is found where lait may run anything and look nowhere", async () => {
  for (
    const [tool, result] of [
      ["count", /^2 a\.txt$/m],
      ["nowhere", /^tool command failed: cannot start `lait-no-such-program`: there is no such program$/m],
    ] as const
  ) {
    await using place = await project([
      { calls: [{ name: `tool__${tool}`, arguments: { file: "a.txt" } }] },
      "{{ last }}",
    ]);
    const flags = [ENVIRONMENT, reads(place), "--allow-run"];
    const { code, stdout, stderr } = await lait(place, flags, "hi", "--tool", tool);
    assert.equal(code, 0, stderr);
    assert.match(stdout, result);
  }
});

Deno.test("rights: a server is named with the flag that reaches it", async () => {
  await using place = await Place.make();
  const args = ["hi", "--no-config", "--model", "m", "--base-url", "http://127.0.0.1:4123/v1"];
  const { code, stderr } = await lait(place, [ENVIRONMENT, reads(place)], ...args);
  assert.equal(code, 4);
  assert.match(stderr, /--allow-net=127\.0\.0\.1:4123/);
});

Deno.test("rights: process trees end with a narrowed --allow-run that has `kill`, and it is said when it has not", async () => {
  await using place = await project([{ calls: [{ name: "tool__slow" }] }, "{{ last }}"]);
  const args = ["hi", "--tool", "slow"];
  const ended = await lait(place, [ENVIRONMENT, reads(place), "--allow-run=sh,kill"], ...args);
  assert.match(ended.stdout, /timed out after 1s$/m);
  assert.equal(isRunning("sleep 87.25"), false);
  assert.equal(isRunning("sleep 87.5"), false);

  const survived = await lait(place, [ENVIRONMENT, reads(place), "--allow-run=sh"], ...args);
  assert.match(survived.stdout, /only the program itself could be ended/);
  await new Deno.Command("pkill", { args: ["-KILL", "-f", "sleep 87.25|sleep 87.5"] }).output();
});

Deno.test("rights: each package runs with exactly the variables that its file lists", async (t) => {
  for await (const { name } of Deno.readDir(`${REPOSITORY}lib/deps`)) {
    await t.step(name, async () => {
      const module: Record<string, unknown> = await import(`../../lib/deps/${name}`);
      const list = Object.entries(module).find(([key]) => key.endsWith("_ENVIRONMENT"))![1] as readonly string[];
      const flags = list.length === 0 ? [] : [`--allow-env=${list.join(",")}`];
      const { success, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--quiet", "--no-prompt", ...flags, `${REPOSITORY}tests/rights/use_package.ts`, name],
      }).output();
      assert(success, new TextDecoder().decode(stderr));
    });
  }
});
