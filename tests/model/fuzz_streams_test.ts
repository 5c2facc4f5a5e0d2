/** Event streams that something has been at: lost, doubled, moved and foreign lines and bytes, connections that break. */
import assert from "node:assert/strict";
import { ModelError } from "../../lib/base/errors.ts";
import { isJsonObject } from "../../lib/base/json.ts";
import { reasoningText } from "../../lib/model/message.ts";
import type { ModelResult } from "../../lib/model/provider.ts";
import { nodeToJson } from "../../lib/source/node.ts";
import { readYaml } from "../../lib/source/yaml.ts";
import { Random } from "../_support/random.ts";
import { provider } from "./_servers.ts";

const ROUNDS = 2_000;
/** A stream that takes longer than this hangs. */
const HUNG_MS = 10_000;
const FOLDER = new URL("../../fixtures/streams/", import.meta.url);

/** The bodies of the recorded streams. */
function readBodies(): string[] {
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) => name.endsWith(".yml")).sort();
  return files.flatMap((file) => {
    const one = nodeToJson(readYaml(Deno.readTextFileSync(new URL(file, FOLDER)), file).root!);
    assert(isJsonObject(one) && typeof one["body"] === "string", file);
    return (one["kind"] ?? "stream") === "stream" ? [one["body"]] : [];
  });
}

const PIECES = [
  "\n",
  "\r",
  "\r\n\r\n",
  "\n\n",
  "data: ",
  "data: [DONE]\n\n",
  "event: error\n",
  ": ping\n\n",
  "id: 1\nretry: 0\n",
  "{}",
  "[]",
  "null",
  '"',
  "\\",
  "\\ud800",
  '"index":7,',
  '"id":"c1",',
  "1e999",
  "\u0000",
  "\ufeff",
  "日",
  "𝄞",
];

type Mutation = (random: Random, lines: string[]) => string[];

/** What is done to the lines, with another stream's to borrow from. */
const MUTATIONS: readonly ((other: readonly string[]) => Mutation)[] = [
  () => (random, lines) => lines.slice(0, random.below(lines.length + 1)),
  () => (random, lines) => lines.toSpliced(random.below(lines.length), 1 + random.below(3)),
  () => (random, lines) => {
    const at = random.below(lines.length);
    return lines.toSpliced(at, 0, ...lines.slice(at, at + 1 + random.below(3)));
  },
  () => (random, lines) => {
    const at = random.below(lines.length);
    return lines.toSpliced(at, 1).toSpliced(random.below(lines.length), 0, lines[at] ?? "");
  },
  (other) => (random, lines) => lines.toSpliced(random.below(lines.length + 1), 0, random.pick(other), ""),
  () => (random, lines) => {
    const at = random.below(lines.length);
    return lines.with(at, random.mutate(lines[at] ?? "", PIECES));
  },
  () => (random, lines) => random.mutate(lines.join("\n"), PIECES).split("\n"),
];

/** A damaged body. */
function damaged(random: Random, bodies: readonly string[]): Uint8Array {
  let lines = random.pick(bodies).split("\n");
  for (let count = 1 + random.below(3); count > 0 && lines.length > 0; count--) {
    lines = random.pick(MUTATIONS)(random.pick(bodies).split("\n"))(random, lines);
  }
  const bytes = new TextEncoder().encode(lines.join(random.pick(["\n", "\n", "\n", "\r\n", "\r"])));
  if (bytes.length > 0 && random.below(3) === 0) {
    for (let count = 1 + random.below(4); count > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
  }
  return bytes;
}

/** The bytes in pieces of any sizes, empty ones too. */
function inPieces(random: Random, bytes: Uint8Array): Uint8Array[] {
  const most = random.pick([1, 4, 40, 400, bytes.length + 1]);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = random.below(most + 1);
    pieces.push(bytes.slice(at, at + size));
    at += size;
  }
  return pieces;
}

/** The answer; with `breaks` the connection is lost behind the pieces. */
function respond(pieces: readonly Uint8Array[], breaks: boolean): Response {
  let next = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (next < pieces.length) controller.enqueue(pieces[next++]!);
      else if (breaks) controller.error(new TypeError("connection reset by peer"));
      else controller.close();
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

interface Seen {
  readonly text: string;
  readonly reasoning: string;
  readonly outcome: ModelResult | ModelError;
}

/** Reads a stream to its end: one result as its last event, or a ModelError. */
async function read(response: Response, deadline: AbortSignal): Promise<Seen> {
  const from = provider("http://test/v1", { send: () => Promise.resolve(response) });
  let [text, reasoning] = ["", ""];
  let result: ModelResult | undefined;
  try {
    for await (const event of from.stream!({ model: "m", prompt: "hi", signal: deadline })) {
      assert(result === undefined, "an event came after the result");
      if (event.type === "text-delta") text += event.text;
      else if (event.type === "reasoning") reasoning += event.text;
      else result = event.result;
    }
  } catch (error) {
    if (error instanceof ModelError) return { text, reasoning, outcome: error };
    throw error;
  }
  assert(result !== undefined, "the stream ended without a result");
  return { text, reasoning, outcome: result };
}

function check({ text, reasoning, outcome }: Seen, source: string): void {
  if (outcome instanceof ModelError) {
    assert.match(outcome.message, /POST http:\/\/test\/v1\/chat\/completions/);
    return;
  }
  // A refusal takes the text's place once it is known that there is none.
  const isRefusal = text === "" && source.includes("refusal");
  if (!isRefusal) assert.equal(text, outcome.text);
  const { content = [], usage } = outcome;
  assert.equal(reasoning, reasoningText({ content }) ?? "");
  for (const block of content) if (block.type === "tool-call") assert.notEqual(block.name, "");
  if (usage === undefined) return;
  assert([usage.input, usage.cached, usage.output].every((count) => Number.isSafeInteger(count) && count >= 0));
  assert(usage.cached <= usage.input);
}

Deno.test("createChatCompletionsProvider: 2 000 damaged streams end in a result or a ModelError, and what was streamed is the text", async () => {
  const bodies = readBodies();
  assert(bodies.length > 60);
  const random = new Random(20_260_214);
  const ends = { results: 0, errors: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = damaged(random, bodies);
    const pieces = inPieces(random, bytes);
    const breaks = random.below(10) === 0;
    const source = new TextDecoder().decode(bytes);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new Error("the stream hangs")), HUNG_MS);
    try {
      const seen = await read(respond(pieces, breaks), deadline.signal);
      check(seen, source);
      ends[seen.outcome instanceof ModelError ? "errors" : "results"]++;
    } catch (error) {
      const sizes = pieces.map(({ length }) => length).slice(0, 50);
      throw new Error(`round ${round}: ${JSON.stringify({ source, sizes, breaks })}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
  assert(ends.results > 400 && ends.errors > 400, JSON.stringify(ends));
});
