/** What hurts users of the peers, section D: use without a person, output, signals. */
import assert from "node:assert/strict";
import { wantsColor } from "../../lib/base/color.ts";
import { EXIT } from "../../lib/cli/exit.ts";
import { REPOSITORY } from "../_support/process.ts";
import { shellWords, Workspace } from "../cli/_lait.ts";
import { ModelServer } from "../cli/_server.ts";
import { at, call, calling } from "./_calling.ts";

const BOLD = "\x1b[1mbold";

/** The arguments for a server as a piece of a shell line. */
const words = (server: ModelServer) => shellWords(at(server));

Deno.test("D1: [D11] beside an open, silent pipe a run with --no-stdin answers, and one without says why it waits", async () => {
  await using server = new ModelServer(() => "A");
  await using work = await Workspace.create();
  const without = await work.run([...at(server), "--no-stdin", "q"], { stdin: "open" });
  assert.deepEqual([without.code, without.stdout, without.stderr], [0, "A\n", ""]);
  const waited = await work.shell(`sleep 2.7 | lait ${words(server)} q`);
  assert.deepEqual([waited.code, waited.stdout], [0, "A\n"]);
  assert.match(waited.stderr, /^note: .*waiting for the end of standard input.*--no-stdin.*<\/dev\/null\n$/);
  assert.deepEqual(server.requests.map(({ body }) => body.messages.at(-1)!.content), ["q", "q"]);
});

Deno.test("D2: asking where nobody can be asked ends the run with exit 1, and nothing runs", async () => {
  await using work = await Workspace.create();
  for (const stdin of [undefined, "open"] as const) {
    const args = ["--approve-tools", "--no-stdin"];
    const options = { args, ...(stdin === undefined ? {} : { stdin }) };
    const { code, stdout, stderr } = await calling(
      work,
      { touch: { command: ["touch", "ran"] } },
      [call("touch")],
      options,
    );
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^lait: --approve-tools .*interactive/);
    assert.equal(await work.exists("ran"), false);
  }
});

Deno.test("D3: a denied tool and then an empty answer is exit 1 with a line on stderr, streamed or not", async () => {
  await using work = await Workspace.create();
  const rest = { tool_policy: { deny: ["*"] } };
  for (const args of [[], ["--stream"], ["--json"]]) {
    const options = { rest, args, end: { text: "" } };
    const { code, stdout, stderr, results } = await calling(work, { touch: { command: ["touch", "ran"] } }, [
      call("touch"),
    ], options);
    assert.match(results[0]!, /denied by tool_policy/);
    assert.deepEqual([code, stdout, await work.exists("ran")], [1, "", false]);
    assert.match(stderr, /^lait: .*empty.*\n$/);
  }
});

Deno.test("D4: every failed run ends with its code, and the help lists the codes", async () => {
  await using broken = new ModelServer(() => ({ status: 400, body: '{"error":{"message":"no"}}' }));
  await using garbled = new ModelServer(() => ({ body: "<html>" }));
  await using cut = new ModelServer(() => ({ text: "half of it", cut: true }));
  await using asking = new ModelServer(() => ({ calls: [{ name: "tool__unknown" }] }));
  await using work = await Workspace.create({
    "bad.yml": "default: { modl: m }\n",
    "key.yml": 'api_key_cmd: "exit 1"\n',
    "tool.yml": 'tools: { t: { command: ["true"] } }\n',
  });
  const cases: [args: string[], code: number][] = [
    [[...at(broken), "q"], EXIT.model],
    [[...at(garbled), "q"], EXIT.model],
    [[...at(cut), "--stream", "q"], EXIT.model],
    [["--base-url", "http://127.0.0.1:9", "--model", "m", "q"], EXIT.model],
    [[...at(asking), "--config", "tool.yml", "--tool", "t", "q"], EXIT.failure],
    [[...at(broken), "--config", "key.yml", "q"], EXIT.failure],
    [[...at(broken), "--file", "missing", "q"], EXIT.failure],
    [[...at(broken), "--config", "bad.yml", "q"], EXIT.file],
    [[...at(broken), "--temperature", "warm", "q"], EXIT.usage],
    [[...at(broken), "--no-such-flag", "q"], EXIT.usage],
  ];
  await Promise.all(cases.map(async ([args, expected]) => {
    const { code, stderr } = await work.run(args);
    assert.equal(code, expected, `${args}: ${stderr}`);
    assert.match(stderr, /^(note: .*\n)*lait: /);
  }));
  const { stdout } = await work.run(["--help"]);
  const table = /Exit codes:\n(.*)/.exec(stdout)![1]!;
  for (const code of Object.values(EXIT)) assert.match(table, new RegExp(`\\b${code} [a-z]`));
});

Deno.test("D6: with --json stdout is one document, whatever logs, tools, retries and libraries have to say", async () => {
  let count = 0;
  await using server = new ModelServer(() => {
    if (count++ === 0) return { status: 503, body: "busy" };
    return count === 2 ? { calls: [call("noisy")] } : { text: "A\nB", reasoning: "hm" };
  });
  const noisy = { command: ["sh", "-c", "echo out; echo err >&2; echo tty >/dev/tty; exit 1"] };
  await using work = await Workspace.create({ "lait.config.yml": JSON.stringify({ tools: { noisy } }) });
  const env = { OPENAI_LOG: "debug", DEBUG: "*", LOG_STREAM: "1", LOG_TOKENS: "1", NODE_DEBUG: "http" };
  const args = [...at(server), "--tool", "noisy", "-vv", "--json", "--show-usage", "--show-reasoning", "hi"];
  const { code, stdout, stderr } = await work.run(args, { env });
  assert.equal(code, 0, stderr);
  assert.equal(stdout, `${JSON.stringify({ content: "A\nB", reasoning: "hm", usage: null })}\n`);
  for (const said of [/^note: trying again/m, /^trace: POST /m, /^debug: tool tool__noisy/m, /^usage: /m]) {
    assert.match(stderr, said);
  }
});

Deno.test("D7: a slow reader gets the last byte, of a document, of a stream, and of a stream that failed", async () => {
  const text = "äöü𝄞 slow ".repeat(40_000);
  await using server = new ModelServer(({ body }) => ({ text, pauseMs: 100, cut: body.model === "cut" }));
  await using work = await Workspace.create();
  const slow = async (file: string, ...args: string[]) => {
    const line = `(lait ${words(server)} ${args.join(" ")} hi; echo $? >${file}.code) | (sleep 2.5; cat) >${file}`;
    await work.shell(line);
    return { text: await work.read(file), code: Number(await work.read(`${file}.code`)) };
  };
  const [json, streamed, failed] = await Promise.all([
    slow("json", "--json"),
    slow("stream", "--stream"),
    slow("cut", "--stream", "--model", "cut"),
  ]);
  assert.deepEqual([JSON.parse(json!.text).content === text, json!.code], [true, 0]);
  assert.deepEqual([streamed!.text === `${text}\n`, streamed!.code], [true, 0]);
  assert.deepEqual([failed!.text === text, failed!.code], [true, 4]);
});

Deno.test("D9: a reader that goes away ends the run quietly with exit 0, and cancels its request", async () => {
  await using server = new ModelServer([{ chunks: ["words "], endless: true }]);
  await using work = await Workspace.create();
  const line = `(lait ${words(server)} --stream hi; echo "status $?" >&2) | head -c 3`;
  const { stdout, stderr } = await work.shell(line);
  assert.deepEqual([stdout, stderr], ["wor", "status 0\n"]);
  await server.cancelled;
});

Deno.test("D10: NO_COLOR, then FORCE_COLOR and CLICOLOR_FORCE, then the terminal and TERM decide, per stream", () => {
  const cases: [variables: Record<string, string>, inPipe: boolean, onTerminal: boolean][] = [
    [{}, false, true],
    [{ TERM: "dumb" }, false, false],
    [{ NO_COLOR: "1", FORCE_COLOR: "1" }, false, false],
    [{ NO_COLOR: "" }, false, true],
    [{ FORCE_COLOR: "1" }, true, true],
    [{ CLICOLOR_FORCE: "1", TERM: "dumb" }, true, true],
    [{ FORCE_COLOR: "0", CLICOLOR_FORCE: "1" }, false, false],
  ];
  for (const [variables, inPipe, onTerminal] of cases) {
    const decided = [false, true].map((isTerminal) => wantsColor(isTerminal, (name) => variables[name]));
    assert.deepEqual(decided, [inPipe, onTerminal], JSON.stringify(variables));
  }
});

Deno.test("D10: nothing that is piped has an escape sequence; a terminal has colours unless NO_COLOR is set", async () => {
  await using work = await Workspace.create();
  await using server = new ModelServer(() => "# Title\n\n**bold**");
  const args = [...at(server), "--render", "--no-stdin", "hi"];
  const color = { NO_COLOR: undefined };
  const shown = async (env: Record<string, string | undefined>, redirect = "") =>
    (await work.terminal(args, { env, redirect }).ended()).stdout;
  const styled = await shown(color);
  assert(styled.includes(BOLD), styled);
  const plain = await shown({ ...color, NO_COLOR: "1" });
  assert(plain.includes("bold") && !plain.includes(BOLD), plain);
  // Standard output is a file while standard error is a terminal: each stream decides for itself.
  await shown(color, ">out");
  assert.equal(await work.read("out"), "# Title\n\n**bold**\n");
  const failing = await work.run(["--model", "m", "--no-such-flag"], { env: color });
  assert.equal((failing.stdout + failing.stderr).includes("\x1b"), false);
});

interface Graph {
  readonly roots: readonly string[];
  readonly redirects?: Readonly<Record<string, string>>;
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly isDynamic?: boolean;
      readonly code?: { readonly specifier?: string };
    }[];
  }[];
}

Deno.test("D12: a start loads no package but the one for the command line, and reads no file, variable or network", async () => {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json", `${REPOSITORY}cli.ts`] })
    .output();
  const graph: Graph = JSON.parse(new TextDecoder().decode(stdout));
  const loaded = new Set(graph.roots);
  for (const specifier of loaded) {
    const found = graph.modules.find((module) => module.specifier === specifier);
    for (const { isDynamic, code } of found?.dependencies ?? []) {
      if (!isDynamic && code?.specifier !== undefined) loaded.add(code.specifier);
    }
  }
  assert(loaded.size > 10);
  const packages = [...loaded].filter((specifier) => specifier.startsWith("npm:"));
  assert.deepEqual(packages.map((specifier) => specifier.replace(/^npm:\/?|@[\d.]+$/g, "")), ["commander"]);
  await using work = await Workspace.create({ "lait.config.yml": "{ broken", ".env": "BROKEN" });
  const args = ["run", "--no-prompt", "--cached-only", `${REPOSITORY}cli.ts`, "--version"];
  const version = await work.startProgram([Deno.execPath(), ...args], {}).ended();
  assert.deepEqual([version.code, version.stderr], [0, ""]);
  assert.match(version.stdout, /^lait \d+\.\d+\.\d+\n$/);
});

Deno.test("D13: a command has no terminal to steal: a session of its own, no interactive shell, lait goes on", async () => {
  const probe =
    `if (exec 3</dev/tty) 2>/dev/null; then echo tty; else echo none; fi; case $- in *i*) echo interactive;; esac`;
  await using server = new ModelServer([{ calls: [call("probe")] }, "done"]);
  await using work = await Workspace.create({
    "lait.config.yml": JSON.stringify({
      tools: { probe: { command: ["sh", "-c", probe] } },
      api_key_cmd: `(${probe}) >key.log; echo key`,
    }),
  });
  const lait = work.terminal([...at(server), "--tool", "probe", "hi"], {
    env: { ENV: "/nowhere" },
  });
  assert.equal((await lait.ended()).code, 0);
  assert.deepEqual([server.toolResults(), await work.read("key.log")], [["none"], "none\n"]);
  // There is one to steal.
  const there = await work.startProgram(["script", "-qec", probe, "/dev/null"], { stdin: "open" }).ended();
  assert.equal(there.stdout, "tty\r\n");
});
