import assert from "node:assert/strict";
import { ModelError } from "../../lib/base/errors.ts";
import { withRetries } from "../../lib/model/layers/retry.ts";
import type { ModelProvider } from "../../lib/model/provider.ts";

/** A clock whose time passes only in its sleeps, all of them side by side. */
function fakeClock() {
  let now = 0;
  const sleepers: { until: number; wake: () => void }[] = [];
  return {
    now: () => now,
    sleep: (ms: number) => new Promise<void>((resolve) => sleepers.push({ until: now + ms, wake: resolve })),
    /** Lets everything that can go on go on, then moves to the next sleeper's end; false when nobody sleeps. */
    async step(): Promise<boolean> {
      for (let i = 0; i < 50; i++) await Promise.resolve();
      sleepers.sort((a, b) => a.until - b.until);
      const next = sleepers.shift();
      if (next === undefined) return false;
      now = Math.max(now, next.until);
      next.wake();
      return true;
    },
  };
}

Deno.test("withRetries: after a 429 the requests to one server go one at a time until one has passed", async () => {
  const clock = fakeClock();
  let inFlight = 0;
  const refused: number[] = [];
  const crowds: number[] = [];
  const provider: ModelProvider = {
    name: "busy",
    async request() {
      inFlight += 1;
      if (clock.now() > 0) crowds.push(inFlight);
      await Promise.resolve();
      await Promise.resolve();
      inFlight -= 1;
      if (clock.now() >= 1_000) return { text: "ok" };
      refused.push(clock.now());
      throw new ModelError("busy", { code: "quota", details: { status: 429, retryAfterMs: 1_000 } });
    },
  };
  const patient = withRetries(provider, { clock });
  const answers = Promise.all(Array.from({ length: 5 }, () => patient.request({ model: "m", prompt: "x" })));
  while (await clock.step());
  assert.deepEqual((await answers).map(({ text }) => text), Array(5).fill("ok"));
  assert.deepEqual(refused, [0, 0, 0, 0, 0], "nobody may ask again before the server said");
  assert.equal(crowds[0], 1, "the first to ask again goes alone");
});

Deno.test("withRetries: a request that is given up while it waits for its turn lets the next one go", async () => {
  const clock = fakeClock();
  let calls = 0;
  const provider: ModelProvider = {
    name: "busy",
    request() {
      calls += 1;
      if (calls > 3) return Promise.resolve({ text: "ok" });
      return Promise.reject(new ModelError("busy", { code: "quota", details: { status: 429, retryAfterMs: 10 } }));
    },
  };
  const patient = withRetries(provider, { clock });
  const given = new AbortController();
  const first = patient.request({ model: "m", prompt: "x" });
  const second = patient.request({ model: "m", prompt: "x", signal: given.signal }).catch((error) => error);
  const third = patient.request({ model: "m", prompt: "x" });
  for (let i = 0; i < 50; i++) await Promise.resolve();
  given.abort("enough");
  while (await clock.step());
  assert.equal((await first).text, "ok");
  assert.equal(await second, "enough");
  assert.equal((await third).text, "ok");
});
