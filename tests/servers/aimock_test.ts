import assert from "node:assert/strict";
import { denoCache, Place, REPOSITORY } from "../_support/process.ts";

const { denoDir: DENO_DIR } = await denoCache();

/** The server as a process of its own; it ends with its standard input. */
async function withServer(chaos: object, use: (baseUrl: string, journal: () => Promise<number>) => Promise<void>) {
  const server = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--cached-only",
      "--quiet",
      `${REPOSITORY}tests/servers/aimock_server.ts`,
      JSON.stringify(chaos),
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const lines = server.stdout.pipeThrough(new TextDecoderStream()).getReader();
  try {
    const url = (await lines.read()).value!.trim();
    const journal = async () => {
      const entries: unknown = await (await fetch(`${url}/__aimock/journal?path=/v1/chat/completions`)).json();
      return (Array.isArray(entries) ? entries : (entries as { entries: unknown[] }).entries).length;
    };
    await use(`${url}/v1`, journal);
  } finally {
    await server.stdin.close();
    await lines.cancel();
    await server.status;
  }
}

const CONFIG = `tools:
  list:
    command: ["ls", "{{ input.name }}"]
    parameters: { type: object, properties: { name: { type: string } }, required: [name] }
`;

async function lait(place: Place, baseUrl: string, ...args: string[]) {
  return await place.run(Deno.execPath(), [
    "run",
    "-A",
    "--quiet",
    `${REPOSITORY}cli.ts`,
    "--model",
    "m",
    "--base-url",
    baseUrl,
    "--tool",
    "list",
    ...args,
  ], { DENO_DIR });
}

async function project(): Promise<Place> {
  const place = await Place.make();
  await Deno.writeTextFile(`${place.directory}/lait.config.yml`, CONFIG);
  for (const name of ["a.txt", "b.txt"]) await Deno.writeTextFile(`${place.directory}/${name}`, "");
  return place;
}

Deno.test("aimock: plain and streamed answers, one call and two at once", async (t) => {
  await using place = await project();
  await withServer({}, async (baseUrl) => {
    for (const mode of [[], ["--stream"]]) {
      for (
        const [prompt, answer] of [
          ["hello", "Hello from an independent server, 日本語 included.\n"],
          ["list", "There is a.txt.\n"],
          ["both", mode.length === 0 ? "Both are there.\n" : "Two at once.Both are there.\n"],
        ] as const
      ) {
        await t.step(`${prompt} ${mode.join(" ")}`, async () => {
          assert.deepEqual(await lait(place, baseUrl, prompt, ...mode), { code: 0, stdout: answer, stderr: "" });
        });
      }
    }
    await t.step("usage of a stream", async () => {
      const { stderr } = await lait(place, baseUrl, "list", "--stream", "--show-usage");
      assert.match(stderr, /^usage: prompt=\d+ completion=\d+ total=\d+ \(2 requests\)\n$/);
    });
  });
});

for (
  const [chaos, message, requests] of [
    [{ dropRate: 1 }, /answered 500 .*Chaos: request dropped/, 4],
    [{ malformedRate: 1 }, /cannot be used: .*malformed json/, 1],
    [{ disconnectRate: 1 }, /(lost the connection|cut off|cannot reach)/, 1],
    [{ rateLimitRate: 1 }, /answered 429 .*rate limit exceeded/, 4],
  ] as const
) {
  Deno.test(`aimock: ${Object.keys(chaos)[0]} ends with exit code 4, plain and streamed`, async () => {
    await using place = await project();
    await withServer(chaos, async (baseUrl, journal) => {
      let before = 0;
      for (const mode of [[], ["--stream"]]) {
        const { code, stdout, stderr } = await lait(place, baseUrl, "hello", ...mode);
        assert.equal(code, 4, stderr);
        assert.equal(stdout, "");
        assert.match(stderr, message);
        assert.doesNotMatch(stderr, /^\s+at /m);
        const now = await journal();
        assert(now - before <= requests && now > before, `${now - before} requests, expected up to ${requests}`);
        before = now;
      }
    });
  });
}
