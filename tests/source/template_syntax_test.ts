import assert from "node:assert/strict";
import { formatDiagnostic, formatPlace } from "../../lib/base/diagnostic.ts";
import { DiagnosticError } from "../../lib/base/errors.ts";
import { parseTemplate } from "../../lib/source/template/template.ts";
import type { TextPlace } from "../../lib/source/text_place.ts";
import { readYaml } from "../../lib/source/yaml.ts";

function errorOf(source: string, origin?: TextPlace): DiagnosticError {
  try {
    parseTemplate(source, origin);
  } catch (error) {
    assert.ok(error instanceof DiagnosticError, String(error));
    return error;
  }
  assert.fail(`no fault in ${JSON.stringify(source)}`);
}

/** The faults as `line:column id`. */
function faultsOf(source: string): string[] {
  return errorOf(source).diagnostics.map((d) => `${d.place.line}:${d.place.column} ${d.id}`);
}

const SYNTAX: readonly [source: string, message: string][] = [
  ["{{ a", "template:1:1: `{{` is not closed (`}}` is missing) [template-syntax]"],
  ["x\n {{ a b", "template:2:2: `{{` is not closed (`}}` is missing) [template-syntax]"],
  ["{{ a }", "template:1:1: `{{` is not closed (`}}` is missing) [template-syntax]"],
  ["{{#if a}}x", "template:1:1: block `if` is not closed (`{{/if}}` is missing) [template-syntax]"],
  [
    "x\n{{#each a}}{{#if b}}{{else}}{{/if}}\n",
    "template:2:1: block `each` is not closed (`{{/each}}` is missing) [template-syntax]",
  ],
  ["é{{#if a}}x{{/iff}}", "template:1:5: block `if` is closed by `{{/iff}}` [template-syntax]"],
  ["{{/if}}", "template:1:1: a block is closed that was not opened [template-syntax]"],
  ["{{else}}", "template:1:1: `{{else}}` stands outside a block, or behind another one [template-syntax]"],
  [
    "{{#if a}}{{else}}{{else}}{{/if}}",
    "template:1:18: `{{else}}` stands outside a block, or behind another one [template-syntax]",
  ],
  ["{{}}", "template:1:3: unexpected `}}`: a name is expected here [template-syntax]"],
  [
    "x\n{{ a | upper }}",
    "template:2:6: unexpected `|`: a name is expected here [template-syntax]",
  ],
  [
    "{{ a % b }}",
    "template:1:6: unexpected `%`: a name is expected here (to print `{{` itself, write `\\{{`) [template-syntax]",
  ],
  ["{{ a }}}", "template:1:6: `{{` is closed by `}}}` (write `}}`) [template-syntax]"],
  ["{{{ a }}", "template:1:7: `{{{` is closed by `}}` (write `}}}`) [template-syntax]"],
  ['{{ json "a }}', "template:1:9: a text in quotes is not closed [template-syntax]"],
  ["{{!-- a }}", "template:1:1: comment is not closed (`--}}` is missing) [template-syntax]"],
  ["{{ a/../b }}", "template:1:4: invalid path: a/.. [template-syntax]"],
  [
    "{{ (eq a b) }}",
    "template:1:4: `(` cannot stand here (a helper that is printed has no parentheses: `{{ eq a b }}`) [template-syntax]",
  ],
  ["\0{{ a }}", "template:1:1: a template may not hold a NUL character [template-syntax]"],
  ["{{ undefined }}", "template:1:4: `undefined` is no value (write `null`) [template-syntax]"],
  ["{{{{raw}}}}x", "template:1:1: block `raw` is not closed (`{{/raw}}` is missing) [template-syntax]"],
];

for (const [source, message] of SYNTAX) {
  Deno.test(`parseTemplate: says what is wrong with ${JSON.stringify(source)}`, () => {
    assert.deepEqual(errorOf(source).diagnostics.map(formatDiagnostic), [message]);
  });
}

const REFUSED: readonly [source: string, faults: string[]][] = [
  ["{{> part}}", ["1:1 template-partial"]],
  ["{{#> part}}x{{/part}}", ["1:1 template-partial"]],
  ['{{#*inline "p"}}x{{/inline}}{{> p}}', ["1:1 template-partial", "1:29 template-partial"]],
  ["{{* decorate}}", ["1:1 template-decorator"]],
  ["{{#* decorate}}{{/decorate}}", ["1:1 template-decorator"]],
  ["{{{{raw}}}} {{a}} {{{{/raw}}}}", ["1:1 template-raw-block"]],
  ["{{{{if x}}}} {{{{/if}}}}", ["1:1 template-raw-block"]],
  ["{{log x}}", ["1:3 template-helper"]],
  ["{{#if (log x)}}{{/if}}", ["1:8 template-helper"]],
  ["{{helperMissing x}}", ["1:3 template-helper"]],
  ["{{constructor x}}", ["1:3 template-helper"]],
  ["{{a.b x}}", ["1:3 template-helper"]],
  ["{{@root.json x}}", ["1:3 template-helper"]],
  ["{{'json' x}}", ["1:3 template-helper"]],
  ["{{json}}", ["1:3 template-helper"]],
  ["{{json a b}}", ["1:3 template-helper"]],
  ["{{json a indent=2}}", ["1:10 template-helper"]],
  ["{{lookup a}}", ["1:3 template-helper"]],
  ["{{eq a}}", ["1:3 template-helper"]],
  ["{{not a b}}", ["1:3 template-helper"]],
  ["{{and}}", ["1:3 template-helper"]],
  ["{{if a}}", ["1:3 template-helper"]],
  ["{{eq (each a) 1}}", ["1:7 template-helper"]],
  ["{{#if}}{{/if}}", ["1:4 template-helper"]],
  ["{{#if a b}}{{/if}}", ["1:4 template-helper"]],
  ["{{#if a as |x|}}{{/if}}", ["1:4 template-helper"]],
  ["{{#if a foo=1}}{{/if}}", ["1:9 template-helper"]],
  ["{{#each a as |x y z|}}{{/each}}", ["1:4 template-helper"]],
  ["{{#with a as |x y|}}{{/with}}", ["1:4 template-helper"]],
  ["{{#eq a}}{{/eq}}", ["1:4 template-helper"]],
  ["{{#json a}}{{/json}}", ["1:4 template-helper"]],
  ["{{#items}}{{/items}}", ["1:4 template-helper"]],
  ["{{^items}}{{/items}}", ["1:4 template-helper"]],
  ["{{#blockHelperMissing a}}{{/blockHelperMissing}}", ["1:4 template-helper"]],
  ["{{../a}}", ["1:3 template-path"]],
  ["{{#each a}}{{../b}}{{../../c}}{{/each}}", ["1:22 template-path"]],
  ["{{#if a}}{{../b}}{{/if}}", ["1:12 template-path"]],
  ["{{@index}}", ["1:3 template-path"]],
  ["{{#with a}}{{@first}}{{/with}}", ["1:14 template-path"]],
  ["{{#each a}}{{@../key}}{{/each}}", ["1:14 template-path"]],
  ["{{@partial-block}}", ["1:3 template-path"]],
  ["{{eq a undefined}}", ["1:8 template-syntax"]],
  ["{{#foo}}{{> p}}{{/foo}}{{bar x}}", ["1:4 template-helper", "1:9 template-partial", "1:26 template-helper"]],
  ["a\r\n{{log x}}\r\n  {{#each (foo y)}}{{* d}}{{else}}{{@x}}{{/each}}", [
    "2:3 template-helper",
    "3:12 template-helper",
    "3:20 template-decorator",
    "3:37 template-path",
  ]],
];

for (const [source, faults] of REFUSED) {
  Deno.test(`parseTemplate: refuses ${JSON.stringify(source)}`, () => assert.deepEqual(faultsOf(source), faults));
}

Deno.test("parseTemplate: names the nearest helper, block and variable, or all of them", () => {
  const hint = (source: string) => errorOf(source).diagnostics[0]?.hint;
  assert.equal(hint("{{jsn a}}"), "did you mean `json`?");
  assert.equal(hint("{{#esch a}}{{/esch}}"), "did you mean `each`?");
  assert.equal(hint("{{#items}}{{/items}}"), "write `{{#each items}}` to repeat, `{{#if items}}` to decide");
  assert.equal(hint("{{#each a}}{{@indx}}{{/each}}"), "did you mean `index`?");
  assert.match(hint("{{upper a}}") ?? "", /^known helpers: json, text, lookup, len, eq, .*not$/);
  assert.equal(hint("{{#each a}}{{text}}{{/each}}"), "for a value of that name, write `this.text`");
});

Deno.test("parseTemplate: deep nesting is a fault at once", () => {
  // Left to itself, the package's parser works minutes on these.
  for (
    const source of [
      `${"{{#if a}}".repeat(20_000)}${"{{/if}}".repeat(20_000)}`,
      `{{ not ${"(not ".repeat(50_000)}a${")".repeat(50_000)}}}`,
      `{{#if a}}${"{{else if a}}".repeat(20_000)}{{/if}}`,
    ]
  ) {
    assert.match(errorOf(source).message, /nested more than 200 levels deep \[template-syntax\]$/);
  }
});

Deno.test("parseTemplate: blocks side by side are not nesting", () => {
  const source = "{{#if a}}{{#if b}}x{{else if a}}y{{else}}z{{/if}}{{/if}}{{len (text (json a))}}".repeat(500);
  assert.equal(parseTemplate(source).render({ a: 1, b: false }), "y1".repeat(500));
});

Deno.test("parseTemplate: the place of a single-line template is counted from its origin", () => {
  const { diagnostics } = errorOf("é {{ foo a }}", { file: "f.yml", line: 7, column: 11 });
  assert.deepEqual(diagnostics.map((d) => [formatPlace(d.place), d.message]), [["f.yml:7:16", "unknown helper `foo`"]]);
});

Deno.test("parseTemplate: of a template of several lines the origin and the line in it are told", () => {
  const { diagnostics } = errorOf("a\n {{ foo a }}", { file: "f.yml", line: 7, column: 11 });
  assert.deepEqual(diagnostics.map((d) => [formatPlace(d.place), d.message]), [
    ["f.yml:7:11", "unknown helper `foo` (line 2, column 5 of the template)"],
  ]);
});

Deno.test("parseTemplate: the place is exact where the text's lines are the file's", () => {
  const yaml = "a: 1\nprompt: |\n    Hello\n    {{ foo input }}\nb: '{{> x}}'\nfolded: >\n  a\n  {{> y}}\n";
  const { root } = readYaml(yaml, "f.yml");
  assert.ok(root?.kind === "map");
  const places = root.entries.slice(1).map(({ value }) => {
    assert.ok(value.kind === "scalar");
    return formatPlace(errorOf(String(value.value), value.place).diagnostics[0]!.place);
  });
  assert.deepEqual(places, ["f.yml:4:8", "f.yml:5:5", "f.yml:6:9"]);
});

Deno.test("parseTemplate: the content of a Markdown body is placed by the line it starts on", () => {
  const origin = { file: "agent.md", line: 4, column: 1, content: { line: 4, column: 1 } };
  assert.equal(formatPlace(errorOf("x\n{{> y}}", origin).diagnostics[0]!.place), "agent.md:5:1");
});

Deno.test("parseTemplate: every message is one line", () => {
  for (const source of ["{{ a", "{{#if a}}", "{{", "{{ a\n\n b % }}", "{{#if a}}{{/[x\ny]}}", "{{ 'a\nb }}"]) {
    for (const { message } of errorOf(source).diagnostics) assert.doesNotMatch(message, /\n/);
  }
});
