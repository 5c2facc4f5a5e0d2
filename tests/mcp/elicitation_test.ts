import assert from "node:assert/strict";
import { mcpWorkspace, planned, stdio } from "./_mcp.ts";

const form = {
  message: "Who are you?",
  requestedSchema: {
    type: "object",
    properties: { name: { type: "string", description: "your name" }, level: { type: "integer", default: 3 } },
    required: ["name"],
  },
};

/** Asks on a terminal, and types a line when it is asked for one; what the server was told, and what was shown. */
async function asked(
  elicit: Record<string, unknown>,
  line: string | undefined,
  entry: object = { allow_elicitation: true },
) {
  await using work = await mcpWorkspace({ s: stdio(planned({ elicit }), { ...entry }) }, [
    { calls: [{ name: "s__echo" }] },
    "told: {{ last }}",
  ]);
  const lait = work.terminal(["hi"]);
  if (line !== undefined) {
    await lait.saw(/a JSON object, or decline, or cancel: /);
    await lait.type(line);
  }
  const { code, stdout } = await lait.ended();
  assert.equal(code, 0, stdout);
  return { told: JSON.parse(/^told: (.*?)\r?$/m.exec(stdout)![1]!), shown: stdout };
}

Deno.test("elicitation: the fields are shown, the object is sent as it was typed, with the defaults that are missing", async () => {
  const { told, shown } = await asked(form, '{"name":"ADA lovelace"}\n');
  assert.deepEqual(told, { action: "accept", content: { name: "ADA lovelace", level: 3 } });
  assert.match(
    shown,
    /^mcp_servers\.s: Who are you\?\r?\n {2}- name \(required\): string — your name\r?\n {2}- level: integer\r?$/m,
  );
});

Deno.test("elicitation: decline, cancel, anything else and the end of the input", async () => {
  assert.deepEqual((await asked(form, " Decline \n")).told, { action: "decline" });
  assert.deepEqual((await asked(form, "CANCEL\n")).told, { action: "cancel" });
  const other = await asked(form, "yes\n");
  assert.deepEqual(other.told, { action: "decline" });
  assert.match(other.shown, /note: the answer is no JSON object: declined/);
  assert.equal([...other.shown.matchAll(/a JSON object, or decline/g)].length, 1);
  assert.deepEqual((await asked(form, "\x04")).told, { action: "decline" });
});

Deno.test("elicitation: an address is printed and declined; without the setting nothing is printed", async () => {
  const visit = { mode: "url", message: "Pay here", url: "https://pay.example/1", elicitationId: "1" };
  const { told, shown } = await asked(visit, undefined);
  assert.deepEqual(told, { action: "decline" });
  assert.match(
    shown,
    /note: mcp_servers\.s: Pay here \(https:\/\/pay\.example\/1\); addresses are not opened, declined/,
  );
  const silent = await asked(form, undefined, {});
  assert.deepEqual(silent.told, { action: "decline" });
  assert.doesNotMatch(silent.shown, /Who are you/);
});
