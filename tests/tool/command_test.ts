import assert from "node:assert/strict";
import { ProcessError, SettingError } from "../../lib/base/errors.ts";
import type { JsonObject, JsonValue } from "../../lib/base/json.ts";
import type { Command, CommandResult, SandboxLease } from "../../lib/sandbox/lease.ts";
import { type CommandToolDefinition, createCommandTool } from "../../lib/tool/command.ts";
import type { HarnessToolContext } from "../../lib/tool/tool.ts";

function tool(definition: CommandToolDefinition, variables: Record<string, string> = {}) {
  return createCommandTool("t", definition, { variable: (name) => variables[name], placeOf: () => undefined });
}

/** Executes a tool in a sandbox that answers as told; gives the outcome and the command that was asked for. */
async function execute(
  definition: CommandToolDefinition,
  input: JsonObject,
  answer: CommandResult | Error = { status: 0, stdout: "out\n", stderr: "" },
  variables: Record<string, string> = {},
) {
  let asked: Command | undefined;
  const invoke = (command: Command) => {
    asked = command;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const context: HarnessToolContext = {
    sandbox: { invoke } as unknown as SandboxLease,
    signal: new AbortController().signal,
    callId: "c",
    model: { name: "m" },
    observe: () => {},
  };
  const output = await tool(definition, variables).execute(input, context);
  return { output, asked };
}

const failure = (content: string) => ({ content, isError: true });

Deno.test("createCommandTool: name, description and parameters are offered; without parameters an empty object", () => {
  const parameters = { type: "object", properties: { a: { type: "string" } }, "x-own": [1] };
  const made = tool({ command: ["a"], description: "d", parameters });
  assert.deepEqual([made.name, made.description, made.inputSchema], ["tool__t", "d", parameters]);
  const bare = tool({ command: ["a"] });
  assert.deepEqual([bare.description, bare.inputSchema], ["", { type: "object", properties: {} }]);
  assert.throws(() => tool({ command: [] }), SettingError);
  for (const wrong of [[], "x", null, 1, true] as JsonValue[]) {
    assert.throws(() => tool({ command: ["a"], parameters: wrong }), /parameters.* must be an object/);
  }
  assert.throws(() => tool({ command: ["a", "{{ x"] }), SettingError);
  assert.throws(() => tool({ command: ["a"], timeout: -1 }), /timeout/);
});

Deno.test("createCommandTool: the command that is asked for: argv, environment, directory, deadline", async () => {
  const plain = await execute({ command: ["p", "{{ input.a }}", "$HOME"] }, { a: "x y" });
  const { signal: _, ...asked } = plain.asked!;
  assert.deepEqual(asked, {
    executable: "p",
    arguments: ["x y", "$HOME"],
    variables: {},
    inheritVariables: true,
    deadlineMs: 30_000,
  });
  const listed = await execute(
    { command: ["p"], env: { A: "${X}-$X", B: "" }, cwd: "/${X}", timeout: 2 },
    {},
    undefined,
    { X: "x" },
  );
  const { signal: __, ...own } = listed.asked!;
  assert.deepEqual(own, {
    executable: "p",
    arguments: [],
    directory: "/x",
    variables: { A: "x-$X", B: "" },
    inheritVariables: false,
    deadlineMs: 2_000,
  });
});

Deno.test("createCommandTool: the preview is the argv, and nothing when it cannot be told", () => {
  const made = tool({ command: ["p", "{{ input.a }}"] });
  assert.deepEqual(made.preview!({ a: { b: 1 } }), ["p", '{"b":1}']);
  assert.equal(made.preview!({}), undefined);
});

Deno.test("createCommandTool: what a result says", async () => {
  const outputs: [result: CommandResult, output: unknown][] = [
    [{ status: 0, stdout: "a\r\n", stderr: "dropped" }, "a"],
    [{ status: 0, stdout: "a\n\n", stderr: "" }, "a\n"],
    [{ status: 0, stdout: "", stderr: "" }, ""],
    [{ status: 1, stdout: "", stderr: " why \n" }, failure("tool command failed: `p` exited with status 1\nwhy")],
    [
      { status: 2, stdout: "out\n", stderr: "why" },
      failure("tool command failed: `p` exited with status 2\nwhy\nstandard output:\nout"),
    ],
    [
      { status: 139, stdout: "", stderr: "" },
      failure("tool command failed: `p` exited with status 139, as if ended by signal 11"),
    ],
    [{ status: 255, stdout: "", stderr: "" }, failure("tool command failed: `p` exited with status 255")],
    [
      { status: 0, stdout: "\ufffd", stderr: "", undecodable: ["stdout"] },
      failure("tool command failed: the output of `p` is not UTF-8"),
    ],
    [{ status: 0, stdout: "a", stderr: "\ufffd", undecodable: ["stderr"] }, "a"],
  ];
  for (const [result, output] of outputs) {
    assert.deepEqual((await execute({ command: ["p"] }, {}, result)).output, output);
  }
});

Deno.test("createCommandTool: what a failed start, a timeout and a flood say", async () => {
  const said = async (error: ProcessError) => (await execute({ command: ["p"] }, {}, error)).output;
  assert.deepEqual(await said(new ProcessError("spawn", "no `p`")), failure("tool command failed: no `p`"));
  const stderr = "e".repeat(5_000);
  const output = { stdout: "o", stderr };
  assert.deepEqual(
    await said(new ProcessError("timeout", "late", { output })),
    failure(`tool command failed: late\n${stderr}`),
  );
  const half = "e".repeat(1_000);
  const flood = failure(`tool command failed: too much\n${half}\n[truncated 3000 characters]\n${half}`);
  assert.deepEqual(await said(new ProcessError("overflow", "too much", { output })), flood);
});

Deno.test("createCommandTool: what cannot be rendered or expanded is told to the model, and nothing is started", async () => {
  const cases: [definition: CommandToolDefinition, said: RegExp][] = [
    [{ command: ["p", "{{ input.no }}"] }, /^tool command failed: .*input\.no/],
    [{ command: ["p"], env: { A: "${NO}" } }, /^tool command failed: env\.A: .*`NO`/],
    [{ command: ["p"], cwd: "${NO}" }, /^tool command failed: cwd: .*`NO`/],
    [{ command: ["p"], env: { A: "secret${NO" } }, /^tool command failed: env\.A: (?!.*secret)/],
  ];
  for (const [definition, said] of cases) {
    const { output, asked } = await execute(definition, {});
    assert.equal(asked, undefined);
    assert(typeof output === "object" && output.isError);
    assert.match(output.content, said);
  }
});

Deno.test("createCommandTool: anything else that is thrown comes through", async () => {
  await assert.rejects(execute({ command: ["p"] }, {}, new Error("aborted")), /^Error: aborted$/);
});
