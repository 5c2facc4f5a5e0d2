/** The facts of the document "カスタムシェルツールを使う" (seed 000), one by one. */
import assert from "node:assert/strict";
import { type Call, ModelServer } from "./_server.ts";
import { configWith, running, uniqueSeconds, Workspace } from "./_lait.ts";

/** The document's example, character for character. */
const EXAMPLE = await Deno.readTextFile(new URL("../../fixtures/config/seed/lait.config.yml", import.meta.url));
const FILES = { "src/main.rs": "fn main() {\n    // TODO: 検索する\n}\n", "README.md": "# nothing to do\n" };
const ripgrep = (pattern: unknown): Call => ({ name: "tool__ripgrep", arguments: { pattern } });

/** The matches in ripgrep's `--json` output. */
function matches(output: string): string[] {
  const lines = output.split("\n").map((line) =>
    JSON.parse(line) as { type: string; data: Record<string, { text: string }> }
  );
  return lines.filter(({ type }) => type === "match").map(({ data }) =>
    `${data["path"]!.text}: ${data["lines"]!.text}`
  );
}

/** Runs lait in a directory with this configuration against a model that makes these calls and then says `done`. */
async function calling(
  config: string,
  calls: readonly Call[],
  args: readonly string[],
  more: Record<string, string> = {},
) {
  await using server = new ModelServer([{ calls }, "done"]);
  await using work = await Workspace.create({ ...FILES, ...more, "lait.config.yml": config });
  const env = { OPENAI_BASE_URL: server.url, SAFE_TOKEN: "safe", OTHER_TOKEN: "other" };
  const result = await work.run(args, { env });
  return { ...result, server, results: server.toolResults(), ran: await work.exists("ran") };
}

Deno.test("seed 000: the example configuration as it stands: a model finds TODO with the real ripgrep", async () => {
  const run = await calling(EXAMPLE, [ripgrep("TODO")], ["TODO を検索して", "--tool", "ripgrep"]);
  assert.deepEqual([run.code, run.stdout, run.stderr], [0, "done\n", ""]);
  const [first] = run.server.requests;
  assert.equal(first!.body.model, "local");
  assert.equal(first!.body.messages[0]!.content, "TODO を検索して");
  assert.deepEqual(first!.body.tools, [{
    type: "function",
    function: {
      name: "tool__ripgrep",
      description: "リポジトリ内をパターン検索する",
      parameters: {
        type: "object",
        properties: { pattern: { type: "string", description: "検索パターン" } },
        required: ["pattern"],
      },
    },
  }]);
  // The configuration itself has no TODO in it.
  assert.deepEqual(matches(run.results[0]!), ["src/main.rs:     // TODO: 検索する\n"]);
  const { role, tool_calls: made } = run.server.requests[1]!.body.messages[1]!;
  assert.equal(role, "assistant");
  assert.equal(run.server.requests[1]!.body.messages[2]!.tool_call_id, made![0]!.id);
});

Deno.test("seed 000: default.tools is the last fallback, --tool is repeatable and replaces it", async () => {
  const config = `${EXAMPLE}  jq:\n    command: [jq, .]\n  gh:\n    command: [gh]\n`;
  const offered = async (args: string[]) => {
    const { server } = await calling(config, [], ["hi", ...args]);
    return server.requests[0]!.body.tools?.map(({ function: { name } }) => name);
  };
  assert.deepEqual(await offered([]), ["tool__ripgrep"]);
  assert.deepEqual(await offered(["--tool", "gh", "--tool", "jq"]), ["tool__gh", "tool__jq"]);
});

Deno.test("seed 000: env is a complete allow-list and takes ${VAR}; cwd is fixed", async () => {
  await using place = await Workspace.create();
  const probe = (env: string) =>
    `default: { model: local, tools: [probe] }\ntools:\n  probe:\n    command: ["sh", "-c", "echo $SAFE_TOKEN; pwd; env"]\n` +
    `    env:\n${env}      SAFE_TOKEN: "\${SAFE_TOKEN}"\n    cwd: ${JSON.stringify(place.directory)}\n`;
  const listed = await calling(probe('      PATH: "${PATH}"\n'), [{ name: "tool__probe" }], ["hi"]);
  const [token, directory, ...variables] = listed.results[0]!.split("\n");
  assert.deepEqual([token, directory], ["safe", place.directory]);
  // A shell adds PWD and the like by itself.
  const names = variables.map((line) => line.split("=")[0]!).filter((name) =>
    !["PWD", "OLDPWD", "SHLVL", "_"].includes(name)
  );
  assert.deepEqual(names.sort(), ["PATH", "SAFE_TOKEN"]);
  const without = await calling(probe(""), [{ name: "tool__probe" }], ["hi"]);
  assert.equal(without.code, 0);
  assert.match(without.results[0]!, /^tool command failed: .*`sh`.*PATH/);
});

Deno.test("seed 000: each stream is kept up to 16 MiB; over it the tree is ended and the result is an error", async () => {
  const mark = uniqueSeconds();
  const command = (redirect: string) => ["sh", "-c", `sleep ${mark} & head -c 16777217 /dev/zero ${redirect}; wait`];
  const config = configWith({ out: { command: command("") }, err: { command: command(">&2") } });
  const { code, results } = await calling(config, [{ name: "tool__out" }, { name: "tool__err" }], ["hi"]);
  assert.equal(code, 0);
  assert.match(results[0]!, /^tool command failed: .*16777216 bytes to stdout/);
  assert.match(results[1]!, /^tool command failed: .*16777216 bytes to stderr/);
  assert.deepEqual(running(`sleep ${mark}`), []);
});

Deno.test("seed 000: each element of command is a template over input; steps and vars are empty", async () => {
  const config = configWith({
    a: { command: ["echo", "<{{ input.pattern }}>", "{{ input.n }}"] },
    b: { command: ["echo", "{{ steps.x }}"] },
    c: { command: ["echo", "{{ vars.x }}"] },
  });
  const calls = ["a", "b", "c"].map((name) => ({ name: `tool__${name}`, arguments: { pattern: "TODO", n: 1 } }));
  const { results } = await calling(config, calls, ["hi"]);
  assert.equal(results[0], "<TODO> 1");
  assert.match(results[1]!, /^tool command failed: .*steps\.x/);
  assert.match(results[2]!, /^tool command failed: .*vars\.x/);
});

Deno.test("seed 000: arguments are an object; empty and null count as {}, anything else ends the request unrun", async () => {
  const config = configWith({ touch: { command: ["touch", "ran"] } });
  for (const empty of ["", "null"]) {
    const { code, ran } = await calling(config, [{ name: "tool__touch", arguments: empty }], ["hi"]);
    assert.deepEqual([code, ran], [0, true]);
  }
  for (const wrong of ["[1]", '"x"', "7", "false"]) {
    const { code, ran, stderr, server } = await calling(config, [{ name: "tool__touch", arguments: wrong }], ["hi"]);
    assert.deepEqual([code, ran, server.requests.length], [1, false, 1]);
    assert.match(stderr, /JSON object/);
  }
});

Deno.test("seed 000: a schema failure does not run the command, and its reason is the result", async () => {
  const run = await calling(EXAMPLE, [ripgrep(42), { name: "tool__ripgrep", arguments: {} }], ["hi"]);
  assert.equal(run.code, 0);
  assert.match(run.results[0]!, /^tool arguments failed validation: .*pattern.*string/);
  assert.match(run.results[1]!, /^tool arguments failed validation: .*pattern/);
});

Deno.test("seed 000: names that meet after qualification are an error", async () => {
  const config = configWith({ "a.b": { command: ["true"] }, "a/b": { command: ["true"] } });
  const { code, stderr, server } = await calling(config, [], ["hi"]);
  assert.deepEqual([code, server.requests.length], [1, 0]);
  assert.match(stderr, /tools\.a\.b.*tools\.a\/b.*tool__a_b/);
});

Deno.test("seed 000: tool_policy matches qualified names: deny tool__* forbids every shell tool", async () => {
  const run = await calling(`${EXAMPLE}tool_policy:\n  deny: ["tool__*"]   # シェルツールを一律禁止する例\n`, [
    ripgrep("TODO"),
  ], ["hi"]);
  assert.equal(run.code, 0);
  assert.match(run.results[0]!, /denied.*tool_policy/i);
});

Deno.test("seed 000: --approve-tools shows the JSON arguments and the argv that they become", async () => {
  await using server = new ModelServer([{ calls: [ripgrep("TODO")] }, "done"]);
  await using work = await Workspace.create({ ...FILES, "lait.config.yml": EXAMPLE });
  const lait = work.terminal(["--base-url", server.url, "--approve-tools", "hi"]);
  await lait.saw(/run it\?/);
  assert.match(lait.stdout, /^arguments: \{"pattern":"TODO"\}\r?$/m);
  assert.match(lait.stdout, /^command: \["rg", "--json", "TODO"\]\r?$/m);
  await lait.type("y\n");
  assert.equal((await lait.ended()).code, 0);
  assert.equal(matches(server.toolResults()[0]!).length, 1);
});

Deno.test("seed 000: a failed or late command does not fail the run: its standard error is in the result", async () => {
  const config = configWith({
    fails: { command: ["sh", "-c", "echo why >&2; exit 1"] },
    late: { command: ["sh", "-c", "echo why >&2; sleep 20"], timeout: 1 },
  });
  const { code, stdout, results } = await calling(config, [{ name: "tool__fails" }, { name: "tool__late" }], ["hi"]);
  assert.deepEqual([code, stdout], [0, "done\n"]);
  assert.match(results[0]!, /^tool command failed: .*status 1\nwhy$/);
  assert.match(results[1]!, /^tool command failed: .*timed out after 1s\nwhy$/);
});

Deno.test("seed 000: an unknown tool name ends the whole request", async () => {
  const { code, stdout, stderr, server } = await calling(EXAMPLE, [ripgrep("TODO"), { name: "tool__grep" }], ["hi"]);
  assert.deepEqual([code, stdout, server.requests.length], [1, "", 1]);
  assert.match(stderr, /unknown tool 'tool__grep'/);
});

Deno.test("seed 000: an empty command and parameters that are no object are reported when the tool is used", async () => {
  for (const [fields, said] of [["command: []", /empty/], ["command: [ls], parameters: text", /object/]] as const) {
    const { code, stderr } = await calling(`default: { model: m }\ntools: { bad: { ${fields} } }\n`, [], [
      "hi",
      "--tool",
      "bad",
    ]);
    assert.equal(code, 1);
    assert.match(stderr, said);
  }
});
