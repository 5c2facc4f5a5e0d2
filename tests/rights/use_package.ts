/** Uses one package of `lib/deps/` a little; run under narrowed rights by the test beside it. */
const uses: Record<string, () => Promise<void>> = {
  "ajv.ts": async () => {
    const { compileSchema } = await import("../../lib/schema/schema.ts");
    compileSchema({ type: "object", properties: { a: { type: "string", format: "email" } } }).check({ a: 1 });
  },
  "anthropic.ts": async () => {
    const { Anthropic } = await import("../../lib/deps/anthropic.ts");
    const fetch = () => Promise.resolve(Response.json({ content: [] }));
    const client = new Anthropic({
      apiKey: "k",
      authToken: null,
      baseURL: "http://127.0.0.1:1",
      maxRetries: 0,
      logLevel: "off",
      fetch,
    });
    await client.post("/messages", { body: {} });
  },
  "commander.ts": async () => {
    const { createCommand, parseLine } = await import("../../lib/cli/command_line.ts");
    parseLine(createCommand("x", "x").option("--a <b>"), ["--a", "1"]);
  },
  "handlebars.ts": async () => {
    const { parseTemplate } = await import("../../lib/source/template/template.ts");
    parseTemplate("{{#if a}}{{ b }}{{/if}}").render({ a: 1, b: 2 });
  },
  "marked.ts": async () => {
    const { lexer } = await import("../../lib/deps/marked.ts");
    lexer("# a\n\n- b");
  },
  "mcp.ts": async () => {
    const { Client, StreamableHTTPClientTransport } = await import("../../lib/deps/mcp.ts");
    const answer = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "s", version: "1" } };
    const fetch = (_: string | URL, init?: RequestInit) => {
      const { id } = JSON.parse(String(init?.body ?? "{}"));
      if (id === undefined) return Promise.resolve(new Response(null, { status: init?.method === "GET" ? 405 : 202 }));
      return Promise.resolve(Response.json({ jsonrpc: "2.0", id, result: answer }));
    };
    const client = new Client({ name: "c", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL("http://127.0.0.1:1/mcp"), { fetch });
    // The SDK's optional fields may be undefined, its interface's may only be absent.
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    await client.close();
  },
  "openai.ts": async () => {
    const { OpenAI } = await import("../../lib/deps/openai.ts");
    const client = new OpenAI({
      apiKey: "k",
      baseURL: "http://127.0.0.1:1/v1",
      maxRetries: 0,
      logLevel: "off",
      organization: null,
      project: null,
      fetch: () => Promise.resolve(Response.json({ choices: [] })),
    });
    await client.chat.completions.create({ model: "m", messages: [] });
  },
  "path.ts": async () => {
    const { resolve } = await import("../../lib/deps/path.ts");
    resolve("/a", "b");
  },
  "re2js.ts": async () => {
    const { RE2JS } = await import("../../lib/deps/re2js.ts");
    RE2JS.compile("(a|b)+").matcher("abba").find();
  },
  "readline.ts": async () => {
    const { createInterface, EventEmitter, Writable } = await import("../../lib/deps/readline.ts");
    const input = Object.assign(new EventEmitter(), { isTTY: true, setRawMode() {}, pause() {}, resume() {} });
    const output = Object.assign(new Writable({ write: (_chunk, _encoding, done) => done() }), { columns: 80 });
    const editor = createInterface({ input: input as unknown as NodeJS.ReadStream, output, terminal: true });
    editor.prompt();
    input.emit("data", "a\r");
    editor.close();
  },
  "yaml.ts": async () => {
    const { readYaml } = await import("../../lib/source/yaml.ts");
    readYaml("a: [1, 2]\n", "x.yml");
  },
};

const use = uses[Deno.args[0] ?? ""];
if (use === undefined) throw new Error(`say in tests/rights/use_package.ts how ${Deno.args[0]} is used`);
await use();
