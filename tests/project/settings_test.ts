import assert from "node:assert/strict";
import { ConfigurationError, SettingError } from "../../lib/base/errors.ts";
import type { Config } from "../../lib/project/config_shape.ts";
import type { KeySource } from "../../lib/project/endpoint.ts";
import { Project } from "../../lib/project/project.ts";
import { type CallerSettings, type RequestSettings, resolveSettings } from "../../lib/project/settings.ts";

function resolve(config: Config, caller: CallerSettings = {}, variables: Record<string, string> = {}): RequestSettings {
  const project = new Project("/work", [{ file: "/work/lait.config.yml", config }]);
  return resolveSettings(project, { model: "m", ...caller }, (name) => variables[name]);
}

const alias = (
  fields: Record<string, unknown> = {},
  provider: Record<string, unknown> = { base_url: "http://alias" },
) => ({ models: { m: [{ provider, model_id: "id", ...fields }] } }) as unknown as Config;

function server({ endpoint }: RequestSettings): { baseUrl: string; key: KeySource } {
  assert.equal(endpoint.kind, "server");
  return endpoint as { kind: "server"; baseUrl: string; key: KeySource };
}

const literal = (key: string) => ({ kind: "literal", key });

Deno.test("resolveSettings: the model is the caller's, else default.model, else an error; a blank one is no model", () => {
  const name = (config: Config, caller: CallerSettings) => {
    const project = new Project("/work", [{ file: "/work/lait.config.yml", config }]);
    return resolveSettings(project, caller, () => undefined).model.name;
  };
  assert.equal(name({ default: { model: "d" } }, { model: "c" }), "c");
  assert.equal(name({ default: { model: "d" } }, {}), "d");
  for (
    const [config, caller] of [[{}, {}], [{ default: { model: "d" } }, { model: " " }], [
      { default: { model: "" } },
      {},
    ]]
  ) {
    assert.throws(() => name(config as Config, caller as CallerSettings), /a model is required/);
  }
});

Deno.test("resolveSettings: an alias gives id and endpoint; any other name is an id, also one of Object.prototype", () => {
  const used = resolve(alias());
  assert.deepEqual([used.model.name, used.alias, server(used).baseUrl], ["id", "m", "http://alias"]);
  for (const name of ["raw", "toString", "__proto__"]) {
    const raw = resolve({ ...alias(), base_url: "http://top" }, { model: name });
    assert.deepEqual([raw.model.name, raw.alias, server(raw).baseUrl], [name, undefined, "http://top"]);
  }
});

Deno.test("resolveSettings: base URL: caller, alias, top level, built in", () => {
  const top = { base_url: "http://top//" };
  assert.equal(server(resolve({ ...alias(), ...top }, { baseUrl: "http://flag/" })).baseUrl, "http://flag");
  assert.equal(server(resolve({ ...alias(), ...top })).baseUrl, "http://alias");
  assert.equal(server(resolve(top)).baseUrl, "http://top");
  assert.equal(server(resolve({})).baseUrl, "http://localhost:1234/v1");
});

Deno.test("resolveSettings: key: caller, alias key or command, top-level key or command, none", () => {
  const top = { api_key: "top" };
  const withKey = alias({}, { base_url: "http://a", api_key: "alias" });
  const withCommand = alias({}, { base_url: "http://a", api_key_cmd: "cmd" });
  const key = (config: Config, caller: CallerSettings = {}) => server(resolve(config, caller)).key;
  assert.deepEqual(key({ ...withKey, ...top }, { apiKey: "flag" }), literal("flag"));
  assert.deepEqual(key({ ...withKey, ...top }, { apiKey: " " }), literal("alias"));
  assert.deepEqual(key({ ...withKey, ...top }), literal("alias"));
  const command = { kind: "command", command: "cmd", path: ["models", "m", 0, "provider", "api_key_cmd"] };
  assert.deepEqual(key({ ...withCommand, ...top }), command);
  assert.deepEqual(key({ ...alias(), ...top }), literal("top"));
  assert.deepEqual(key({ api_key_cmd: ["a"] }), { kind: "command", command: ["a"], path: ["api_key_cmd"] });
  assert.deepEqual(key({}), { kind: "absent" });
});

const SAMPLING = [
  ["reasoning_effort", "reasoningEffort", "reasoning", ["low", "medium", "high"]],
  ["temperature", "temperature", "temperature", [0.1, 0.2, 0.3]],
  ["top_p", "topP", "topP", [0.1, 0.2, 0.3]],
  ["max_tokens", "maxTokens", "maxOutputTokens", [1, 2, 3]],
] as const;

for (const [field, caller, sent, [high, middle, low]] of SAMPLING) {
  Deno.test(`resolveSettings: ${field}: caller, alias, default, none`, () => {
    const value = (settings: RequestSettings) => (settings.model as unknown as Record<string, unknown>)[sent];
    const defaults = { default: { [field]: low } };
    const both = { ...alias({ [`default_${field}`]: middle }), ...defaults };
    assert.equal(value(resolve(both, { [caller]: high })), high);
    assert.equal(value(resolve(both)), middle);
    assert.equal(value(resolve({ ...alias(), ...defaults })), low);
    assert.equal(value(resolve(alias())), undefined);
    // Another alias's setting is nobody's.
    assert.equal(value(resolve(both, { model: "raw" })), low);
  });
}

Deno.test("resolveSettings: ranges hold for the value that wins, and name where it came from", () => {
  const faults: [config: Config, caller: CallerSettings, named: RegExp][] = [
    [{}, { temperature: 2.1 }, /: temperature must be from 0 to 2 \(got 2\.1\), for the model `m`/],
    [alias({ default_temperature: -1 }), {}, /models\.m\[0\]\.default_temperature/],
    [{ default: { temperature: NaN } }, {}, /default\.temperature/],
    [{ default: { top_p: 1.1 } }, {}, /default\.top_p must be from 0 to 1/],
    [{}, { topP: -0.1 }, /: top_p must/],
    [{ default: { max_tokens: 0 } }, {}, /default\.max_tokens must be from 1 to 4294967295/],
    [{}, { maxTokens: 4_294_967_296 }, /: max_tokens must/],
  ];
  for (const [config, caller, named] of faults) assert.throws(() => resolve(config, caller), named);
  for (const temperature of [0, 2]) assert.equal(resolve({}, { temperature }).model.temperature, temperature);
  // A wrong value that another one covers is not used.
  assert.equal(resolve({ default: { temperature: 9 } }, { temperature: 1 }).model.temperature, 1);
});

Deno.test("resolveSettings: tools: the caller's list replaces the default, also when it is empty", () => {
  const config = { default: { tools: ["a", "b"] } };
  assert.deepEqual(resolve(config, { tools: ["c"] }).tools, ["c"]);
  assert.deepEqual(resolve(config, { tools: [] }).tools, []);
  assert.deepEqual(resolve(config).tools, ["a", "b"]);
  assert.deepEqual(resolve({}).tools, []);
});

Deno.test("resolveSettings: system and rounds: the caller's text, the default's, 8 rounds built in", () => {
  const config = { default: { system: "d", max_tool_rounds: 3 } };
  assert.equal(resolve(config, { system: "" }).system, "");
  assert.deepEqual([resolve(config).system, resolve(config).maxToolRounds], ["d", 3]);
  assert.deepEqual([resolve({}).system, resolve({}).maxToolRounds], [undefined, 8]);
  assert.throws(() => resolve({ default: { max_tool_rounds: 0 } }), /default\.max_tool_rounds must be at least 1/);
});

Deno.test("resolveSettings: ${VAR} is replaced in the value that wins, and in no other", () => {
  const config: Config = {
    ...alias({}, { base_url: "http://${HOST}/${PATH_}", api_key: "${KEY}" }),
    base_url: "http://${NOT_SET}",
    api_key: "${NOT_SET}",
  };
  const variables = { HOST: "h:1", PATH_: "v1", KEY: "k${HOST}" };
  const { baseUrl, key } = server(resolve(config, {}, variables));
  assert.deepEqual([baseUrl, key], ["http://h:1/v1", literal("k${HOST}")]);
  const flags = { baseUrl: "http://flag", apiKey: "${KEY}" };
  assert.deepEqual(server(resolve(config, flags)).key, literal("${KEY}"));
  const unset = (error: unknown) =>
    error instanceof SettingError && /models\.m\[0\]\.provider\.base_url: .*`HOST`/.test(error.message);
  assert.throws(() => resolve(config, { apiKey: "k" }), unset);
  assert.throws(() => resolve({ base_url: "http://${" }), /no closing/);
  assert.throws(() => resolve({ api_key: "${}" }), /names no environment variable/);
});

Deno.test("resolveSettings: a key and its command exclude each other: at the top always, in an alias when it is used", () => {
  const pair = { api_key: "a", api_key_cmd: "b" };
  assert.throws(() => resolve(pair, { apiKey: "k" }), /api_key and api_key_cmd exclude each other/);
  const fallback: Config = {
    models: {
      m: [
        { provider: { base_url: "http://a" }, model_id: "id" },
        { provider: { base_url: "http://b", ...pair }, model_id: "id" },
      ],
    },
  };
  assert.throws(() => resolve(fallback), /models\.m\[1\]\.provider: api_key and api_key_cmd/);
  assert.equal(resolve(fallback, { model: "raw" }).model.name, "raw");
});

Deno.test("resolveSettings: an alias that cannot be used is an error when it is", () => {
  assert.throws(() => resolve({ models: { m: [] } }), /models\.m has no entry/);
  assert.throws(() => resolve(alias({ model_id: " " })), /model_id is blank/);
  const script = resolve({ models: { m: [{ provider: { script: "s.json" } }] } });
  assert.deepEqual([script.model.name, script.endpoint], ["m", { kind: "script", path: "/work/s.json" }]);
  assert.equal(resolve({ models: { m: [] } }, { model: "raw" }).model.name, "raw");
});

Deno.test("resolveSettings: prices come with the alias, and are not negative", () => {
  const priced = alias({ pricing: { input_per_1m: 0, output_per_1m: 2.5 } });
  assert.deepEqual(resolve(priced).pricing, { inputPerMillion: 0, outputPerMillion: 2.5 });
  assert.equal(resolve(alias()).pricing, undefined);
  const negative = alias({ pricing: { input_per_1m: -1, output_per_1m: 0 } });
  assert.throws(() => resolve(negative), /pricing\.input_per_1m must be at least 0/);
});

Deno.test("resolveSettings: a base URL is http or https, and a password in one is never shown", () => {
  for (const baseUrl of ["", " / ", "localhost:1234", "ftp://host", "/v1", "http://"]) {
    assert.throws(() => resolve({}, { baseUrl }), ConfigurationError, baseUrl);
  }
  for (const url of ["http://me:pa55@host", "https://:pa55@host", "ftp://me:pa55@host", "http://me:pa55@a b"]) {
    for (const use of [() => resolve({}, { baseUrl: url }), () => resolve({ base_url: url })]) {
      assert.throws(use, (error) => error instanceof Error && !error.message.includes("pa55"), url);
    }
  }
  assert.equal(
    server(resolve({}, { baseUrl: "HTTPS://host/v1?api-version=1" })).baseUrl,
    "HTTPS://host/v1?api-version=1",
  );
});
