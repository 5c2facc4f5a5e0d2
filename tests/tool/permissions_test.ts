import assert from "node:assert/strict";
import { ConfigurationError } from "../../lib/base/errors.ts";
import { compileFileGlob, compilePathGlob, compileTextGlob } from "../../lib/tool/glob.ts";
import { normalizePath } from "../../lib/tool/path_rule.ts";
import {
  defineHarnessPermissions,
  type HarnessPermissionRule,
  isHarnessPermissions,
} from "../../lib/tool/permissions.ts";
import type { ToolResources } from "../../lib/tool/tool.ts";
import { createHarnessEditTools } from "../../lib/tool/toolsets/edit.ts";

function decide(
  rules: readonly HarnessPermissionRule[],
  tool: string,
  resources: ToolResources = {},
  otherwise?: "allow" | "deny",
) {
  const decision = defineHarnessPermissions({ rules, ...(otherwise === undefined ? {} : { default: otherwise }) })
    .evaluate(tool, resources);
  return decision.allowed ? "allowed" : decision.reason;
}

Deno.test("harness 27: default deny, write_file allowed below src", () => {
  const rules: HarnessPermissionRule[] = [{ effect: "allow", tools: ["write_file"], paths: ["src/**"] }];
  const [write] = createHarnessEditTools().tools;
  const asked = (path: string) => decide(rules, write!.name, write!.resources({ path, content: "" }), "deny");
  assert.equal(asked("src/a"), "allowed");
  assert.equal(asked("./src/x/../y/a"), "allowed");
  assert.equal(asked("src\\a"), "allowed");
  assert.match(asked("b"), /the permissions' default denies this call of `write_file`/);
  for (const path of ["src/../b", "src/../../b", "/src/a", "C:/src/a", "Src/a", "src"]) {
    assert.match(asked(path), /default/, path);
  }
  assert.match(decide(rules, "edit_file", { paths: ["src/a"] }, "deny"), /default/);
});

Deno.test("defineHarnessPermissions: the first rule that applies decides, then the default", () => {
  const rules: HarnessPermissionRule[] = [
    { effect: "allow", tools: ["shell"], commands: ["git *"] },
    { effect: "deny", tools: ["shell", "wiki__*"], reason: "ask first" },
    { effect: "deny", commands: ["rm *"] },
  ];
  assert.equal(decide(rules, "shell", { command: "git push\n--force origin/main" }), "allowed");
  assert.equal(decide(rules, "shell", { command: "ls" }), "ask first");
  assert.equal(decide(rules, "wiki__purge"), "ask first");
  assert.equal(decide(rules, "other", { command: "rm -r a/b" }), "permission rule 3 denies this call of `other`");
  assert.equal(decide(rules, "other", {}), "allowed");
  assert.equal(decide([], "x"), "allowed");
  assert.equal(decide([], "x", {}, "allow"), "allowed");
  assert.match(decide([{ effect: "deny" }, { effect: "allow" }], "x"), /rule 1/);
  assert.match(decide([{ effect: "deny", tools: ["Shell"] }], "shell", {}, "deny"), /default/);
});

Deno.test("defineHarnessPermissions: allowing needs all declared paths, denying needs one, neither takes outside", () => {
  const allow = (paths?: string[]) =>
    decide([{ effect: "allow", paths: ["src/**", "docs/*"] }], "t", paths === undefined ? {} : { paths }, "deny");
  assert.equal(allow(["src/a", "docs/b"]), "allowed");
  for (const paths of [["src/a", "b"], ["src/a", "../src/a"], [], undefined]) assert.match(allow(paths), /default/);
  const deny = (paths?: string[]) =>
    decide([{ effect: "deny", paths: ["secret/**", "."] }], "t", paths === undefined ? {} : { paths });
  assert.match(deny(["a", "a/../secret/x"]), /rule 1/);
  assert.match(deny(["./"]), /rule 1/);
  for (const paths of [["a"], ["../secret/x"], [], undefined]) assert.equal(deny(paths), "allowed");
});

Deno.test("defineHarnessPermissions: what it makes is frozen and known; wrong options say what is wrong", () => {
  const made = defineHarnessPermissions({ rules: [] });
  assert(Object.isFrozen(made) && isHarnessPermissions(made) && made.kind === "permissions");
  assert(!isHarnessPermissions({ ...made }) && !isHarnessPermissions(undefined));
  const wrong: [options: unknown, message: RegExp][] = [
    [undefined, /must be an object/],
    [{}, /rules must be a list/],
    [{ rules: [], defaults: "deny" }, /did you mean `default`/],
    [{ rules: [], default: "ask" }, /"allow", "deny"/],
    [{ rules: [{}] }, /rules\[0\]\.effect/],
    [{ rules: [{ effect: "allow" }, { effect: "ask" }] }, /rules\[1\]\.effect .*"ask"/],
    [{ rules: [{ effect: "allow", path: ["a"] }] }, /did you mean `paths`/],
    [{ rules: [{ effect: "allow", tools: [] }] }, /rules\[0\]\.tools .*at least one/],
    [{ rules: [{ effect: "allow", tools: "shell" }] }, /rules\[0\]\.tools/],
    [{ rules: [{ effect: "allow", paths: ["a", " "] }] }, /rules\[0\]\.paths\[1\]/],
    [{ rules: [{ effect: "allow", commands: [1] }] }, /rules\[0\]\.commands\[0\]/],
    [{ rules: [{ effect: "deny", reason: "" }] }, /rules\[0\]\.reason/],
  ];
  for (const [options, message] of wrong) {
    assert.throws(() => defineHarnessPermissions(options as never), (error: unknown) => {
      assert(error instanceof ConfigurationError);
      assert.match(error.message, message);
      return true;
    });
  }
});

Deno.test("globs: runs, directories, single characters; everything else stands for itself", () => {
  const cases: [compile: typeof compilePathGlob, pattern: string, yes: string[], no: string[]][] = [
    [compilePathGlob, "src/*.ts", ["src/a.ts", "src/.ts"], ["src/a/b.ts", "src/a.tsx", "xsrc/a.ts", "SRC/a.ts"]],
    [compilePathGlob, "src/**", ["src/a", "src/a/b", "src/"], ["src", "srcx/a"]],
    [compilePathGlob, "**/*.ts", ["a.ts", "x/a.ts", "x/y/a.ts"], ["a.js", "x/a.ts/b"]],
    [compilePathGlob, "a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a/xb", "ab", "a/x/yb"]],
    [compilePathGlob, "a**b", ["ab", "a/x/b", "axb"], ["a", "b"]],
    [compilePathGlob, "**", ["", ".", "a/b", "a\nb"], []],
    [compilePathGlob, "*", ["", ".", "a\nb"], ["a/b"]],
    [compilePathGlob, "?/?", ["a/b", "💩/é"], ["ab/c", "///", "/"]],
    [compilePathGlob, "a+(b)[c]{d,e}.!^$|\\", ["a+(b)[c]{d,e}.!^$|\\"], ["aab", "a+(b)c"]],
    [compilePathGlob, "***/a", ["/a", "x/a", "x/y/a"], ["a", "xa", "b"]],
    [compilePathGlob, "", [""], ["a"]],
    [compileTextGlob, "git *", ["git ", "git a/b\nc"], ["git", " git a"]],
    [compileTextGlob, "wiki__*", ["wiki__a"], ["wiki_a"]],
    [compileTextGlob, "a?c", ["abc"], ["a/c", "ac"]],
    [compileFileGlob, "*.ts", ["a.ts", "x/y/a.ts"], ["a.ts/b"]],
    [compileFileGlob, "x/*.ts", ["x/a.ts"], ["y/x/a.ts", "a.ts"]],
  ];
  for (const [compile, pattern, yes, no] of cases) {
    for (const text of yes) assert(compile(pattern).matches(text), `${pattern} fits ${JSON.stringify(text)}`);
    for (const text of no) assert(!compile(pattern).matches(text), `${pattern} does not fit ${JSON.stringify(text)}`);
  }
});

Deno.test("globs: agree with regular expressions over all small patterns and texts", () => {
  const words = (letters: string[], length: number): string[] =>
    length === 0
      ? [""]
      : words(letters, length - 1).flatMap((w) => w.length < length - 1 ? [w] : [w, ...letters.map((l) => w + l)]);
  const patterns = words(["a", "/", "*", "?"], 5);
  const texts = words(["a", "/", "b"], 4);
  for (const pattern of patterns) {
    const source = pattern.replace(
      /\*\*\/|\*\*|\*|\?/g,
      (token) => ({ "**/": "(?:[^]*/)?", "**": "[^]*", "*": "[^/]*", "?": "[^/]" })[token]!,
    );
    const expression = new RegExp(`^${source}$`);
    const glob = compilePathGlob(pattern);
    for (const text of texts) assert.equal(glob.matches(text), expression.test(text), `${pattern} on ${text}`);
  }
});

Deno.test("globs: a pattern that makes a backtracking matcher explode is answered", () => {
  // A regular expression with 200 of these runs would not come back in a lifetime.
  for (const [compile, run] of [[compilePathGlob, "*a"], [compilePathGlob, "**/"], [compileTextGlob, "**a"]] as const) {
    assert.equal(compile(`${run.repeat(200)}b`).matches(`${"a/".repeat(2_000)}c`), false);
    assert.equal(compile(`${run.repeat(200)}b`).matches(`${"a".repeat(2_000)}c`), false);
  }
  assert.equal(compileTextGlob("*a".repeat(200)).matches("a".repeat(2_000)), true);
});

Deno.test("normalizePath: segments, backslashes, and what leads outside", () => {
  const cases: [path: string, normal: string | undefined][] = [
    ["a/./b//c/", "a/b/c"],
    ["a/../b", "b"],
    ["a\\b\\..\\c", "a/c"],
    [".", "."],
    ["", "."],
    ["a/..", "."],
    ["..", undefined],
    ["a/../..", undefined],
    ["a/../../b/a", undefined],
    ["/a", undefined],
    ["\\a", undefined],
    ["c:/a", undefined],
    ["C:\\a", undefined],
    ["c:a", "c:a"],
    ["...", "..."],
    [" ", " "],
  ];
  for (const [path, normal] of cases) assert.equal(normalizePath(path), normal, JSON.stringify(path));
});
