import assert from "node:assert/strict";
import { ConfigurationError } from "../../lib/base/errors.ts";
import { findCollision, qualifiedName } from "../../lib/tool/name.ts";

Deno.test("qualifiedName: the origin before the name; every other character is one _", () => {
  const cases = {
    "find_text": "tool__find_text",
    "a.b c/d": "tool__a_b_c_d",
    "A-1": "tool__A-1",
    "検索": "tool____",
    "a🙂b": "tool__a_b",
    "": "tool__",
  };
  for (const [name, qualified] of Object.entries(cases)) assert.equal(qualifiedName("tool", name), qualified);
  assert.equal(qualifiedName("agent", "x"), "agent__x");
});

Deno.test("qualifiedName: 64 characters are possible, 65 are an error that names both; nothing is cut", () => {
  const most = "n".repeat(58);
  assert.equal(qualifiedName("tool", most), `tool__${most}`);
  assert.throws(() => qualifiedName("tool", `${most}n`), (error) => {
    assert(error instanceof ConfigurationError);
    assert.match(error.message, new RegExp(`tool__${most}n.* 65 characters.* 64 .*rename \`${most}n\``));
    return true;
  });
});

Deno.test("findCollision: the later of two tools with one name, both sources named; one source twice is said so", () => {
  assert.equal(findCollision([]), undefined);
  assert.equal(findCollision([{ name: "a", source: "tools.a" }, { name: "b", source: "tools.b" }]), undefined);
  const meet = (a: string, b: string) =>
    findCollision([{ name: "m", source: "tools.m" }, { name: "n", source: a }, { name: "n", source: b }])!;
  const two = meet("tools.a.b", "tools.a b");
  assert.equal(two.index, 2);
  assert.match(two.message, /tools\.a\.b and tools\.a b would both be offered as the tool `n`/);
  assert.match(meet("tools.a", "tools.a").message, /tools\.a is listed twice: the tool `n`/);
});
