import assert from "node:assert/strict";
import { ModelServer } from "../cli/_server.ts";
import { Flow } from "./_flow.ts";

async function serving(
  answers: ConstructorParameters<typeof ModelServer>[0],
  flow: string,
  use: (made: Flow, server: ModelServer) => Promise<void>,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  await using server = new ModelServer(answers);
  await using made = await Flow.make(flow, {
    "lait.config.yml": `base_url: ${server.url}\ndefault: { model: base, system: never }\n`,
    ...files,
  });
  await use(made, server);
}

Deno.test("workflow prompt: the message, the system text of the file alone, settings, attachments", async () => {
  const flow = `
default: { system: "You know {{ inputs.who }}.", temperature: 0.5 }
inputs: { who: { type: string, default: me } }
steps:
  - prompt: "About {{ input }}"
    model: own
    max_tokens: 7
    files: ["{{ input }}.md"]
  - prompt: "{{ input }}"
    system: "Other."`;
  await serving([{ text: "one" }, { text: "two" }], flow, async (made, server) => {
    const { stdout, stderr } = await made.run("note");
    assert.equal(stdout, "two\n", stderr);
    const [first, second] = server.requests.map(({ body }) => body);
    assert.deepEqual([first!.model, first!["temperature"], first!["max_completion_tokens"] ?? first!["max_tokens"]], [
      "own",
      0.5,
      7,
    ]);
    assert.deepEqual(first!.messages.map(({ role }) => role), ["system", "user"]);
    assert.equal(first!.messages[0]!.content, "You know me.");
    assert.match(JSON.stringify(first!.messages[1]!.content), /About note.*note\.md.*the note/);
    assert.deepEqual(second!.messages.map(({ content }) => content), ["Other.", "one"]);
    assert.equal(second!.model, "base");
  }, { "note.md": "the note" });
});

Deno.test("workflow prompt: a structured answer is asked for, read and checked", async () => {
  const flow = `
schemas: { place: { type: object, properties: { city: { type: string } }, required: [city], additionalProperties: false } }
steps: [{ prompt: Where, output_schema: place, output: .city }]`;
  await serving([{ text: '```json\n{"city":"Kyoto"}\n```' }], flow, async (made, server) => {
    assert.equal((await made.run("x")).stdout, "Kyoto\n");
    const format = server.requests[0]!.body["response_format"] as { json_schema: { name: string; strict: boolean } };
    assert.deepEqual([format.json_schema.name, format.json_schema.strict], ["place", true]);
  });
  await serving([{ text: '{"town":"x"}' }], flow, async (made) => {
    assert.match((await made.run("x")).stderr, /output is missing required field\(s\): city/);
  });
  await serving([{ text: "Kyoto" }], flow, async (made) => {
    assert.match((await made.run("x")).stderr, /is not JSON.*it was: Kyoto/);
  });
});

Deno.test("workflow prompt: bad input never reaches the model; a model is required", async () => {
  const flow = "steps: [{ prompt: x, input_schema: { type: object } }]";
  await serving([{ text: "never" }], flow, async (made, server) => {
    assert.match((await made.run("x")).stderr, /input must be of type object/);
    assert.equal(server.requests.length, 0);
    await made.write("flow.yml", "steps: [{ prompt: x }]");
    await made.write("lait.config.yml", "");
    assert.match((await made.run("x")).stderr, /step 'step-1 \(prompt\)': a model is required/);
  });
});

Deno.test("workflow default.retry: is for model steps alone; a failure that stays exits with 4", async () => {
  const bad = { status: 400, body: '{"error":{"message":"no"}}' };
  const flow =
    "default: { retry: { max_attempts: 2 } }\nsteps: [{ prompt: x }, { run: [sh, -c, 'echo . >> tries; exit 1'] }]";
  await serving([bad, { text: "fine" }], flow, async (made, server) => {
    const { stderr } = await made.run("x");
    assert.equal(server.requests.length, 2);
    assert.match(stderr, /attempt 1\/2 failed/);
    assert.equal(await made.read("tries"), ".\n");
  });
  await serving([bad, bad], flow, async (made) => assert.equal((await made.run("x")).code, 4));
});

Deno.test("workflow agent: inline, by path, by name; settings from step, agent, file", async () => {
  const flow = `
default: { temperature: 0.1, top_p: 0.2 }
agents:
  inline: { system: "Inline {{ steps.a }}", temperature: 0.9, model: agent-model }
steps:
  - { id: a, jq: '"A"' }
  - { agent: inline, input: '{x: 1}', model: step-model }
  - agent: ./agents/file.md
  - agent: named`;
  const files = {
    "agents/file.md": "---\nmodel: file-model\n---\nFile {{ input }}",
    "agents/named.md": "---\nname: n\n---\nNamed",
  };
  await serving([{ text: "1" }, { text: "2" }, { text: "3" }], flow, async (made, server) => {
    await made.write(
      "lait.config.yml",
      `base_url: ${server.url}\ndefault: { model: base }\nagents: { named: agents/named.md }\n`,
    );
    const { stdout, stderr } = await made.run("x");
    assert.equal(stdout, "3\n", stderr);
    const bodies = server.requests.map(({ body }) => body);
    assert.deepEqual(bodies.map(({ model }) => model), ["step-model", "file-model", "base"]);
    assert.deepEqual(bodies.map(({ messages }) => messages[0]!.content), ["Inline A", "File 1", "Named"]);
    assert.deepEqual(bodies.map(({ messages }) => messages[1]!.content), ['{"x":1}', "1", "2"]);
    assert.deepEqual(bodies.map((body) => [body["temperature"], body["top_p"]]), [[0.9, 0.2], [0.1, 0.2], [0.1, 0.2]]);
    await made.write("flow.yml", "steps: [{ agent: nobody }]");
    assert.match(
      (await made.run("x")).stderr,
      /unknown agent 'nobody': it is neither under `agents:` of flow\.yml nor/,
    );
  }, files);
});

Deno.test("workflow models: an alias of the file wins; a child's own first", async () => {
  await using made = await Flow.make(
    `
models: { m: [{ provider: { script: outer.yml } }] }
default: { model: m }
steps: [{ prompt: a }, { workflow: ./child.yml }]`,
    {
      "lait.config.yml": "models: { m: [{ provider: { script: never.yml } }] }",
      "outer.yml": "[outer]",
      "child.yml":
        "models: { m: [{ provider: { script: inner.yml } }] }\nsteps: [{ prompt: '{{ input }}', output: '. + \"!\"' }]",
      "inner.yml": "[{ text: inner, when: { contains: outer } }]",
    },
  );
  const { stdout, stderr } = await made.run("x");
  assert.equal(stdout, "inner!\n", stderr);
});

Deno.test("workflow prompt: tools of a step run, and the usage is told step by step", async () => {
  const flow = "steps: [{ id: look, prompt: x, tools: [say] }, { prompt: y, tools: [] }]";
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  const answers = [{ calls: [{ name: "tool__say" }], usage }, { text: "said", usage }, { text: "end", usage }];
  await serving(answers, flow, async (made, server) => {
    await made.write(
      "lait.config.yml",
      `base_url: ${server.url}\ndefault: { model: m, tools: [say] }\ntools: { say: { command: [echo, hello] } }\n`,
    );
    const { stdout, stderr } = await made.run("x", "--show-usage");
    assert.equal(stdout, "end\n", stderr);
    assert.match(JSON.stringify(server.requests[1]!.body.messages), /hello/);
    assert.equal(server.requests[2]!.body.tools, undefined);
    assert.match(stderr, /look: .*step-2 \(prompt\): .*total: /s);
    const json = await made.run("x", "--json");
    assert.equal(json.code, 4);
  });
});

Deno.test("workflow decide: questions, answers in order, and what can be wrong", async () => {
  const asked: unknown[] = [];
  let reply: unknown = {};
  let status = 200;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    asked.push([new URL(request.url).pathname, request.headers.get("authorization"), await request.json()]);
    return Response.json(reply, { status });
  });
  const flow = `
steps:
  - decide:
      urgent: { type: noul, instructions: Is it urgent?, criteria: { true: yes it is, false: null } }
      team: { type: choice, criteria: { a: Team A, b: null } }
    output: '[.team.choice, (keys_unsorted | join(","))]'`;
  await using made = await Flow.make(flow, {
    "lait.config.yml": `jev: { base_url: "http://127.0.0.1:${server.addr.port}/v1/", api_key: k }\n`,
    "q.yml": "fit: { type: score, criteria: [low, high] }",
  });
  try {
    reply = { answers: { team: { type: "choice", choice: "b", p: 1 }, urgent: { type: "noul", noul: 0.5 } } };
    assert.equal((await made.run("state")).stdout, '["b","urgent,team"]\n');
    assert.deepEqual(asked[0], ["/v1/systemone", "Bearer k", {
      model: "jev-latest",
      state: "state",
      questions: {
        urgent: { type: "noul", instructions: "Is it urgent?", criteria: { true: "yes it is", false: null } },
        team: { type: "choice", criteria: { a: "Team A", b: null } },
      },
    }]);
    reply = { answers: { team: { type: "choice", choice: "b" } } };
    assert.match((await made.run("state")).stderr, /does not answer 'urgent'/);
    [reply, status] = [{ detail: [{ msg: "bad state" }, { msg: "worse" }] }, 422];
    const refused = await made.run("state");
    assert.match(refused.stderr, /HTTP 422: bad state; worse/);
    assert.equal(refused.code, 4);
    [reply, status] = [{ answers: { fit: { type: "score", score: 3 } }, id: 7 }, 200];
    const plain = await made.lait(["decide", "-q", "q.yml", "--json", "[1]"]);
    assert.deepEqual(JSON.parse(plain.stdout), { fit: { type: "score", score: 3 } });
    assert.deepEqual((asked.at(-1) as [string, string, { state: unknown }])[2].state, [1]);
    assert.equal(JSON.parse((await made.lait(["decide", "-q", "q.yml", "s", "--full"])).stdout).id, 7);
    await made.write("q.yml", "fit: { type: other }");
    assert.match(
      (await made.lait(["decide", "-q", "q.yml", "s"])).stderr,
      /q\.yml:1:\d+: .*one of noul, choice, score/,
    );
  } finally {
    await server.shutdown();
  }
});

Deno.test("workflow dry run: the plan, and nothing else", async () => {
  const flow = `
input_schema: { type: string }
timeout: 9
default: { retry: { max_attempts: 3, delay_seconds: 1, backoff: 2 }, timeout: 30 }
steps:
  - { prompt: "About {{ input }}", output_schema: { type: object }, mcp: [] }
  - { id: b, prompt: "{{ steps.x }}", model: alias }
  - { run: [touch, ran], on_error: [{ ask: "sure?" }] }
  - { agent: nobody }
output: .`;
  await using made = await Flow.make(flow, {
    "lait.config.yml":
      "base_url: http://127.0.0.1:9/v1\napi_key_cmd: [touch, keyed]\ndefault: { model: base }\nmodels: { alias: [{ provider: { base_url: 'http://127.0.0.1:9/v2' }, model_id: real }] }\n",
  });
  const { code, stdout, stderr } = await made.run("it", "--dry-run");
  assert.equal(code, 0, stderr);
  for (
    const part of [
      "input_schema: inline schema",
      "prompt: About it",
      "model: base @ http://127.0.0.1:9/v1",
      "model: real @ http://127.0.0.1:9/v2",
      "retry: max_attempts=3, delay_seconds=1, backoff=2",
      "timeout: 30s",
      "[unrendered: {{ steps.x }}]",
      "run: touch ran",
      "on_error:",
      "agent: nobody (lait.config.yml agents)",
      "timeout: 9s (whole workflow)",
    ]
  ) assert.ok(stdout.includes(part), `${part}\n${stdout}`);
  const names = (await Array.fromAsync(Deno.readDir(made.directory))).map(({ name }) => name).toSorted();
  assert.deepEqual(names, ["flow.yml", "lait.config.yml"]);
  assert.equal((await made.run("--dry-run")).code, 1);
});
