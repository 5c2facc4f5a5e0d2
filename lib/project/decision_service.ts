/** The decision service of a project: `jev:`. */
import type { EnvironmentReader } from "../base/environment.ts";
import { checkKeyPair, keySource } from "./endpoint.ts";
import { expandAt } from "./faults.ts";
import { KeyRing } from "./keys.ts";
import type { Project } from "./project.ts";

/** Where decisions are asked for. */
export interface DecisionService {
  readonly baseUrl: string;
  /** Undefined when none is configured. */
  readonly key: string | undefined;
  readonly model: string;
}

const BASE_URL = "https://api.typesafe.ai/v1";
const MODEL = "jev-latest";

/** The key of each project, so that a command that prints it runs once. */
const keys = new WeakMap<Project, Promise<string>>();

/**
 * Resolves the service and its key; what was given on the command line is taken as it is.
 *
 * @throws SettingError with the place, for a value that cannot be used
 */
export async function decisionService(
  project: Project,
  environment: EnvironmentReader,
  signal: AbortSignal,
  given: { readonly baseUrl?: string; readonly apiKey?: string } = {},
): Promise<DecisionService> {
  const jev = project.config.jev ?? {};
  checkKeyPair(project, jev, ["jev"]);
  const source = keySource(project, jev, ["jev"], environment);
  let key = given.apiKey;
  if (key === undefined && source.kind !== "absent") {
    const running = keys.get(project) ?? new KeyRing(project, signal).key(source, signal);
    keys.set(project, running);
    running.catch(() => keys.delete(project));
    key = await running;
  }
  return {
    baseUrl: given.baseUrl ??
      (jev.base_url === undefined ? BASE_URL : expandAt(project, jev.base_url, ["jev", "base_url"], environment)),
    key,
    model: jev.model ?? MODEL,
  };
}
