/** `lait jq`: a jq in the same binary. */
import { DiagnosticError, LaitError, UsageError } from "../../base/errors.ts";
import { readTextBounded } from "../../base/files.ts";
import { type JsonValue, setOwn } from "../../base/json.ts";
import { PRODUCT_NAME } from "../../base/product.ts";
import type { Command } from "../../deps/commander.ts";
import { resolve } from "../../deps/path.ts";
import { compile, JqError, JqLimitError, type JqProgram, JqSyntaxError } from "../../jq/jq.ts";
import type { CommandContext } from "../command.ts";
import { Inputs } from "../jq_inputs.ts";
import { defineOptions, type JqOptions, pairOf, readArguments, readWords } from "../jq_options.ts";
import { Outputs, outputText } from "../jq_output.ts";
import { say } from "../say.ts";

/** The user's own data on the user's own machine: bounded by memory, not by what a workflow may use. */
const LIMITS = {
  depth: 10_000,
  inputBytes: Infinity,
  resultBytes: 512 * 1024 * 1024,
  valueBytes: Infinity,
  workingBytes: 2 * 1024 * 1024 * 1024,
};

/** The most that is read of a file that is kept whole. */
const FILE_BYTES = 512 * 1024 * 1024;

const HELP = `
Examples:
  lait jq '.items[] | select(.price > 10) | .name' shop.json
  lait jq -n --arg who Ada '"Hello, \\($who)"'
  lait jq -n 'reduce inputs as $row (0; . + $row.price)' rows.ndjson
  curl -s https://example.com/data.json | lait jq -r '.lines[]'

The input may hold several JSON values; the expression runs for each. Without FILE it is standard input.
An expression that fails for one value goes on with the next.

Exit codes:
  0 success, 1 the expression failed or --exit-status says so, 2 usage, 3 EXPR is no jq expression
`;

/** Adds what jq takes. */
export function define(command: Command): void {
  defineOptions(command);
  command.addHelpText("after", HELP);
}

/** Evaluates the expression for each input value. */
export async function run(context: CommandContext): Promise<void> {
  const { io, line, signal } = context;
  const options = line.options as JqOptions;
  const words = readWords(line.words, options);
  const source = words.expression ??
    (options.fromFile === undefined ? undefined : await readFile(context, options.fromFile));
  if (source === undefined) throw new UsageError("jq takes an expression, such as .name");
  const named = { ...readArguments(options), ...await readFiles(context, options) };
  const values = { ...named, ARGS: { positional: words.positional, named }, __prog_args: words.positional };
  const program = compileExpression(source, values);
  const outputs = new Outputs(io.stdout);
  const inputs = new Inputs(words.files, io, signal, {
    as: options.rawInput !== true ? "values" : options.slurp === true ? "pieces" : "lines",
    maxDepth: LIMITS.depth,
    beforeWait: () => outputs.write(),
  });
  const evaluation = new Evaluation(context, options, program, values, inputs, outputs);
  try {
    await evaluateAll(options, inputs, evaluation);
  } finally {
    outputs.write();
  }
  evaluation.finish();
}

/** One run of the command. */
class Evaluation {
  readonly #context: CommandContext;
  readonly #options: JqOptions;
  readonly #program: JqProgram;
  readonly #values: Readonly<Record<string, JsonValue>>;
  readonly #inputs: Inputs;
  readonly #outputs: Outputs;
  #last: JsonValue | undefined;
  /** How often the expression failed, and the latest failure, which is told when it is known not to be the last. */
  #failures = 0;
  #failure: LaitError | undefined;

  constructor(
    context: CommandContext,
    options: JqOptions,
    program: JqProgram,
    values: Readonly<Record<string, JsonValue>>,
    inputs: Inputs,
    outputs: Outputs,
  ) {
    this.#context = context;
    this.#options = options;
    this.#program = program;
    this.#values = values;
    this.#inputs = inputs;
    this.#outputs = outputs;
  }

  /** Prints the outputs for an input; a failure is kept. */
  async run(input: JsonValue): Promise<void> {
    const { io, signal } = this.#context;
    if (this.#failure !== undefined) say(io, PRODUCT_NAME, this.#failure.message);
    this.#failure = undefined;
    try {
      for await (const output of this.#program.evaluate(input, this.#values, { signal, inputs: this.#inputs })) {
        this.#last = output;
        const behind = this.#outputs.add(outputText(output, this.#options));
        if (behind !== undefined) await behind;
      }
    } catch (error) {
      if (!(error instanceof JqError || error instanceof JqLimitError)) throw error;
      const place = this.#inputs.place === "" ? "" : ` (input at ${this.#inputs.place})`;
      this.#failures++;
      this.#failure = new LaitError(
        error instanceof JqError ? "response" : "limit",
        `jq: ${error.message}${place}`,
        { cause: error },
      );
    }
  }

  /** Fails when the expression did, or what `--exit-status` asks about. */
  finish(): void {
    if (this.#failures === 1 && this.#failure !== undefined) throw this.#failure;
    if (this.#failure !== undefined) say(this.#context.io, PRODUCT_NAME, this.#failure.message);
    if (this.#failures > 0) {
      const times = this.#failures === 1 ? "one input" : `${this.#failures} inputs`;
      throw new LaitError("response", `jq: the expression failed for ${times}`);
    }
    const last = this.#last;
    if (this.#options.exitStatus !== true || (last !== undefined && last !== null && last !== false)) return;
    throw new LaitError(
      "response",
      `jq: ${last === undefined ? "there was no output" : `the last output is ${last}`}`,
    );
  }
}

async function evaluateAll(options: JqOptions, inputs: Inputs, evaluation: Evaluation): Promise<void> {
  if (options.nullInput === true || options.slurp === true || options.stream === true) {
    for await (const input of chosen(options, inputs)) await evaluation.run(input);
    return;
  }
  // There may be millions of small ones: an iterator of promises takes longer than most expressions.
  for (let taken = inputs.take(); taken !== null; taken = inputs.take()) {
    if (taken === undefined) await inputs.wait();
    else await evaluation.run(taken.value);
  }
}

/** What the expression is run for. */
async function* chosen(options: JqOptions, inputs: Inputs): AsyncGenerator<JsonValue> {
  if (options.nullInput === true) return yield null;
  const values = options.stream === true ? streamed(inputs) : inputs;
  if (options.slurp !== true) return yield* values;
  const all: JsonValue[] = [];
  for await (const value of values) all.push(value);
  yield options.rawInput === true ? all.join("") : all;
}

/** Inputs in parts. */
async function* streamed(inputs: Inputs): AsyncGenerator<JsonValue> {
  const program = compile("tostream", { limits: LIMITS });
  for await (const input of inputs) yield* program.evaluateSync(input);
}

function readFile({ io }: CommandContext, file: string): Promise<string> {
  return readTextBounded(resolve(io.directory, file), FILE_BYTES);
}

/** The variables that `--slurpfile` and `--rawfile` set. */
async function readFiles(context: CommandContext, options: JqOptions): Promise<Record<string, JsonValue>> {
  const globals = {};
  for (const joined of options.rawfile ?? []) {
    const [name, file] = pairOf(joined);
    setOwn(globals, name, await readFile(context, file));
  }
  for (const joined of options.slurpfile ?? []) {
    const [name, file] = pairOf(joined);
    const values: JsonValue[] = [];
    const how = { as: "values" as const, maxDepth: LIMITS.depth, beforeWait: () => {} };
    for await (const value of new Inputs([file], context.io, context.signal, how)) values.push(value);
    setOwn(globals, name, values);
  }
  return globals;
}

function compileExpression(source: string, globals: Readonly<Record<string, JsonValue>>): JqProgram {
  try {
    return compile(source, { globals: Object.keys(globals), inputs: true, limits: LIMITS });
  } catch (error) {
    if (error instanceof JqLimitError) throw new UsageError(error.message);
    if (!(error instanceof JqSyntaxError)) throw error;
    const { line, column } = error;
    const message = `${error.message}${excerpt(source, line, column)}`;
    throw new DiagnosticError([{ id: "jq", severity: "error", place: { file: "expression", line, column }, message }]);
  }
}

/** Characters of a line that are shown around a place. */
const SHOWN = 100;

/** The line with a mark below the place. */
function excerpt(source: string, line: number, column: number): string {
  const text = source.split("\n")[line - 1] ?? "";
  const start = Math.max(0, column - 1 - SHOWN / 2);
  const shown = text.slice(start, start + SHOWN);
  const before = text.slice(start, column - 1).replace(/[^\t]/g, " ");
  return `\n  ${shown}\n  ${before}^`;
}
