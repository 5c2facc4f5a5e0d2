/** What an expression may not do ends it, soon. */
import { deepStrictEqual, ok, rejects, throws } from "node:assert/strict";
import type { JsonValue } from "../../lib/base/json.ts";
import { compile, JqLimitError, type JqLimits } from "../../lib/jq/jq.ts";

function run(source: string, input: JsonValue = null, limits: Partial<JqLimits> = {}): JsonValue[] {
  // Bounds a failure of the test; what is tested ends long before, and by another limit.
  return [...compile(source, { limits: { milliseconds: 10_000, ...limits } }).evaluateSync(input)];
}

function reaches(limit: keyof JqLimits | "regex", action: () => unknown): void {
  throws(action, (error) => {
    ok(error instanceof JqLimitError, String(error));
    deepStrictEqual(error.limit, limit, error.message);
    return true;
  });
}

const HOSTILE: readonly (readonly [source: string, limit: keyof JqLimits | "regex"])[] = [
  ["[range(1e12)]", "workingBytes"],
  ['"x" * 1e9', "workingBytes"],
  ["def f: [f]; f", "callDepth"],
  [". as $x | [limit(1e9; repeat(1))]", "workingBytes"],
  ["def f: f | f; f", "callDepth"],
  ["def f: (f, 1); f", "workingBytes"],
  ["def f(x): f(x | x); f(.)", "workingBytes"],
  [".[500000000] = 1", "workingBytes"],
  ['[limit(1e9; repeat("x" * 1000))]', "workingBytes"],
  ['reduce range(60) as $i ("x"; . + .)', "workingBytes"],
  ["reduce range(60) as $i ([1]; . + .)", "workingBytes"],
  ["reduce range(60) as $i ([1]; [., .])", "valueBytes"],
  ["reduce range(5000) as $i (0; [.])", "depth"],
  ["[range(1e5)] as $a | [$a[] as $x | $a]", "resultBytes"],
  ['"a" * 2e7 | gsub("[ab]"; "bb") | length', "regex"],
];

for (const [source, limit] of HOSTILE) {
  Deno.test(`jq limits: ${source} reaches ${limit}`, () => reaches(limit, () => run(source)));
}

Deno.test("jq limits: a pattern that makes other engines explode is answered", () => {
  deepStrictEqual(run('("a" * 32) + "!" | test("^(a+)+$")'), [false]);
});

Deno.test("jq limits: a plain word is looked for in a text of any length", () => {
  deepStrictEqual(run('"a, b" * 5000000 + "x" | test("bx"), (sub("bx"; "") | length), [match("bx").offset]'), [
    true,
    19_999_999,
    [19_999_999],
  ]);
});

Deno.test("jq limits: a pattern with look-around is bounded, the more the more it repeats", () => {
  deepStrictEqual(run('"ab" | test("a(?=b)"), test("a(?!b)"), [match("(.)(?<x>.)(?<=\\\\2)").captures[].name]'), [
    true,
    false,
    [null, "x"],
  ]);
  throws(() => run('"aaaa" | test("(?=a)(a+)+$")'), /repetition within repetition/);
  deepStrictEqual(run('"a" * 100000 | test("a(?=b)")'), [false]);
  reaches("regex", () => run('"a" * 100001 | test("a(?=b)")'));
  reaches("regex", () => run('"a" * 10000 | test("(?=a)a*a*a*a*b")'));
  throws(() => run('"aaaa" | test("(?=a)(?:a?){50}b")'), /repetition within repetition/);
});

Deno.test("jq limits: recursion goes 1 000 calls deep, and 100 000 in tail position", () => {
  deepStrictEqual(run("def f: if . == 0 then 0 else (. - 1 | f) + 1 end; 50000 | f"), [50_000]);
  deepStrictEqual(run('def f: if . == 0 then "end" else . - 1 | f end; 1000000 | f'), ["end"]);
  deepStrictEqual(run('def f(g): if . == 0 then "end" else . - 1 | f(g) end; 200000 | f(.)'), ["end"]);
  deepStrictEqual(run("last(recurse(if . < 100000 then . + 1 else empty end))", 0), [100_000]);
  deepStrictEqual(run("[limit(3; repeat(1))], first(range(1e12)), isempty(range(1e12)), any(range(1e12); . > 3)"), [
    [null, 1, 1],
    0,
    false,
    true,
  ]);
});

Deno.test("jq limits: source, its nesting, input and globals", () => {
  reaches("sourceBytes", () => compile(" ".repeat(65_537)));
  reaches("sourceDepth", () => compile("[".repeat(1025) + "]".repeat(1025)));
  deepStrictEqual(
    [..."[{("].map((open) => {
      const close = { "[": "]", "{": "}", "(": ")" }[open]!;
      const start = open === "{" ? "{a:" : open;
      return compile(`${start.repeat(1024)}1${close.repeat(1024)}`).references.length;
    }),
    [0, 0, 0],
  );
  reaches("sourceDepth", () => compile("-".repeat(40_000) + "1"));
  reaches("sourceDepth", () => compile(".a" + "[0]".repeat(20_000)));
  let deep: JsonValue = 1;
  for (let level = 0; level < 1025; level++) deep = [deep];
  reaches("depth", () => run(".", deep));
  reaches("inputBytes", () => run(".", "x".repeat(1000), { inputBytes: 100 }));
  reaches("valueBytes", () => run(".", Array.from({ length: 1000 }, () => 1), { valueBytes: 1000 }));
  reaches("valueBytes", () => {
    const program = compile("$a", { globals: ["a"], limits: { valueBytes: 1000 } });
    return [...program.evaluateSync(null, { a: "x".repeat(1000) })];
  });
  reaches("resultBytes", () => run('"x" * 20000000'));
});

Deno.test("jq limits: an expression cannot catch a limit", () => {
  reaches("workingBytes", () => run("try [range(1e12)] catch 1"));
  reaches("milliseconds", () => run("[range(1e12) | select(false)]?", null, { milliseconds: 20 }));
});

Deno.test("jq limits: deep values are walked without the stack", () => {
  const source =
    "reduce range(9000) as $i (0; [.]) | . as $v | (. == $v), ([$v, $v] | unique | length), contains($v), " +
    "([$v] | flatten), ([..] | length), (tojson | length), ({a: $v} * {a: $v} | length)";
  const limits = { depth: 10_000 };
  deepStrictEqual(run(source, null, limits), [true, 1, true, [0], 9001, 18_001, 1]);
});

Deno.test("jq limits: an endless expression gives way, and ends with the signal's reason", async () => {
  const controller = new AbortController();
  const program = compile("last(repeat(1))");
  let ticks = 0;
  const timer = setInterval(() => {
    if (++ticks === 5) controller.abort(new Error("enough"));
  }, 1);
  try {
    await rejects(async () => await program.collect(null, {}, { signal: controller.signal }), /enough/);
  } finally {
    clearInterval(timer);
  }
  ok(ticks >= 5);
});

Deno.test("jq limits: two endless expressions run side by side, each to its own end", async () => {
  const program = compile("last(repeat(1))");
  const end = { limits: { milliseconds: 100 } };
  const ends = await Promise.allSettled([program.collect(null, {}, end), program.collect(null, {}, end)]);
  deepStrictEqual(ends.map(({ status }) => status), ["rejected", "rejected"]);
});

Deno.test("jq limits: endless outputs leave time for others, and end when they are collected", async () => {
  const program = compile("repeat(1)");
  let ticked = false;
  setTimeout(() => void (ticked = true), 1);
  for await (const _ of program.evaluate(null)) if (ticked) break;
  ok(ticked);
  await rejects(async () => await program.collect(null), JqLimitError);
});
