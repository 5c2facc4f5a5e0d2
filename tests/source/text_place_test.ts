import assert from "node:assert/strict";
import { placeInText } from "../../lib/source/text_place.ts";

const at = { file: "f", line: 5, column: 3 };

Deno.test("placeInText: a text of one line stands where it starts", () => {
  assert.deepEqual(placeInText(at, "abc", { line: 1, column: 2 }), { file: "f", line: 5, column: 4 });
});

Deno.test("placeInText: of a text of several lines nothing is known without its content", () => {
  assert.equal(placeInText(at, "a\nb", { line: 1, column: 1 }), undefined);
  assert.equal(placeInText({ file: "f" }, "a", { line: 1, column: 1 }), undefined);
  assert.equal(placeInText({ file: "f", line: 1 }, "a", { line: 1, column: 1 }), undefined);
});

Deno.test("placeInText: the content's start counts for every line", () => {
  const origin = { ...at, content: { line: 6, column: 5 } };
  assert.deepEqual(placeInText(origin, "a\nb", { line: 2, column: 2 }), { file: "f", line: 7, column: 6 });
});

Deno.test("placeInText: a text that lies otherwise in the file has no places", () => {
  assert.equal(placeInText({ ...at, content: null }, "abc", { line: 1, column: 1 }), undefined);
});
