/** The whole language by example, in the jq project's test format; the outputs are the real jq's. */
import { deepStrictEqual } from "node:assert/strict";
import { NATIVES } from "../../lib/jq/builtins/natives.ts";
import { preludeKeys } from "../../lib/jq/builtins/prelude.ts";
import { SPECIALS } from "../../lib/jq/compile/_specials.ts";
import { readCases, runCase } from "../../tools/jq_conformance.ts";

const cases = readCases(await Deno.readTextFile(new URL("cases.test", import.meta.url)));

Deno.test(`jq: ${cases.length} examples of the language give what jq gives`, async () => {
  const faults: string[] = [];
  for (const one of cases) {
    const { fault } = await runCase(one);
    if (fault !== undefined) faults.push(`cases.test:${one.line}: ${one.program}: ${fault}`);
  }
  deepStrictEqual(faults, []);
});

Deno.test("jq: every built-in function is in an example", () => {
  const programs = cases.map(({ program }) => program).join("\n");
  const names = [...NATIVES.keys(), ...preludeKeys(), ...SPECIALS.keys()].map((key) => key.slice(0, key.indexOf("/")))
    .filter((name) => !name.startsWith("_"));
  const missing = [...new Set(names)].filter((name) => !new RegExp(`(?<![\\w.$"])${name}(?!\\w)`).test(programs));
  deepStrictEqual(missing, []);
});
