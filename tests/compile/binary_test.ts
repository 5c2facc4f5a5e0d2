import assert from "node:assert/strict";
import { VERSION } from "../../lib/base/product.ts";
import { Place, REPOSITORY } from "../_support/process.ts";
import { SLOW } from "../_support/slow.ts";

async function compile(folder: string): Promise<string> {
  const output = `${folder}/lait`;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "tools/compile.ts", "--output", output],
    cwd: REPOSITORY,
  }).output();
  const said = new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout);
  assert(success, `the binary could not be compiled; without a download host: eval "$(tools/denort.sh)"\n${said}`);
  return output;
}

Deno.test({
  name: "binary: version, help, demo and a usage error, from an empty directory",
  ...SLOW,
  fn: async (t) => {
    const folder = await Deno.makeTempDir({ prefix: "lait-binary-" });
    try {
      const binary = await compile(folder);
      await using place = await Place.make();
      await t.step("--version", async () => {
        assert.deepEqual(await place.run(binary, ["--version"]), { code: 0, stdout: `lait ${VERSION}\n`, stderr: "" });
      });
      await t.step("--help", async () => {
        const { code, stdout } = await place.run(binary, ["--help"]);
        assert.equal(code, 0);
        assert.match(stdout, /^Usage: lait/);
      });
      await t.step("demo", async () => {
        const { code, stdout, stderr } = await place.run(binary, ["demo"]);
        assert.equal(code, 0, stderr);
        assert.match(stdout, /notes\/garden\.md:3:TODO: water the tomatoes/);
        assert.match(stderr, /usage: prompt=206 completion=69 total=275 \(2 requests\)/);
      });
      await t.step("an unknown option", async () => {
        const { code, stderr } = await place.run(binary, ["--modle", "x"]);
        assert.equal(code, 2);
        assert.match(stderr, /did you mean --model/);
      });
      await t.step("nothing is left behind", async () => {
        assert.deepEqual(await Array.fromAsync(Deno.readDir(place.directory)), []);
      });
      assert((await Deno.stat(binary)).size < 110 * 1024 * 1024, "the binary has grown over 110 MiB");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
