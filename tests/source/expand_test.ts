import assert from "node:assert/strict";
import { LaitError } from "../../lib/base/errors.ts";
import { expandVariables, ExpansionError, variableNames } from "../../lib/source/expand.ts";

const variables: Record<string, string> = { HOST: "h", EMPTY: "", "1ST": "one", NESTED: "${HOST}", É: "no" };
const lookup = (name: string) => Object.hasOwn(variables, name) ? variables[name] : undefined;

const EXPANDED: readonly [text: string, result: string][] = [
  ["", ""],
  ["no placeholders", "no placeholders"],
  ["${HOST}", "h"],
  ["http://${HOST}:${1ST}/${HOST}", "http://h:one/h"],
  ["[${EMPTY}]", "[]"],
  ["${NESTED}", "${HOST}"],
  ["$HOST $ $$ {HOST} $}", "$HOST $ $$ {HOST} $}"],
  ["$${HOST}", "$h"],
  ["日本${HOST}😀", "日本h😀"],
];

for (const [text, result] of EXPANDED) {
  Deno.test(`expandVariables: ${JSON.stringify(text)}`, () => assert.equal(expandVariables(text, lookup), result));
}

const ERRORS: readonly [text: string, message: string, variable?: string][] = [
  ["a ${NOPE} b", "environment variable `NOPE` is not set", "NOPE"],
  ["${constructor}", "environment variable `constructor` is not set", "constructor"],
  ["${}", "placeholder `${}` names no environment variable"],
  ["secret ${HOST", "placeholder `${HOST` has no closing `}`"],
  ["${HOST secret", "placeholder `${HOST` has no closing `}`"],
  ["${", "placeholder `${` has no closing `}`"],
  ["${HOST:-secret}", "placeholder `${HOST…}` is invalid: a name has letters, digits and `_` only"],
  ["${A-B}", "placeholder `${A…}` is invalid: a name has letters, digits and `_` only"],
  ["${ HOST }", "placeholder `${…}` is invalid: a name has letters, digits and `_` only"],
  ["${É}", "placeholder `${…}` is invalid: a name has letters, digits and `_` only"],
  ["${HOST${HOST}", "placeholder `${HOST…}` is invalid: a name has letters, digits and `_` only"],
];

for (const [text, message, variable] of ERRORS) {
  Deno.test(`expandVariables: refuses ${JSON.stringify(text)} without quoting what stands beside it`, () => {
    assert.throws(() => expandVariables(text, lookup), (error: unknown) => {
      assert.ok(error instanceof ExpansionError && error instanceof LaitError);
      assert.equal(error.code, "configuration");
      assert.equal(error.message, message);
      assert.equal(error.variable, variable);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  });
}

Deno.test("expandVariables: asks only for the names in the text, as often as they stand there", () => {
  const asked: string[] = [];
  expandVariables("${A}${B}${A}", (name) => {
    asked.push(name);
    return "";
  });
  assert.deepEqual(asked, ["A", "B", "A"]);
});

Deno.test("variableNames: each name once, in order, malformed placeholders left out", () => {
  assert.deepEqual(variableNames("${B} ${A}${B} ${} ${X-Y} $C ${1} ${D"), ["B", "A", "1"]);
  assert.deepEqual(variableNames(""), []);
});
