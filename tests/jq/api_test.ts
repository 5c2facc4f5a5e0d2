/** The engine's interface: results, places, references. */
import { deepStrictEqual, ok, rejects, throws } from "node:assert/strict";
import type { JsonValue } from "../../lib/base/json.ts";
import { compile, JqCompileError, JqError, JqSyntaxError } from "../../lib/jq/jq.ts";

function run(source: string, input: JsonValue = null): JsonValue[] {
  return [...compile(source).evaluateSync(input)];
}

function fault(source: string, globals: string[] = []): string {
  try {
    compile(source, { globals });
  } catch (error) {
    ok(error instanceof JqSyntaxError, String(error));
    return `${error.line}:${error.column} ${error.constructor.name}: ${error.message}`;
  }
  throw new Error(`${source} compiles`);
}

Deno.test("JqProgram.evaluate: gives the outputs one at a time, and computes nothing ahead", async () => {
  const seen: JsonValue[] = [];
  for await (const value of compile('1, 2, error("not reached")').evaluate(null)) {
    seen.push(value);
    if (seen.length === 2) break;
  }
  deepStrictEqual(seen, [1, 2]);
  deepStrictEqual(await Array.fromAsync(compile(".[] + $a", { globals: ["a"] }).evaluate([1, 2], { a: 1 })), [2, 3]);
});

Deno.test("JqProgram.collect: an array when it takes a moment, and no more outputs than wanted", () => {
  deepStrictEqual(compile(".a + 1").collect({ a: 1 }), [2]);
  deepStrictEqual(compile("repeat(1)").collect(1, {}, { most: 2 }), [1, 1]);
  deepStrictEqual(compile("$a", { globals: ["a"] }).collect(null), [null]);
});

Deno.test("JqProgram.collect: a promise when it takes longer", async () => {
  const result = compile("last(range(2e6))").collect(null);
  ok(result instanceof Promise);
  deepStrictEqual(await result, [1_999_999]);
});

Deno.test("JqError: carries the value that was raised", async () => {
  await rejects(async () => await Array.fromAsync(compile("error({a: nan})").evaluate(null)), (error) => {
    ok(error instanceof JqError);
    deepStrictEqual(error.value, { a: null });
    deepStrictEqual(error.message, '{"a":null} (not a string)');
    return true;
  });
  throws(() => run('error("x")'), { name: "JqError", message: "x" });
  throws(() => run(".a.b", { a: 1 }), { message: 'Cannot index number with string ("b")' });
});

Deno.test("compile: tells where a source is wrong, and what was meant", () => {
  deepStrictEqual(fault(".a |"), "1:5 JqSyntaxError: unexpected end of the expression: expected an expression");
  deepStrictEqual(fault("1 +\n  * 2"), "2:3 JqSyntaxError: unexpected `*`: expected an expression");
  deepStrictEqual(fault('"a'), '1:3 JqSyntaxError: unexpected end: a text has no closing "');
  deepStrictEqual(fault('"\\q"'), "1:2 JqSyntaxError: invalid escape \\q");
  deepStrictEqual(fault("1 == 2 == 3"), "1:8 JqSyntaxError: `==` cannot follow an operator of its kind: use brackets");
  deepStrictEqual(fault("$step.a", ["steps"]), "1:1 JqCompileError: $step is not defined: did you mean `$steps`?");
  deepStrictEqual(fault("[.[] |\n  selct(.a)]"), "2:3 JqCompileError: selct/1 is not defined: did you mean `select`?");
  deepStrictEqual(fault("has"), "1:1 JqCompileError: has/0 is not defined, but has/1 is");
  deepStrictEqual(fault("def f: $x; 1"), "1:8 JqCompileError: $x is not defined");
  deepStrictEqual(fault("def f(g): nope; 1"), "1:11 JqCompileError: nope/0 is not defined");
  deepStrictEqual(fault("map(nope)"), "1:5 JqCompileError: nope/0 is not defined");
  deepStrictEqual(fault("sort_by(nope)"), "1:9 JqCompileError: nope/0 is not defined");
  deepStrictEqual(fault("{(1): 2}"), "1:3 JqCompileError: cannot use number (1) as object key");
  deepStrictEqual(fault("@foo"), "1:1 JqCompileError: @foo is not a format");
  deepStrictEqual(
    fault(". as $x | break $x"),
    "1:11 JqCompileError: $x is not a label here ($x is a variable, not a label)",
  );
});

Deno.test("compile: refuses what reaches out of the expression", () => {
  for (const name of ["input", "inputs", "debug", "stderr", "env", "input_filename", "halt", "modulemeta"]) {
    throws(() => compile(name), new RegExp(`${name} is not available: `));
  }
  throws(() => compile("$ENV.PATH"), JqCompileError);
  throws(() => compile('import "a" as a; a::b'), /modules are not available/);
});

Deno.test("JqProgram.references: which parts of which globals are read", () => {
  const references = (source: string) =>
    compile(source, { globals: ["steps", "inputs"] }).references.map(({ name, path, place }) =>
      `${place.column} ${[name, ...path].join(".")}`
    );
  deepStrictEqual(references("$steps.a.b"), ["1 steps.a.b"]);
  deepStrictEqual(references('$steps["a-b"][0].c'), ["1 steps.a-b.0.c"]);
  deepStrictEqual(references("$steps[.x].b + $inputs.n"), ["1 steps", "16 inputs.n"]);
  deepStrictEqual(references("$steps | .a.b | .c"), ["1 steps.a.b"]);
  deepStrictEqual(references("$steps.a? // $steps.b[]"), ["1 steps.a", "14 steps.b"]);
  deepStrictEqual(references("$steps[$inputs.key]"), ["8 inputs.key", "1 steps"]);
  deepStrictEqual(references('"\\($steps.a)" | @uri "\\($inputs)"'), ["4 steps.a", "25 inputs"]);
  deepStrictEqual(references(". as $steps | $steps.a"), []);
  deepStrictEqual(references("def f($steps): $steps.a; f(1), $steps.b"), ["32 steps.b"]);
  deepStrictEqual(references('reduce $steps.a[] as {$x, ("y"): $z} ($inputs.n; . + $x)'), ["8 steps.a", "39 inputs.n"]);
  deepStrictEqual(references(".a"), []);
});

Deno.test("JqProgram.ast: every node has its place", () => {
  const { ast } = compile(".a |\n  map(.b)");
  ok(ast.kind === "pipe");
  deepStrictEqual(ast.stages.map(({ kind, place }) => [kind, place.line, place.column]), [
    ["index", 1, 1],
    ["call", 2, 3],
  ]);
});

Deno.test("jq: inputs never change, whatever an expression does with them", () => {
  const freeze = (value: unknown): unknown => {
    if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
    return value;
  };
  const input = freeze({ a: [1, { b: [3, 2, 1] }], c: { d: 1 } }) as JsonValue;
  const before = JSON.stringify(input);
  for (
    const source of [
      ".a[1].b[0] = 9",
      "del(.a[0], .c.d)",
      ".. |= .",
      "reduce range(3) as $i (.; .a += [$i])",
      "reduce range(3) as $i (.; .a[1].b[$i] |= . + 1)",
      "reduce range(2) as $i (.; .x = .a | .x[0] = 5)",
      ".a[1].b |= sort",
      ". * {c: {e: 2}}",
      "[.a, .c] | add(.[])?",
      "map_values(.)",
      "to_entries",
      "with_entries(.)",
      ".a |= reverse",
    ]
  ) {
    run(source, input);
    deepStrictEqual(JSON.stringify(input), before, source);
  }
});

Deno.test("jq: a reduce that changes its state in place does not change what it has handed out", () => {
  deepStrictEqual(run("reduce range(3) as $i ({a: []}; .b = .a | .a += [$i])"), [{ a: [0, 1, 2], b: [0, 1] }]);
  deepStrictEqual(run('reduce range(2) as $i ({a: {}}; .["k\\($i)"] = .a | .a.x = $i)'), [
    { a: { x: 1 }, k0: {}, k1: { x: 0 } },
  ]);
  deepStrictEqual(run("reduce range(3) as $i ([]; . as $s | . + [$s])"), [[[], [[]], [[], [[]]]]]);
  deepStrictEqual(run("reduce range(2) as $i ({a: [1]}; .b = [.a] | .a[0] += 1)"), [{ a: [3], b: [[2]] }]);
  deepStrictEqual(run("[foreach range(3) as $i ([]; . + [$i])]"), [[[0], [0, 1], [0, 1, 2]]]);
});

Deno.test("jq: __proto__ is a key like any other", () => {
  const input = JSON.parse('{"__proto__": {"x": 1}}') as JsonValue;
  const text = (source: string) => JSON.stringify(run(source, input));
  deepStrictEqual(
    text('.__proto__.x, (.__proto__.x = 2), keys, has("__proto__")'),
    '[1,{"__proto__":{"x":2}},["__proto__"],true]',
  );
  deepStrictEqual(text("to_entries | from_entries"), '[{"__proto__":{"x":1}}]');
  deepStrictEqual(text('{} | .__proto__, .toString, has("constructor")'), "[null,null,false]");
  deepStrictEqual(text('{"__proto__": 1} + {a: 2} | ., del(.__proto__)'), '[{"__proto__":1,"a":2},{"a":2}]');
  deepStrictEqual(text('. * {"__proto__": {y: 2}}'), '[{"__proto__":{"x":1,"y":2}}]');
});

Deno.test("jq: numbers read as jq writes them", () => {
  deepStrictEqual(run("[0.00001, 1e17, 1e15, 1e100, 123456789012345678, 3.0, 1e1000, -0, 1.5] | tojson"), [
    "[1e-05,1e+17,1000000000000000,1e+100,123456789012345680,3,1.7976931348623157e+308,-0,1.5]",
  ]);
  deepStrictEqual(run("nan, infinite, [nan, -infinite]"), [null, Number.MAX_VALUE, [null, -Number.MAX_VALUE]]);
});

Deno.test("jq: functions of 1.8", () => {
  deepStrictEqual(run('"  a " | trim, ltrim, rtrim'), ["a", "a ", "  a"]);
  deepStrictEqual(run('"aba" | trimstr("a"), ltrimstr("a"), @base32, (@base32 | @base32d)'), [
    "b",
    "ba",
    "MFRGC===",
    "aba",
  ]);
  deepStrictEqual(run("[1, [2]] | toarray, add(.[0]), have_decnum, ([skip(1; .[])] | length), pick(.[0])"), [
    [1, [2]],
    1,
    false,
    1,
    [1],
  ]);
  deepStrictEqual(run('"2015-03-05T23:51:47Z" | fromdate, (fromdate | todate), strptime("%Y-%m-%dT%H:%M:%SZ")'), [
    1425599507,
    "2015-03-05T23:51:47Z",
    [2015, 2, 5, 23, 51, 47, 4, 63],
  ]);
  deepStrictEqual(run('1425599507 | strftime("%A %d %B %Y %j %U %V %I %p %Z %e")'), [
    "Thursday 05 March 2015 064 09 10 11 PM UTC  5",
  ]);
});
