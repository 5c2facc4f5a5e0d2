import assert from "node:assert/strict";
import { VERSION } from "../../lib/base/product.ts";
import { denoCache, Place, REPOSITORY } from "../_support/process.ts";
import { SLOW } from "../_support/slow.ts";

/** A plain web server with the repository's files. */
function serveRepository(): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.includes("..")) return new Response(null, { status: 400 });
    try {
      const text = await Deno.readTextFile(`${REPOSITORY}${pathname.slice(1)}`);
      return new Response(text, { headers: { "content-type": "text/plain; charset=utf-8" } });
    } catch {
      return new Response("not found", { status: 404 });
    }
  });
}

/** A cache of its own, but for the packages: those are fetched from no network here. */
async function emptyCache(place: Place): Promise<string> {
  const { npmCache } = await denoCache();
  const cache = `${place.home}/deno`;
  await Deno.mkdir(cache);
  await Deno.symlink(npmCache, `${cache}/npm`);
  return cache;
}

Deno.test({
  name: "url: `deno run URL/cli.ts` works from an empty directory with an empty cache",
  ...SLOW,
  fn: async (t) => {
    await using place = await Place.make();
    const server = serveRepository();
    const environment = { DENO_DIR: await emptyCache(place) };
    const run = (...args: string[]) =>
      place.run(
        Deno.execPath(),
        ["run", "-A", "--quiet", `http://127.0.0.1:${server.addr.port}/cli.ts`, ...args],
        environment,
      );
    try {
      await t.step("--version", async () => {
        const { code, stdout, stderr } = await run("--version");
        assert.equal(code, 0, stderr);
        assert.equal(stdout, `lait ${VERSION}\n`);
      });
      await t.step("demo", async () => {
        const { code, stdout, stderr } = await run("demo");
        assert.equal(code, 0, stderr);
        assert.match(stdout, /src\/parser\.ts:2:.*TODO: quoted words/);
      });
      await t.step("nothing is left behind", async () => {
        assert.deepEqual(await Array.fromAsync(Deno.readDir(place.directory)), []);
      });
    } finally {
      await server.shutdown();
    }
  },
});
