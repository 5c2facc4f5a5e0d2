/** Running the command against a model that calls tools. */
import { configWith, type RunOptions, type RunResult, type Workspace } from "../cli/_lait.ts";
import { type Answer, type Call, ModelServer, type WireBody } from "../cli/_server.ts";

/** What one run with tools came to. */
export interface Ran extends RunResult {
  /** What the model was told the calls came to; empty when there was no second request. */
  readonly results: readonly string[];
  /** The bodies of the requests, in order. */
  readonly bodies: readonly WireBody[];
}

/** More than the calls. */
export interface CallingOptions extends RunOptions {
  /** Keys of the configuration beside `default` and `tools`. */
  readonly rest?: Readonly<Record<string, unknown>>;
  readonly args?: readonly string[];
  /** What the model says once it has the results. Default: `done`. */
  readonly end?: string | Answer;
}

/** Lets a model make these calls of these tools in one answer, and then end. */
export async function calling(
  work: Workspace,
  tools: Readonly<Record<string, unknown>>,
  calls: readonly Call[],
  options: CallingOptions = {},
): Promise<Ran> {
  const { rest, args = [], end = "done" } = options;
  await using server = new ModelServer([{ calls }, end]);
  await work.write("lait.config.yml", configWith(tools, rest));
  const result = await work.run(["--base-url", server.url, ...args, "hi"], options);
  return { ...result, results: server.toolResults(), bodies: server.requests.map(({ body }) => body) };
}

/** A call of a shell tool. */
export function call(name: string, args?: unknown, id?: string): Call {
  return { name: `tool__${name}`, arguments: args, ...(id === undefined ? {} : { id }) };
}

/** The schema of a tool that takes one text, called `text`. */
export const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

/** The arguments that name a server and a model. */
export function at(server: { readonly url: string }): string[] {
  return ["--base-url", server.url, "--model", "m"];
}
