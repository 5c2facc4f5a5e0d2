import assert from "node:assert/strict";
import { createHarnessEditTools } from "../../../lib/tool/toolsets/edit.ts";
import { findOccurrences, replaceOccurrences } from "../../../lib/tool/toolsets/_replace.ts";
import { createHarnessFileTools } from "../../../lib/tool/toolsets/files.ts";
import type { SandboxLease } from "../../../lib/sandbox/lease.ts";
import { changedLease, Repository } from "./_repository.ts";

const edits = createHarnessEditTools();
const edit = (place: Repository, input: Record<string, unknown>) => place.ok(edits, "edit_file", input);
const write = (place: Repository, input: Record<string, unknown>) => place.ok(edits, "write_file", input);
const mode = async (path: string) => (await Deno.stat(path)).mode! & 0o7777;

Deno.test("harness 23: edit_file replaces one occurrence or all, literally, and keeps the mode", async () => {
  await using place = await Repository.make({ "f.txt": "one two\ntwo\n" });
  await Deno.chmod(`${place.root}/f.txt`, 0o751);
  const before = await place.paths();
  const call = (old_text: string, new_text: string, more = {}) => ({ path: "f.txt", old_text, new_text, ...more });
  assert.match(await place.fails(edits, "edit_file", call("three", "x")), /not found/);
  assert.match(await place.fails(edits, "edit_file", call("two", "x")), /2 times/);
  assert.equal(await place.read("f.txt"), "one two\ntwo\n");
  assert.match(await edit(place, call("one", "$&")), /Replaced 1 occurrence in "f\.txt"/);
  assert.equal(await place.read("f.txt"), "$& two\ntwo\n");
  assert.match(await edit(place, call("two", "", { replace_all: true })), /Replaced 2 occurrences/);
  assert.equal(await place.read("f.txt"), "$& \n\n");
  assert.equal(await mode(`${place.root}/f.txt`), 0o751);
  assert.deepEqual(await place.paths(), before);
});

Deno.test("harness 23: edit_file overwrites nothing when the file changes between its two reads", async () => {
  await using place = await Repository.make({ "f.txt": "old\n" });
  let reads = 0;
  const lease = changedLease(place.lease, {
    download: async (from, to) => {
      reads += 1;
      await place.lease.download(from, to);
      if (reads === 1) await place.write("f.txt", "old and new\n");
    },
  });
  const { content, isError } = await place.call(
    edits,
    "edit_file",
    { path: "f.txt", old_text: "old", new_text: "x" },
    lease,
  );
  assert(isError);
  assert.match(content, /read it again/);
  assert.equal(await place.read("f.txt"), "old and new\n");
});

Deno.test("harness 24: write_file creates directories, and says when it replaces", async () => {
  await using place = await Repository.make({ "old.sh": "old content" });
  await Deno.chmod(`${place.root}/old.sh`, 0o755);
  assert.equal(await write(place, { path: "new/dir/f.txt", content: "é\n" }), 'Created "new/dir/f.txt" with 3 bytes.');
  assert.equal(await place.read("new/dir/f.txt"), "é\n");
  assert.match(await write(place, { path: "old.sh", content: "x" }), /Replaced the whole content .* with 1 byte\./);
  assert.equal(await place.read("old.sh"), "x");
  assert.equal(await mode(`${place.root}/old.sh`), 0o755);
  await write(place, { path: "empty", content: "" });
  assert.equal(await place.read("empty"), "");
  const large = "0123456789".repeat(500_000);
  await write(place, { path: "large", content: large });
  assert.equal(await place.read("large"), large);
  assert.deepEqual((await place.paths()).filter((path) => path.includes("tmp")), []);
  const umask = Deno.umask();
  assert.equal(await mode(`${place.root}/new/dir/f.txt`), 0o666 & ~umask);
});

Deno.test("edit_file: text copied from read_file fits a CRLF file, whose line ends stay", async () => {
  await using place = await Repository.make({
    "crlf.txt": "a\r\nb\r\nc\r\n",
    "mixed.txt": "a\nb\r\nc\nd\r\n",
    "lone.txt": "a\rb\r\nc\r\n",
  });
  const read = await place.ok(createHarnessFileTools(), "read_file", { path: "crlf.txt" });
  const copied = read.split("\n").slice(0, 2).map((line) => line.split("\t")[1]).join("\n");
  await edit(place, { path: "crlf.txt", old_text: copied, new_text: "x\ny\nz" });
  assert.equal(await place.read("crlf.txt"), "x\r\ny\r\nz\r\nc\r\n");
  await edit(place, { path: "crlf.txt", old_text: "c", new_text: "c\nd" });
  assert.equal(await place.read("crlf.txt"), "x\r\ny\r\nz\r\nc\r\nd\r\n");
  await edit(place, { path: "crlf.txt", old_text: "y\r\nz", new_text: "raw\n" });
  assert.equal(await place.read("crlf.txt"), "x\r\nraw\r\n\r\nc\r\nd\r\n");
  await edit(place, { path: "mixed.txt", old_text: "a\nb\nc", new_text: "1\n2" });
  assert.equal(await place.read("mixed.txt"), "1\n2\nd\r\n");
  await edit(place, { path: "lone.txt", old_text: "b\nc\n", new_text: "\n" });
  assert.equal(await place.read("lone.txt"), "a\r\r\n");
});

Deno.test("findOccurrences: agrees with a slow search over all texts of a small alphabet", () => {
  const texts: string[] = [""];
  for (let index = 0; texts[index]!.length < 5; index++) {
    for (const letter of ["a", "\n", "\r\n"]) texts.push(texts[index]! + letter);
  }
  for (const text of texts) {
    for (const part of ["a", "\n", "a\n", "\na", "\n\n", "a\na"]) {
      const slow: { start: number; end: number }[] = [];
      for (let start = 0; start < text.length;) {
        // Inside of a CRLF nothing begins.
        const inside = text[start] === "\n" && text[start - 1] === "\r";
        const end = inside ? undefined : fit(text, part, start);
        if (end !== undefined) slow.push({ start, end });
        start = end ?? start + 1;
      }
      assert.deepEqual(findOccurrences(text, part), slow, JSON.stringify([text, part]));
    }
  }
  function fit(text: string, part: string, start: number): number | undefined {
    let at = start;
    for (const letter of part) {
      if (letter === "\n" && text.startsWith("\r\n", at)) at += 2;
      else if (text[at] === letter) at += 1;
      else return undefined;
    }
    return at;
  }
});

Deno.test("replaceOccurrences: a text without line ends takes LF as it is", () => {
  assert.equal(replaceOccurrences("abc", findOccurrences("abc", "b"), "\n"), "a\nc");
  assert.equal(replaceOccurrences("aaaa", findOccurrences("aaaa", "aa"), "b"), "bb");
});

Deno.test("edit tools: no segment .git in any case, by itself or through a link", async () => {
  await using place = await Repository.make({ "a.txt": "x\n" });
  await Deno.symlink(".git", `${place.root}/door`);
  await Deno.symlink(".git/config", `${place.root}/conf`);
  const config = await place.read(".git/config");
  const paths = [
    ".git/config",
    ".GIT/config",
    "a/../.git/hooks/pre-commit",
    "sub/.Git/x",
    ".git",
    "door/config",
    "conf",
  ];
  paths.push(".git./x", ".git /x", "git~1/x", ".g\u200cit/x", ".git::$INDEX_ALLOCATION/x", ".git\\config");
  for (const path of paths) {
    assert.match(await place.fails(edits, "write_file", { path, content: "[core]" }), /\.git|directory/, path);
  }
  for (const path of [".git/config", "door/config"]) {
    const input = { path, old_text: "bare", new_text: "x" };
    assert.match(await place.fails(edits, "edit_file", input), /never write into \.git/);
  }
  assert.equal(await place.read(".git/config"), config);
  await write(place, { path: ".gitignore", content: "x" });
  await write(place, { path: "a.git/x", content: "x" });
});

Deno.test("write_file: no link is followed to the outside, not even one that leads nowhere yet", async () => {
  await using place = await Repository.make({ "in.txt": "x\n" });
  await Deno.symlink(`${place.outside}/new`, `${place.root}/dangling`);
  await Deno.symlink("../outside", `${place.root}/out`);
  await Deno.symlink("in.txt", `${place.root}/link`);
  await Deno.symlink("made/later.txt", `${place.root}/later`);
  for (const path of ["dangling", "out/x", "out/new/dir/x", "out"]) {
    assert.match(await place.fails(edits, "write_file", { path, content: "x" }), /outside|directory/, path);
  }
  assert.deepEqual(await Array.fromAsync(Deno.readDir(place.outside)), []);
  await write(place, { path: "link", content: "through\n" });
  assert.equal(await place.read("in.txt"), "through\n");
  assert((await Deno.lstat(`${place.root}/link`)).isSymlink);
  await write(place, { path: "later", content: "x" });
  assert.equal(await place.read("made/later.txt"), "x");
  assert.match(await place.fails(edits, "edit_file", { path: "link", old_text: "t", new_text: "x" }), /symbolic link/);
  assert.match(await place.fails(edits, "write_file", { path: ".", content: "x" }), /directory/);
  assert.match(await place.fails(edits, "write_file", { path: "in.txt/x", content: "x" }), /not a directory/);
  assert.match(await place.fails(edits, "write_file", { path: "../outside/x", content: "x" }), /outside/);
});

Deno.test("write_file: a link that takes the file's or a directory's place at the last moment is not followed", async () => {
  await using place = await Repository.make({ "f.txt": "x\n", "dir/f.txt": "x\n" });
  await Deno.writeTextFile(`${place.outside}/f.txt`, "secret\n");
  /** Swaps the path for a link right before the command that writes. */
  const swapping = (path: string, target: string): SandboxLease =>
    changedLease(place.lease, {
      invoke: async (command) => {
        if (command.stdin !== undefined) {
          await Deno.remove(`${place.root}/${path}`, { recursive: true });
          await Deno.symlink(target, `${place.root}/${path}`);
        }
        return await place.lease.invoke(command);
      },
    });
  const first = await place.call(
    edits,
    "write_file",
    { path: "f.txt", content: "new\n" },
    swapping("f.txt", `${place.outside}/f.txt`),
  );
  assert(!first.isError, first.content);
  assert(!(await Deno.lstat(`${place.root}/f.txt`)).isSymlink);
  const second = await place.call(
    edits,
    "write_file",
    { path: "dir/f.txt", content: "new\n" },
    swapping("dir", place.outside),
  );
  assert(second.isError);
  assert.match(second.content, /link appeared/);
  assert.equal(await Deno.readTextFile(`${place.outside}/f.txt`), "secret\n");
});

Deno.test("edit tools: content that does not arrive whole changes nothing and leaves nothing", async () => {
  await using place = await Repository.make({ "f.txt": "old content\n" });
  const lease = changedLease(place.lease, {
    invoke: (command) =>
      place.lease.invoke(command.stdin === undefined ? command : { ...command, stdin: command.stdin.slice(0, 3) }),
  });
  const before = await place.paths();
  for (
    const [name, input] of [
      ["write_file", { path: "f.txt", content: "something else" }],
      ["edit_file", { path: "f.txt", old_text: "old", new_text: "new" }],
      ["write_file", { path: "g.txt", content: "something else" }],
    ] as const
  ) {
    const { content, isError } = await place.call(edits, name, input, lease);
    assert(isError);
    assert.match(content, /did not arrive whole/);
  }
  assert.equal(await place.read("f.txt"), "old content\n");
  assert.deepEqual(await place.paths(), before);
});

Deno.test("edit tools: UTF-8 only, hostile names, half a surrogate pair", async () => {
  await using place = await Repository.make();
  await place.write("latin", new Uint8Array([0x61, 0xe9, 0x0a]));
  assert.match(await place.fails(edits, "edit_file", { path: "latin", old_text: "a", new_text: "b" }), /UTF-8/);
  assert.deepEqual(await Deno.readFile(`${place.root}/latin`), new Uint8Array([0x61, 0xe9, 0x0a]));
  for (const path of ["-rf", "a b", "$(id)", "new\nline\n", "é/💩", "-p/-x/q'\""]) {
    await write(place, { path, content: "one" });
    await edit(place, { path, old_text: "one", new_text: "two" });
    assert.equal(await place.read(path), "two", path);
  }
  assert.match(await place.fails(edits, "write_file", { path: "half", content: "\ud800" }), /surrogate/);
  await assert.rejects(Deno.stat(`${place.root}/half`), Deno.errors.NotFound);
  await place.write("mark.txt", "\ufeffone\n");
  await edit(place, { path: "mark.txt", old_text: "one", new_text: "two" });
  assert.equal(await place.read("mark.txt"), "\ufefftwo\n");
});

Deno.test("createHarnessEditTools: not read-only, closed schemas, declared paths", () => {
  assert.deepEqual(edits.tools.map(({ name, readOnly }) => [name, readOnly]), [["write_file", false], [
    "edit_file",
    false,
  ]]);
  assert(edits.tools.every(({ inputSchema }) => inputSchema["additionalProperties"] === false));
  for (const tool of edits.tools) assert.deepEqual(tool.resources({ path: "a/b" }), { paths: ["a/b"] });
});
