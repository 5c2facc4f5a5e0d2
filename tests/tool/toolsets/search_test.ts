import assert from "node:assert/strict";
import { ConfigurationError } from "../../../lib/base/errors.ts";
import { createHarnessSearchTools } from "../../../lib/tool/toolsets/search.ts";
import { Repository } from "./_repository.ts";

const tracked = createHarnessSearchTools();
const plain = createHarnessSearchTools({ selection: "filesystem" });
const search = (place: Repository, input: Record<string, unknown>, set = tracked) => place.ok(set, "search", input);

Deno.test("harness 21: search without a match, with a wrong expression, with a glob relative to its path", async () => {
  await using place = await Repository.make({
    "src/lib/a.ts": "const needle = 1;\n",
    "src/a.js": "needle\n",
    "lib/b.ts": "needle\n",
  });
  assert.equal(await search(place, { pattern: "nothing of this" }), "No matches.");
  assert.match(await place.fails(tracked, "search", { pattern: "(" }), /[Uu]nmatched|parenthes/);
  const inside = { pattern: "needle", path: "src", glob: "lib/*.ts" };
  assert.equal(await search(place, inside), "src/lib/a.ts:1:const needle = 1;");
  assert.equal(
    await search(place, { pattern: "needle", path: "src", glob: "*.ts" }),
    "src/lib/a.ts:1:const needle = 1;",
  );
  assert.equal(await search(place, { pattern: "needle", path: "src", glob: "*.rs" }), "No matches.");
  assert.equal(await search(place, { pattern: "needle", glob: "lib/*.ts" }), "lib/b.ts:1:needle");
  for (const glob of ["../*.ts", "/lib/*.ts", "a/../../x"]) {
    assert.match(await place.fails(tracked, "search", { pattern: "needle", path: "src", glob }), /outside/);
  }
  // Without Git the glob is about the path from the root.
  assert.equal(await search(place, inside, plain), "No matches.");
  assert.equal(
    await search(place, { ...inside, glob: "src/lib/*.ts" }, plain),
    "src/lib/a.ts:1:const needle = 1;",
  );
});

Deno.test("harness 22: search shows 200 of 250 lines and says that 50 are left out", async () => {
  await using place = await Repository.make({ "a.txt": "hit\n".repeat(249), "b.txt": "hit\n" });
  for (const set of [tracked, plain]) {
    const lines = (await search(place, { pattern: "hit" }, set)).split("\n");
    assert.equal(lines.length, 201);
    assert.equal(lines[0], "a.txt:1:hit");
    assert.equal(lines[199], "a.txt:200:hit");
    assert.equal(lines[200], "[50 more matches left out]");
    const few = (await search(place, { pattern: "hit", max_results: 1 }, set)).split("\n");
    assert.deepEqual(few, ["a.txt:1:hit", "[249 more matches left out]"]);
    assert.match(await place.fails(set, "search", { pattern: "hit", max_results: 201 }), /validation/);
    assert.match(await place.fails(set, "search", { pattern: "hit", case: true }), /validation/);
  }
});

Deno.test("search: case, CRLF, untracked and ignored files, binary files, a pattern that looks like an option", async () => {
  await using place = await Repository.make({ "a.txt": "Needle\r\n--needle\n", ".gitignore": "*.log\n" });
  await place.write("new.txt", "needle\n");
  await place.write("x.log", "needle\n");
  await place.write("binary", "needle\0\n");
  assert.equal(await search(place, { pattern: "needle" }), "a.txt:2:--needle\nnew.txt:1:needle");
  assert.equal(
    await search(place, { pattern: "^needle$", ignore_case: true }, plain),
    "a.txt:1:Needle\nnew.txt:1:needle\nx.log:1:needle",
  );
  assert.equal(
    await search(place, { pattern: "needle", ignore_case: true }),
    "a.txt:1:Needle\na.txt:2:--needle\nnew.txt:1:needle",
  );
  assert.equal(await search(place, { pattern: "--needle" }), "a.txt:2:--needle");
  assert.equal(await search(place, { pattern: "(need|x)le{1}", path: "new.txt" }), "new.txt:1:needle");
  for (const set of [tracked, plain]) {
    assert.match(await place.fails(set, "search", { pattern: "x", path: "../outside" }), /outside/);
    assert.match(await place.fails(set, "search", { pattern: "" }), /validation/);
    assert.equal(await search(place, { pattern: "x", path: "none" }, set), "No matches.");
  }
});

Deno.test("search: names that would break or forge lines, and paths that look like patterns", async () => {
  const names = ["a\nb.txt", "-e", ":(top)x/f", "[ab]/f", "a b:1:c", "é/💩"];
  await using place = await Repository.make(Object.fromEntries(names.map((name) => [name, "needle\n"])));
  await place.write("a/f", "needle\n");
  const all = ["-e:1:needle", ":(top)x/f:1:needle", "[ab]/f:1:needle", '"a\\nb.txt":1:needle', "a b:1:c:1:needle"];
  all.push("a/f:1:needle", "é/💩:1:needle");
  const sorted = (text: string) => text.split("\n").sort();
  for (const set of [tracked, plain]) {
    assert.deepEqual(sorted(await search(place, { pattern: "needle" }, set)), all.toSorted());
    for (const path of [":(top)x", "[ab]", "-e", "é"]) {
      assert.equal((await search(place, { pattern: "needle", path }, set)).split("\n").length, 1, path);
    }
  }
  assert.equal(await search(place, { pattern: "needle", path: "[ab]", glob: "*" }), "[ab]/f:1:needle");
});

Deno.test("search: nothing is read through a link, not even where Git remembers a directory", async () => {
  await using place = await Repository.make({ "d/f.txt": "needle\n", "in/g.txt": "needle\n" });
  await Deno.writeTextFile(`${place.outside}/f.txt`, "needle of another\n".repeat(300));
  await Deno.remove(`${place.root}/d`, { recursive: true });
  await Deno.symlink("../outside", `${place.root}/d`);
  await Deno.symlink("../outside/f.txt", `${place.root}/file`);
  for (const set of [tracked, plain]) {
    assert.equal(await search(place, { pattern: "needle" }, set), "in/g.txt:1:needle");
    for (const path of ["d", "d/f.txt", "file"]) {
      assert.match(await place.fails(set, "search", { pattern: "needle", path }), /outside the repository/);
    }
  }
});

Deno.test("search: without Git it stops at 32 MiB read and 200,000 bytes to answer, and leaves large files out", async () => {
  await using place = await Repository.make({ "a.txt": `needle${"x".repeat(2_000)}\n`.repeat(150) }, { git: false });
  assert.match(await place.fails(plain, "search", { pattern: "needle" }), /200000 bytes/);
  await place.write("a.txt", "needle\n");
  await place.write("large", `needle\n${"x".repeat(4 * 1024 * 1024)}`);
  assert.equal(await search(place, { pattern: "needle" }, plain), "a.txt:1:needle");
  for (let index = 0; index < 9; index++) await place.write(`m${index}`, "x".repeat(4 * 1024 * 1024));
  assert.match(await place.fails(plain, "search", { pattern: "needle" }), /33554432 bytes/);
  assert.equal(await search(place, { pattern: "needle", glob: "a.*" }, plain), "a.txt:1:needle");
  assert.match(await place.fails(plain, "search", { pattern: "(" }), /regular expression/i);
});

Deno.test("search: matches beyond what is kept are counted", async () => {
  await using place = await Repository.make({ "wide.txt": `hit${"x".repeat(150_000)}\n`.repeat(4) });
  const context = { sandbox: place.lease, signal: new AbortController().signal };
  const lines = String(await tracked.tools[0]!.execute({ pattern: "hit" }, context as never)).split("\n");
  assert.deepEqual(lines.map((line) => line.slice(0, 16)), [
    "wide.txt:1:hitxx",
    "wide.txt:2:hitxx",
    "[2 more matches ",
  ]);
});

Deno.test("createHarnessSearchTools: its name, read-only, declared path, wrong options", () => {
  const [tool] = tracked.tools;
  assert.deepEqual([tracked.name, tool!.name, tool!.readOnly], ["search", "search", true]);
  assert.equal(tool!.inputSchema["additionalProperties"], false);
  assert.deepEqual(tool!.resources({ pattern: "x" }), { paths: ["."] });
  assert.deepEqual(tool!.resources({ pattern: "x", path: "src" }), { paths: ["src"] });
  assert.throws(() => createHarnessSearchTools({ selection: "node" as "git" }), ConfigurationError);
});
