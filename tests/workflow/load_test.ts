import assert from "node:assert/strict";
import { failure, Flow, result, run } from "./_flow.ts";

Deno.test("workflow 7: a step has exactly one kind", async () => {
  assert.match(await failure(1, "steps: [{prompt: a, jq: .}]"), /w\.yml:1:21: .*exactly one kind, found prompt and jq/);
  assert.match(await failure(1, "steps: [{id: a}]"), /exactly one of: prompt, agent, run/);
  assert.match(await failure(1, "steps: [{use: a}]"), /exactly one of.*`use:` belongs to workflow version 1/);
});

Deno.test("workflow 8: a field that the kind does not have is told, with those that it has", async () => {
  assert.match(await failure(1, "steps: [{jq: ., model: m}]"), /unknown field 'model'; 'jq' steps accept: id, when/);
  assert.match(await failure(1, "steps: [{stop: true, retry: {max_attempts: 2}}]"), /unknown field 'retry'/);
  assert.match(await failure(1, "steps: [{prompt: a, modle: m}]"), /did you mean `model`\?/);
  // What a run step has beyond the common fields.
  assert.match(await failure(1, "steps: [{run: [a], system: b}]"), /'run' steps accept: .*on_error, env, cwd/);
});

Deno.test("workflow 9: other versions are told, and how to get on", async () => {
  assert.match(await failure(1, "nodes: {a: {type: prompt}}"), /version 1 workflow.*migration guide/);
  assert.match(await failure(1, "version: 1\nsteps: [{jq: .}]"), /migration/);
  assert.match(await failure(1, "version: 3\nsteps: [{jq: .}]"), /version: 3/);
  assert.match(await failure(1, 'version: "2"\nsteps: [{jq: .}]'), /version: "2" is not supported/);
  assert.match(await failure(1, "version: [2]\nsteps: [{jq: .}]"), /version: \[2\]/);
  assert.equal(await result("version: 2\nsteps: [{jq: .}]", ["x"]), "x");
});

Deno.test("workflow 10: an id is unique in the whole file", async () => {
  const text = "steps:\n  - id: a\n    jq: .\n  - jq: .\n    on_error:\n      - id: a\n        jq: .";
  assert.match(
    await failure(1, text),
    /w\.yml:6:\d+: steps\[1\]\.on_error\[0\] \(id 'a'\).*used more than once.*steps\[0\]/,
  );
  const nested = "steps: [{parallel: {a: [{id: x, jq: .}], b: [{group: [{id: x, jq: .}]}]}}]";
  assert.match(await failure(1, nested), /used more than once/);
});

Deno.test("workflow 11: an unquoted true is a type error (3), a quoted one an expression", async () => {
  assert.match(await failure(3, "steps: [{when: true, jq: .}]"), /w\.yml:1:16: .*`when`.*quote it: "true"/);
  assert.equal(await result("steps: [{when: 'true', jq: length}]", ["abc"]), "3");
});

Deno.test("types: nothing is converted, and null is not the same as nothing", async () => {
  const texts = [
    'steps: [{jq: ., timeout: "30"}]',
    "steps: [{jq: ., timeout: 1.5}]",
    "steps: [{jq: ., id: 5}]",
    "steps: [{run: [echo, 1]}]",
    "steps: [{prompt: a, files: a.md}]",
    "steps: [{jq: ., when: null}]",
    "steps: [{jq: ., on_error: null}]",
    "steps: [{jq: ., on_error: []}]",
    "steps: [{jq: ., retry: null}]",
    "steps: [{jq: ., output: }]",
    "steps: []",
    "steps: {jq: .}",
    "steps: [jq]",
    "name: a",
    "stpes: [{jq: .}]\nsteps: [{jq: .}]",
    "- a",
    "",
    "name: 5\nsteps: [{jq: .}]",
    "inputs: {a: 5}\nsteps: [{jq: .}]",
    "default: {modle: a}\nsteps: [{jq: .}]",
    "steps: [{jq: .}, {jq: .}]\nsteps: [{jq: .}]",
    "steps: [{stop: false}]",
    "steps: [{prompt: a, reasoning_effort: huge}]",
    "steps: [{ask: a, multiline: yes}]",
    "steps: [{while: 'true', steps: [{jq: .}]}]",
    "steps: [{for_each: .}]",
    "steps: [{switch: []}]",
    "steps: [{switch: [{when: 'true'}]}]",
    "steps: [{switch: [{steps: [{jq: .}]}]}]",
    "steps: [{parallel: {}}]",
    "steps: [{run: [a], env: [b]}]",
  ];
  for (const text of texts) assert.match(await failure(3, text), /w\.yml:\d+:\d+: .* \[[a-z-]+\]\n/, text);
});

Deno.test("types: a text where a list is wanted is told how to write it", async () => {
  assert.match(await failure(3, "steps: [{run: echo hi}]"), /`run` must be .*\(write it as a list: \[echo, hi\]\)/);
  assert.match(await failure(3, "steps: [{prompt: a, files: 'b c*'}]"), /write it as a list: \["b c\*"\]/);
});

Deno.test("structure: what reads well but does not go together ends with 1", async () => {
  const texts: [string, RegExp][] = [
    ["steps: [{jq: ., timeout: 0}]", /`timeout` must be at least 1/],
    ["timeout: 0\nsteps: [{jq: .}]", /`timeout` must be at least 1/],
    ["steps: [{jq: ., retry: {max_attempts: 0}}]", /`max_attempts` must be at least 1/],
    ["steps: [{jq: ., retry: {delay_seconds: 1}}]", /`retry` needs `max_attempts`/],
    ["steps: [{jq: ., retry: {max_attempts: 1, backoff: -1}}]", /`backoff` must be at least 0/],
    ["steps: [{prompt: a, temperature: 2.5}]", /`temperature` must be from 0 to 2/],
    ["steps: [{prompt: a, top_p: 2}]", /`top_p`/],
    ["steps: [{prompt: a, max_tokens: 0}]", /`max_tokens`/],
    ["default: {max_tool_rounds: 0}\nsteps: [{jq: .}]", /`max_tool_rounds` must be at least 1/],
    ["steps: [{jq: ., id: 1a}]", /`id` must be letters/],
    ["inputs: {1a: string}\nsteps: [{jq: .}]", /a name must be letters/],
    ["schemas: {a b: true}\nsteps: [{jq: .}]", /a name must be letters/],
    ["steps: [{parallel: {'a b': [{jq: .}]}}]", /a branch's name must be letters/],
    ["steps: [{run: []}]", /`run` is empty/],
    ["steps: [{run: [' ']}]", /the program of `run` is blank/],
    ["steps: [{ask: ' '}]", /`ask` is blank/],
    ["steps: [{ask: a, choices: []}]", /`choices` must hold/],
    ["steps: [{ask: a, choices: [b], default: c}]", /`default` must be one of the choices/],
    ["steps: [{write: ' '}]", /`write` is blank/],
    ["steps: [{agent: ''}]", /`agent` is blank/],
    ["steps: [{workflow: ''}]", /`workflow` is blank/],
    ["steps: [{for_each: ., max_concurrency: 0, steps: [{jq: .}]}]", /`max_concurrency` must be at least 1/],
    ["steps: [{until: ., max_iterations: 0, steps: [{jq: .}]}]", /`max_iterations` must be at least 1/],
    ["steps: [{prompt: a, schema_name: b}]", /`schema_name` names the `output_schema`, and there is none/],
    ["steps: [{prompt: a, output_schema: {}, schema_name: 'a b'}]", /1 to 64 letters/],
    [`schemas: {${"a".repeat(65)}: {}}\nsteps: [{prompt: a, output_schema: ${"a".repeat(65)}}]`, /give `schema_name`/],
    ["agents: {a: {model: m}}\nsteps: [{jq: .}]", /an agent needs `system`/],
    ["schemas: {a: {type: nope}}\nsteps: [{jq: .}]", /schemas\.a/],
    ["inputs: {a: strng}\nsteps: [{jq: .}]", /inputs\.a\.type must be one of .*did you mean `string`/],
  ];
  for (const [text, expected] of texts) {
    const stderr = await failure(1, text);
    assert.match(stderr, expected, text);
    assert.match(stderr, /w\.yml:\d+:\d+: .* \[[a-z-]+\]\n/, text);
  }
});

Deno.test("workflow 13: unknown variables and bad expressions are told at their place; unknown ids are null", async () => {
  assert.match(await failure(1, "steps:\n  - jq: '.a | $vars.x'"), /w\.yml:2:15: .*\$vars/);
  assert.match(await failure(1, "steps:\n  - jq: |\n      .a\n      | nope(1)"), /w\.yml:4:9: .*nope/);
  assert.match(await failure(1, "steps: [{jq: input}]"), /`jq` is no jq expression/);
  assert.match(await failure(1, "steps: [{jq: '$ENV.HOME'}]"), /`jq` is no jq expression/);
  assert.match(await failure(1, 'output: "."\nsteps: [{when: "[", jq: .}]'), /`when` is no jq expression/);
  assert.equal(await result("steps: [{jq: '$steps.nope'}]", ["x"]), "null");
});

Deno.test("templates: bad syntax is told at its place, with the field that has it", async () => {
  assert.match(await failure(1, "steps:\n  - prompt: 'a {{ input'"), /w\.yml:2:\d+: .*not closed/);
  assert.match(await failure(1, "steps:\n  - run: [a, '{{#if input}}']"), /w\.yml:2:\d+: /);
  assert.match(await failure(1, "steps: [{write: '{{> partial}}'}]"), /\[template-partial\]/);
});

Deno.test("schemas: a name that is not defined is told; a text is never a path", async () => {
  const stderr = await failure(1, "schemas: {verdict: {}}\nsteps: [{prompt: a, output_schema: verdcit}]");
  assert.match(stderr, /'verdcit', which is not defined.*did you mean `verdict`/);
  assert.match(await failure(3, "schemas: {a: {file: ''}}\nsteps: [{jq: .}]"), /\{ file: PATH \}/);
  assert.match(await failure(3, "schemas: {a: b}\nsteps: [{jq: .}]"), /schemas\.a must be/);
});

Deno.test("[D19] faults: all of a file at once, each with place, rule and, where one helps, a hint", async () => {
  const { stderr, stdout, code } = await run(
    `version: 2
steps:
  - id: a
    jq: '.['
  - prompt: "{{ input"
    temprature: 1
  - run: [echo, 1]
  - id: a
    jq: .
  - break: true
  - prompt: x
    output_schema: missing
`,
    ["x"],
  );
  const lines = stderr.trim().split("\n");
  assert.deepEqual([code, stdout, lines.length], [3, "", 7]);
  assert.match(lines[0]!, /^lait: failed to parse workflow file 'w\.yml': /);
  const found = lines.map((line) => /w\.yml:(\d+:\d+): .*\[([a-z-]+)\]$/.exec(line)!.slice(1).join(" "));
  assert.deepEqual(found, [
    "4:12 jq",
    "5:14 template-syntax",
    "6:5 unknown-key",
    "7:17 workflow-type",
    "8:5 duplicate-id",
    "10:5 placement",
    "12:20 schema",
  ]);
  assert.match(lines[2]!, /did you mean `temperature`\?/);
});

Deno.test("faults: a key that stands twice, in a map of steps as well as of branches", async () => {
  const text = "steps:\n  - parallel:\n      a: [{jq: .}]\n      a: [{jq: .}]";
  assert.match(await failure(3, text), /w\.yml:4:7: .*duplicate/i);
});

Deno.test("files: one that is missing, a directory, or no UTF-8 says so", async () => {
  await using flow = await Flow.create({ "d/x": "" });
  await Deno.writeFile(flow.path("latin.yml"), new Uint8Array([0x6e, 0xe9]));
  for (const [file, expected] of [["no.yml", /no such file/], ["d", /directory/], ["latin.yml", /UTF-8/]] as const) {
    const { code, stderr } = await flow.lait(["run", file, "x"]);
    assert.equal(code, 1);
    assert.match(stderr, /failed to read workflow file '/);
    assert.match(stderr, expected);
  }
});

Deno.test("workflow 28: break needs a loop around it that does not run several at once", async () => {
  const loop = (steps: string) => `steps: [{for_each: ., steps: ${steps}}]`;
  for (
    const text of [
      "steps: [{break: true}]",
      loop("[{parallel: {a: [{break: true}]}}]"),
      "steps: [{for_each: ., max_concurrency: 2, steps: [{break: true}]}]",
      "steps: [{for_each: ., steps: [{jq: .}], on_error: [{break: true}]}]",
    ]
  ) assert.match(await failure(1, text), /`break` must be in/, text);
  for (
    const steps of [
      "[{switch: [{when: 'true', steps: [{break: true}]}]}]",
      "[{jq: error, on_error: [{break: true}]}]",
      "[{group: [{break: true}]}]",
    ]
  ) assert.equal(await result(`steps: [{jq: '[1,2]'}, {for_each: ., steps: ${steps}, output: length}]`, ["x"]), "1");
  // A loop of its own within several at once.
  const inner = "{for_each: '[1,2]', steps: [{break: true}]}";
  assert.equal(await result(`steps: [{parallel: {a: [${inner}]}}]`, ["x"]), '{"a":[1]}');
});

Deno.test("workflow 29: stop, ask and a fixed write do not stand among several at once", async () => {
  const items = (step: string) => `steps: [{for_each: ., max_concurrency: 2, steps: [${step}]}]`;
  const branch = (step: string) => `steps: [{parallel: {a: [${step}]}}]`;
  for (const step of ["{stop: true}", "{ask: a}", "{group: [{stop: true}]}", "{jq: ., on_error: [{ask: a}]}"]) {
    for (const text of [items(step), branch(step)]) assert.match(await failure(1, text), /cannot stand in/, text);
  }
  assert.match(await failure(1, items("{write: out.txt}")), /fixed path/);
  assert.match(await failure(1, items("{for_each: ., steps: [{write: out.txt}]}")), /fixed path/);
  assert.match(await failure(1, items("{parallel: {a: [{write: out.txt}]}}")), /fixed path/);
  await using flow = await Flow.create();
  const text =
    "steps: [{jq: '[\"a\",\"b\"]'}, {for_each: ., max_concurrency: 2, steps: [{write: '{{ loop.index }}.txt'}]}]";
  assert.equal((await flow.runText(text, ["x"])).stdout, '["a","b"]\n');
  assert.deepEqual([await flow.read("0.txt"), await flow.read("1.txt")], ["a", "b"]);
  assert.equal((await flow.runText(branch("{write: fixed.txt}"), ["x"])).stdout, '{"a":"x"}\n');
});
