/** What every model provider promises; for the tests of whoever makes one. */
import type { ModelProvider, ModelRequest, ModelResult } from "../model/provider.ts";
import { type ContractCase, expectSame, expectThat, rejection } from "./contract.ts";

/** Options of {@link modelProviderContract}. */
export interface ModelContractOptions {
  /** A model that the provider knows. Default: `any`. */
  readonly model?: string;
  /** What is asked; the provider must answer it with some text. Default: a greeting. */
  readonly prompt?: string;
  /** Tokens that an answer may have. Default: 1,000. */
  readonly maxOutputTokens?: number;
}

/**
 * The cases of a provider's contract. Each asks a provider of its own once.
 *
 * @example
 * ```ts
 * import { modelProviderContract } from "./model_contract.ts";
 * import { createScriptedModelProvider } from "../model/providers/scripted.ts";
 * for (const { run } of modelProviderContract(() => createScriptedModelProvider(["Hello there!"]))) await run();
 * ```
 */
export function modelProviderContract(
  make: () => ModelProvider | Promise<ModelProvider>,
  options: ModelContractOptions = {},
): ContractCase[] {
  const { model = "any", prompt = "Say hello.", maxOutputTokens = 1_000 } = options;
  const request: ModelRequest = deepFreeze({ model, prompt, maxOutputTokens });
  const contract = (name: string, check: (provider: ModelProvider) => Promise<void>): ContractCase => ({
    name,
    run: async () => await check(await make()),
  });
  return [
    contract("it has a name", (provider) => {
      expectThat("`name` must be a text that is not blank", typeof provider.name === "string" && provider.name !== "");
      return Promise.resolve();
    }),
    contract("request: an answer with text, from a request that cannot be changed", async (provider) => {
      checkResult(await provider.request(request));
    }),
    contract("request: a conversation instead of a prompt", async (provider) => {
      const { prompt: text, ...rest } = request;
      const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: text! }] }];
      checkResult(await provider.request(deepFreeze({ ...rest, messages })));
    }),
    contract("request: an aborted signal rejects with exactly its reason", async (provider) => {
      const work = provider.request({ ...request, signal: AbortSignal.abort("no") });
      expectSame("the reason", await rejection("the request", work), "no");
    }),
    contract("stream: pieces that make the text, then exactly one result", async (provider) => {
      if (provider.stream === undefined) return;
      let [text, results] = ["", 0];
      let result: ModelResult | undefined;
      for await (const event of provider.stream(request)) {
        expectThat("nothing may come after the result", results === 0);
        if (event.type === "text-delta") text += event.text;
        if (event.type !== "result") continue;
        results += 1;
        result = event.result;
      }
      expectSame("the number of results", results, 1);
      checkResult(result!);
      expectSame("the pieces together", text, result!.text);
    }),
    contract("stream: an aborted signal rejects with exactly its reason", async (provider) => {
      if (provider.stream === undefined) return;
      const stream = provider.stream({ ...request, signal: AbortSignal.abort("no") });
      const work = (async () => {
        for await (const _ of stream);
      })();
      expectSame("the reason", await rejection("the stream", work), "no");
    }),
  ];
}

function checkResult({ text, content, usage }: ModelResult): void {
  expectThat("`text` must be a text", typeof text === "string" && text !== "");
  if (content !== undefined) {
    const joined = content.map((block) => block.type === "text" ? block.text : "").join("");
    expectSame("the text blocks together", joined, text);
  }
  if (usage === undefined) return;
  const { input, cached, cacheCreated = 0, output } = usage;
  const counts = [input, cached, cacheCreated, output];
  expectThat(
    `tokens must be integers of at least 0 (got ${counts})`,
    counts.every((n) => Number.isSafeInteger(n) && n >= 0),
  );
  expectThat("cached tokens are part of the input", cached + cacheCreated <= input);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
