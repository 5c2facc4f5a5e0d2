/**
 * An independent model server for the tests: prints its URL, serves until its standard input ends.
 *
 * Its one argument is JSON: chaos rates for every request.
 */
import { LLMock } from "../deps.ts";

const mock = new LLMock({ port: 0 });
mock.addFixture({
  match: { userMessage: "list", hasToolResult: false },
  response: { toolCalls: [{ id: "call_1", name: "tool__list", arguments: '{"name":"a.txt"}' }] },
});
mock.addFixture({ match: { userMessage: "list", hasToolResult: true }, response: { content: "There is a.txt." } });
mock.addFixture({
  match: { userMessage: "both", hasToolResult: false },
  response: {
    content: "Two at once.",
    toolCalls: [
      { id: "c1", name: "tool__list", arguments: '{"name":"a.txt"}' },
      { id: "c2", name: "tool__list", arguments: '{"name":"b.txt"}' },
    ],
  },
});
mock.addFixture({ match: { userMessage: "both", hasToolResult: true }, response: { content: "Both are there." } });
mock.onMessage("hello", { content: "Hello from an independent server, 日本語 included." });
await mock.start();
const chaos = JSON.parse(Deno.args[0] ?? "{}");
if (Object.keys(chaos).length > 0) mock.setChaos(chaos);
await Deno.stdout.write(new TextEncoder().encode(`${mock.url}\n`));
for await (const _ of Deno.stdin.readable);
await mock.stop();
