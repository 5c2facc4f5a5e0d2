import assert from "node:assert/strict";
import { ConfigurationError } from "../../../lib/base/errors.ts";
import { createHarnessShellTools } from "../../../lib/tool/toolsets/shell.ts";
import { Repository } from "./_repository.ts";

const shell = createHarnessShellTools();

Deno.test("harness 26: shell tells the exit status, and a block for each stream that is not empty", async () => {
  await using place = await Repository.make({}, { git: false });
  const failed = await place.fails(shell, "shell", { command: "echo a; exit 3" });
  assert.equal(failed, "exit status: 3\n--- stdout ---\na");
  const run = (command: string) => place.ok(shell, "shell", { command });
  assert.equal(await run("true"), "exit status: 0");
  assert.equal(await run("echo a; echo b >&2"), "exit status: 0\n--- stdout ---\na\n--- stderr ---\nb");
  assert.equal(await run("printf x >&2"), "exit status: 0\n--- stderr ---\nx");
  assert.equal(await run("printf 'a\\n\\n'"), "exit status: 0\n--- stdout ---\na\n");
  assert.equal(await run("pwd"), `exit status: 0\n--- stdout ---\n${place.root}`);
  assert.equal(await run("cat; echo end"), "exit status: 0\n--- stdout ---\nend");
  assert.match(await place.fails(shell, "shell", { command: "-x" }), /^exit status: 127\n--- stderr ---\n/);
  assert.match(await place.fails(shell, "shell", { command: "" }), /validation/);
  assert.match(await place.fails(shell, "shell", { command: "true", cwd: "/" }), /validation/);
});

Deno.test("shell: only the last 200,000 characters of a stream are shown, with a notice", async () => {
  await using place = await Repository.make({}, { git: false });
  const context = { sandbox: place.lease, signal: new AbortController().signal };
  const output = async (characters: number) => {
    const command = `printf begin; head -c ${characters - 5} /dev/zero | tr '\\0' x; printf e >&2`;
    return (await shell.tools[0]!.execute({ command }, context as never) as { content: string }).content;
  };
  const full = await output(200_001);
  const notice = "[only the last 200000 characters are shown]\n";
  assert(full.startsWith(`exit status: 0\n--- stdout ---\n${notice}eginx`), full.slice(0, 100));
  assert(full.endsWith("x\n--- stderr ---\ne"));
  assert((await output(200_000)).startsWith(`exit status: 0\n--- stdout ---\n${notice}beginx`));
  assert((await output(199_999)).startsWith("exit status: 0\n--- stdout ---\nbeginx"));
});

Deno.test("shell: its own deadline ends the command and tells what it wrote until then", async () => {
  await using place = await Repository.make({}, { git: false });
  const quick = createHarnessShellTools({ deadlineMs: 300 });
  const answer = await place.fails(quick, "shell", { command: "echo begun; sleep 60" });
  assert.equal(answer, "timed out after 300 ms\n--- stdout ---\nbegun");
});

Deno.test("createHarnessShellTools: its name, what it declares, wrong options", () => {
  const [tool] = shell.tools;
  assert.deepEqual([shell.name, tool!.name, tool!.readOnly], ["shell", "shell", false]);
  assert.deepEqual(tool!.resources({ command: "a | b" }), { command: "a | b" });
  assert.deepEqual(tool!.preview!({ command: "a | b" }), ["sh", "-c", "a | b"]);
  assert.equal(tool!.inputSchema["additionalProperties"], false);
  for (const deadlineMs of [0, -1, 1.5, NaN, "1" as unknown as number]) {
    assert.throws(() => createHarnessShellTools({ deadlineMs }), ConfigurationError);
  }
  assert.throws(() => createHarnessShellTools({ timeout: 1 } as object), /accepted: deadlineMs/);
});
