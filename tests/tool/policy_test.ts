import assert from "node:assert/strict";
import { evaluatePolicy, matchesPattern } from "../../lib/tool/policy.ts";

Deno.test("matchesPattern: exact, prefix*, *suffix, *middle* and * alone", () => {
  const cases: [pattern: string, yes: string[], no: string[]][] = [
    ["tool__find", ["tool__find"], ["tool__find2", "xtool__find", "TOOL__FIND", ""]],
    ["tool__*", ["tool__", "tool__a", "tool__a__b"], ["tool_a", "atool__a", "Tool__a"]],
    ["*__find", ["__find", "tool__find", "a__b__find"], ["tool__find_", "tool_find"]],
    ["*__drop_*", ["db__drop_table", "__drop_"], ["db_drop_table", "db__Drop_table"]],
    ["*", ["", "anything", "tool__a"], []],
    ["**", ["", "anything"], []],
    ["a*b", ["a*b"], ["ab", "axb"]],
    ["*a*b", ["a*b", "xa*b"], ["ab", "aXb"]],
    ["tool__?", ["tool__?"], ["tool__a"]],
    ["tool__[ab]", ["tool__[ab]"], ["tool__a"]],
    ["", [""], ["a"]],
  ];
  for (const [pattern, yes, no] of cases) {
    for (const name of yes) assert(matchesPattern(pattern, name), `${pattern} matches ${name}`);
    for (const name of no) assert(!matchesPattern(pattern, name), `${pattern} does not match ${name}`);
  }
});

Deno.test("evaluatePolicy: deny first, then allow unless it is empty; the reason names the pattern and the file", () => {
  const decide = (allow: string[], deny: string[]) => evaluatePolicy({ allow, deny }, "tool__rm");
  assert.deepEqual(decide([], []), { allowed: true });
  assert.deepEqual(decide(["tool__rm"], []), { allowed: true });
  assert.deepEqual(decide(["other", "tool__*"], ["other"]), { allowed: true });
  for (
    const [allow, deny, why] of [
      [[], ["tool__*"], /deny: "tool__\*"/],
      [["*"], ["x", "*rm"], /deny: "\*rm"/],
      [["other"], [], /nothing in `allow`/],
    ] as const
  ) {
    const decision = decide([...allow], [...deny]);
    assert(!decision.allowed);
    assert.match(decision.reason, why);
    assert.match(decision.reason, /`tool__rm` is denied by tool_policy in lait\.config\.yml/);
  }
});
