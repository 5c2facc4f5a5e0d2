/** Every way in which front matter is framed, times everything that can be wrong in it: the same result each time. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DiagnosticError } from "../../lib/base/errors.ts";
import { readAgentFile } from "../../lib/project/agents/agent.ts";
import { agentShape } from "../../lib/project/agents/agent_shape.ts";
import { readMarkdown } from "../../lib/project/agents/markdown.ts";
import { readShape } from "../../lib/source/shape.ts";

/** Ways to write one text down that change nothing in it. */
const BYTE_ORDER_MARKS = ["", "\ufeff"];
const LINE_ENDINGS = ["\n", "\r\n"];
const FINAL_LINES = ["", "\n", "\n\n"];
/** Bodies; a line `---` in one is a line like any other. */
const BODIES = ["Be brief.", "Above\n---\nbelow", "---", "a\n---\nname: not this\n---\nb", "{{ input }}\n\n---"];

function* writings(head: string, body: string): Generator<string> {
  for (const mark of BYTE_ORDER_MARKS) {
    for (const ending of LINE_ENDINGS) {
      for (const final of FINAL_LINES) yield mark + (head + body + final).replaceAll("\n", ending);
    }
  }
}

async function reading<T>(work: (read: (text: string) => ReturnType<typeof readAgentFile>) => Promise<T>): Promise<T> {
  const directory = await Deno.makeTempDir();
  try {
    const path = join(directory, "a.md");
    return await work(async (text) => {
      await Deno.writeTextFile(path, text);
      return await readAgentFile(path, { shown: "a.md" });
    });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("front matter: a byte order mark, CRLF, the end of the file and lines --- in the body change nothing", async () => {
  await reading(async (read) => {
    for (const body of BODIES) {
      for (const text of writings("---\nname: a\nmodel: m\n---\n", body)) {
        const agent = await read(text);
        assert.deepEqual({ ...agent!.fields }, { name: "a", model: "m" }, JSON.stringify(text));
        assert.equal(typeof agent!.body === "string" ? agent!.body : agent!.body.source, body);
      }
    }
    for (const text of writings("---\n---\n", "")) assert.deepEqual((await read(text))!.fields, {});
    assert.deepEqual((await read("---\n# nothing\n---"))!.fields, {});
  });
});

/** What is wrong, and how it is told: rule and place, then words. */
const FAULTS: readonly (readonly [about: string, head: string, told: string, words: RegExp])[] = [
  ["unclosed", "---\nname: a\n", "front-matter 1:1", /not closed/],
  ["closed by a longer line", "---\nname: a\n-----\n", "front-matter 1:1", /line 3 is "-----"/],
  ["closed by an indented line", "---\nname: a\n  ---\n", "front-matter 1:1", /line 3 is " {2}---"/],
  ["no opening line", "name: a\n---\n", "front-matter 1:1", /the first line must be exactly `---`/],
  ["an empty line first", "\n---\nname: a\n---\n", "front-matter 2:1", /remove the empty lines/],
  ["a tab as indentation", "---\ninput_schema:\n\ttype: object\n---\n", "yaml-syntax 3:1", /spaces/],
  ["a key twice", "---\nname: a\nmodel: m\nname: b\n---\n", "duplicate-key 4:1", /name/],
  ["a merge key", "---\nname: a\n<<: { model: m }\n---\n", "yaml-merge 3:1", /<</],
  ["a colon in a text", "---\nname: a\ndescription: Use it: now\n---\n", "yaml-syntax 3:14", /quote/],
  ["a number for a name", "---\nname: 3000\n---\n", "wrong-type 2:7", /`name` must be a string \(got number\).*quotes/],
  ["a boolean for a name", "---\nname: true\n---\n", "wrong-type 2:7", /`"true"`/],
  ["a list for a description", "---\ndescription: [a, b]\n---\n", "wrong-type 2:14", /must be a string \(got list\)/],
  ["an unknown key", "---\nname: a\ntemprature: 1\n---\n", "unknown-key 3:1", /did you mean `temperature`/],
  ["a text for a number", '---\ntemperature: "1"\n---\n', "wrong-type 2:14", /remove the quotes/],
  ["a list at the top", "---\n- name: a\n---\n", "wrong-type 2:1", /must be a map/],
  ["a text at the top", "---\njust text\n---\n", "wrong-type 2:1", /must be a map/],
  ["an unknown effort", "---\nreasoning_effort: hgih\n---\n", "invalid-value 2:19", /did you mean `high`/],
];

Deno.test("front matter: each fault has its rule, its place in the file and what to do, however the file is written", async () => {
  await reading(async (read) => {
    for (const [about, head, told, words] of FAULTS) {
      for (const body of ["Be brief.", "Be\nbrief."]) {
        for (const text of writings(head, body)) {
          const error = await read(text).then(() => assert.fail(`${about}: read without a fault`), (error) => error);
          assert(error instanceof DiagnosticError, `${about}: ${error}`);
          const [{ id, place, message, hint = "" } = assert.fail(), ...more] = error.diagnostics;
          assert.deepEqual(
            [`${id} ${place.line}:${place.column}`, more],
            [told, []],
            `${about} ${JSON.stringify(text)}`,
          );
          assert.match(`${message} (${hint})`, words);
          assert.equal(place.file, "a.md");
        }
      }
    }
  });
});

Deno.test("front matter: all faults of a file are told at once, those of the template in their place", async () => {
  const text = "---\nmodle: x\nname: 1\n---\n\n{{ input\n";
  const error = await reading((read) => read(text).then(() => undefined, (error) => error));
  assert(error instanceof DiagnosticError);
  assert.deepEqual(error.diagnostics.map(({ id, place }) => `${id} ${place.line}`).toSorted(), [
    "template-syntax 6",
    "unknown-key 2",
    "wrong-type 3",
  ]);
});

Deno.test("front matter: a file that was cut is not read as other settings", () => {
  const whole = "---\nname: reviewer\nmodel: small\ntools: []\n---\nBody.\n";
  const settings = (text: string): unknown => {
    try {
      const { root, diagnostics } = readMarkdown(text, "a.md");
      const faults = [...diagnostics];
      const fields = root === undefined ? {} : readShape(agentShape, root, faults);
      return faults.length > 0 ? undefined : fields;
    } catch (error) {
      assert(error instanceof DiagnosticError);
      return undefined;
    }
  };
  assert.deepEqual({ ...settings(whole) as object }, { name: "reviewer", model: "small", tools: [] });
  const closing = whole.indexOf("\n---\n");
  for (let length = 0; length < closing + 4; length++) {
    assert.equal(settings(whole.slice(0, length)), undefined, JSON.stringify(whole.slice(0, length)));
  }
});
