import assert from "node:assert/strict";
import { createChatCompletionsProvider } from "../lib/model/providers/chat_completions.ts";
import { createLocalSandboxProvider } from "../lib/sandbox/providers/local.ts";
import { createScriptedModelProvider, modelProviderContract, sandboxContract } from "../lib/testing/mod.ts";
import type { SandboxLease } from "../lib/sandbox/lease.ts";
import type { ModelProvider } from "../lib/model/provider.ts";

const root = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => Deno.removeSync(root, { recursive: true }));
const local = createLocalSandboxProvider();

for (const { name, run } of sandboxContract(() => local.acquire({ directory: root }))) {
  Deno.test(`sandboxContract: the local sandbox: ${name}`, run);
}

for (const { name, run } of modelProviderContract(() => createScriptedModelProvider(["Hello, world."]))) {
  Deno.test(`modelProviderContract: the scripted provider: ${name}`, run);
}

const chat = () =>
  createChatCompletionsProvider({
    baseUrl: "http://model.test/v1",
    apiKey: false,
    timeoutMs: 10_000,
    timeoutCovers: "exchange",
    maxResponseBytes: 1_000_000,
    storeFalse: true,
    send: (_, { body }) => {
      if (!JSON.parse(String(body)).stream) {
        return Promise.resolve(Response.json({ choices: [{ message: { content: "Hello, world." } }] }));
      }
      const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
      const headers = { "content-type": "text/event-stream" };
      return Promise.resolve(new Response(`${chunk("Hello, ")}${chunk("world.")}data: [DONE]\n\n`, { headers }));
    },
  });

for (const { name, run } of modelProviderContract(chat)) {
  Deno.test(`modelProviderContract: the Chat Completions provider: ${name}`, run);
}

Deno.test("contracts: what breaks them is found", async () => {
  const lease = await local.acquire({ directory: root });
  const broken: SandboxLease = {
    root,
    home: root,
    invoke: () => Promise.resolve({ status: 0, stdout: "", stderr: "" }),
    spawn: () => Promise.reject(new Error("no")),
    upload: () => Promise.resolve(),
    download: () => Promise.resolve(),
    release: () => Promise.resolve(),
  };
  const failures = async (cases: { run(): Promise<void> }[]) =>
    (await Promise.allSettled(cases.map(({ run }) => run()))).filter(({ status }) => status === "rejected").length;
  const sandbox = sandboxContract(() => Promise.resolve(broken));
  assert(await failures(sandbox) >= sandbox.length - 2);
  const mute: ModelProvider = { name: "mute", request: () => Promise.resolve({ text: "" }) };
  assert(await failures(modelProviderContract(() => mute)) >= 3);
  await lease.release();
});
