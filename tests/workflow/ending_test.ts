/** How runs end: nothing that a step began outlives it, and the exit code says why. */
import assert from "node:assert/strict";
import { isRunning } from "../_support/process.ts";
import { ModelServer } from "../cli/_server.ts";
import { uniqueSeconds, until, Workspace } from "../cli/_lait.ts";
import { Flow } from "./_flow.ts";

/** A server that never answers, and tells how many requests wait and how many were given up. */
class SilentServer implements AsyncDisposable {
  waiting = 0;
  givenUp = 0;
  readonly url: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
      this.waiting += 1;
      return new Promise<Response>((resolve) =>
        request.signal.addEventListener("abort", () => {
          this.givenUp += 1;
          resolve(new Response());
        })
      );
    });
    this.url = `http://127.0.0.1:${this.#server.addr.port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

const config = (url: string) =>
  `base_url: ${url}\ndefault: {model: m}\njev: {base_url: ${url}}\ntools: {slow: {command: [sleep, "60"], timeout: 0}}`;

Deno.test("requests: those of a step end with it, by its timeout, its sibling's failure, or the file's timeout", async () => {
  const texts: [string, number, RegExp][] = [
    ["steps: [{prompt: p, timeout: 1}]", 5, /timed out after 1s/],
    ["steps: [{decide: {q: {type: noul}}, timeout: 1}]", 5, /timed out after 1s/],
    ["timeout: 1\nsteps: [{prompt: p, on_error: [{jq: .}]}]", 5, /'timeout' \(1s\)/],
    ["steps: [{parallel: {a: [{prompt: p}], b: [{run: [sh, -c, 'sleep 0.5; exit 3']}]}}]", 1, /exit status 3/],
    ["steps: [{for_each: '[1,2]', max_concurrency: 2, timeout: 1, steps: [{prompt: p}]}]", 5, /timed out/],
  ];
  for (const [text, code, expected] of texts) {
    await using server = new SilentServer();
    await using flow = await Flow.create({ "lait.config.yml": config(server.url) });
    const ran = await flow.runText(text, ["x"]);
    assert.equal(ran.code, code, ran.stderr);
    assert.match(ran.stderr, expected);
    await until(() => server.waiting > 0 && server.givenUp === server.waiting, `the end of the requests of ${text}`);
  }
});

Deno.test("tools: what a model's call runs ends with the step", async () => {
  const mark = uniqueSeconds();
  await using server = new ModelServer([{ calls: [{ name: "tool__slow" }] }]);
  await using flow = await Flow.create({
    "lait.config.yml":
      `base_url: ${server.url}\ndefault: {model: m}\ntools: {slow: {command: [sleep, "${mark}"], timeout: 90}}`,
  });
  const { code } = await flow.runText("steps: [{prompt: p, tools: [slow], timeout: 2}]", ["x"]);
  assert.equal(code, 5);
  assert.equal(server.requests.length, 1);
  assert(!isRunning(`sleep ${mark}`));
});

Deno.test("parallel: when one branch fails, the programs of the others are gone before anybody hears of it", async () => {
  const mark = uniqueSeconds();
  await using flow = await Flow.create();
  const text = `steps:
  - parallel:
      a: [{run: [sh, -c, 'trap "" TERM; echo > began; sleep ${mark}']}]
      b: [{run: [sh, -c, 'until [ -e began ]; do sleep 0.02; done; exit 1']}]
    on_error: [{run: [sh, -c, 'pgrep -f "^sleep ${mark}" || echo none']}]`;
  assert.equal((await flow.runText(text, ["x"])).stdout, "none\n");
});

Deno.test("for_each: once an item has failed no more are begun", async () => {
  await using flow = await Flow.create();
  const text = `steps:
  - for_each: '[range(50)]'
    max_concurrency: 4
    steps:
      - run: [sh, -c, 'echo >> begun; [ "$(cat)" = 1 ] && exit 7; sleep 0.4']`;
  const { code, stderr } = await flow.runText(text, ["x"]);
  assert.equal(code, 1);
  assert.match(stderr, /exit status 7/);
  assert((await flow.read("begun")).length <= 5);
});

Deno.test("retry: a wait ends with the run", async () => {
  await using flow = await Flow.create();
  const text = 'timeout: 1\nsteps: [{run: ["false"], retry: {max_attempts: 2, delay_seconds: 600}}]';
  assert.equal((await flow.runText(text, ["x"])).code, 5);
});

Deno.test("interruptions: also while the workflow file itself is being read", async () => {
  await using work = await Workspace.create();
  await new Deno.Command("mkfifo", { args: [work.path("w.yml")] }).output();
  const lait = work.start(["run", "w.yml", "x"], { stdin: "open" });
  // Nothing is said before the file is there, so there is nothing to wait for but that it listens for signals.
  await until(() => /SigCgt:\s*\S*[2367abef]\b/.test(statusOf(lait.pid)), "the signal listener");
  const asked = performance.now();
  lait.signal("SIGINT");
  assert.equal((await lait.ended()).code, 130);
  assert(performance.now() - asked < 4_000);
});

function statusOf(pid: number): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/status`);
  } catch {
    return "";
  }
}

Deno.test("exit codes: 0, 1, 2, 3, 4 and 5, each for its reasons, by the whole command", async () => {
  await using server = new ModelServer(() => ({ status: 400, body: '{"error":{"message":"no"}}' }));
  await using work = await Workspace.create({ "lait.config.yml": `base_url: ${server.url}\ndefault: {model: m}` });
  const table: [number, string, string[]][] = [
    [0, "steps: [{jq: .}]", []],
    [0, "steps: [{stop: true}, {jq: error}]", []],
    [0, "steps: [{prompt: p}]", ["--dry-run"]],
    [1, 'steps: [{run: ["false"]}]', []],
    [1, "steps: [{jq: error}]", []],
    [1, "steps: [{jq: ., prompt: p}]", []],
    [1, "steps: [{while: 'true', max_iterations: 1, steps: [{jq: .}]}]", []],
    [2, "steps: [{jq: .}]", ["--var", "a=b"]],
    [2, "steps: [{jq: .}]", ["--model", "m"]],
    [2, "steps: [{jq: .}]", ["--resume", "a", "--dry-run"]],
    [3, "steps: [{jq: .", []],
    [3, "steps: [{jq: ., timeout: '1'}]", []],
    [4, "steps: [{prompt: p}]", []],
    [5, 'steps: [{run: [sleep, "60"], timeout: 1}]', []],
    [5, 'timeout: 1\nsteps: [{run: [sleep, "60"]}]', []],
    // What a timeout ended is a timeout, whatever happened before.
    [5, "steps: [{timeout: 1, group: [{prompt: p, on_error: [{run: [sleep, '60']}]}]}]", []],
  ];
  for (const [code, text, words] of table) {
    await work.write("w.yml", text);
    const ran = await work.run(["run", "w.yml", "x", ...words]);
    assert.equal(ran.code, code, `${text}: ${ran.stderr}`);
    if (code !== 0) assert.equal(ran.stdout, "", text);
  }
  assert.equal((await work.run(["run"])).code, 2);
  assert.equal((await work.run(["run", "missing.yml", "x"])).code, 1);
});
