/**
 * Which complaints about the peers have a named test here, and which have none yet, and why. Rows of sections A to E and
 * G of the list of complaints; the other sections are about parts that are not built.
 */
import assert from "node:assert/strict";

/** Every row of these sections, by its letter. */
const ROWS: Readonly<Record<string, readonly number[]>> = {
  A: [1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20],
  B: [1, 2, 4, 5, 7, 8, 10],
  C: [1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16, 18],
  D: [1, 3, 4, 6, 7, 9, 10, 12, 13],
  E: [1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19],
  T: [1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16],
};

/** The rows without a test, with the reason. */
const OUT_OF_SCOPE: Readonly<Record<string, string>> = {
  T13: "block scalars that are generated: lait writes no YAML that anybody reads back",
};

/*
 * Rows whose test covers what exists, and what of them waits for another part:
 *
 * | row | waits for | reason |
 * | --- | --- | --- |
 * | C7  | `cmd /c` | Windows cannot be tried here |
 * | C10 | a cap for results of MCP tools | the command gives models whole results, as for local tools; the API cuts |
 * | C16 | quoting for cmd.exe | Windows; lait never quotes for a shell, so there is nothing to choose |
 * | T4  | a lint error for `{{ input }}` within a script of `sh -c` | no lint yet |
 * | T9  | brace lists | globs know no braces |
 * | T12 | templates that lait writes | it writes none yet; its JSON is tested |
 * | B8 | structured content of an error that lait serves | no server yet |
 * | E11 | `${VAR:-x}` | placeholders have no defaults anywhere in lait |
 * | F, H, I, P, S | serve, trust, cache, cassettes | not built yet |
 */

const FOLDER = new URL("./", import.meta.url);

Deno.test("anchors: every row has a test that begins with its name, or stands in the table with a reason", () => {
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) => name.endsWith("_rows_test.ts"));
  const names = files.flatMap((file) => {
    const source = Deno.readTextFileSync(new URL(file, FOLDER));
    return [...source.matchAll(/^Deno\.test\(\s*["'`]([A-Z]\d+): \S/gm)].map((match) => match[1]!);
  });
  const tested = new Set(names);
  const rows = Object.entries(ROWS).flatMap(([letter, numbers]) => numbers.map((number) => `${letter}${number}`));
  assert.deepEqual(rows.filter((row) => !tested.has(row) && !Object.hasOwn(OUT_OF_SCOPE, row)), []);
  assert.deepEqual(Object.keys(OUT_OF_SCOPE).filter((row) => tested.has(row) || !rows.includes(row)), []);
});
