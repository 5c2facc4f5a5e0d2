/** `lait jq`: a jq in the same binary. */
import { DiagnosticError, FileError, LaitError, UsageError } from "../../base/errors.ts";
import { type JsonValue, setOwn } from "../../base/json.ts";
import { readTextBounded } from "../../base/files.ts";
import { type Command, Option } from "../../deps/commander.ts";
import { resolve } from "../../deps/path.ts";
import { compile, JqError, JqLimitError, type JqProgram, JqSyntaxError } from "../../jq/jq.ts";
import { JsonFault, parseJsonValues } from "../../jq/values/parse.ts";
import { serialize } from "../../jq/values/text.ts";
import type { CommandContext } from "../command.ts";

/** The user's own data on the user's own machine: bounded by memory, not by what a workflow may use. */
const LIMITS = {
  depth: 10_000,
  inputBytes: Infinity,
  resultBytes: 512 * 1024 * 1024,
  valueBytes: Infinity,
  workingBytes: 2 * 1024 * 1024 * 1024,
};

/** The most that is read of a file. */
const FILE_BYTES = 512 * 1024 * 1024;

/** Parts the two words of an option; no command line can contain it. */
const PART = "\0";

const HELP = `
Examples:
  lait jq '.items[] | select(.price > 10) | .name' shop.json
  lait jq -n --arg who Ada '"Hello, \\($who)"'
  curl -s https://example.com/data.json | lait jq -r '.lines[]'

The input may hold several JSON values; the expression runs for each. Without FILE it is standard input.

Exit codes:
  0 success, 1 the expression failed or --exit-status says so, 2 usage, 3 EXPR is no jq expression
`;

interface Options {
  readonly nullInput?: boolean;
  readonly compactOutput?: boolean;
  readonly rawOutput?: boolean;
  readonly slurp?: boolean;
  readonly exitStatus?: boolean;
  readonly arg?: readonly string[];
  readonly argjson?: readonly string[];
}

const collect = (word: string, before: readonly string[] | undefined): readonly string[] => [...before ?? [], word];

/** Adds what jq takes. */
export function define(command: Command): void {
  command
    .usage("[options] EXPR [FILE]")
    .option("-n, --null-input", "run the expression once, with null as its input")
    .option("-c, --compact-output", "print each value on one line")
    .option("-r, --raw-output", "print texts without quotes")
    .option("-s, --slurp", "run the expression once, with an array of all input values")
    .option("-e, --exit-status", "fail when the last output is false or null, or there is none")
    .addOption(new Option("--arg <name value>", "set $name to a text; may be repeated").argParser(collect))
    .addOption(new Option("--argjson <name json>", "set $name to a JSON value; may be repeated").argParser(collect))
    .addHelpText("after", HELP);
  // Options with two words are jq's own; commander knows only such with one or with any number.
  const parse = command.parse.bind(command);
  command.parse = (argv, options) => parse(argv === undefined ? argv : joinPairs(argv), options);
}

function joinPairs(argv: readonly string[]): string[] {
  const joined: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!;
    if (word === "--") return [...joined, ...argv.slice(at)];
    if (word !== "--arg" && word !== "--argjson") joined.push(word);
    else if (argv[at + 2] === undefined) throw new UsageError(`${word} takes two words: a name and a value`);
    else joined.push(`${word}=${argv[++at]}${PART}${argv[++at]}`);
  }
  return joined;
}

/** Evaluates the expression for each input value. */
export async function run({ io, line, signal }: CommandContext): Promise<void> {
  const options = line.options as Options;
  const [source, file, ...rest] = line.words;
  if (source === undefined) throw new UsageError("jq takes an expression, such as .name");
  if (rest.length > 0) throw new UsageError(`jq takes one file (got ${JSON.stringify(rest[0])} too)`);
  const globals = readGlobals(options);
  const program = compileExpression(source, Object.keys(globals));
  let last: JsonValue | undefined;
  for await (
    const input of inputs(options, async () => {
      return file === undefined
        ? await io.stdin.readAll(signal)
        : await readTextBounded(resolve(io.directory, file), FILE_BYTES);
    }, file ?? "standard input")
  ) {
    for await (const output of outputs(program, input, globals, signal)) {
      last = output;
      io.stdout.write(`${outputText(output, options)}\n`);
    }
  }
  if (options.exitStatus === true && (last === undefined || last === null || last === false)) {
    throw new LaitError("response", `jq: ${last === undefined ? "there was no output" : `the last output is ${last}`}`);
  }
}

function readGlobals({ arg = [], argjson = [] }: Options): Record<string, JsonValue> {
  const globals = {};
  for (const pair of arg) {
    const [name, value] = pair.split(PART) as [string, string];
    setOwn(globals, name, value);
  }
  for (const pair of argjson) {
    const [name, text] = pair.split(PART) as [string, string];
    try {
      setOwn(globals, name, JSON.parse(text));
    } catch (error) {
      throw new UsageError(`--argjson ${name}: the value is not JSON (${(error as Error).message})`);
    }
  }
  return globals;
}

function compileExpression(source: string, globals: readonly string[]): JqProgram {
  try {
    return compile(source, { globals, limits: LIMITS });
  } catch (error) {
    if (error instanceof JqLimitError) throw new UsageError(error.message);
    if (!(error instanceof JqSyntaxError)) throw error;
    const { line, column, message } = error;
    const place = { file: "expression", line, column };
    throw new DiagnosticError([{ id: "jq", severity: "error", place, message }]);
  }
}

async function* inputs(options: Options, read: () => Promise<string>, name: string): AsyncGenerator<JsonValue> {
  if (options.nullInput === true) {
    yield null;
    return;
  }
  const values = readValues(await read(), name);
  if (options.slurp === true) yield [...values];
  else yield* values;
}

function* readValues(text: string, name: string): Generator<JsonValue> {
  const source = text.replace(/^\ufeff/, "");
  let whole: JsonValue;
  try {
    // The common case, several times as fast as reading value by value.
    whole = JSON.parse(source) as JsonValue;
  } catch {
    try {
      yield* parseJsonValues(source, LIMITS.depth);
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      throw new FileError(`${name}: not JSON: ${error.message}`);
    }
    return;
  }
  yield whole;
}

async function* outputs(
  program: JqProgram,
  input: JsonValue,
  globals: Readonly<Record<string, JsonValue>>,
  signal: AbortSignal,
): AsyncGenerator<JsonValue> {
  try {
    yield* program.evaluate(input, globals, { signal });
  } catch (error) {
    if (error instanceof JqError || error instanceof JqLimitError) {
      throw new LaitError(error instanceof JqError ? "response" : "limit", `jq: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

function outputText(output: JsonValue, { rawOutput, compactOutput }: Options): string {
  if (rawOutput === true && typeof output === "string") return output;
  return serialize(output, { indent: compactOutput === true ? 0 : 2 });
}
