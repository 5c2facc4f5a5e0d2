/** Streams of Chat Completions written out chunk by chunk, and what the provider makes of them. */
import assert from "node:assert/strict";
import { toolCalls } from "../../lib/model/message.ts";
import type { ModelResult } from "../../lib/model/provider.ts";
import { collect, provider } from "../model/_servers.ts";

/** The answer to a stream of these chunks. It must not matter whether the bytes come together or one by one. */
export async function answerTo(...chunks: readonly unknown[]): Promise<ModelResult> {
  const events = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"];
  const bytes = new TextEncoder().encode(events.map((event) => `data: ${event}\n\n`).join(""));
  const whole = await ask([bytes]);
  assert.deepEqual(await ask([...bytes].map((byte) => Uint8Array.of(byte))), whole);
  return whole;
}

async function ask(pieces: readonly Uint8Array[]): Promise<ModelResult> {
  const send = () =>
    Promise.resolve(
      new Response(ReadableStream.from(pieces), { headers: { "content-type": "text/event-stream" } }),
    );
  const last = (await collect(provider("http://test/v1", { send }))).at(-1);
  assert(last?.type === "result");
  return last.result;
}

/** A chunk with this delta. */
export function delta(part: Readonly<Record<string, unknown>>, finish: string | null = null): unknown {
  return { choices: [{ index: 0, delta: part, finish_reason: finish }] };
}

/** A chunk with these entries of tool calls. */
export function pieces(...entries: readonly unknown[]): unknown {
  return delta({ tool_calls: entries });
}

/** An entry: what is not given is not sent. */
export function piece(index: number | undefined, id: string | undefined, name: string | undefined, args: unknown) {
  return {
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id }),
    function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
  };
}

/** The calls of the answer to these chunks, which end as calls do: id, name and the arguments' text. */
export async function callsOf(...chunks: readonly unknown[]): Promise<[string, string, string | undefined][]> {
  const { content = [] } = await answerTo(...chunks, delta({}, "tool_calls"));
  return toolCalls({ content }).map(({ id, name, arguments: text }) => [id, name, text]);
}
