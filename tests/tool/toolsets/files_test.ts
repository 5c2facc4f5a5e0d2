import assert from "node:assert/strict";
import { ConfigurationError } from "../../../lib/base/errors.ts";
import { createHarnessFileTools } from "../../../lib/tool/toolsets/files.ts";
import { changedLease, Repository } from "./_repository.ts";

const files = createHarnessFileTools();
const plain = createHarnessFileTools({ selection: "filesystem" });
const read = (place: Repository, input: Record<string, unknown>) => place.ok(files, "read_file", input);
const refuses = (place: Repository, path: string) => place.fails(files, "read_file", { path });

Deno.test("harness 17: read_file numbers lines, notes a part, and says when a file is empty", async () => {
  await using place = await Repository.make({
    "three.txt": "one\ntwo\nthree\n",
    "empty.txt": "",
    "twelve.txt": Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join("\n"),
    "feed.txt": "\n",
  });
  assert.equal(await read(place, { path: "three.txt", offset: 2, limit: 1 }), "2\ttwo\n[lines 2-2 of 3]");
  assert.equal(await read(place, { path: "three.txt" }), "1\tone\n2\ttwo\n3\tthree");
  assert.equal(await read(place, { path: "three.txt", limit: 3 }), "1\tone\n2\ttwo\n3\tthree");
  assert.equal(await read(place, { path: "three.txt", offset: 3 }), "3\tthree\n[lines 3-3 of 3]");
  assert.equal(await read(place, { path: "three.txt", offset: 9 }), "[lines 9-8 of 3]");
  assert.equal(await read(place, { path: "empty.txt" }), "(empty file)");
  assert.equal(await read(place, { path: "feed.txt" }), "1\t");
  const twelve = (await read(place, { path: "twelve.txt" })).split("\n");
  assert.equal(twelve[0], " 1\tline 1");
  assert.equal(twelve[11], "12\tline 12");
  assert.equal(
    await read(place, { path: "twelve.txt", offset: 8, limit: 2 }),
    "8\tline 8\n9\tline 9\n[lines 8-9 of 12]",
  );
});

Deno.test("read_file: CRLF, no final newline, a byte order mark, 2,000 lines at most", async () => {
  await using place = await Repository.make({
    "crlf.txt": "a\r\n\r\nb\r\n",
    "mixed.txt": "a\r\nb\nc",
    "mark.txt": "\ufeffé\n",
    "long.txt": "x\n".repeat(2001),
  });
  assert.equal(await read(place, { path: "crlf.txt" }), "1\ta\n2\t\n3\tb");
  assert.equal(await read(place, { path: "mixed.txt" }), "1\ta\n2\tb\n3\tc");
  assert.equal(await read(place, { path: "mark.txt" }), "1\té");
  const long = (await read(place, { path: "long.txt" })).split("\n");
  assert.equal(long.length, 2001);
  assert.equal(long[2000], "[lines 1-2000 of 2001]");
  assert.match(await place.fails(files, "read_file", { path: "long.txt", limit: 2001 }), /validation/);
  assert.match(await place.fails(files, "read_file", { path: "long.txt", offset: 0 }), /validation/);
  assert.match(await place.fails(files, "read_file", { path: "" }), /validation/);
  assert.match(await place.fails(files, "read_file", { path: "long.txt", encoding: "x" }), /validation/);
});

Deno.test("harness 18: read_file refuses paths that lead outside, and follows `..` inside", async () => {
  await using place = await Repository.make({ "b.txt": "b\n", "a/c.txt": "c\n" });
  await Deno.writeTextFile(`${place.outside}/x`, "secret\n");
  for (const path of ["/etc/hosts", "../x", "a/../../x", "C:/x", "..\\x", "c:\\x", "..", "../outside/x"]) {
    const message = await refuses(place, path);
    assert(message.includes(JSON.stringify(path)) && message.includes("outside the repository"), message);
  }
  assert.equal(await read(place, { path: "a/../b.txt" }), "1\tb");
  assert.equal(await read(place, { path: "./a//.\\c.txt" }), "1\tc");
});

Deno.test("harness 19: read_file refuses links, directories, binary and large files", async () => {
  await using place = await Repository.make({ "real.txt": "x\n", "dir/in.txt": "y\n" });
  await Deno.symlink("real.txt", `${place.root}/link`);
  await place.write("nul", new Uint8Array(9_000).fill(65).with(7_999, 0));
  await place.write("late-nul", new Uint8Array(9_000).fill(65).with(8_000, 0));
  await place.write("large", new Uint8Array(4 * 1024 * 1024 + 1).fill(65));
  await place.write("just", new Uint8Array(4 * 1024 * 1024).fill(65));
  await place.write("latin", new Uint8Array([0x63, 0xe9, 0x0a]));
  await place.lease.invoke({ executable: "mkfifo", arguments: ["pipe"] });
  assert.match(await refuses(place, "link"), /symbolic link/);
  assert.match(await refuses(place, "dir"), /directory/);
  assert.match(await refuses(place, "."), /directory/);
  assert.match(await refuses(place, "nul"), /binary/);
  assert.match(await refuses(place, "large"), /4194304/);
  assert.match(await refuses(place, "pipe"), /ordinary/);
  assert.match(await refuses(place, "none"), /does not exist/);
  assert.match(await refuses(place, "real.txt/x"), /not a directory/);
  assert.match(await refuses(place, "latin"), /UTF-8/);
  assert.match(await read(place, { path: "late-nul" }), /^1\tA/);
  assert.match(await read(place, { path: "just" }), /^1\tA/);
});

Deno.test("read_file: a link anywhere on the way that leads outside is refused, one that stays inside is not", async () => {
  await using place = await Repository.make({ "dir/sub/f.txt": "inside\n" });
  await Deno.writeTextFile(`${place.outside}/f.txt`, "secret\n");
  const links: Record<string, string> = {
    "out": "../outside",
    "absolute": place.outside,
    "dir/up": "../../outside",
    "chain": "dir/up",
    "in": "dir/sub",
    "abs-in": `${place.root}/dir`,
    "loop": "loop",
    "ping": "pong",
    "pong": "ping",
    "back": `../outside/../root/dir/sub`,
    "roundtrip": "out-and-in",
    "out-and-in": "../outside/home-again",
    "root": ".",
  };
  for (const [name, target] of Object.entries(links)) await Deno.symlink(target, `${place.root}/${name}`);
  await Deno.symlink(`${place.root}/dir/sub`, `${place.outside}/home-again`);
  for (const name of ["out", "absolute", "dir/up", "chain"]) {
    assert.match(await refuses(place, `${name}/f.txt`), /leads outside the repository through a link/, name);
  }
  assert.match(await refuses(place, "out/none/deeper"), /outside/);
  // Out by one link and in again by another.
  assert.match(await refuses(place, "out/home-again/f.txt"), /outside/);
  for (const name of ["loop", "ping"]) assert.match(await refuses(place, `${name}/f.txt`), /loop of links/);
  // What counts is where each link leads in the end: also `/tmp` may be a link of the system's.
  for (const name of ["in", "abs-in/sub", "back", "roundtrip", "root/in", "root/root/dir/sub"]) {
    assert.equal(await read(place, { path: `${name}/f.txt` }), "1\tinside", name);
  }
});

Deno.test("read_file: names that a shell, an option parser or a line reader would take for something else", async () => {
  const names = [
    "-n",
    "--help",
    "a b",
    " lead",
    "q'uo\"te",
    "$(touch x)",
    "`id`",
    "*",
    "new\nline",
    "end\n",
    "é/ü💩.txt",
  ];
  names.push("%s\\0", "a;b", "~", "[ab]");
  // A backslash in a path that a model gives is a separator, so such a file has to be named by what it is not.
  const readable = names.filter((name) => !name.includes("\\"));
  await using place = await Repository.make(Object.fromEntries(readable.map((name) => [name, `${name}|`])));
  for (const name of readable) {
    assert.equal(await read(place, { path: name }), `${name}|`.split("\n").map((l, i) => `${i + 1}\t${l}`).join("\n"));
  }
  assert(!(await place.paths()).includes("./x"));
  assert.match(await refuses(place, "a\0b"), /control character/);
});

Deno.test("read_file: a file that may not be read is an error that names it", async () => {
  await using place = await Repository.make({ "closed.txt": "x" });
  const lease = changedLease(place.lease, {
    download: () => Promise.reject(new Deno.errors.PermissionDenied("no")),
  });
  const { content, isError } = await place.call(files, "read_file", { path: "closed.txt" }, lease);
  assert(isError);
  assert.match(content, /cannot read "closed\.txt": permission denied/);
});

Deno.test("read_file: nothing is left on this machine, also after a failure", async () => {
  await using place = await Repository.make({ "a.txt": "a", "latin": "x" });
  await place.write("latin", new Uint8Array([0xff]));
  const copies: string[] = [];
  const lease = changedLease(place.lease, {
    download: (from, to) => {
      copies.push(to);
      return from.endsWith("boom") ? Promise.reject(new Error("boom")) : place.lease.download(from, to);
    },
  });
  await place.write("boom", "x");
  for (const path of ["a.txt", "latin", "boom"]) await place.call(files, "read_file", { path }, lease);
  assert.equal(copies.length, 3);
  for (const copy of copies) await assert.rejects(Deno.stat(copy.replace(/\/file$/, "")), Deno.errors.NotFound);
});

Deno.test("harness 20: list_files lists nested files relative to the root, sorted, without what is ignored", async () => {
  await using place = await Repository.make({
    "src/lib/a.ts": "",
    "src/b.ts": "",
    "src/c.js": "",
    "top.ts": "",
    ".gitignore": "ignored.ts\n",
  });
  await place.write("src/ignored.ts", "");
  await place.write("src/new.ts", "");
  await Deno.remove(`${place.root}/src/b.ts`);
  const list = (input: Record<string, unknown>) => place.ok(files, "list_files", input);
  assert.equal(await list({ path: "src", pattern: "*.ts" }), "src/b.ts\nsrc/lib/a.ts\nsrc/new.ts");
  assert.equal(await list({ path: "src", pattern: "lib/*.ts" }), "No files found.");
  assert.equal(await list({ path: "src", pattern: "src/lib/*.ts" }), "src/lib/a.ts");
  assert.equal(await list({ pattern: "**/*.ts" }), "src/b.ts\nsrc/lib/a.ts\nsrc/new.ts\ntop.ts");
  assert.equal(await list({}), ".gitignore\nsrc/b.ts\nsrc/c.js\nsrc/lib/a.ts\nsrc/new.ts\ntop.ts");
  assert.equal(await list({ path: "none" }), "No files found.");
  assert.equal(await list({ path: "src/b.ts" }), "src/b.ts");
  assert.match(await place.fails(files, "list_files", { path: "../outside" }), /outside/);
  assert.match(await place.fails(files, "list_files", { paths: "src" }), /validation/);
});

Deno.test("list_files: a file in conflict once, hostile names on one line each, links as what they are", async () => {
  await using place = await Repository.make({ "a.txt": "1" });
  await place.git("checkout", "-q", "-b", "other");
  await place.write("a.txt", "2");
  await place.commit("other");
  await place.git("checkout", "-q", "main");
  await place.write("a.txt", "3");
  await place.commit("main");
  await place.lease.invoke({ executable: "git", arguments: ["merge", "-q", "other"] });
  await place.write("new\nline", "");
  await place.write("-x", "");
  await place.write(":(top)x", "");
  await place.write("ü 💩", "");
  await Deno.symlink("..", `${place.root}/dots`);
  assert.equal(
    await place.ok(files, "list_files", {}),
    ["-x", ":(top)x", "a.txt", "dots", '"new\\nline"', "ü 💩"].join("\n"),
  );
  assert.equal(await place.ok(files, "list_files", { path: ":(top)x" }), ":(top)x");
  assert.equal(await place.ok(files, "list_files", { path: "-x" }), "-x");
  assert.equal(await place.ok(files, "list_files", { path: "*" }), "No files found.");
  assert.match(await place.fails(files, "list_files", { path: "dots/outside" }), /outside the repository/);
});

Deno.test("list_files: the first 1,000 of the sorted names, and how many are left out", async () => {
  await using place = await Repository.make();
  const names = Array.from({ length: 4_501 }, (_, index) => `f${String(index).padStart(5, "0")}`);
  await place.lease.invoke({ executable: "touch", arguments: names });
  for (const set of [files, plain]) {
    const lines = (await place.ok(set, "list_files", {})).split("\n");
    assert.deepEqual(lines.slice(0, 1000), names.slice(0, 1000));
    assert.deepEqual(lines.slice(1000), ["[3501 more files left out]"]);
  }
});

Deno.test("list_files: outside a repository Git says so", async () => {
  await using place = await Repository.make({ "a.txt": "" }, { git: false });
  assert.match(await place.fails(files, "list_files", {}), /not a git repository/);
});

Deno.test("list_files: without Git every ordinary file, never .git, .outpost or .lait, no links", async () => {
  await using place = await Repository.make({ "a/b.ts": "", ".gitignore": "a\n", "-x/-y": "" });
  for (const path of [".outpost/x", ".lait/x", "a/.git/x"]) await place.write(path, "");
  await Deno.symlink("a", `${place.root}/link`);
  const list = (input: Record<string, unknown>) => place.ok(plain, "list_files", input);
  assert.equal(await list({}), "-x/-y\n.gitignore\na/b.ts");
  assert.equal(await list({ path: "a" }), "a/b.ts");
  assert.equal(await list({ path: "-x" }), "-x/-y");
  assert.equal(await list({ path: "a/b.ts" }), "a/b.ts");
  assert.equal(await list({ pattern: "*.ts" }), "a/b.ts");
  assert.equal(await list({ path: ".git" }), "No files found.");
  assert.equal(await list({ path: "none" }), "No files found.");
  assert.match(await place.fails(plain, "list_files", { path: "link" }), /symbolic link/);
});

Deno.test("list_files: without Git more names than 2,000,000 bytes fail", async () => {
  await using place = await Repository.make({}, { git: false });
  const long = "n".repeat(240);
  const { status } = await place.lease.invoke({
    executable: "sh",
    arguments: [
      "-c",
      `d=${long}; mkdir -p $d/$d/$d && cd $d/$d/$d && i=0; while [ $i -lt 2200 ]; do : > $d$i; i=$((i+1)); done`,
    ],
  });
  assert.equal(status, 0);
  assert.match(await place.fails(plain, "list_files", {}), /too many files/);
});

Deno.test("createHarnessFileTools: its name, its tools, and wrong options", () => {
  assert.deepEqual([files.kind, files.name, files.tools.map(({ name }) => name)], ["toolset", "files", [
    "read_file",
    "list_files",
  ]]);
  assert(files.tools.every(({ readOnly }) => readOnly));
  assert(files.tools.every(({ inputSchema }) => inputSchema["additionalProperties"] === false));
  assert.deepEqual(files.tools[0]!.resources({ path: "a" }), { paths: ["a"] });
  assert.deepEqual(files.tools[1]!.resources({}), { paths: ["."] });
  assert.throws(() => createHarnessFileTools({ selection: "svn" as "git" }), ConfigurationError);
  assert.throws(() => createHarnessFileTools({ select: "git" } as object), ConfigurationError);
});
