/** Model keys: literal ones, and those that a command prints. */
import { ConfigurationError, ProcessError, SettingError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { DUMMY_API_KEY } from "../base/product.ts";
import { untilAborted } from "../base/signals.ts";
import { withoutLineEnding } from "../base/text.ts";
import { inheritedEnvironment } from "../sandbox/environment.ts";
import { runProcess } from "../sandbox/process.ts";
import { variableNames } from "../source/expand.ts";
import type { Config, KeyFields } from "./config_shape.ts";
import type { Project } from "./project.ts";
import type { KeySource } from "./endpoint.ts";
import { dotted } from "./faults.ts";

/** Keys of one invocation: a command runs once, whoever asks for its key; a failure is not remembered. */
export class KeyRing {
  readonly #project: Project;
  readonly #running = new Map<string, Promise<string>>();
  readonly #ended: AbortSignal;
  readonly #known = new Set<string>();

  /** Keys for a project; commands end when `ended` aborts. */
  constructor(project: Project, ended: AbortSignal) {
    this.#project = project;
    this.#ended = ended;
  }

  /** Every key that has been handed out: what no log may show. */
  get known(): readonly string[] {
    return [...this.#known];
  }

  /** The key of a source. A caller that gives up does not stop the command for others. */
  async key(source: KeySource, signal: AbortSignal | undefined): Promise<string> {
    if (source.kind === "absent") return DUMMY_API_KEY;
    const key = await this.#find(source, signal);
    this.#known.add(key);
    return key;
  }

  async #find(source: Exclude<KeySource, { kind: "absent" }>, signal: AbortSignal | undefined): Promise<string> {
    if (source.kind === "literal") return sendable(source.key);
    const id = JSON.stringify(source.command);
    let running = this.#running.get(id);
    if (running === undefined) {
      running = this.#run(source.command, source.path);
      this.#running.set(id, running);
      running.catch(() => this.#running.delete(id));
    }
    return await untilAborted(running, signal);
  }

  async #run(command: string | readonly string[], path: readonly (string | number)[]): Promise<string> {
    const shell = Deno.build.os === "windows" ? ["cmd", "/C"] : ["sh", "-c"];
    const argv = typeof command === "string" ? [...shell, command] : command;
    const name = dotted(path);
    // Neither output nor standard error may show: both can hold the key.
    const fail = (what: string) =>
      new SettingError(this.#project.fault([...path], "key-command", `${name}: the command ${what}`));
    if (argv.length === 0) throw fail("is an empty list");
    const directory = this.#project.directory;
    try {
      const { status, stdout, undecodable } = await runProcess(
        { argv, directory, searchDirectory: directory, environment: inheritedEnvironment([]) },
        { deadlineMs: LIMITS.keyCommandMs, maxBytes: LIMITS.keyCommandBytes, signal: this.#ended },
      );
      if (status !== 0) throw fail(`failed with status ${status}`);
      if (undecodable?.includes("stdout")) throw fail("printed something that is not UTF-8");
      const key = withoutLineEnding(stdout);
      if (key.trim() === "") throw fail("printed nothing");
      if (/[\r\n\0]/.test(key)) throw fail("printed more than one line");
      return key;
    } catch (error) {
      if (!(error instanceof ProcessError)) throw error;
      if (error.kind === "timeout") throw fail(`did not end within ${LIMITS.keyCommandMs / 1000} s`);
      if (error.kind === "overflow") throw fail(`printed more than ${LIMITS.keyCommandBytes} bytes`);
      throw fail(`cannot be started: ${error.message}`);
    }
  }
}

/** A key as a header can carry it. The message does not quote it. */
function sendable(literal: string): string {
  const key = literal.trim();
  if (key === "") return DUMMY_API_KEY;
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new ConfigurationError(
    "the API key cannot be sent: it holds a line ending, a space or another character that is not plain ASCII; " +
      "check --api-key, OPENAI_API_KEY or api_key",
  );
}

/** The variables that the configuration's `api_key` fields name: children do not inherit them. */
export function keyVariables(configs: readonly Config[]): string[] {
  const names = new Set<string>();
  const collect = (fields: KeyFields | undefined) =>
    variableNames(fields?.api_key ?? "").forEach((name) => names.add(name));
  for (const config of configs) {
    collect(config);
    collect(config.jev);
    for (const { provider } of Object.values(config.models ?? {}).flat()) {
      if ("base_url" in provider) collect(provider);
    }
  }
  return [...names];
}
