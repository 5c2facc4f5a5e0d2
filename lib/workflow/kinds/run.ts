/** `run`: a program, given the step's input on its standard input. */
import { ContextError, LaitError, messageOf, ProcessError } from "../../base/errors.ts";
import { textForm } from "../../base/json.ts";
import { withoutLineEnding } from "../../base/text.ts";
import { expandVariables } from "../../source/expand.ts";
import type { Template } from "../../source/template/template.ts";
import type { FieldReader } from "../read/fields.ts";
import { text, texts } from "../schema_parts.ts";
import type { Kind } from "./kind.ts";

/** The fields of a run step. */
export interface RunBody {
  readonly argv: readonly Template[];
  /** The child's whole environment, when it is not empty; values take `${VAR}`. */
  readonly env: Readonly<Record<string, string>>;
  /** Takes `${VAR}`. */
  readonly cwd: string | undefined;
}

/** See the module. */
export const runKind: Kind<RunBody> = {
  name: "run",
  schema: texts("Program and arguments, each a template", 1),
  fields: {
    env: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "The program's whole environment, when it has an entry; takes ${VAR}",
    },
    cwd: text("The working directory; takes ${VAR}"),
  },
  read(reader) {
    const argv = reader.templates("run");
    const words = reader.texts("run");
    if (words?.length === 0) {
      reader.fault("run", "empty-command", "`run` is empty", "write it as a list: [program, argument]");
    }
    if (words?.[0]?.text.trim() === "") reader.fault("run", "empty-command", "the program of `run` is blank");
    return { argv, env: readEnv(reader), cwd: reader.text("cwd") };
  },
  bodies: () => [],
  async run({ argv, env, cwd }, step) {
    const [executable = "", ...args] = argv.map((word) => step.render(word));
    const { host } = step.scope.file;
    const expand = (field: string, value: string) => {
      try {
        return expandVariables(value, host.environment);
      } catch (error) {
        throw new LaitError("configuration", `${field}: ${messageOf(error)}`, { cause: error });
      }
    };
    const variables = Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, expand(`env.${name}`, value)]),
    );
    const lease = await host.lease();
    let result;
    try {
      result = await lease.invoke({
        executable,
        arguments: args,
        stdin: textForm(step.input),
        ...(cwd === undefined ? {} : { directory: expand("cwd", cwd) }),
        variables,
        inheritVariables: Object.keys(env).length === 0,
        signal: step.signal,
      });
    } catch (error) {
      if (error instanceof ProcessError && error.kind === "spawn") {
        throw new ContextError(`failed to run command '${executable}'`, error);
      }
      throw error;
    }
    const { status, stdout, stderr, undecodable } = result;
    if (status !== 0) {
      const said = stderr.trim() === "" ? "" : `: ${stderr.trim()}`;
      throw new LaitError("process", `command '${executable}' failed with exit status ${status}${said}`, {
        details: { status },
      });
    }
    if (undecodable?.includes("stdout")) throw new LaitError("process", `the output of '${executable}' is not UTF-8`);
    return { value: stdout.endsWith("\r") ? stdout.slice(0, -1) : withoutLineEnding(stdout) };
  },
  plan({ argv, env, cwd }, writer) {
    writer.line(`run: ${argv.map((word) => writer.rendered(word)).join(" ")}`);
    for (const [name, value] of Object.entries(env)) writer.line(`env: ${name}=${value}`);
    if (cwd !== undefined) writer.line(`cwd: ${cwd}`);
  },
  detail: ({ argv }) => [argv.map(({ source }) => source).join(" ")],
};

function readEnv(reader: FieldReader): Record<string, string> {
  const below = reader.below("env");
  const env: Record<string, string> = {};
  for (const name of below?.keys ?? []) {
    const value = below!.text(name);
    if (value !== undefined) env[name] = value;
  }
  return env;
}
