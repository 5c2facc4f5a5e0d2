/** What hurts users of the peers, section G: templates, YAML, names of files. */
import assert from "node:assert/strict";
import { nodeToJson } from "../../lib/source/node.ts";
import { readYaml } from "../../lib/source/yaml.ts";
import { Workspace } from "../cli/_lait.ts";
import { ModelServer } from "../cli/_server.ts";
import { at, call, calling, TEXT } from "./_calling.ts";

const say = { command: ["printf", "[%s]", "{{ input.text }}"], parameters: TEXT };

Deno.test("T1: what users, files, models and tools say is never read as a template, wherever it goes", async () => {
  const hostile = "{{ input.text }} {{{ nope }}} {{#if x}} {{> y}} \\{{ z }} ${HOME}";
  await using work = await Workspace.create({
    "a.txt": hostile,
    "s.txt": hostile,
    "lait.config.yml": JSON.stringify({ tools: { say, cat: { command: ["cat", "a.txt"] } } }),
  });
  await using server = new ModelServer([
    { text: hostile, calls: [call("say", { text: hostile }), call("cat")] },
    hostile,
  ]);
  const args = ["--tool", "say", "--tool", "cat", "--system-file", "s.txt", "--file", "a.txt", hostile];
  const { code, stdout, stderr } = await work.run([...at(server), ...args], { stdin: hostile });
  assert.deepEqual([code, stdout, stderr], [0, `${hostile}\n`, ""]);
  assert.deepEqual(server.toolResults(), [`[${hostile}]`, hostile]);
  const [system, user, assistant] = server.requests[1]!.body.messages.map(({ content }) => content);
  assert.deepEqual([system, assistant], [hostile, hostile]);
  assert.equal(user, `${hostile}\n\n${hostile}\n\n\`\`\`a.txt\n${hostile}\n\`\`\``);
});

Deno.test("T3: a template that starts a plain value is a fault with its place and the quoted form", async () => {
  const cases: [file: string, place: string, quoted: string][] = [
    ["default:\n  system: {{ input }}\n", "2:11", 'system: "{{ input }}"'],
    ["tools:\n  t:\n    command:\n      - rg\n      - {{ input.x }}\n", "5:9", '"{{ input.x }}"'],
    ['default:\n  system: {{ json "a" }}\n', "2:11", "system: '{{ json \"a\" }}'"],
  ];
  await using server = new ModelServer([]);
  for (const [file, place, quoted] of cases) {
    await using work = await Workspace.create({ "lait.config.yml": file });
    const { code, stdout, stderr } = await work.run([...at(server), "hi"]);
    assert.deepEqual([code, stdout], [3, ""]);
    assert(stderr.startsWith(`lait: lait.config.yml:${place}: `), stderr);
    assert(stderr.includes(`quote the template: \`${quoted}\``), stderr);
    assert.equal(stderr.trimEnd().split("\n").length, 1);
  }
  assert.equal(server.requests.length, 0);
});

Deno.test("T4: what a model gave reaches a shell as an argument, and nothing in it is expanded or run", async () => {
  const values = ["$(touch ran)", "`touch ran`", "$HOME ${HOME}", "'; touch ran; '", "$(( 1 + 1 ))", "*"];
  await using work = await Workspace.create();
  const tools = {
    first: { command: ["printf", "%s", "{{ input.text }}"], parameters: TEXT },
    shell: { command: ["sh", "-c", 'printf "%s" "$1"', "sh", "{{ input.text }}"], parameters: TEXT },
  };
  await work.write("lait.config.yml", JSON.stringify({ tools }));
  // The second round passes on what the first one gave, as a model would.
  await using server = new ModelServer(({ body }, index) => {
    const given = body.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    if (index === 0) return { calls: values.map((text) => call("first", { text })) };
    return index === 1 ? { calls: given.map((text) => call("shell", { text })) } : "done";
  });
  const { code } = await work.run([...at(server), "--tool", "first", "--tool", "shell", "hi"]);
  assert.deepEqual([code, server.toolResults()], [0, [...values, ...values]]);
  assert.equal(await work.exists("ran"), false);
});

Deno.test("T6: a configuration that cannot be read is exit 3, so its tool_policy is never silently missing", async () => {
  const tools = '\ntools: { touch: { command: ["touch", "ran"] } }\n';
  const policies = [
    'tool_policy: { deny: ["*"]',
    'tool_policy:\n\tdeny: ["*"]',
    'tool_polcy: { deny: ["*"] }',
    'tool_policy: { denny: ["*"] }',
    'tool_policy: { deny: "*" }',
    "tool_policy: { deny: [*] }",
    'tool_policy: { deny: ["*"] }\ntool_policy: {}',
    '--- \ntool_policy: { deny: ["*"] }\n---',
  ];
  await using server = new ModelServer(() => ({ calls: [call("touch")] }));
  await Promise.all(policies.map(async (policy) => {
    await using work = await Workspace.create({ "lait.config.yml": policy + tools });
    const { code, stdout, stderr } = await work.run([...at(server), "--tool", "touch", "hi"]);
    assert.deepEqual([code, stdout, await work.exists("ran")], [3, "", false], policy);
    assert.match(stderr, /^lait: lait\.config\.yml:\d+:\d+: /);
  }));
  assert.equal(server.requests.length, 0);
  await using work = await Workspace.create();
  const fine = await calling(work, { touch: { command: ["touch", "ran"] } }, [call("touch")], {
    rest: { tool_policy: { deny: ["*"] } },
  });
  assert.match(fine.results[0]!, /denied by tool_policy/);
});

Deno.test("T9: a value of another type is a fault with its place and what was expected, never a crash or a guess", async () => {
  const cases: [file: string, said: string][] = [
    ["default: { model: 3000 }", "1:19: `default.model` must be a string (got number) (put it in quotes)"],
    ["default: { system: true }", '1:20: `default.system` must be a string (got boolean) (put it in quotes: `"true"`)'],
    ["tools: { t: { description: [a], command: [x] } }", "1:28: `tools.t.description` must be a string (got "],
    ["tools: { t: { command: rg } }", "1:24: `tools.t.command` must be a list of strings (got string)"],
    [
      "tools: { t: { command: [rg, 1] } }",
      "1:29: `tools.t.command[1]` must be a string (got number) (put it in quotes",
    ],
    ["tools: [t]", "1:8: `tools` must be a map (got list)"],
  ];
  await using server = new ModelServer([]);
  await Promise.all(cases.map(async ([file, said]) => {
    await using work = await Workspace.create({ "lait.config.yml": file });
    const { code, stdout, stderr } = await work.run([...at(server), "hi"]);
    assert.deepEqual([code, stdout], [3, ""]);
    assert(stderr.startsWith(`lait: lait.config.yml:${said}`), stderr);
  }));
  assert.equal(server.requests.length, 0);
});

Deno.test("T9: names that look like numbers or booleans are names, and # within a word or quotes is text", async () => {
  const file = [
    "tools:",
    '  3000: { command: ["echo", "{{ input }}", a#b], description: "x # y" }',
    "  true: { command: [echo, yes] }",
    "default: { tools: ['3000', 'true'], model: m, system: C#, }",
  ].join("\n");
  await using work = await Workspace.create({ "lait.config.yml": file });
  await using server = new ModelServer([{ calls: [call("3000", {}), call("true", {})] }, "done"]);
  assert.equal((await work.run(["--base-url", server.url, "hi"])).code, 0);
  assert.deepEqual(server.toolResults(), ["{} a#b", "yes"]);
  const { messages, tools } = server.requests[0]!.body;
  assert.deepEqual([messages[0]!.content, tools![0]!.function.description], ["C#", "x # y"]);
});

Deno.test("T10: yes, no, on and off are texts, and where a boolean is wanted a fault that says so", async () => {
  await using work = await Workspace.create();
  await using server = new ModelServer([{ calls: [call("env")] }, "done"]);
  await work.write(
    "lait.config.yml",
    'tools: { env: { command: ["/usr/bin/env"], env: { A: no, B: Yes, C: on, D: OFF, E: 12:30:45, F: 1_000 } } }',
  );
  assert.equal((await work.run([...at(server), "--tool", "env", "hi"])).code, 0);
  assert.deepEqual(server.toolResults()[0]!.split("\n").sort(), [
    "A=no",
    "B=Yes",
    "C=on",
    "D=OFF",
    "E=12:30:45",
    "F=1_000",
  ]);
  for (const word of ["yes", "Off"]) {
    await work.write("lait.config.yml", `default: { render: ${word} }`);
    const { code, stderr } = await work.run([...at(server), "hi"]);
    assert.equal(code, 3);
    assert.match(stderr, /1:20: `default\.render` must be true or false .*`true` and `false` only/);
  }
});

Deno.test("T10: a number with a leading zero is refused, none is sexagesimal by colons, and none is taken for a text", async () => {
  const { root, diagnostics } = readYaml("[0o10, '010', 1:30, 12e]", "f.yml");
  assert.deepEqual([nodeToJson(root!), diagnostics], [[8, "010", "1:30", "12e"], []]);
  const cases: [file: string, said: string][] = [
    ["tools: { t: { command: [x], timeout: 1:30 } }", "1:38: `tools.t.timeout` must be an integer (got string)"],
    [
      "tools: { t: { command: [x], env: { ZIP: 01234 } } }",
      "1:41: integer 01234 starts with a zero and would be read as 1234",
    ],
    ["tools: { t: { command: [x], timeout: 010 } }", "1:38: integer 010 starts with a zero and would be read as 10"],
  ];
  await using work = await Workspace.create();
  for (const [file, said] of cases) {
    await work.write("lait.config.yml", file);
    const { code, stderr } = await work.run(["--model", "m", "hi"]);
    assert.equal(code, 3);
    assert(stderr.startsWith(`lait: lait.config.yml:${said}`), stderr);
  }
});

Deno.test("T12: the JSON that lait writes reads back as what was said: control characters, spaces, halves of pairs", async () => {
  const texts = [
    "  leading\n\n trailing \r\n",
    "\u0000\u001b[31m\u007f\u0085\u2028\ufeff",
    "\ud800 half",
    "---\n# {{ x }}",
  ];
  await using work = await Workspace.create();
  await using server = new ModelServer(texts);
  for (const [index, text] of texts.entries()) {
    const toFile = index % 2 === 1;
    const { code, stdout } = await work.run([...at(server), "--json", ...toFile ? ["-o", "out.json"] : [], "hi"]);
    assert.equal(code, 0);
    const written = toFile ? await work.read("out.json") : stdout;
    assert.deepEqual([JSON.parse(written).content, written.split("\n").length], [text, 2]);
  }
});

Deno.test("T16: a path with a colon, such as C:\\x.png, is a path for every option that takes a file", async () => {
  const name = "C:\\x y.png";
  await using work = await Workspace.create({
    [name]: "no magic",
    "c:a.txt": "text of a",
    "C:\\s.txt": "be kind",
    "C:\\c.yml": "default: { model: of-the-file }",
    "c:schema.json": "{}",
  });
  await using server = new ModelServer(["ok"]);
  const args = [
    ["--base-url", server.url],
    ["--config", "C:\\c.yml"],
    ["--system-file", "C:\\s.txt"],
    ["--json-schema", "c:schema.json"],
    ["--file", "c:a.txt"],
    ["--image", name],
    ["--output", "D:\\out.txt"],
  ];
  const { code, stderr } = await work.run([...args.flat(), "q"]);
  assert.deepEqual([code, stderr], [0, ""]);
  const { model, messages } = server.onlyBody;
  const [text, image] = messages[1]!.content as { text?: string; image_url?: { url: string } }[];
  assert.deepEqual([model, messages[0]!.content], ["of-the-file", "be kind"]);
  assert.equal(text!.text, "q\n\n```c:a.txt\ntext of a\n```");
  assert.equal(image!.image_url!.url, `data:image/png;base64,${btoa("no magic")}`);
  assert.equal(await work.read("D:\\out.txt"), "ok\n");
});
