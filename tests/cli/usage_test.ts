import assert from "node:assert/strict";
import { VERSION } from "../../lib/base/product.ts";
import { ModelServer } from "./_server.ts";
import { Workspace } from "./_lait.ts";

Deno.test("usage: --help, -h and help print every option on stdout; --version and -V the version", async () => {
  await using work = await Workspace.create({ "lait.config.yml": "broken: [" });
  const texts = await Promise.all([["--help"], ["-h"], ["help"], ["--model", "m", "--help", "hi"]].map(async (args) => {
    const { code, stdout, stderr } = await work.run(args, { env: { LLM_TEMPERATURE: "abc" } });
    assert.deepEqual([code, stderr], [0, ""]);
    return stdout;
  }));
  assert.equal(new Set(texts).size, 1);
  const flags = "--model --base-url --api-key --system --tool --stream --json --output --quiet --show-reasoning " +
    "--show-usage --approve-tools --config --no-config --no-stdin --verbose --reasoning-effort --temperature --top-p " +
    "--max-tokens --help --version";
  for (const flag of flags.split(" ")) assert.match(texts[0]!, new RegExp(`${flag}\\b`));
  for (const code of [0, 1, 2, 3, 4, 5, 130]) assert.match(texts[0]!, new RegExp(`\\b${code} \\w`));
  assert(texts[0]!.split("\n").every((line) => line.length <= 100), "lines fit 100 columns");
  for (const args of [["--version"], ["-V"], ["--model", "m", "-V"]]) {
    const { code, stdout, stderr } = await work.run(args);
    assert.deepEqual([code, stdout, stderr], [0, `lait ${VERSION}\n`, ""]);
  }
});

Deno.test("cli 6: options of prompts before a subcommand are exit 2 and name both; behind -- a word is a prompt", async () => {
  await using server = new ModelServer(["ok"]);
  await using work = await Workspace.create();
  for (const before of [["--model", "x"], ["--stream"], ["--model=x"], ["-o", "f"]]) {
    const { code, stdout, stderr } = await work.run([...before, "demo"]);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, new RegExp(`${before[0]!.split("=")[0]}.*demo`));
  }
  const { code } = await work.run(["--base-url", server.url, "--model", "m", "--", "demo"]);
  assert.equal(code, 0);
  assert.equal(server.onlyBody.messages[0]!.content, "demo");
});

Deno.test("cli 7: options that exclude each other are exit 2 and name both", async () => {
  await using work = await Workspace.create({ "a.yml": "" });
  for (const pair of [["--config=a.yml", "--no-config"], ["--no-config", "--config=a.yml"], ["--stream", "--json"]]) {
    const { code, stdout, stderr } = await work.run(["--model", "m", ...pair, "hi"]);
    assert.deepEqual([code, stdout], [2, ""]);
    for (const flag of pair) assert.match(stderr, new RegExp(flag.split("=")[0]!));
  }
});

Deno.test("usage: a wrong command line is exit 2, with what was meant where it is near, and how to see more", async () => {
  await using server = new ModelServer([]);
  await using work = await Workspace.create();
  const cases: [args: string[], said: RegExp][] = [
    [["--modle", "m", "hi"], /--modle.*did you mean.*--model/i],
    [["--strem", "hi"], /--strem.*did you mean.*--stream/i],
    [["demp"], /demp.*did you mean `demo`.*lait -- demp/s],
    [["two", "words"], /2 words.*lait "two words"/s],
    [["- buy milk\n- water plants"], /lait -- "- buy milk/],
    [["--tool"], /--tool/],
    [["--output"], /--output/],
    [["--temperature", "warm", "hi"], /--temperature.*warm/],
    [["--max-tokens", "1.5", "hi"], /--max-tokens.*1\.5/],
    [["--max-tokens", "4294967296", "hi"], /--max-tokens.*4294967295/],
    [["--top-p", "", "hi"], /--top-p/],
    [["demo", "--modle"], /--modle.*lait demo --help/s],
    [["demo", "word"], /word/],
  ];
  await Promise.all(cases.map(async ([args, said]) => {
    const { code, stdout, stderr } = await work.run(args, { env: { OPENAI_BASE_URL: server.url } });
    assert.deepEqual([code, stdout], [2, ""], stderr);
    assert.match(stderr, said);
    assert.match(stderr, /^lait: /);
  }));
  assert.equal(server.requests.length, 0);
});
