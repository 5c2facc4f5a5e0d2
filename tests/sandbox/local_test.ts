import assert from "node:assert/strict";
import { createLocalSandboxProvider, type LocalSandboxOptions } from "../../lib/sandbox/providers/local.ts";

const SET = {
  LAIT_PLAIN: "1",
  LAIT_TOKEN: "2",
  LAIT_API_KEY: "3",
  LAIT_DB_PASSWORD: "4",
  lait_secret_value: "5",
  LAIT_KEYBOARD: "6",
  OPENAI_API_KEY: "7",
};

async function seen(options?: LocalSandboxOptions): Promise<string> {
  const lease = await createLocalSandboxProvider(options).acquire({ directory: "/" });
  try {
    const { stdout } = await lease.invoke({ executable: "env" });
    const names = stdout.split("\n").map((line) => line.slice(0, line.indexOf("=")));
    return Object.entries(SET).filter(([name]) => names.includes(name)).map(([, value]) => value).join("");
  } finally {
    await lease.release();
  }
}

Deno.test("local sandbox: commands inherit no secret that is not named, and no model key unless it is", async () => {
  const before = Object.keys(SET).map((name) => [name, Deno.env.get(name)] as const);
  for (const [name, value] of Object.entries(SET)) Deno.env.set(name, value);
  try {
    assert.equal(await seen(), "16");
    assert.equal(await seen({ inherit: ["LAIT_TOKEN"] }), "126");
    assert.equal(await seen({ inherit: "all" }), "123456");
    assert.equal(await seen({ inherit: "all", withhold: ["LAIT_TOKEN"] }), "13456");
    assert.equal(await seen({ inherit: ["OPENAI_API_KEY"] }), "167");
    assert.equal(await seen({ variables: { LAIT_TOKEN: "x" } }), "126");
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    }
  }
  assert.throws(() => createLocalSandboxProvider({ inherit: "some" as never }), { code: "configuration" });
});
