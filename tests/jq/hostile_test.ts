/** No expression keeps others waiting: what takes long goes on in parts, and ends when that is asked for. */
import { ok, rejects } from "node:assert/strict";
import { compile, JqError, JqLimitError } from "../../lib/jq/jq.ts";

/** A value of 41 containers, and more than a million million parts. */
const DOUBLED = (seed: string) => `reduce range(40) as $i (${seed}; [., .])`;

const DOUBLED_USES = [
  ". == .",
  "[., .] | sort | length",
  "[., .] | unique | length",
  "group_by(.) | length",
  "min",
  "tojson",
  "tostring",
  "@text",
  "@json",
  "@base64",
  "@html",
  "@uri",
  "@csv",
  "@sh",
  "[paths]",
  "last(paths)",
  "walk(.)",
  "flatten",
  "add | length",
  'join(",")',
  "implode",
  "ascii_downcase",
  'gsub("a"; "b")',
  'split(",")',
  'ltrimstr("a")',
  "ascii",
  "-.",
  "error",
  "contains([[]])",
  "[..] | length",
  "last(..)",
  "tostream",
  "index([1])",
  "transpose",
  ". - .",
  "del(..)",
  "pick(.[0])",
].map((use) => `${DOUBLED("1")} | ${use}`);

const HOSTILE = [
  ...DOUBLED_USES,
  ...["==", "!=", "<", "-"].map((operator) => `(${DOUBLED("1")}) ${operator} (${DOUBLED("1")})`),
  `${DOUBLED("[]")} | flatten`,
  `(${DOUBLED("1")}) as $a | (${DOUBLED("2")}) as $b | $a | contains($b)`,
  '("a" * 32) + "!" | test("^(a+)+$")',
  "[range(1e12)]",
  '"x" * 1e9',
  "def f: [f]; f",
  ". as $x | [limit(1e9; repeat(1))]",
  "[range(1e12) | [.]]",
  "[range(2e6)] | map(-.) | sort",
  "[range(3e5) | tostring | {(.): 1}] | add | keys",
  '"a,b" * 5000000 | split(",")',
  '"aB" * 30000000 | ascii_downcase',
  '"é<" * 20000000 | @uri, @html, @base64',
  '"QUJD" * 10000000 | @base64d',
  '" " * 60000000 | trim',
  '"a" * 2000000 | gsub("a"; "bb")',
  '"[" + "1," * 5000000 + "x]" | fromjson',
  "[range(20000)] as $a | $a | contains($a)",
  "[range(1e5) | 0] as $a | $a | indices([range(5e4) | 0] + [1])",
  "[range(1e5)] as $a | [range(1e5) | $a | .[0] = 1]",
  '("a" * 1e6) as $a | [range(1e5) | $a | .[1:] + "x"]',
  "([range(1e5) | tostring | {(.): 1}] | add) as $a | [range(1e5) | $a + {x: .}]",
  'reduce range(30) as $i ("\\\\"; tojson)',
  "def f: (f, 1); f",
];

/** When an abort comes, in milliseconds; what ends before has reached a limit or its end. */
const PATIENCE = 150;

for (const source of HOSTILE) {
  Deno.test(`jq: others have their turn during ${source}`, async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    let turns = 0;
    let turnsAfterAbort = 0;
    const started = performance.now();
    const timer = setInterval(() => {
      turns++;
      if (controller.signal.aborted) turnsAfterAbort++;
      else if (performance.now() - started > PATIENCE) controller.abort(reason);
    }, 1);
    try {
      await compile(source).collect(null, {}, { signal: controller.signal });
    } catch (error) {
      ok(error === reason || error instanceof JqLimitError || error instanceof JqError, String(error));
    } finally {
      clearInterval(timer);
    }
    const took = performance.now() - started;
    // Not how long, but how often: one who waits for a whole step would have no turn.
    ok(took < 1000 || turns >= 2, `others had ${turns} turns in ${Math.round(took)} ms`);
    ok(turnsAfterAbort < 20, `it went on for ${turnsAfterAbort} turns after it was to end`);
  });
}

Deno.test("jq: a long step in an expression gives the same as a short one", async () => {
  const source = `
    def rows: [range(60000) | {id: (. * 7919 % 60000 | tostring), n: (. % 5)}];
    rows as $r
    | ($r | tojson) as $text
    | [ ($text | length),
        ($text | fromjson) == $r,
        ($r | sort_by(.id) | map(.id) | [.[0], .[-1]]),
        ($r | group_by(.n) | map(length)),
        ([$r[].id] | sort | unique | length),
        (try ($r | tojson | error) catch length),
        ([$r[].id] | join(",") | split(",") | length),
        (reduce (1, 2) as $i ({}; .[$i | tostring] = ($r | tojson | length) | .n += 1)),
        ($text | explode | implode) == $text,
        ($text | @base64 | @base64d) == $text,
        (($text | @uri | @urid) == $text and ($r[:100] - $r[:50] == $r[50:100])),
        ("\\($text)\\($text)" | length) ]`;
  const limits = { workingBytes: 1024 * 1024 * 1024, valueBytes: Infinity };
  const program = compile(source.replaceAll("\\\\", "\\"), { limits });
  const [value] = await program.collect(null);
  const text = JSON.stringify(Array.from({ length: 60_000 }, (_, n) => ({ id: String(n * 7919 % 60_000), n: n % 5 })));
  const size = text.length;
  ok(
    JSON.stringify(value) === JSON.stringify([
      size,
      true,
      ["0", "9999"],
      [12_000, 12_000, 12_000, 12_000, 12_000],
      60_000,
      size,
      60_000,
      { 1: size, n: 2, 2: size },
      true,
      true,
      true,
      2 * size,
    ]),
    JSON.stringify(value),
  );
});

Deno.test("jq: a deadline ends a long step", async () => {
  const program = compile("[range(1e6)] | map(-.) | sort | length", { limits: { milliseconds: 30 } });
  await rejects(async () => await program.collect(null), JqLimitError);
});
