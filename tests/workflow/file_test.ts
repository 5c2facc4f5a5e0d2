import assert from "node:assert/strict";
import { Flow, flow } from "./_flow.ts";

/** What is said of a file that is wrong, and the exit code. */
async function refused(text: string): Promise<{ code: number; stderr: string }> {
  const { code, stdout, stderr } = await flow(text, "x");
  assert.notEqual(code, 0);
  assert.equal(stdout, "");
  return { code, stderr };
}

const STRUCTURE: readonly (readonly [text: string, expected: RegExp])[] = [
  ["steps: [{ prompt: a, jq: . }]", /exactly one kind, found prompt and jq/],
  ["steps: [{ id: a }]", /exactly one of: prompt, agent, run, /],
  ["steps: [{ use: a }]", /exactly one of.*workflow version 1/],
  ["steps: [{ promt: a }]", /did you mean `prompt`/],
  ["steps: [{ jq: ., model: a }]", /unknown field 'model'; 'jq' steps accept: id, when, input, output, retry/],
  ["steps: [{ stop: true, retry: { max_attempts: 2 } }]", /unknown field 'retry'/],
  ["nodes: {}\nsteps: []", /version 1 workflow.*migration/],
  ["version: 1\nsteps: [{jq: .}]", /version 1 workflow.*migration/],
  ["version: 3\nsteps: [{jq: .}]", /version: 3 is not supported/],
  ["steps: [{ id: a, jq: ., on_error: [{ id: a, jq: . }] }]", /'a' is used more than once/],
  ["steps: [{ id: 1a, jq: . }]", /`id` must be letters/],
  ["steps: [{ jq: '$vars.x' }]", /\$vars is not defined/],
  ["steps: [{ prompt: '{{ input' }]", /`}}` is missing/],
  ["steps: [{ prompt: a, temperature: 3 }]", /`temperature` must be from 0 to 2 \(got 3\)/],
  ["steps: [{ prompt: a, output_schema: missing }]", /'missing', which is not defined/],
  ["steps: [{ prompt: a, schema_name: x }]", /there is none/],
  ["steps: [{ jq: ., timeout: 0 }]", /`timeout` must be at least 1/],
  ["timeout: 0\nsteps: [{ jq: . }]", /`timeout` must be at least 1/],
  ["steps: [{ run: [] }]", /`run` is empty/],
  ["steps: [{ run: [' '] }]", /blank/],
  ["steps: [{ ask: '?', choices: [a], default: b }]", /`default` must be one of the choices: a/],
  ["steps: [{ agent: '' }]", /`agent` is blank/],
  ["steps: [{ break: true }]", /`break` must be in the steps/],
  [
    "steps: [{ for_each: ., steps: [{ jq: ., on_error: [{ parallel: { a: [{ break: true }] } }] }] }]",
    /`break` must be/,
  ],
  ["steps: [{ for_each: ., max_concurrency: 2, steps: [{ break: true }] }]", /`break` must be/],
  ["steps: [{ parallel: { a: [{ stop: true }] } }]", /`stop` cannot stand in a `parallel` branch/],
  ["steps: [{ parallel: { a: [{ ask: '?' }] } }]", /`ask` cannot stand in a `parallel` branch/],
  ["steps: [{ for_each: ., max_concurrency: 2, steps: [{ write: a.txt }] }]", /fixed path/],
  ["steps: [{ decide: { q: { type: choice, criteria: { a: x } } } }]", /2 to 255 options/],
  ["steps: [{ decide: { q: { type: score, criteria: [a] } } }]", /2 to 10 descriptions/],
  ["steps: [{ decide: { q: { type: other } } }]", /one of noul, choice, score/],
];

for (const [text, expected] of STRUCTURE) {
  Deno.test(`workflow file: refused with 1: ${text.replaceAll("\n", "; ")}`, async () => {
    const { code, stderr } = await refused(text);
    assert.match(stderr, expected);
    assert.match(stderr, /failed to parse workflow file 'flow\.yml': flow\.yml:\d+:\d+: /);
    assert.equal(code, 1);
  });
}

const TYPES: readonly (readonly [text: string, expected: RegExp])[] = [
  ["steps: [{ when: true, jq: . }]", /`when` must be a text \(got true\).*quote it: "true"/],
  ["steps: [{ jq: ., timeout: '30' }]", /`timeout` must be a whole number \(got "30"\)/],
  ["steps: [{ jq: ., timeout: 1.5 }]", /`timeout` must be a whole number/],
  ["steps: [{ id: 5, jq: . }]", /`id` must be a text/],
  ["steps: [{ run: [echo, 1] }]", /`run` must be a list of texts/],
  ["steps: [{ prompt: a, files: a.md }]", /`files` must be a list of texts/],
  ["steps: [{ jq: ., on_error: null }]", /on_error must be a list of steps/],
  ["steps: [{ jq: null }]", /`jq` must be a text \(got null\)/],
  ["steps: []", /steps is empty/],
  ["name: x", /`steps` is missing/],
  ["[1]", /must be a map with `steps:`/],
  ["stpes: [{ jq: . }]", /unknown key `stpes`.*did you mean `steps`/],
  ["steps: [{ parallel: { a: [{ jq: . }], a: [{ jq: . }] } }]", /duplicate/],
  ["steps: [{ while: ., steps: [{ jq: . }] }]", /`max_iterations` is missing/],
  ["steps: [{ stop: false }]", /`stop` can only be true/],
  ["steps: [{ jq: .", /.+/],
];

for (const [text, expected] of TYPES) {
  Deno.test(`workflow file: refused with 3: ${text}`, async () => {
    const { code, stderr } = await refused(text);
    assert.match(stderr, expected);
    assert.equal(code, 3);
  });
}

Deno.test("workflow file: what is allowed is allowed", async () => {
  for (
    const text of [
      "steps: [{ when: 'true', jq: . }]",
      "steps: [{ for_each: '[1]', steps: [{ switch: [{ when: 'true', steps: [{ break: true }] }] }] }]",
      "steps: [{ for_each: '[1]', steps: [{ jq: 'error', on_error: [{ break: true }] }] }]",
      "steps: [{ for_each: '[1]', max_concurrency: 2, steps: [{ write: 'out-{{ loop.index }}' }] }]",
      "version: 2\nsteps: [{ jq: . }]",
    ]
  ) {
    const { code, stderr } = await flow(text, "x");
    assert.equal(code, 0, `${text}: ${stderr}`);
  }
});

Deno.test("workflow file: six mistakes are told at once, in order, each with its place", async () => {
  const { stderr } = await refused(`steps:
  - prompt: a
    jq: .
  - jq: '.a |'
  - run: [echo, 1]
  - prompt: "{{ input"
  - { jq: ., model: x }
  - break: true
`);
  const places = [...stderr.matchAll(/flow\.yml:(\d+):(\d+):/g)].map(([, line, column]) => `${line}:${column}`);
  assert.deepEqual(places, ["3:5", "4:14", "5:17", "6:14", "7:14", "8:5"]);
});

Deno.test("workflow file: one that is missing, and usage", async () => {
  await using made = await Flow.make("steps: [{ jq: . }]");
  const missing = await made.lait(["run", "nope.yml", "x"]);
  assert.match(missing.stderr, /failed to read workflow file 'nope\.yml'/);
  assert.equal(missing.code, 1);
  for (
    const args of [
      ["run"],
      ["run", "flow.yml", "--var", "a=b"],
      ["run", "flow.yml", "x", "--model", "m"],
      [
        "run",
        "flow.yml",
        "--dry-run",
        "--resume",
        "x",
      ],
      ["runs"],
      ["graph"],
    ]
  ) {
    assert.equal((await made.lait(args)).code, 2, args.join(" "));
  }
});
