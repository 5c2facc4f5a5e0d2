/** The public client conformance suite: every scenario that it has passes, or stands here with the reason why not. */
import assert from "node:assert/strict";
import { denoCache, Place } from "../_support/process.ts";
import { mcpProgram } from "../servers/mcp.ts";

const CLIENT = new URL("./conformance_client.ts", import.meta.url).pathname;
/** The server scenarios of the list are for servers. */
const CLIENT_LIST = /^Client scenarios.*\n((?: {2}- .*\n?)+)/m;

/** Scenarios that do not apply, and why. */
const NOT_FOR_LAIT: Readonly<Record<string, string>> = {
  "auth/client-credentials-jwt": "an extension: a machine's own login with a signed assertion; a header does for that",
  "auth/client-credentials-basic": "an extension: a machine's own login with a secret; a header does for that",
  "auth/cross-app-access-complete-flow": "an extension: single sign-on of a company's identity provider",
};

/** Scenarios at whose end the client is to give up, which ends it with an error. */
const GIVES_UP: readonly string[] = ["auth/scope-retry-limit", "auth/resource-mismatch"];

const { denoDir: DENO_DIR } = await denoCache();

async function suite(place: Place, ...args: readonly string[]) {
  const [program, ...words] = mcpProgram("conformance", ...args);
  return await place.run(program, words, { DENO_DIR });
}

Deno.test("conformance: the public client scenarios pass; those that do not apply have a reason", async (t) => {
  await using place = await Place.make();
  const { stdout } = await suite(place, "list");
  const scenarios = [...CLIENT_LIST.exec(stdout)![1]!.matchAll(/- (\S+)/g)].map(([, name]) => name!);
  assert(scenarios.length >= 20);
  assert.deepEqual(Object.keys(NOT_FOR_LAIT).filter((name) => !scenarios.includes(name)), []);
  const command = `${Deno.execPath()} run -A --quiet --no-check --cached-only ${CLIENT}`;
  for (const scenario of scenarios.filter((name) => !Object.hasOwn(NOT_FOR_LAIT, name))) {
    await t.step(scenario, async () => {
      const ended = await suite(place, "client", "--command", command, "--scenario", scenario);
      const said = `${ended.stdout}${ended.stderr}`;
      assert.match(said, /Passed: (\d+)\/\1, 0 failed, 0 warnings/, said);
      assert.match(said, /OVERALL: PASSED/);
      assert.equal(/error.*: Uncaught/.test(said), GIVES_UP.includes(scenario), said);
    });
  }
});
