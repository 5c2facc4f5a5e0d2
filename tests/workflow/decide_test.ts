import assert from "node:assert/strict";
import { failure } from "./_flow.ts";

const WRONG: readonly [question: string, expected: RegExp][] = [
  ["{ type: noul, criteria: { yes: a } }", /`criteria` of a noul must be a map with the keys true and false/],
  ["{ type: noul, criteria: { true: 5 } }", /must be a map of texts, maps, lists or nulls/],
  ["{ type: choice }", /`criteria` of a choice must be a map of 2 to 255 options/],
  ["{ type: choice, criteria: { a: x } }", /2 to 255 options/],
  ["{ type: choice, criteria: { a: x, '': y } }", /options with names/],
  ["{ type: choice, criteria: { a: x, b: 1 } }", /must be a map of texts, maps, lists or nulls/],
  ["{ type: score, criteria: [a] }", /a list of 2 to 10 descriptions/],
  ["{ type: score, criteria: [a, null] }", /a list of texts, maps or lists/],
  ["{ type: yesno }", /`type` must be one of noul, choice, score \(got 'yesno'\)/],
  ["{ instructions: a }", /`type` must be one of noul, choice, score/],
  ["{ type: noul, instructions: 5 }", /`instructions` must be a text, a map or a list/],
];

Deno.test("decide: faults of questions are told when the file is read, with the question", async () => {
  for (const [question, expected] of WRONG) {
    const stderr = await failure(1, `steps:\n  - decide:\n      about: ${question}`);
    assert.match(stderr, /w\.yml:3:\d+: steps\[0\]\.decide\.about: /, question);
    assert.match(stderr, expected, question);
  }
  assert.match(await failure(3, "steps: [{decide: {}}]"), /`decide` must hold a question/);
  assert.match(await failure(3, "steps: [{decide: {a: {type: noul, extra: 1}}}]"), /unknown key `extra`/);
  assert.match(await failure(1, "steps: [{decide: {a: {type: noul}}, model: ' '}]"), /`model` is blank/);
});
