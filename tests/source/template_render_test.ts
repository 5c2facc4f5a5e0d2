import assert from "node:assert/strict";
import { DiagnosticError } from "../../lib/base/errors.ts";
import { parseTemplate, TemplateError, type TemplateOptions } from "../../lib/source/template/template.ts";

const data = {
  input: {
    s: "str",
    n: 1,
    zero: 0,
    empty: "",
    nil: null,
    yes: true,
    no: false,
    list: ["a", "b", "c"],
    noItems: [],
    object: { x: 1, "10": 2, y: { z: "deep" } },
    nothing: {},
    html: `<a href="x">&'`,
    template: "{{ input.s }}{{#if}}",
    items: [{ n: "p", tags: [1, 2], text: "own" }, { n: "q", tags: [], text: "two" }],
  },
  steps: { "my-id": "hyphen", "日本": "multi-byte" },
  inputs: { topic: "cats" },
  loop: null,
};

function render(source: string, options?: TemplateOptions): string {
  return parseTemplate(source, undefined, options).render(data);
}

function errorOf(source: string, options?: TemplateOptions): TemplateError {
  try {
    render(source, options);
  } catch (error) {
    assert.ok(error instanceof TemplateError, String(error));
    return error;
  }
  assert.fail(`no error from ${source}`);
}

const RENDERED: readonly [source: string, result: string][] = [
  // Text forms.
  ["plain } { text", "plain } { text"],
  ["{{ input.s }} {{input.n}} {{ input.nil }} {{ input.no }} {{ loop }}", "str 1 null false null"],
  ["{{ input.object }}{{ input.list }}", '{"10":2,"x":1,"y":{"z":"deep"}}["a","b","c"]'],
  ["{{ json input.s }} {{ json input.list }} {{ json input.nil }}", '"str" ["a","b","c"] null'],
  ["{{ text input.s }} {{ text input.list }}", 'str ["a","b","c"]'],
  ["{{{ input.object.y }}} {{& input.html }}", `{"z":"deep"} <a href="x">&'`],
  ["{{ input.html }}", `<a href="x">&'`],
  ['{{ "x" }}{{ 1.5 }}{{ true }}{{ null }}', "x1.5truenull"],
  ["{{ input.n }}{{ input.n }}", "11"],
  // Text in data is no template.
  ["{{ input.template }}", "{{ input.s }}{{#if}}"],
  // Paths.
  ["{{ input.list.[0] }}{{ input.list.1 }}{{ input.list/2 }}{{ input.items.0.tags.1 }}", "abc2"],
  ["{{ input.object.10 }} {{ input.object.[10] }} {{ input.[object].y.z }}", "2 2 deep"],
  ["{{ steps.my-id }} {{ steps.日本 }} {{ steps.[my-id] }}", "hyphen multi-byte hyphen"],
  ["{{ this.input.s }} {{ ./input.s }} {{ @root.input.s }}", "str str str"],
  // Conditions.
  ["{{#if input.s}}a{{/if}}{{#if input.zero}}b{{/if}}{{#if input.empty}}c{{/if}}{{#if input.nil}}d{{/if}}", "a"],
  ["{{#if input.noItems}}a{{/if}}{{#if input.nothing}}b{{/if}}{{#if input.no}}c{{else}}d{{/if}}", "bd"],
  ["{{#if input.zero includeZero=true}}a{{/if}}{{#if input.nil includeZero=true}}b{{/if}}", "a"],
  ["{{#unless input.zero}}a{{/unless}}{{#unless input.s}}b{{else}}c{{/unless}}", "ac"],
  ["{{^if input.s}}a{{/if}}{{^if input.no}}b{{/if}}{{#if input.no}}c{{^}}d{{/if}}", "bd"],
  ["{{#if input.no}}1{{else if input.zero}}2{{else if input.s}}3{{else}}4{{/if}}", "3"],
  ["{{#if input.no}}1{{else each input.list}}{{this}}{{/if}}", "abc"],
  // A path that leads nowhere is false, as the bare argument of a condition only.
  ["{{#if input.nope}}a{{else}}b{{/if}}{{#unless input.nope.deep.er}}c{{/unless}}{{#if nope}}d{{/if}}", "bc"],
  ["{{#if input.s.length}}a{{else}}b{{/if}}{{#if input.constructor}}a{{else}}b{{/if}}", "bb"],
  // Loops.
  [
    "{{#each input.list}}{{@index}}{{@key}}{{this}}{{#if @first}}<{{/if}}{{#if @last}}>{{/if}} {{/each}}",
    "00a< 11b 22c> ",
  ],
  [
    "{{#each input.object}}{{@key}}={{this}}@{{@index}}{{#unless @last}};{{/unless}}{{/each}}",
    '10=2@0;x=1@1;y={"z":"deep"}@2',
  ],
  ["{{#each input.noItems}}a{{else}}none{{/each}}{{#each input.nothing}}a{{else}}none{{/each}}", "nonenone"],
  ["{{#each input.nil}}a{{else}}b{{/each}}{{#each input.empty}}a{{else}}c{{/each}}", "bc"],
  [
    "{{#each input.items}}{{n}}{{#each tags}}{{../n}}{{.}}{{@../index}}{{@index}}{{/each}}{{../input.s}};{{/each}}",
    "pp100p201str;qstr;",
  ],
  [
    "{{#each input.items as |item i|}}{{#each item.tags as |tag|}}{{i}}{{tag}}{{item.n}} {{/each}}{{/each}}",
    "01p 02p ",
  ],
  ["{{#each input.items}}{{this.text}}{{./text}}{{text n}}{{/each}}", "ownownptwotwoq"],
  ["{{#each input.items as |text|}}{{text.n}}{{/each}}{{#each input.list as |json|}}{{json}}{{/each}}", "pqabc"],
  ["{{#each input.object as |v k|}}{{k}}{{/each}}", "10xy"],
  ["{{#each input.items}}{{#if tags}}{{../input.s}}{{n}}{{/if}}{{/each}}", "strp"],
  // With.
  [
    "{{#with input.object}}{{x}}{{y.z}}{{../input.s}}{{#with y}}{{z}}{{../x}}{{@root.input.n}}{{/with}}{{/with}}",
    "1deepstrdeep11",
  ],
  [
    "{{#with input.object as |o|}}{{o.x}}{{/with}}{{#with input.nil}}a{{else}}b{{/with}}{{#with input.zero}}{{this}}{{/with}}",
    "1b0",
  ],
  ["{{#with input}}{{#each list}}{{../s}}{{/each}}{{/with}}", "strstrstr"],
  // Helpers.
  [
    '{{ lookup input "s" }}{{ lookup input.list 1 }}{{#each input.list}}{{ lookup ../input.list @index }}{{/each}}',
    "strbabc",
  ],
  ['{{ json (lookup input.object "y") }}{{#with (lookup input "object")}}{{x}}{{/with}}', '{"z":"deep"}1'],
  ["{{ len input.list }}{{ len input.object }}{{ len input.s }}{{ len '😀é' }}{{ len input.nil }}", "33320"],
  [
    "{{ eq input.n 1 }} {{ eq input.n '1' }} {{ ne input.s 'x' }} {{ eq input.list input.list }}",
    "true false true true",
  ],
  ["{{ gt 2 1 }}{{ gte 1 1 }}{{ lt 1 2 }}{{ lte 3 2 }}", "truetruetruefalse"],
  [
    "{{ gt '10' 9 }}{{ lt '10' '9' }}{{ gt input.list 1 }}{{ lte input.nil 0 }}{{ gt true false }}",
    "truetruefalsefalsetrue",
  ],
  [
    "{{ and 1 'a' }}{{ and 1 0 }}{{ or 0 '' }}{{ or 0 2 }}{{ not input.noItems }}{{ not 1 }}",
    "truefalsefalsetruetruefalse",
  ],
  ["{{#if (eq input.s 'str')}}a{{else}}b{{/if}}{{#if (and input.s (not (gt input.n 1)))}}c{{/if}}", "ac"],
  [
    "{{#eq input.n 1}}a{{else}}b{{/eq}}{{#and input.s input.no}}a{{else}}b{{/and}}{{^not input.no}}c{{else}}d{{/not}}",
    "abd",
  ],
  ["{{#each input.items}}{{#if (gt @index 0)}}, {{/if}}{{n}}{{/each}}", "p, q"],
  // Comments, escapes, whitespace.
  ["a{{! note }}b{{!-- {{ input.nope }} --}}c", "abc"],
  ["\\{{ input.s }} \\\\{{ input.s }}", "{{ input.s }} \\str"],
  ["a {{~ input.s ~}} b {{~#if input.s~}} c {{~/if~}} d", "astrbcd"],
  ["x\n  {{#if input.s}}\n  yes\n  {{else}}\n  no\n  {{/if}}\ny\n", "x\n  yes\ny\n"],
  ["a\r\n{{#each input.list}}\r\n- {{this}}\r\n{{/each}}\r\nend", "a\r\n- a\r\n- b\r\n- c\r\nend"],
  ["日本 {{ input.s }} 😀\n{{! alone }}\nend", "日本 str 😀\nend"],
];

for (const [source, result] of RENDERED) {
  Deno.test(`Template.render: ${JSON.stringify(source)}`, () => assert.equal(render(source), result));
}

const ERRORS: readonly [source: string, message: string][] = [
  ["{{ input.nope }}", '"input.nope" is not defined (line 1, column 4 of the template)'],
  ["x\n  {{ json input.nope }}", '"input.nope" is not defined (line 2, column 11 of the template)'],
  ["{{ text nope }}", '"nope" is not defined (line 1, column 9 of the template)'],
  ["{{ vars.x }}", '"vars.x" is not defined (line 1, column 4 of the template)'],
  ["{{ inputs.topci }}", '"inputs.topci" is not defined; did you mean `topic`? (line 1, column 4 of the template)'],
  ["{{ input.constructor }}", '"input.constructor" is not defined (line 1, column 4 of the template)'],
  ["{{ input.__proto__ }}", '"input.__proto__" is not defined (line 1, column 4 of the template)'],
  [
    "{{ input.list.constructor }}",
    '"input.list.constructor" is not defined: `input.list` is an array of 3 (line 1, column 4 of the template)',
  ],
  ["{{ input.s.length }}", '"input.s.length" is not defined: `input.s` is a string (line 1, column 4 of the template)'],
  [
    "{{ input.list.length }}",
    '"input.list.length" is not defined: `input.list` is an array of 3 (line 1, column 4 of the template)',
  ],
  [
    "{{ input.list.[3] }}",
    '"input.list.3" is not defined: `input.list` is an array of 3 (line 1, column 4 of the template)',
  ],
  [
    "{{ input.list.[01] }}",
    '"input.list.01" is not defined: `input.list` is an array of 3 (line 1, column 4 of the template)',
  ],
  ["{{ input.s.[0] }}", '"input.s.0" is not defined: `input.s` is a string (line 1, column 4 of the template)'],
  ["{{ loop.index }}", '"loop.index" is not defined: `loop` is null (line 1, column 4 of the template)'],
  ["{{ lookup input 'nope' }}", '"input.nope" is not defined (line 1, column 4 of the template)'],
  [
    "{{ lookup input.s 'length' }}",
    '"input.s.length" is not defined: `input.s` is a string (line 1, column 4 of the template)',
  ],
  ["{{ lookup input '__proto__' }}", '"input.__proto__" is not defined (line 1, column 4 of the template)'],
  [
    "{{ lookup input input.list }}",
    "`lookup` takes a string or number as its key (got array) (line 1, column 4 of the template)",
  ],
  ["{{#if (not input.nope)}}{{/if}}", '"input.nope" is not defined (line 1, column 12 of the template)'],
  ["{{#if (or true input.nope)}}{{/if}}", '"input.nope" is not defined (line 1, column 16 of the template)'],
  ["{{#if (lookup input 'nope')}}{{/if}}", '"input.nope" is not defined (line 1, column 8 of the template)'],
  ["{{#each input.nope}}{{/each}}", '"input.nope" is not defined (line 1, column 9 of the template)'],
  ["{{#with input.nope}}{{/with}}", '"input.nope" is not defined (line 1, column 9 of the template)'],
  ["{{#eq input.nope 1}}{{/eq}}", '"input.nope" is not defined (line 1, column 7 of the template)'],
  [
    "{{#each input.s}}{{/each}}",
    '"input.s" must be an array or object (got string) (line 1, column 1 of the template)',
  ],
  ["{{#each input.items}}{{s}}{{/each}}", '"s" is not defined (line 1, column 24 of the template)'],
  [
    "{{#each input.list}}{{this.x}}{{/each}}",
    '"this.x" is not defined: `this` is a string (line 1, column 23 of the template)',
  ],
  ["{{ len input.n }}", "`len` takes a string, array or object (got integer) (line 1, column 4 of the template)"],
];

for (const [source, message] of ERRORS) {
  Deno.test(`Template.render: fails for ${JSON.stringify(source)}`, () =>
    assert.equal(errorOf(source).message, message));
}

Deno.test("TemplateError: carries the path and the places", () => {
  const template = parseTemplate("Hi {{ input.nope }}", { file: "f.yml", line: 3, column: 9 });
  assert.throws(() => template.render(data), (error: unknown) => {
    assert.ok(error instanceof TemplateError);
    assert.equal(error.code, "configuration");
    assert.equal(error.path, "input.nope");
    assert.deepEqual(error.position, { line: 1, column: 7 });
    assert.deepEqual(error.place, { file: "f.yml", line: 3, column: 15 });
    assert.equal(error.message, '"input.nope" is not defined (f.yml:3:15)');
    return true;
  });
  const long = parseTemplate("Hi\n{{ input.nope }}", { file: "f.yml", line: 3, column: 9 });
  assert.throws(() => long.render(data), {
    message: '"input.nope" is not defined (f.yml:3:9, line 2, column 4 of the template)',
  });
});

Deno.test("Template.render: own `__proto__` and `constructor` keys are plain data", () => {
  const value = JSON.parse('{"a": {"__proto__": {"b": 1}, "constructor": 2}}');
  const template = parseTemplate(
    "{{ a.__proto__.b }}{{ a.constructor }}{{#each a}} {{ @key }}{{/each}}{{ json a.__proto__ }}",
  );
  assert.equal(template.render(value), '12 __proto__ constructor{"b":1}');
});

Deno.test("Template.render: keys of the prototype chain are not there", () => {
  const inherited = Object.create({ secret: "x" }) as Record<string, unknown>;
  assert.throws(() => parseTemplate("{{ secret }}").render(inherited), TemplateError);
  assert.throws(() => parseTemplate("{{ a.f }}").render({ a: { f: () => 1 } }), TemplateError);
});

Deno.test("parseTemplate: `objects: error` points bare objects and arrays to json", () => {
  const strict = { objects: "error" } as const;
  assert.equal(
    errorOf("{{ input }}", strict).message,
    '"input" is an object: write `{{ json input }}` to print it (line 1, column 4 of the template)',
  );
  assert.match(
    errorOf("{{{ input.list }}}", strict).message,
    /^"input.list" is an array: write `\{\{ json input.list \}\}`/,
  );
  assert.match(errorOf("{{#each input.items}}{{ this }}{{/each}}", strict).message, /^"this" is an object/);
  assert.equal(
    render("{{ json input.noItems }}{{ text input.noItems }}{{ input.s }}{{ input.nil }}", strict),
    "[][]strnull",
  );
});

Deno.test("Template.render: data that cannot be printed is a TemplateError", () => {
  let deep: unknown = 1;
  for (let index = 0; index < 100_000; index++) deep = [deep];
  assert.throws(() => parseTemplate("{{ eq a b }}").render({ a: deep, b: [deep] }), TemplateError);
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  assert.throws(() => parseTemplate("{{ cycle }}").render({ cycle }), TemplateError);
});

Deno.test("parseTemplate: text without `{{` is not parsed at all", () => {
  const source = `no template: }} { {x} \\ \0 ${"é".repeat(10)}`;
  const template = parseTemplate(source);
  assert.equal(template.render({}), source);
  assert.equal(template.source, source);
  assert.deepEqual(template.references(), []);
  assert.throws(() => parseTemplate(`${source}{{ a }}`), DiagnosticError);
});

Deno.test("Template: is frozen and renders the same again", () => {
  const template = parseTemplate("{{#each input.list}}{{this}}{{/each}}");
  assert.ok(Object.isFrozen(template));
  assert.equal(template.render(data), "abc");
  assert.equal(template.render({ input: { list: [1] } }), "1");
  assert.equal(template.render(data), "abc");
});

const REFERENCES: readonly [source: string, references: string[]][] = [
  ["x", []],
  ["{{ input.a.[0].b }} {{ json steps.my-id }}\n {{ eq inputs.x 1 }}", [
    "1:4 input.a.0.b",
    "1:29 steps.my-id",
    "2:8 inputs.x",
  ]],
  ["{{#if inputs.a}}{{else if (not inputs.b)}}{{/if}}{{#unless c}}{{/unless}}", [
    "1:7 inputs.a?",
    "1:32 inputs.b",
    "1:60 c?",
  ]],
  ["{{#each input.items as |it|}}{{n}}{{this.x}}{{it.y}}{{../steps.z}}{{@root.w}}{{@index}}{{else}}{{v}}{{/each}}", [
    "1:9 input.items",
    "1:55 steps.z",
    "1:69 w",
    "1:98 v",
  ]],
  ["{{#with inputs as |i|}}{{a}}{{i.b}}{{../c}}{{#with d}}{{e}}{{i.f}}{{/with}}{{/with}}", [
    "1:9 inputs",
    "1:26 inputs.a",
    "1:31 inputs.b",
    "1:38 c",
    "1:52 inputs.d",
    "1:57 inputs.d.e",
    "1:62 inputs.f",
  ]],
  ['{{ lookup inputs "a b" }}{{ lookup inputs key }}{{ lookup (lookup a "b") "c" }}', [
    "1:11 inputs.a b",
    "1:36 inputs",
    "1:43 key",
    "1:67 a.b",
  ]],
  ["{{ this }}{{ json @root }}", ["1:4 ", "1:19 "]],
];

for (const [source, references] of REFERENCES) {
  Deno.test(`Template.references: ${JSON.stringify(source)}`, () => {
    const found = parseTemplate(source).references().map(({ path, optional, line, column }) =>
      `${line}:${column} ${path.join(".")}${optional ? "?" : ""}`
    );
    assert.deepEqual(found, references);
  });
}
