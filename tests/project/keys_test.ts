import assert from "node:assert/strict";
import { ConfigurationError, SettingError } from "../../lib/base/errors.ts";
import type { Config } from "../../lib/project/config_shape.ts";
import { KeyRing, keyVariables } from "../../lib/project/keys.ts";
import { Project } from "../../lib/project/project.ts";
import type { KeySource } from "../../lib/project/endpoint.ts";
import { isRunning, Place } from "../_support/process.ts";

const command = (line: string | string[]): KeySource => ({ kind: "command", command: line, path: ["api_key_cmd"] });

async function withRing(
  test: (ring: KeyRing, directory: string, ended: AbortController) => Promise<void>,
): Promise<void> {
  await using place = await Place.make();
  const ended = new AbortController();
  await test(new KeyRing(new Project(place.directory, []), ended.signal), place.directory, ended);
}

Deno.test("KeyRing: no key is the dummy that local servers want; a literal one is sent less its surrounding space", async () => {
  await withRing(async (ring) => {
    assert.equal(await ring.key({ kind: "absent" }, undefined), "lm-studio");
    assert.equal(await ring.key({ kind: "literal", key: " " }, undefined), "lm-studio");
    assert.equal(await ring.key({ kind: "literal", key: "sk-a\r\n" }, undefined), "sk-a");
    for (const key of ["a\nb", "a b", "clé", "a\0"]) {
      await assert.rejects(ring.key({ kind: "literal", key }, undefined), (error) => {
        assert(error instanceof ConfigurationError && !error.message.includes(key));
        return true;
      });
    }
  });
});

Deno.test("KeyRing: a command's output less one line ending is the key; it runs in lait's directory", async () => {
  await withRing(async (ring, directory) => {
    await Deno.writeTextFile(`${directory}/key`, "from-file\n");
    assert.equal(await ring.key(command("cat key"), undefined), "from-file");
    assert.equal(await ring.key(command(["printf", "k"]), undefined), "k");
    assert.equal(await ring.key(command("printf 'k\\r\\n'"), undefined), "k");
    await assert.rejects(ring.key(command("printf 'k\\n\\n'"), undefined), /more than one line/);
  });
});

Deno.test("KeyRing: a command runs once for all who ask, at once or later; a failure is not remembered", async () => {
  await withRing(async (ring, directory) => {
    const once = command("echo ran >>log; echo k");
    assert.deepEqual(await Promise.all([ring.key(once, undefined), ring.key(once, undefined)]), ["k", "k"]);
    assert.equal(await ring.key(once, undefined), "k");
    assert.equal(await Deno.readTextFile(`${directory}/log`), "ran\n");
    const second = command("test -e ok || { touch ok; exit 1; }; echo k");
    await assert.rejects(ring.key(second, undefined), SettingError);
    assert.equal(await ring.key(second, undefined), "k");
  });
});

Deno.test("KeyRing: whoever gives up does not stop the command for others; the end of the invocation does", async () => {
  await withRing(async (ring, directory, ended) => {
    const slow = command("while [ ! -e go ]; do sleep 0.02; done; echo k");
    const gaveUp = new AbortController();
    const first = ring.key(slow, gaveUp.signal);
    const second = ring.key(slow, undefined);
    gaveUp.abort(new Error("gave up"));
    await assert.rejects(first, /gave up/);
    await Deno.writeTextFile(`${directory}/go`, "");
    assert.equal(await second, "k");
    const seconds = `${700_000 + Deno.pid}.5`;
    const third = ring.key(command(`sleep ${seconds}`), undefined);
    ended.abort(new Error("the end"));
    await assert.rejects(third, /the end/);
    assert(!isRunning(`sleep ${seconds}`));
  });
});

Deno.test("keyVariables: the names in every api_key of every file, and in nothing else", () => {
  const configs: Config[] = [
    { api_key: "a${ONE}b${TWO}", base_url: "http://${HOST}" },
    {
      api_key: "plain",
      jev: { api_key: "${JEV}", base_url: "${HOST}" },
      models: {
        a: [
          { provider: { base_url: "${HOST}", api_key: "${THREE}" }, model_id: "x" },
          { provider: { base_url: "x", api_key: "${FOUR}${ONE}" }, model_id: "x" },
        ],
        s: [{ provider: { script: "${HOST}" } }],
      },
      tools: { t: { command: ["x"], env: { A: "${TOOL}" } } },
    },
  ];
  assert.deepEqual(keyVariables(configs).sort(), ["FOUR", "JEV", "ONE", "THREE", "TWO"]);
  assert.deepEqual(keyVariables([]), []);
});
