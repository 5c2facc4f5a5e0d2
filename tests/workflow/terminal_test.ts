import assert from "node:assert/strict";
import { Workspace } from "../cli/_lait.ts";

Deno.test("workflow ask: a person answers on the terminal, by one of the choices", async () => {
  const flow = `
steps:
  - { run: [sleep, "1"] }
  - ask: "Write it?"
    choices: ["yes", "no"]
  - jq: '"answer: \\(.)"'`;
  await using workspace = await Workspace.create({ "flow.yml": flow });
  const lait = workspace.terminal(["run", "flow.yml", "x"]);
  // What runs at the moment is shown, and taken away again.
  await lait.saw(/… step-1 \(run\) 0\.\d/);
  await lait.saw(/Write it\?\r\nchoices: yes, no\r\n/);
  await lait.type("yes\r");
  const { code, stdout } = await lait.ended();
  assert.match(stdout, /answer: yes\r\n/);
  assert.equal(code, 0, stdout);
  const other = workspace.terminal(["run", "flow.yml", "x"]);
  await other.saw(/choices/);
  await other.type("maybe\r");
  const refused = await other.ended();
  assert.match(refused.stdout, /the answer 'maybe' is none of the choices: yes, no/);
  assert.equal(refused.code, 1);
});
