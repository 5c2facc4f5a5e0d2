/** `lait jq`. */
import { deepStrictEqual, match } from "node:assert/strict";
import { REPOSITORY } from "../_support/process.ts";
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
  match(await codes("-n", "1", "--argjson", "x", "{"), /^2 lait: --argjson x: the value is not JSON/);
  match(await codes("-n", "1", "--arg", "x"), /^2 lait: --arg takes two words/);
  match(await codes(".", "none.json"), /^1 lait: cannot read .*none\.json: no such file/);
  match(await codes(".", "bad.json"), /^1 lait: bad\.json: not JSON/);
  match(await codes("-n", "-e", "1, null"), /^1 lait: jq: the last output is null/);
  match(await codes("-n", "--exit-status", "null, 1"), /^0 $/);
});

Deno.test("lait jq: a bad expression is shown with a mark below the place", async () => {
  await using workspace = await Workspace.create();
  const { code, stderr } = await workspace.run(["jq", "-n", ".a\n| foo(1)"]);
  deepStrictEqual([code, stderr], [3, "lait: expression:2:3: foo/1 is not defined\n  | foo(1)\n    ^ [jq]\n"]);
});

Deno.test("lait jq: several files, and goes on behind an input that the expression fails for", async () => {
  await using workspace = await Workspace.create({
    "a.json": '{"n": 1}\n{"n": "x"}\n{"n": 3}',
    "b.json": '{"n": 4}\n',
  });
  const { code, stdout, stderr } = await workspace.run(["jq", ".n + 1", "a.json", "b.json"]);
  deepStrictEqual([code, stdout], [1, "2\n4\n5\n"]);
  match(stderr, /^lait: jq: string \("x"\) and number \(1\) cannot be added \(input at a\.json:2\)\n/);
  match(stderr, /\nlait: jq: the expression failed for one input\n$/);
});

Deno.test("lait jq: values before a fault are done, and the fault has its place in the whole text", async () => {
  await using workspace = await Workspace.create();
  const { code, stdout, stderr } = await workspace.run(["jq", "-c", "."], { stdin: '{"a":\n1} [2]\n\n  {"b": }\n' });
  deepStrictEqual([code, stdout], [1, '{"a":1}\n[2]\n']);
  match(stderr, /^lait: standard input: not JSON: Objects must consist of key:value pairs at line 4, column 9\n$/);
});

Deno.test("lait jq: input and inputs read on", async () => {
  await using workspace = await Workspace.create();
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await workspace.run(["jq", "-c", ...args], { stdin: "1 2 3 4 5" });
    return stdout + stderr;
  };
  deepStrictEqual(await run("-n", "[inputs]"), "[1,2,3,4,5]\n");
  deepStrictEqual(await run("[., input]"), "[1,2]\n[3,4]\n" + "lait: jq: No more inputs (input at standard input:1)\n");
  deepStrictEqual(await run("-n", "reduce inputs as $n (0; . + $n), [inputs]"), "15\n[]\n");
  deepStrictEqual(
    await run("-n", "first(inputs), (try (input, input, input, input, input) catch .)"),
    "1\n2\n3\n4\n5\n" + '"No more inputs"\n',
  );
});

Deno.test("lait jq: -j, -a, -S, --tab, --indent, --raw-output0", async () => {
  await using workspace = await Workspace.create();
  const run = async (...args: string[]) =>
    (await workspace.run(["jq", ...args], { stdin: '{"b": "é😀", "a": [1]}' })).stdout;
  deepStrictEqual(await run("-j", ".b, .b"), "é😀é😀");
  deepStrictEqual(await run("-ca", "."), '{"b":"\\u00e9\\ud83d\\ude00","a":[1]}\n');
  deepStrictEqual(await run("-Sc", "."), '{"a":[1],"b":"é😀"}\n');
  deepStrictEqual(await run("--tab", ".a"), "[\n\t1\n]\n");
  deepStrictEqual(await run("--indent", "1", ".a"), "[\n 1\n]\n");
  deepStrictEqual(await run("--raw-output0", ".b, .a[]"), "é😀\x001\x00");
});

Deno.test("lait jq: -R, -Rs, --stream, -f, --slurpfile, --rawfile, --args, --jsonargs", async () => {
  await using workspace = await Workspace.create({
    "text.txt": "a b\n\nc",
    "rows.json": "[1] [2]",
    "program.jq": ".[0] # the first\n",
  });
  const run = async (...args: string[]) => (await workspace.run(["jq", "-c", ...args])).stdout;
  deepStrictEqual(await run("-R", ".", "text.txt"), '"a b"\n""\n"c"\n');
  deepStrictEqual(await run("-Rs", ".", "text.txt"), '"a b\\n\\nc"\n');
  deepStrictEqual(await run("--stream", ".", "rows.json"), "[[0],1]\n[[0]]\n[[0],2]\n[[0]]\n");
  deepStrictEqual(await run("-f", "program.jq", "rows.json"), "1\n2\n");
  deepStrictEqual(
    await run("-n", "$a, $b", "--slurpfile", "a", "rows.json", "--rawfile", "b", "program.jq"),
    '[[1],[2]]\n".[0] # the first\\n"\n',
  );
  deepStrictEqual(
    await run("-n", "$ARGS", "--arg", "x", "y", "--args", "-c", "1", "--jsonargs", "2"),
    '{"positional":["1",2],"named":{"x":"y"}}\n',
  );
});

Deno.test("lait jq: a value is done with as soon as it is whole", async () => {
  await using workspace = await Workspace.create();
  const process = workspace.start(["jq", ".+1"], { stdin: "open" });
  await process.type("1 2");
  await process.saw(/2\n/);
  await process.type(" 3\n");
  await process.saw(/3\n4\n/);
  await process.kill();
});

Deno.test("lait jq: nobody has to read all of an endless output", async () => {
  await using workspace = await Workspace.create();
  const { code, stdout } = await workspace.shell(
    "lait jq -n 'repeat(1)' | head -2; seq 1 100000 | lait jq . | head -1",
  );
  deepStrictEqual([code, stdout], [0, "null\n1\n1\n"]);
});

Deno.test("lait jq: an endless expression ends when it is interrupted", async () => {
  await using workspace = await Workspace.create();
  const process = workspace.start(["jq", "-n", '"on", last(repeat(1))']);
  await process.saw(/on/);
  process.signal("SIGINT");
  deepStrictEqual((await process.ended()).code, 130);
});

Deno.test("lait jq: the examples of its documentation print what it says", async () => {
  const text = await Deno.readTextFile(`${REPOSITORY}docs/jq.md`);
  const examples = [...text.matchAll(/^```sh\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```$/gm)];
  deepStrictEqual(examples.length, 3);
  await using workspace = await Workspace.create();
  for (const [, commands, wanted] of examples) {
    const { code, stdout, stderr } = await workspace.shell(commands!);
    deepStrictEqual([code, stdout, stderr], [0, wanted, ""]);
  }
});
