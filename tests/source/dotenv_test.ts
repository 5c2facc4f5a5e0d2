import assert from "node:assert/strict";
import { DiagnosticError } from "../../lib/base/errors.ts";
import { readDotenv } from "../../lib/source/dotenv.ts";

const READ: readonly [name: string, text: string, entries: [string, string, number][]][] = [
  ["blank lines and comments", "\n  \n# A=1\n  # B=2\nC=3\n", [["C", "3", 5]]],
  ["an export prefix", "export A=1\n  export \t B=2\nexport=3\nexported=4", [
    ["A", "1", 1],
    ["B", "2", 2],
    ["export", "3", 3],
    ["exported", "4", 4],
  ]],
  ["spaces around the name and the value", "A =  x y  \n\tB\t=\tz\t\n", [["A", "x y", 1], ["B", "z", 2]]],
  ["a value with `=`", "A=b=c==", [["A", "b=c==", 1]]],
  ["an empty value", "A=\nB=   \nC=''\nD=\"\"", [["A", "", 1], ["B", "", 2], ["C", "", 3], ["D", "", 4]]],
  ["comments behind bare values", "A=x # c\nB=a#b\nC=a\t#b\nD= # c\nE=#x\nF=a #", [
    ["A", "x", 1],
    ["B", "a#b", 2],
    ["C", "a", 3],
    ["D", "", 4],
    ["E", "#x", 5],
    ["F", "a", 6],
  ]],
  ["quotes inside a bare value", `A=it's "so"`, [["A", `it's "so"`, 1]]],
  ["single quotes are literal", "A='a\\nb # \"c\"' # d\nB=' x '", [["A", 'a\\nb # "c"', 1], ["B", " x ", 2]]],
  ["escapes in double quotes", 'A="a\\nb\\rc\\td\\\\e\\"f"#g', [["A", 'a\nb\rc\td\\e"f', 1]]],
  ["a value of several lines", 'A="a\\nb # c" # d\nK="x  \n\n  y\\"\nz"\nB=\'1\n2\'  \nC=3', [
    ["A", "a\nb # c", 1],
    ["K", 'x  \n\n  y"\nz', 2],
    ["B", "1\n2", 6],
    ["C", "3", 8],
  ]],
  ["CRLF and a byte order mark", '\ufeffA=1\r\nB="x\r\ny"\r\n# c\r\n', [["A", "1", 1], ["B", "x\ny", 2]]],
  ["multi-byte values", "A=日本 😀\n", [["A", "日本 😀", 1]]],
  ["a name twice", "A=1\nA=2", [["A", "1", 1], ["A", "2", 2]]],
  ["names of objects", "__proto__=1\nconstructor=2", [["__proto__", "1", 1], ["constructor", "2", 2]]],
  ["no interpolation", "A=${B}$C\n", [["A", "${B}$C", 1]]],
];

for (const [name, text, entries] of READ) {
  Deno.test(`readDotenv: ${name}`, () => {
    assert.deepEqual(readDotenv(text).map((entry) => [entry.name, entry.value, entry.line]), entries);
  });
}

const FAULTS: readonly [name: string, text: string, faults: string[]][] = [
  ["a line without `=`", "A=1\nBAD secret", [".env:2:1 dotenv-syntax"]],
  ["an export without a value", "export secret", [".env:1:1 dotenv-syntax"]],
  ["an invalid name", "1A=secret\nA-B=secret\n=secret\nA B=secret\nÉ=secret", [
    ".env:1:1 dotenv-name",
    ".env:2:1 dotenv-name",
    ".env:3:1 dotenv-name",
    ".env:4:1 dotenv-name",
    ".env:5:1 dotenv-name",
  ]],
  ["an unknown escape", 'A="secret\\q"', [".env:1:1 dotenv-escape"]],
  ["an unknown escape, at its line", 'A="secret\nx\\\ny"\nB=1', [".env:2:1 dotenv-escape"]],
  ["a value without its end, at its start", "A=1\nK='secret\nB=2\n", [".env:2:1 dotenv-quote"]],
  ["text behind a closing quote", "A=\"secret\" secret\nB='secret'secret", [
    ".env:1:1 dotenv-quote",
    ".env:2:1 dotenv-quote",
  ]],
  ["a NUL", "A=secret\0", [".env:1:1 dotenv-syntax"]],
  ["several, all at once", 'secret\nA=1\n2=secret\nB="\\x secret"', [
    ".env:1:1 dotenv-syntax",
    ".env:3:1 dotenv-name",
    ".env:4:1 dotenv-escape",
  ]],
];

for (const [name, text, faults] of FAULTS) {
  Deno.test(`readDotenv: refuses ${name}, and never prints what stands there`, () => {
    assert.throws(() => readDotenv(text), (error: unknown) => {
      assert.ok(error instanceof DiagnosticError);
      const found = error.diagnostics.map((d) => `${d.place.file}:${d.place.line}:${d.place.column} ${d.id}`);
      assert.deepEqual(found, faults);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  });
}

Deno.test("readDotenv: names the file that it is told", () => {
  assert.throws(() => readDotenv("x", "dir/.env"), {
    message: "dir/.env:1:1: a line must be `NAME=value` [dotenv-syntax]",
  });
});
