/** The jq project's own test file, less what lait leaves out on purpose: modules, `input`, `debug`. */
import assert from "node:assert/strict";
import { readCases, runCase } from "../../tools/jq_conformance.ts";
import { REPOSITORY } from "../_support/process.ts";

const LEFT_OUT = /^(?:import|include|modulemeta)\b|^debug$|^try input catch/;

Deno.test("jq: every case of the jq project's test file holds, but for what is left out", async () => {
  const cases = readCases(await Deno.readTextFile(`${REPOSITORY}fixtures/jq/jq-1.8.test`));
  assert.equal(cases.length, 550);
  const failed = [];
  for (const test of cases) {
    const result = await runCase(test);
    if (result.fault !== undefined) failed.push(result);
  }
  const unexpected = failed.filter(({ test }) => !LEFT_OUT.test(test.program));
  assert.deepEqual(unexpected.map(({ test, fault }) => `line ${test.line}: ${test.program}: ${fault}`), []);
  for (const { fault } of failed) assert.match(fault!, /^did not compile: .* not available/);
  assert.equal(failed.length, 14);
});
