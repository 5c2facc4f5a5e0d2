/** Random programs give what the real jq gives. */
import { deepStrictEqual } from "node:assert/strict";
import type { JsonValue } from "../../lib/base/json.ts";
import { compile } from "../../lib/jq/jq.ts";
import { Random } from "../_support/random.ts";
import { jqWeb } from "../deps.ts";
import { Programs, randomValue } from "./_programs.ts";

const CASES = 2_000;
/** Other seeds find what one alone does not: `JQ_SEED=2 deno test -A tests/jq/property_test.ts`. */
const SEED = Number(Deno.env.get("JQ_SEED") ?? 1);

interface Jq {
  raw(input: string, program: string, flags: readonly string[]): string;
}

const jq = await (jqWeb as unknown as Promise<Jq>);

/** Without the order of keys, which is not jq's where they look like numbers. */
function sorted(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, part) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => a < b ? -1 : 1));
  }));
}

Deno.test(`jq: random programs give the same as jq 1.7 (JQ_SEED=${SEED})`, () => {
  for (let round = 0; round < CASES; round++) {
    const random = new Random(SEED * CASES + round);
    // Outputs until the first error, which is not compared: jq 1.8 words some anew.
    const source = `[limit(50; try ((${new Programs(random).program()}) | [.]) catch "error")]`;
    const input = randomValue(random);
    const [ours] = [...compile(source).evaluateSync(input as JsonValue)];
    const theirs: unknown = JSON.parse(jq.raw(JSON.stringify(input), source, ["-c"]));
    deepStrictEqual(sorted(ours), sorted(theirs), `${source}\non ${JSON.stringify(input)}`);
  }
});
