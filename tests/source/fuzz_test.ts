import assert from "node:assert/strict";
import { DiagnosticError } from "../../lib/base/errors.ts";
import { readDotenv } from "../../lib/source/dotenv.ts";
import { expandVariables, ExpansionError } from "../../lib/source/expand.ts";
import { nodeToJson } from "../../lib/source/node.ts";
import { json, readShape } from "../../lib/source/shape.ts";
import { parseTemplate, TemplateError } from "../../lib/source/template/template.ts";
import { readYaml } from "../../lib/source/yaml.ts";

const ROUNDS = 2_000;

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Copies of a text with a few of its parts cut, moved, doubled, or replaced by pieces that the format knows. */
function* mutations(seed: string, pieces: readonly string[], number: number): Generator<string> {
  const random = randomNumbers(number);
  const below = (limit: number) => Math.floor(random() * limit);
  for (let round = 0; round < ROUNDS; round++) {
    let text = seed;
    for (let edits = 1 + below(6); edits > 0; edits--) {
      const at = below(text.length + 1);
      const length = below(8);
      const piece = [
        pieces[below(pieces.length)]!,
        "",
        text.slice(at, at + length).repeat(2),
        String.fromCharCode(below(0x3000)),
      ];
      text = text.slice(0, at) + piece[below(piece.length)] + text.slice(at + length);
    }
    yield text;
  }
}

const yamlSeed = `# comment
base: &base { url: "http://x/v1", n: 1.5, list: [a, 'b', null] }
prompt: "{{ input }} – 日本😀"
steps:
  - id: one
    text: |
      first {{ x }}
        second
    other: *base
  - ? complex
    : - nested
      - { deep: [1, 0x10, true] }
folded: >-
  a
  b
`;
const yamlPieces = [
  ..."{}[],:-?&*!|>%@`\"'#~\t\n \r\ufeff\0\ud800",
  "{{ input }}",
  "\r\n",
  "---\n",
  "...\n",
  "<<: ",
  "*base",
  "&base ",
  "!!str ",
  "!x ",
  ".inf",
  "9007199254740993",
  ": ",
  "- ",
  "\n  ",
  "%YAML 1.1\n---\n",
];

Deno.test("readYaml: no text makes it throw, and every fault has a place inside the text", () => {
  let faulty = 0;
  for (const text of mutations(yamlSeed, yamlPieces, 1)) {
    const { root, diagnostics } = readYaml(text, "f.yml");
    const lines = text.split("\n");
    for (const { place, message, id } of diagnostics) {
      assert.ok(place.line !== undefined && place.line >= 1 && place.line <= lines.length, JSON.stringify(text));
      assert.ok(place.column !== undefined && place.column >= 1, JSON.stringify(text));
      assert.ok(place.column <= (lines[place.line - 1]?.length ?? 0) + 1, JSON.stringify(text));
      assert.doesNotMatch(message, /\n/);
      assert.match(id, /^(yaml-[a-z]+|duplicate-key)$/);
    }
    if (diagnostics.length > 0) faulty++;
    else if (root !== undefined) {
      assert.deepEqual(readShape(json, root, []), nodeToJson(root));
      JSON.stringify(nodeToJson(root));
    }
  }
  // The mutations are of use only when some texts are good and some are not.
  assert.ok(faulty > ROUNDS / 4 && faulty < ROUNDS, String(faulty));
});

const templateSeed = `Hello {{ input.name }}!
{{#each input.items as |item i|}}
  {{~#if (and item (not (eq i 0)))}}, {{else if @first}}<{{/if~}} {{ this }} {{ ../input.list.[0] }} {{ json item }}
{{else}}
  none {{! comment }}
{{/each}}
{{#with input.object}}{{ x }} {{ lookup @root.input "name" }}{{/with}} {{{ text input.list.1 }}} {{!-- {{ x }} --}} \\{{ raw }}
日本 {{#unless input.no}}😀{{/unless}}
`;
const templatePieces = [
  ..."{}()[]|@.#/^&~!>*\"'\\=\n \0é",
  "{{",
  "}}",
  "{{{",
  "}}}",
  "{{#",
  "{{/",
  "{{else}}",
  "{{#if a}}",
  "{{/if}}",
  "{{> p}}",
  "{{!--",
  "--}}",
  " as |x|",
  "../",
  "@index",
  "this",
  "0",
  "null",
  "undefined",
  "log ",
  "{{{{x}}}}",
];

Deno.test("parseTemplate, render: no text leads to anything but their own errors", () => {
  const data = {
    input: { name: "n", items: ["a", "b"], list: ["x", 1], object: { x: { y: 1 } }, no: false },
  };
  const outcomes = { rendered: 0, refused: 0, failed: 0 };
  for (const text of mutations(templateSeed, templatePieces, 2)) {
    try {
      const template = parseTemplate(text);
      template.references();
      try {
        assert.equal(typeof template.render(data), "string");
        outcomes.rendered++;
      } catch (error) {
        assert.ok(error instanceof TemplateError, `${error} for ${JSON.stringify(text)}`);
        outcomes.failed++;
      }
    } catch (error) {
      assert.ok(error instanceof DiagnosticError, `${error} for ${JSON.stringify(text)}`);
      outcomes.refused++;
      const lines = text.split("\n").length;
      for (const { place, message } of error.diagnostics) {
        assert.ok(place.line !== undefined && place.line >= 1 && place.line <= lines, JSON.stringify(text));
        assert.doesNotMatch(message, /\n|Expecting/);
      }
    }
  }
  for (const [outcome, count] of Object.entries(outcomes)) assert.ok(count > ROUNDS / 50, `${outcome}: ${count}`);
});

Deno.test("readDotenv, expandVariables: no text leads to anything but their own errors", () => {
  const seed = `# c\nexport A=1\nB="x\\n\ny" # d\nC='\${D}' \nE= f # g\n`;
  const pieces = [..."=\"'#\\\n\r \t$\0é", "${", "}", "export ", "${A}"];
  for (const text of mutations(seed, pieces, 3)) {
    try {
      for (const { name, value, line } of readDotenv(text)) {
        assert.match(name, /^[A-Za-z_]\w*$/);
        assert.ok(!value.includes("\0") && line >= 1);
      }
    } catch (error) {
      assert.ok(error instanceof DiagnosticError, `${error} for ${JSON.stringify(text)}`);
    }
    try {
      expandVariables(text, (name) => name === "D" ? undefined : "v");
    } catch (error) {
      assert.ok(error instanceof ExpansionError, `${error} for ${JSON.stringify(text)}`);
    }
  }
});
