/** Merging configuration files: registries key by key, settings field by field, the stronger file wins. */
import { setOwn } from "../base/json.ts";
import { isAbsolute, resolve } from "../deps/path.ts";
import type { Config, KeyFields } from "./config_shape.ts";

/** A file's content and the directory that its paths are relative to. */
export interface MergeInput {
  readonly directory: string;
  readonly config: Config;
}

/** Registries of paths: relative ones belong to the directory of the file that has them. */
const PATHS = ["skills", "agents", "workflows"] as const;
/** Other registries: an entry is replaced whole, never merged. */
const REGISTRIES = ["models", "prompts", "mcp_servers", "tools"] as const;

/** The merged configuration; later inputs are stronger. The entries are the objects read, so they keep their places. */
export function mergeConfigs(inputs: readonly MergeInput[]): Config {
  const merged: Record<string, unknown> = {};
  for (const { directory, config } of inputs) {
    for (const key of REGISTRIES) mergeRegistry(merged, key, config[key]);
    for (const key of PATHS) {
      mergeRegistry(merged, key, absolutePaths(config[key], directory));
    }
    if (config.default !== undefined) merged["default"] = { ...merged["default"] as object, ...config.default };
    if (config.base_url !== undefined) merged["base_url"] = config.base_url;
    mergeKey(merged, config);
    if (config.jev !== undefined) {
      const { api_key, api_key_cmd, ...fields } = config.jev;
      const jev: Record<string, unknown> = { ...merged["jev"] as object, ...fields };
      mergeKey(jev, {
        ...(api_key === undefined ? {} : { api_key }),
        ...(api_key_cmd === undefined ? {} : { api_key_cmd }),
      });
      merged["jev"] = jev;
    }
    mergePolicy(merged, config.tool_policy);
  }
  return Object.freeze(merged) as Config;
}

function mergeRegistry(
  merged: Record<string, unknown>,
  key: string,
  entries: Readonly<Record<string, unknown>> | undefined,
): void {
  if (entries === undefined) return;
  const target = (merged[key] ??= {}) as object;
  for (const [name, value] of Object.entries(entries)) setOwn(target, name, value);
}

function absolutePaths(
  paths: Readonly<Record<string, string>> | undefined,
  directory: string,
): Readonly<Record<string, string>> | undefined {
  if (paths === undefined) return undefined;
  const absolute = {};
  for (const [name, path] of Object.entries(paths)) {
    setOwn(absolute, name, isAbsolute(path) ? path : resolve(directory, path));
  }
  return absolute;
}

/** A key and its command are one unit: whoever sets either has both. */
function mergeKey(target: Record<string, unknown>, { api_key, api_key_cmd }: KeyFields): void {
  if (api_key === undefined && api_key_cmd === undefined) return;
  delete target["api_key"];
  delete target["api_key_cmd"];
  if (api_key !== undefined) target["api_key"] = api_key;
  if (api_key_cmd !== undefined) target["api_key_cmd"] = api_key_cmd;
}

/** Policies add up, so that a project cannot drop what the user denies everywhere. */
function mergePolicy(merged: Record<string, unknown>, policy: Config["tool_policy"]): void {
  if (policy === undefined) return;
  const before = (merged["tool_policy"] ?? {}) as NonNullable<Config["tool_policy"]>;
  merged["tool_policy"] = {
    allow: [...before.allow ?? [], ...policy.allow ?? []],
    deny: [...before.deny ?? [], ...policy.deny ?? []],
  };
}
