/** A local command as a tool: no shell, declared arguments only, its own environment, a deadline, bounded output. */
import { DiagnosticError, ProcessError, SettingError } from "../base/errors.ts";
import type { Diagnostic, Place } from "../base/diagnostic.ts";
import { isJsonObject, type JsonObject, jsonTypeOf, type JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { headOf, tailOf, withoutLineEnding } from "../base/text.ts";
import type { CommandResult } from "../sandbox/lease.ts";
import { compileSchema, SchemaError } from "../schema/schema.ts";
import { expandVariables, ExpansionError } from "../source/expand.ts";
import type { TextPlace } from "../source/text_place.ts";
import { parseTemplate, type Template, TemplateError } from "../source/template/template.ts";
import { qualifiedName } from "./name.ts";
import type { HarnessTool, HarnessToolContext, ToolOutput } from "./tool.ts";

/** A `tools:` entry as it stands in the configuration. */
export interface CommandToolDefinition {
  readonly description?: string;
  /** The program and its arguments; each is a template over `input`. */
  readonly command: readonly string[];
  /** JSON Schema of the arguments. Default: an object without properties. */
  readonly parameters?: JsonValue;
  /** Seconds; 0 is over at once. Default: 30. */
  readonly timeout?: number;
  /** When it has entries, the child sees these variables and no others. Values take `${VAR}`. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory; takes `${VAR}`. Default: lait's own. */
  readonly cwd?: string;
}

/** What a command tool needs from around it. */
export interface CommandToolOptions {
  /** Looks up `${VAR}`. */
  readonly variable: (name: string) => string | undefined;
  /** Where a part of the definition stands, for errors about it. */
  readonly placeOf: (...path: (string | number)[]) => TextPlace | Place | undefined;
}

const NO_PARAMETERS: JsonObject = Object.freeze({ type: "object", properties: Object.freeze({}) });
const FAILED = "tool command failed: ";
/** The highest signal number of Linux. */
const LAST_SIGNAL = 64;

/**
 * Makes the tool `tool__<name>`.
 *
 * @throws SettingError with the place, for a definition that cannot work: an empty command, parameters that are no
 * schema of an object, a broken template, a negative timeout
 */
export function createCommandTool(
  name: string,
  definition: CommandToolDefinition,
  options: CommandToolOptions,
): HarnessTool<JsonObject> {
  const { command, description = "", parameters = NO_PARAMETERS, timeout } = definition;
  const fault = (path: (string | number)[], id: string, message: string, hint?: string) =>
    new SettingError({
      id,
      severity: "error",
      place: options.placeOf(...path) ?? options.placeOf() ?? { file: "lait.config.yml" },
      message: `tools.${name}: ${message}`,
      ...(hint === undefined ? {} : { hint }),
    });
  if (command.length === 0) {
    throw fault(["command"], "empty-command", "`command` is empty", 'write it as a list: ["program", "argument"]');
  }
  if (!isJsonObject(parameters)) {
    throw fault(["parameters"], "tool-parameters", `\`parameters\` must be an object (got ${jsonTypeOf(parameters)})`);
  }
  if (timeout !== undefined && timeout < 0) {
    throw fault(["timeout"], "range", `\`timeout\` must be at least 0 seconds (got ${timeout})`);
  }
  const schema = (() => {
    try {
      return compileSchema(parameters, { schemaName: "parameters" });
    } catch (error) {
      if (error instanceof SchemaError) throw fault(["parameters"], "tool-parameters", error.message);
      throw error;
    }
  })();
  const argv = command.map((word, index) => parseWord(word, options.placeOf("command", index), fault));
  const tool = new CommandTool(argv, definition, options);
  return Object.freeze({
    kind: "tool" as const,
    name: qualifiedName("tool", name),
    description,
    readOnly: false,
    inputSchema: parameters,
    validate: (value: unknown) => {
      const issues = schema.explain(value);
      return Promise.resolve(issues === undefined ? { value: value as JsonObject } : { issues });
    },
    resources: (input: JsonObject) => ({ command: tool.preview(input)?.join(" ") ?? command[0]! }),
    preview: (input: JsonObject) => tool.preview(input),
    execute: (input: JsonObject, context: HarnessToolContext) => tool.execute(input, context),
  });
}

function parseWord(
  word: string,
  place: TextPlace | Place | undefined,
  fault: (path: (string | number)[], id: string, message: string) => SettingError,
): Template {
  try {
    return parseTemplate(word, place as TextPlace | undefined);
  } catch (error) {
    if (!(error instanceof DiagnosticError)) throw error;
    const first: Diagnostic = error.diagnostics[0]!;
    throw place === undefined ? fault(["command"], first.id, first.message) : new SettingError(first);
  }
}

class CommandTool {
  readonly #argv: readonly Template[];
  readonly #definition: CommandToolDefinition;
  readonly #variable: CommandToolOptions["variable"];

  constructor(argv: readonly Template[], definition: CommandToolDefinition, options: CommandToolOptions) {
    this.#argv = argv;
    this.#definition = definition;
    this.#variable = options.variable;
  }

  #render(input: JsonObject): string[] {
    // Empty, so that a reference to one of them says what is missing instead of naming an unknown word.
    return this.#argv.map((word) => word.render({ input, steps: {}, vars: {} }));
  }

  preview(input: JsonObject): string[] | undefined {
    try {
      return this.#render(input);
    } catch {
      return undefined; // The call itself will say why.
    }
  }

  async execute(input: JsonObject, { sandbox, signal }: HarnessToolContext): Promise<ToolOutput> {
    const { env = {}, cwd, timeout = LIMITS.shellToolTimeoutSeconds } = this.#definition;
    try {
      const [executable = "", ...args] = this.#render(input);
      const variables = Object.fromEntries(
        Object.entries(env).map(([key, value]) => [key, this.#expand(`env.${key}`, value)]),
      );
      const result = await sandbox.invoke({
        executable,
        arguments: args,
        ...(cwd === undefined ? {} : { directory: this.#expand("cwd", cwd) }),
        variables,
        inheritVariables: Object.keys(env).length === 0,
        deadlineMs: timeout * 1000,
        signal,
      });
      return outcome(executable, result);
    } catch (error) {
      if (error instanceof TemplateError || error instanceof ExpansionError) return failed(error.message);
      if (error instanceof ProcessError) {
        const { stderr } = error.output;
        // A flood is not passed on: what the limit keeps out of memory stays out of the conversation.
        return failed(error.message, error.kind === "overflow" ? endsOf(stderr, LIMITS.previewCharacters) : stderr);
      }
      throw error;
    }
  }

  #expand(field: string, value: string): string {
    try {
      return expandVariables(value, this.#variable);
    } catch (error) {
      if (error instanceof ExpansionError) throw new ExpansionError(`${field}: ${error.message}`, error.variable);
      throw error;
    }
  }
}

function outcome(program: string, { status, stdout, stderr, undecodable }: CommandResult): ToolOutput {
  if (status !== 0) {
    // A program may also exit with such a status by itself.
    const how = status > 128 && status <= 128 + LAST_SIGNAL ? `, as if ended by signal ${status - 128}` : "";
    return failed(`\`${program}\` exited with status ${status}${how}`, stderr, stdout);
  }
  if (undecodable?.includes("stdout")) return failed(`the output of \`${program}\` is not UTF-8`);
  return withoutLineEnding(stdout);
}

/** Both ends of a long text: what went wrong stands at the beginning or at the end. */
function endsOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const [head, tail] = [headOf(text, length / 2), tailOf(text, length / 2)];
  return `${head}\n[truncated ${text.length - head.length - tail.length} characters]\n${tail}`;
}

/** A failure for the model: the reason, then what the command said on its way. */
function failed(reason: string, stderr = "", stdout = ""): ToolOutput {
  const parts = [`${FAILED}${reason}`];
  if (stderr.trim() !== "") parts.push(stderr.trim());
  if (stdout.trim() !== "") parts.push(`standard output:\n${withoutLineEnding(stdout)}`);
  return { content: parts.join("\n"), isError: true };
}
