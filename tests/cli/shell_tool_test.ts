import assert from "node:assert/strict";
import { type Call, ModelServer } from "./_server.ts";
import { configWith, running, type RunOptions, type RunResult, uniqueSeconds, until, Workspace } from "./_lait.ts";

/** What one run with tools came to. */
interface Ran extends RunResult {
  /** What the model was told the calls came to; empty when there was no second request. */
  readonly results: readonly string[];
  readonly requests: number;
}

/** Lets a model make these calls and then say `done`. */
async function calling(
  work: Workspace,
  tools: Readonly<Record<string, unknown>>,
  calls: readonly Call[],
  options: RunOptions & { readonly rest?: Readonly<Record<string, unknown>>; readonly args?: readonly string[] } = {},
): Promise<Ran> {
  await using server = new ModelServer([{ calls }, "done"]);
  await work.write("lait.config.yml", configWith(tools, options.rest));
  const result = await work.run(["--base-url", server.url, ...options.args ?? [], "hi"], options);
  return { ...result, results: server.toolResults(), requests: server.requests.length };
}

const call = (name: string, args?: unknown): Call => ({ name: `tool__${name}`, arguments: args });
const text = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

Deno.test("agents-tools 21: a denied tool never runs, the model is told why, and the run goes on", async () => {
  await using work = await Workspace.create();
  const tools = { touch: { command: ["touch", "ran"] }, db_drop_table: { command: ["touch", "ran"] } };
  const policies: [policy: unknown, name: string][] = [
    [{ deny: ["tool__touch"] }, "touch"],
    [{ allow: ["other"] }, "touch"],
    [{ deny: ["*_drop_*"] }, "db_drop_table"],
    [{ deny: ["*touch"] }, "touch"],
    [{ allow: ["*"], deny: ["tool__*"] }, "touch"],
    [{ allow: ["tool__*"], deny: ["*"] }, "touch"],
  ];
  for (const [tool_policy, name] of policies) {
    const { code, stdout, stderr, results } = await calling(work, tools, [call(name)], { rest: { tool_policy } });
    assert.deepEqual([code, stdout, stderr], [0, "done\n", ""]);
    assert.match(results[0]!, /denied.*tool_policy.*lait\.config\.yml/i);
    assert(!await work.exists("ran"));
  }
  const allowed = await calling(work, tools, [call("touch")], { rest: { tool_policy: { allow: ["tool__to*"] } } });
  assert.deepEqual([allowed.code, await work.exists("ran")], [0, true]);
});

Deno.test("agents-tools 23: a project cannot drop what the global policy denies", async () => {
  await using work = await Workspace.create({ "~/.config/lait/config.yml": "tool_policy: { deny: [tool__rm] }" });
  const rest = { tool_policy: { deny: [] } };
  const { code, results } = await calling(work, { rm: { command: ["touch", "ran"] } }, [call("rm")], { rest });
  assert.equal(code, 0);
  assert.match(results[0]!, /denied/i);
  assert(!await work.exists("ran"));
});

Deno.test("agents-tools 24: a value is one argument, whatever shell characters are in it", async () => {
  await using work = await Workspace.create();
  const values = [
    "hi; ls",
    "$(touch ran)",
    "`touch ran`",
    "a  b\n\nc",
    "'\"\\",
    "-n",
    "",
    "日本語 {{ input }}",
    "<&>\"'",
  ];
  const tools = { say: { command: ["printf", "[%s]", "{{ input.text }}"], parameters: text } };
  const { code, results } = await calling(work, tools, values.map((value) => call("say", { text: value })));
  assert.equal(code, 0);
  assert.deepEqual(results, values.map((value) => `[${value}]`));
  assert(!await work.exists("ran"));
});

Deno.test("agents-tools 24: templates see the input, as text or JSON, and nothing else", async () => {
  await using work = await Workspace.create();
  const tools = {
    whole: { command: ["printf", "%s", "{{ input }}"] },
    json: { command: ["printf", "%s|%s", "{{ json input.a }}", "{{#if input.b}}yes{{else}}no{{/if}}"] },
    program: { command: ["{{ input.program }}", "x"] },
    missing: { command: ["echo", "{{ input.nope }}"] },
    steps: { command: ["echo", "{{ steps.a }}"] },
    vars: { command: ["echo", "{{ vars.a }}"] },
  };
  const { results } = await calling(work, tools, [
    call("whole", { b: 1, a: [true, null] }),
    call("json", { a: "q", b: false }),
    call("program", { program: "echo" }),
    ...["missing", "steps", "vars"].map((name) => call(name, {})),
  ]);
  assert.deepEqual(results.slice(0, 3), ['{"b":1,"a":[true,null]}', '"q"|no', "x"]);
  for (const [index, path] of ["input.nope", "steps.a", "vars.a"].entries()) {
    assert.match(results[3 + index]!, new RegExp(`^tool command failed: .*${path.replace(".", "\\.")}`));
  }
});

Deno.test("agents-tools 25: arguments that are no JSON object end the run, and no call of the answer runs", async () => {
  await using work = await Workspace.create();
  const tools = { touch: { command: ["touch", "ran"] } };
  for (const wrong of ["[]", '"text"', "1", "true", "{", "not json"]) {
    const { code, stdout, stderr, requests } = await calling(work, tools, [call("touch", "{}"), call("touch", wrong)]);
    assert.deepEqual([code, stdout, requests], [1, "", 1], wrong);
    assert.match(stderr, /tool__touch.*JSON object/);
    assert(!await work.exists("ran"));
  }
  for (const empty of ["", " \n", "null", "{}"]) {
    const { code, results } = await calling(work, { say: { command: ["echo", "{{ input }}"] } }, [call("say", empty)]);
    assert.deepEqual([code, results], [0, ["{}"]]);
  }
});

Deno.test("agents-tools 26: arguments that break the schema are told to the model; the command does not run", async () => {
  await using work = await Workspace.create();
  const tools = { touch: { command: ["touch", "ran"], parameters: text } };
  const { code, results, stdout } = await calling(work, tools, [call("touch", {}), call("touch", { text: 1 })]);
  assert.deepEqual([code, stdout], [0, "done\n"]);
  assert.match(results[0]!, /^tool arguments failed validation: .*text/);
  assert.match(results[1]!, /^tool arguments failed validation: .*text.*string/);
  assert(!await work.exists("ran"));
});

Deno.test("agents-tools 27: a command that fails is told to the model with its status and what it said", async () => {
  await using work = await Workspace.create({ "plain": "" });
  const sh = (script: string) => ({ command: ["sh", "-c", script] });
  const tools = {
    status: sh("echo out; echo ' boom ' >&2; exit 3"),
    high: sh("exit 200"),
    signal: sh("kill -KILL $$"),
    missing: { command: ["no-such-program-anywhere"] },
    plain: { command: ["./plain"] },
    cwd: { command: ["true"], cwd: "no/such/folder" },
    unset: { command: ["true"], cwd: "${UNSET_X}" },
    latin: { command: ["printf", "\\377"] },
    nul: { command: ["echo", "{{ input.text }}"] },
  };
  const names = Object.keys(tools);
  const { code, results, stderr } = await calling(work, tools, names.map((name) => call(name, { text: "a\0b" })));
  assert.deepEqual([code, stderr], [0, ""]);
  const said = [
    /`sh` exited with status 3\nboom\n.*out$/s,
    /`sh` exited with status 200$/,
    /`sh` exited with status 137.*signal 9/,
    /`no-such-program-anywhere`/,
    /`\.\/plain`.*executed/,
    /`true`.*no\/such\/folder/,
    /cwd: .*`UNSET_X` is not set/,
    /`printf`.*not UTF-8/,
    /`echo`/,
  ];
  results.forEach((result, index) => {
    assert.match(result, /^tool command failed: /);
    assert.match(result, said[index]!, names[index]);
  });
});

Deno.test("agents-tools 27: what a command that succeeds says is the result, less one line ending; stderr is dropped", async () => {
  await using work = await Workspace.create();
  const outputs = ["", "\\n", "a\\n", "a\\r\\n", "a\\n\\n", "  a  "];
  const tools = { out: { command: ["sh", "-c", 'echo warned >&2; printf "$0"', "{{ input.text }}"] } };
  const { results } = await calling(work, tools, outputs.map((output) => call("out", { text: output })));
  assert.deepEqual(results, ["", "", "a", "a", "a\n", "  a  "]);
});

Deno.test("agents-tools 28, [D8]: a timeout ends the whole tree: children, those that ignore SIGTERM, those that left the group", async () => {
  await using work = await Workspace.create();
  const [plain, deaf, away, main] = [uniqueSeconds(), uniqueSeconds(), uniqueSeconds(), uniqueSeconds()];
  const script = `(sleep ${plain}; touch late) & (trap '' TERM; sleep ${deaf}) & setsid sleep ${away} &
    echo begun; echo so far >&2; sleep ${main}`;
  const tools = { slow: { command: ["sh", "-c", script], timeout: 1 }, now: { command: ["sleep", main], timeout: 0 } };
  const { code, results } = await calling(work, tools, [call("slow"), call("now")]);
  assert.equal(code, 0);
  assert.match(results[0]!, /^tool command failed: \["sh","-c",.*timed out after 1s\nso far$/s);
  assert.match(results[1]!, new RegExp(`^tool command failed: \\["sleep","${main}"\\] timed out after 0s$`));
  for (const seconds of [plain, deaf, away, main]) assert.deepEqual(running(`sleep ${seconds}`), []);
  assert(!await work.exists("late"));
});

Deno.test("agents-tools 28: a timeout beyond what a timer can hold is none", async () => {
  await using work = await Workspace.create();
  const tools = { day: { command: ["sh", "-c", "sleep 0.1; echo ended"], timeout: 2_592_000 } };
  assert.deepEqual((await calling(work, tools, [call("day")])).results, ["ended"]);
});

Deno.test("[D9] shell tools: a background child that holds the pipes cannot hang the call", async () => {
  await using work = await Workspace.create();
  const seconds = uniqueSeconds();
  const { code, results } = await calling(work, { bg: { command: ["sh", "-c", `sleep ${seconds} & echo said`] } }, [
    call("bg"),
  ]);
  assert.deepEqual([code, results], [0, ["said"]]);
  // It was the command's to leave it running.
  const left = running(`sleep ${seconds}`);
  assert.equal(left.length, 1);
  Deno.kill(left[0]!.pid, "SIGKILL");
  await until(() => running(`sleep ${seconds}`).length === 0, "the end of the background child");
});

Deno.test("agents-tools 29: a flood on either stream is ended at 16777216 bytes and not passed on", async () => {
  await using work = await Workspace.create();
  const mark = `flood${uniqueSeconds()}`;
  const tools = {
    stdout: { command: ["sh", "-c", `echo warned >&2; exec yes ${mark}`] },
    stderr: { command: ["sh", "-c", `exec yes ${mark} >&2`] },
    most: { command: ["head", "-c", "16777216", "/dev/zero"] },
    more: { command: ["head", "-c", "16777217", "/dev/zero"] },
  };
  const { code, results } = await calling(work, tools, Object.keys(tools).map((name) => call(name)));
  assert.equal(code, 0);
  const [stdout, stderr, most, more] = results;
  assert.match(stdout!, /^tool command failed: .*16777216 bytes to stdout\nwarned$/s);
  assert.match(stderr!, /^tool command failed: .*16777216 bytes to stderr/s);
  assert(stderr!.length < 10_000, "the flood itself is not passed on");
  assert.equal(most!.length, 16_777_216);
  assert.match(more!, /16777216 bytes to stdout/);
  assert.deepEqual(running(mark), []);
});

Deno.test("agents-tools 30, [D6] env: one entry is the child's whole environment; without PATH a bare program is not found", async () => {
  await using work = await Workspace.create();
  const tools = {
    bare: { command: ["env"], env: { FOO: "bar" } },
    path: { command: ["env"], env: { FOO: "a ${GIVEN} b$GIVEN", PATH: "${PATH}" } },
    absolute: { command: ["/usr/bin/env"], env: { FOO: "bar" } },
    unset: { command: ["env"], env: { PATH: "${PATH}", FOO: "${UNSET_X}" } },
    inherits: { command: ["env"], env: {} },
  };
  const env = { GIVEN: "value", OTHER: "other" };
  const { code, results } = await calling(work, tools, Object.keys(tools).map((name) => call(name)), { env });
  assert.equal(code, 0);
  const [bare, path, absolute, unset, inherits] = results;
  assert.match(bare!, /^tool command failed: .*`env`.*no PATH.*list PATH in `env`/);
  assert.deepEqual(path!.split("\n").sort(), ["FOO=a value b$GIVEN", `PATH=${Deno.env.get("PATH")}`]);
  assert.equal(absolute, "FOO=bar");
  assert.match(unset!, /^tool command failed: env\.FOO: .*`UNSET_X` is not set/);
  assert.match(inherits!, /^OTHER=other$/m);
  assert.match(inherits!, new RegExp(`^HOME=${work.home}$`, "m"));
});

Deno.test("shell tools: cwd is the working directory; a relative program is taken from lait's own", async () => {
  await using work = await Workspace.create({
    "sub/x.sh": "#!/bin/sh\necho sub\n",
    "x.sh": "#!/bin/sh\necho top; pwd\n",
  });
  await Deno.chmod(work.path("x.sh"), 0o755);
  const tools = {
    pwd: { command: ["pwd"] },
    sub: { command: ["pwd"], cwd: "${SUB}" },
    relative: { command: ["./x.sh"], cwd: "sub" },
  };
  const { results } = await calling(work, tools, Object.keys(tools).map((name) => call(name)), { env: { SUB: "sub" } });
  assert.deepEqual(results, [work.directory, work.path("sub"), `top\n${work.path("sub")}`]);
});

Deno.test("[D24] shell tools: standard input is empty, also while lait's own is a pipe", async () => {
  await using work = await Workspace.create({ "a.txt": "needle\n" });
  const tools = { cat: { command: ["cat"] }, rg: { command: ["rg", "--no-line-number", "need[l]e"] } };
  const options = { stdin: "open", args: ["--no-stdin"] } as const;
  const { code, results } = await calling(work, tools, [call("cat"), call("rg")], options);
  assert.deepEqual([code, results], [0, ["", "a.txt:needle"]]);
});

Deno.test("[D25] calls: an unknown tool ends the run whatever the policy says; the schema comes before the policy", async () => {
  await using work = await Workspace.create();
  const tools = { touch: { command: ["touch", "ran"], parameters: text } };
  const rest = { tool_policy: { deny: ["*"] } };
  const unknown = await calling(work, tools, [call("touch", { text: "" }), call("tuch", {})], { rest });
  assert.deepEqual([unknown.code, unknown.stdout, unknown.requests], [1, "", 1]);
  assert.match(unknown.stderr, /unknown tool 'tool__tuch'.*did you mean `tool__touch`/);
  const both = await calling(work, tools, [call("touch", {}), call("touch", { text: "" })], { rest });
  assert.match(both.results[0]!, /^tool arguments failed validation/);
  assert.match(both.results[1]!, /denied/i);
  assert(!await work.exists("ran"));
});

Deno.test("agents-tools 33, cli 39: at the last round the tools run once and the run fails, naming max_tool_rounds", async () => {
  await using work = await Workspace.create();
  const tools = { log: { command: ["sh", "-c", "echo ran >>log"] } };
  const rest = { default: { model: "m", tools: ["log"], max_tool_rounds: 1 } };
  const { code, stdout, stderr, requests } = await calling(work, tools, [call("log")], { rest });
  assert.deepEqual([code, stdout, requests], [1, "", 1]);
  assert.match(stderr, /max_tool_rounds \(1\)/);
  assert.equal(await work.read("log"), "ran\n");
  const zero = { default: { model: "m", max_tool_rounds: 0 } };
  const none = await calling(work, tools, [], { rest: zero });
  assert.deepEqual([none.code, none.requests], [1, 0]);
  assert.match(none.stderr, /lait\.config\.yml:\d+:\d+: default\.max_tool_rounds must be at least 1/);
});

Deno.test("agents-tools 35, cli 40: --approve-tools without a terminal is exit 1 at the first call, and fine without one", async () => {
  await using work = await Workspace.create();
  const tools = { touch: { command: ["touch", "ran"] } };
  for (const stdin of ["y\ny\n", undefined]) {
    const options = { args: ["--approve-tools", "--no-stdin"], ...(stdin === undefined ? {} : { stdin }) };
    const { code, stdout, stderr, requests } = await calling(work, tools, [call("touch")], options);
    assert.deepEqual([code, stdout, requests], [1, "", 1]);
    assert.match(stderr, /--approve-tools.*interactive/);
    assert(!await work.exists("ran"));
  }
  await using server = new ModelServer(["fine"]);
  const { code, stdout } = await work.run(["--base-url", server.url, "--approve-tools", "hi"]);
  assert.deepEqual([code, stdout], [0, "fine\n"]);
});

Deno.test("seed 000, agents-tools 32: of 19 calls never more than 8 run, 8 do at once, and the results keep the order", async () => {
  await using work = await Workspace.create();
  // Each of the first eight waits until eight have begun; the later a call, the sooner it is done.
  const script = `mkdir -p begun now; : >begun/$0; : >now/$0; tries=0
    while [ $(ls begun | wc -l) -lt 8 ] && [ $tries -lt 400 ]; do sleep 0.02; tries=$((tries + 1)); done
    ls now | wc -l >>counts; sleep 0.$((19 - $0)); ls now | wc -l >>counts; rm now/$0; echo result $0`;
  const tools = { one: { command: ["sh", "-c", script, "{{ input.n }}"] } };
  const numbers = Array.from({ length: 19 }, (_, index) => index);
  const { code, results } = await calling(work, tools, numbers.map((n) => call("one", { n })));
  assert.equal(code, 0);
  assert.deepEqual(results, numbers.map((n) => `result ${n}`));
  const counts = (await work.read("counts")).trim().split("\n").map(Number);
  assert.equal(counts.length, 38);
  assert.equal(Math.max(...counts), 8);
});
