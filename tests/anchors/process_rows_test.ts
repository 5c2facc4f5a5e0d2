/** What hurts users of the peers, section C: processes and tools. */
import assert from "node:assert/strict";
import { ProcessError } from "../../lib/base/errors.ts";
import { runProcess } from "../../lib/sandbox/process.ts";
import { running, uniqueSeconds, until, Workspace } from "../cli/_lait.ts";
import { ModelServer } from "../cli/_server.ts";
import { at, call, calling, TEXT } from "./_calling.ts";

const sh = (script: string, ...args: string[]) => ({ command: ["sh", "-c", script, ...args] });

/** Where a program is run without the command around it. */
const OUTSIDE = { directory: "/", searchDirectory: "/", environment: { PATH: Deno.env.get("PATH")! } };

/** Waits until none of these `sleep`s runs any more. */
async function gone(...seconds: readonly string[]): Promise<void> {
  for (const one of seconds) await until(() => running(`sleep ${one}`).length === 0, `the end of sleep ${one}`);
}

Deno.test("C1: a timeout ends the shell, its children and those that ignore SIGTERM, and the run goes on", async () => {
  await using work = await Workspace.create();
  const [child, deaf, own] = [uniqueSeconds(), uniqueSeconds(), uniqueSeconds()];
  const script =
    `(sleep ${child}; touch late) & (trap '' TERM; sleep ${deaf}; touch late) & echo so far >&2; sleep ${own}`;
  const { code, stdout, results } = await calling(work, { slow: { ...sh(script), timeout: 1 } }, [call("slow")]);
  assert.deepEqual([code, stdout], [0, "done\n"]);
  assert.match(results[0]!, /^tool command failed: .*timed out after 1s\nso far$/s);
  for (const seconds of [child, deaf, own]) assert.deepEqual(running(`sleep ${seconds}`), []);
  assert.equal(await work.exists("late"), false);
});

Deno.test("C3: a child in the background that holds the pipe, in its own session or not, does not keep the call open", async () => {
  await using work = await Workspace.create();
  const [silent, away, loud] = [uniqueSeconds(), uniqueSeconds(), uniqueSeconds()];
  // A tool's own timeout would end the call, too.
  const tool = (script: string) => ({ ...sh(script), timeout: 1_000 });
  const tools = {
    silent: tool(`echo said; sleep ${silent} &`),
    away: tool(`echo said; setsid sleep ${away} &`),
    loud: tool(`echo said; (while :; do echo more; sleep 0.1; done) & sleep ${loud} &`),
  };
  try {
    const { code, results } = await calling(work, tools, Object.keys(tools).map((name) => call(name)));
    assert.equal(code, 0);
    assert.deepEqual(results.slice(0, 2), ["said", "said"]);
    assert.match(results[2]!, /^said\n(more\n)*more$/);
  } finally {
    for (const seconds of [silent, away, loud]) {
      for (const { pid } of running(`sleep ${seconds}`)) Deno.kill(pid, "SIGKILL");
    }
  }
  await gone(silent, away, loud);
});

Deno.test("C4: stopping a run ends what runs then and what earlier commands left in the background", async () => {
  await using work = await Workspace.create();
  const [left, now] = [uniqueSeconds(), uniqueSeconds()];
  const tools = { server: sh(`sleep ${left} >/dev/null 2>&1 & echo started`), wait: { command: ["sleep", now] } };
  await using server = new ModelServer([{ calls: [call("server")] }, { calls: [call("wait")] }]);
  await work.write("lait.config.yml", JSON.stringify({ tools }));
  const lait = work.start([...at(server), "--tool", "server", "--tool", "wait", "hi"]);
  await until(() => running(`sleep ${now}`).length === 1, "the second tool");
  assert.equal(running(`sleep ${left}`).length, 1);
  lait.signal("SIGTERM");
  assert.equal((await lait.ended()).code, 143);
  assert.deepEqual([running(`sleep ${left}`), running(`sleep ${now}`)], [[], []]);
});

Deno.test("C6: TMOUT and whatever else lait inherits does not reach a tool that lists its variables", async () => {
  await using work = await Workspace.create();
  const tools = { env: { command: ["env"], env: { PATH: "${PATH}" } } };
  const env = { TMOUT: "1", BASH_ENV: "/nowhere", LD_PRELOAD: "", PROMPT_COMMAND: "false" };
  const { code, results } = await calling(work, tools, [call("env")], { env });
  assert.equal(code, 0);
  assert.deepEqual(results[0]!.split("\n"), [`PATH=${Deno.env.get("PATH")}`]);
});

Deno.test("C7: ending a process reaches its grandchildren and great-grandchildren", async () => {
  const [first, second, third] = [uniqueSeconds(), uniqueSeconds(), uniqueSeconds()];
  const script = `sh -c "sh -c 'sleep ${third} & sleep ${second}' & sleep ${first}" & wait`;
  const all = [first, second, third];
  const controller = new AbortController();
  const work = runProcess(
    { ...OUTSIDE, argv: ["sh", "-c", script] },
    { signal: controller.signal },
  );
  await until(() => all.every((seconds) => running(`sleep ${seconds}`).some(isSleep)), "three generations");
  controller.abort("enough");
  assert.equal(await work.catch((reason) => reason), "enough");
  for (const seconds of all) assert.deepEqual(running(`sleep ${seconds}`), []);
});

function isSleep({ command }: { readonly command: string }): boolean {
  return command.startsWith("sleep ");
}

Deno.test("C8: a MiB of three- and four-byte characters in odd pieces arrives without a replacement character", async () => {
  await using work = await Workspace.create({
    "write.ts": `const bytes = new TextEncoder().encode("あ𝄞日😀".repeat(80_000));
let size = 1;
for (let at = 0; at < bytes.length; at += size) {
  size = size * 7919 % 4093 + 1;
  let piece = bytes.subarray(at, at + size);
  while (piece.length > 0) piece = piece.subarray(Deno.stdout.writeSync(piece));
}`,
  });
  const tools = { write: { command: [Deno.execPath(), "run", "--no-config", "write.ts"] } };
  const { code, results } = await calling(work, tools, [call("write")]);
  assert.equal(code, 0);
  assert.equal(results[0], "あ𝄞日😀".repeat(80_000));
});

Deno.test("C9: below the limit nothing of a failed command's output is cut, so the error at its end arrives", async () => {
  await using work = await Workspace.create();
  const script = `yes warning | head -n 60000 >&2; echo 'fatal: disk on fire 𝄞' >&2; yes line | head -n 60000; exit 9`;
  const { results } = await calling(work, { build: sh(script) }, [call("build")]);
  const lines = results[0]!.split("\n");
  assert.match(lines[0]!, /^tool command failed: `sh` exited with status 9$/);
  const counts = ["warning", "line"].map((text) => lines.filter((line) => line === text).length);
  assert.deepEqual([counts, lines[60_001]], [[60_000, 60_000], "fatal: disk on fire 𝄞"]);
});

Deno.test("C9: of a flood both ends are kept, cut between characters, with what was dropped between them", async () => {
  await using work = await Workspace.create();
  const tools = {
    loud: sh("exec yes 'a日本語𝄞' >&2"),
    late: sh("yes noise | head -n 9000 >&2; echo 'fatal: no space left' >&2; exec yes"),
  };
  const { results } = await calling(work, tools, [call("loud"), call("late")]);
  const [loud, late] = results as [string, string];
  assert.match(
    loud,
    /^tool command failed: .*16777216 bytes to stderr\na日本語𝄞\n.*\n\[truncated \d{7} characters\]\n/s,
  );
  assert.doesNotMatch(loud, /\ufffd|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/);
  assert(loud.length < 3_000);
  assert.match(late, /16777216 bytes to stdout\nnoise\n.*\[truncated 52\d{3} characters\]\n.*\nfatal: no space left$/s);
  const error = await runProcess({ ...OUTSIDE, argv: ["printf", "ab\\360\\235\\204\\236"] }, { maxBytes: 4 })
    .catch((reason) => reason);
  assert(error instanceof ProcessError);
  assert.deepEqual([error.kind, error.output.stdout], ["overflow", "ab"]);
});

Deno.test("C12: quotes and shell syntax in a model's argument stay one argument and run nothing", async () => {
  await using work = await Workspace.create();
  const values = [
    `'; touch ran; '`,
    `" && touch ran "`,
    "$(touch ran)",
    "`touch ran`",
    "a\ntouch ran",
    "| touch ran",
    ">ran",
  ];
  const tools = {
    direct: { command: ["printf", "[%s]", "{{ input.text }}"], parameters: TEXT },
    shell: { ...sh(`printf '[%s]' "$1"`, "sh", "{{ input.text }}"), parameters: TEXT },
  };
  const calls = Object.keys(tools).flatMap((name) => values.map((text) => call(name, { text })));
  const { code, results } = await calling(work, tools, calls);
  assert.equal(code, 0);
  assert.deepEqual(results, [...values, ...values].map((value) => `[${value}]`));
  assert.equal(await work.exists("ran"), false);
});

Deno.test("C13: -- before a value, or a schema for it, keeps a model from giving options to a command", async () => {
  await using work = await Workspace.create({ "a.txt": "x\n", "evil.sh": "#!/bin/sh\ntouch ran\n" });
  await Deno.chmod(work.path("evil.sh"), 0o755);
  const text = (more: object) => ({ ...TEXT, properties: { text: { type: "string", ...more } } });
  const open = { command: ["rg", "x", "{{ input.text }}", "a.txt"], parameters: TEXT };
  const tools = {
    guarded: { command: ["rg", "-e", "x", "--", "{{ input.text }}", "a.txt"], parameters: TEXT },
    pattern: { ...open, parameters: text({ pattern: "^[^-]" }) },
    listed: { ...open, parameters: text({ enum: ["--no-ignore", "--hidden"] }) },
  };
  const attack = { text: "--pre=./evil.sh" };
  const { code, results } = await calling(work, tools, Object.keys(tools).map((name) => call(name, attack)));
  assert.equal(code, 0);
  assert.match(results[0]!, /--pre=\.\/evil\.sh: No such file/);
  for (const result of results.slice(1)) assert.match(result, /^tool arguments failed validation: input\.text /);
  assert.equal(await work.exists("ran"), false);
  // The attack itself is real.
  await calling(work, { open }, [call("open", attack)]);
  assert.equal(await work.exists("ran"), true);
});

Deno.test("C15: with --approve-tools no command starts unasked, whichever way its tool was offered", async () => {
  const touch = (name: string) => ({ command: ["touch", name] });
  const config = { default: { tools: ["one"] }, tools: { one: touch("one"), two: touch("two") } };
  for (const offered of [[], ["--tool", "one", "--tool", "two"]]) {
    await using work = await Workspace.create({ "lait.config.yml": JSON.stringify(config) });
    const names = offered.length === 0 ? ["one"] : ["one", "two"];
    await using server = new ModelServer([{ calls: names.map((name) => call(name)) }, "done"]);
    const lait = work.terminal([...at(server), "--approve-tools", ...offered, "hi"]);
    for (const index of names.keys()) {
      await lait.saw(/run it\?/, index + 1);
      assert.deepEqual([await work.exists("one"), await work.exists("two")], [false, false]);
      await lait.type("n\n");
    }
    assert.equal((await lait.ended()).code, 0);
    assert.deepEqual([await work.exists("one"), await work.exists("two")], [false, false]);
    for (const result of server.toolResults()) assert.match(result, /denied.*--approve-tools/i);
  }
});

Deno.test("C16: no shell reads the argv: quotes, backslashes, variables and percent signs arrive as they are", async () => {
  await using work = await Workspace.create();
  const values = ["C:\\Program Files\\x.exe", "it's", '"quoted"', "%PATH%", "$HOME", "^&", "~", "*.ts", "a\\\nb", ""];
  const tools = { say: { command: ["printf", "[%s]", "~/*", "$HOME", "{{ input.text }}"], parameters: TEXT } };
  const { code, results } = await calling(work, tools, values.map((text) => call("say", { text })));
  assert.equal(code, 0);
  assert.deepEqual(results, values.map((value) => `[~/*][$HOME][${value}]`));
});

Deno.test("C18: a wrapper before a command, of a tool or for the key, gets arguments and no joined text", async () => {
  const show = `for word; do printf '[%s]' "$word"; done`;
  await using work = await Workspace.create({
    "my wrapper.sh": '#!/bin/sh\nexec "$@"\n',
    "show it.sh": `#!/bin/sh\n${show}\n`,
  });
  for (const name of ["my wrapper.sh", "show it.sh"]) await Deno.chmod(work.path(name), 0o755);
  const wrapper = ["env", "A=b c", "nice", "-n", "1", "./my wrapper.sh"];
  const config = {
    tools: { show: { command: [...wrapper, "./show it.sh", "two  words", "{{ input.text }}", ""], parameters: TEXT } },
    api_key_cmd: [...wrapper, "printf", "%s", "key  with spaces"],
  };
  await work.write("lait.config.yml", JSON.stringify(config));
  await using server = new ModelServer([{ calls: [call("show", { text: "it's  'one'" })] }, "done"]);
  const { code, stderr } = await work.run([...at(server), "--tool", "show", "hi"]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(server.toolResults(), ["[two  words][it's  'one'][]"]);
  assert.equal(server.requests[0]!.headers.get("authorization"), "Bearer key  with spaces");
});
