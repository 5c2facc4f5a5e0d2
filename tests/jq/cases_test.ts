/** The language as `cases.test` has it. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { compile } from "../../lib/jq/jq.ts";
import { readCases, runCase } from "../../tools/jq_conformance.ts";

const CASES = readCases(await Deno.readTextFile(new URL("cases.test", import.meta.url)));

Deno.test("jq cases: every case gives its outputs, or does not compile", async () => {
  ok(CASES.length > 300);
  const faults: string[] = [];
  for (const test of CASES) {
    const { fault } = await runCase(test);
    if (fault !== undefined) faults.push(`line ${test.line}: ${test.program}: ${fault}`);
  }
  deepStrictEqual(faults, []);
});

Deno.test("jq cases: every built-in function is in one", () => {
  const [names] = [...compile("builtins").evaluateSync(null)] as [string[]];
  const words = new Set(CASES.flatMap(({ program }) => program.match(/[A-Za-z_]\w*/g) ?? []));
  deepStrictEqual(names.map((name) => name.split("/")[0]!).filter((name) => !words.has(name)), []);
});
