/** `lait jq`. */
import { deepStrictEqual, match } from "node:assert/strict";
import { Workspace } from "../cli/_lait.ts";

const FILES = { "in.json": '{"a": [1, {"b": "x"}]}\n"s" 3' };

Deno.test("lait jq: evaluates the expression for each value of a file", async () => {
  await using workspace = await Workspace.create(FILES);
  const { code, stdout, stderr } = await workspace.run(["jq", "-c", "., type", "in.json"]);
  deepStrictEqual([code, stdout, stderr], [0, '{"a":[1,{"b":"x"}]}\n"object"\n"s"\n"string"\n3\n"number"\n', ""]);
});

Deno.test("lait jq: reads standard input, and prints like jq", async () => {
  await using workspace = await Workspace.create();
  const { stdout } = await workspace.run(["jq", ".[]"], { stdin: '[{"a": [1, []]}, "x"]' });
  deepStrictEqual(stdout, '{\n  "a": [\n    1,\n    []\n  ]\n}\n"x"\n');
});

Deno.test("lait jq: -n, -r, -s, --arg and --argjson", async () => {
  await using workspace = await Workspace.create(FILES);
  const named = await workspace.run([
    "jq",
    "-nr",
    "--arg",
    "a",
    "-x",
    '"\\($a) \\($b.c)"',
    "--argjson",
    "b",
    '{"c": 1}',
  ]);
  deepStrictEqual(named.stdout, "-x 1\n");
  deepStrictEqual((await workspace.run(["jq", "-s", "length", "in.json"])).stdout, "3\n");
});

Deno.test("lait jq: what goes wrong has its exit code", async () => {
  await using workspace = await Workspace.create({ "bad.json": '{"a": 1,}' });
  const codes = async (...args: string[]) => {
    const { code, stderr } = await workspace.run(["jq", ...args]);
    return `${code} ${stderr}`;
  };
  match(await codes("-n", 'error("no luck")'), /^1 lait: jq: no luck\n$/);
  match(await codes("-n", "[range(3)"), /^3 lait: expression:1:10: unexpected end/);
  match(await codes("-n", "$nme", "--arg", "name", "x"), /^3 lait: expression:1:1: \$nme is not defined: did you mean/);
  match(await codes("."), /^0 $/);
  match(await codes(), /^2 lait: jq takes an expression/);
  match(await codes(".", "a", "b"), /^2 lait: jq takes one file/);
  match(await codes("-n", "1", "--argjson", "x", "{"), /^2 lait: --argjson x: the value is not JSON/);
  match(await codes("-n", "1", "--arg", "x"), /^2 lait: --arg takes two words/);
  match(await codes(".", "none.json"), /^1 lait: cannot read .*none\.json: no such file/);
  match(await codes(".", "bad.json"), /^1 lait: bad\.json: not JSON/);
  match(await codes("-n", "-e", "1, null"), /^1 lait: jq: the last output is null/);
  match(await codes("-n", "--exit-status", "null, 1"), /^0 $/);
});

Deno.test("lait jq: an endless expression ends when it is interrupted", async () => {
  await using workspace = await Workspace.create();
  const process = workspace.start(["jq", "-n", '"on", last(repeat(1))']);
  await process.saw(/on/);
  process.signal("SIGINT");
  deepStrictEqual((await process.ended()).code, 130);
});
