/** The command line of `lait jq`: jq's own, which has options of two words and words that change what later ones are. */
import { UsageError } from "../base/errors.ts";
import { type JsonValue, setOwn } from "../base/json.ts";
import { type Command, InvalidArgumentError, Option } from "../deps/commander.ts";

/** What the command line says. */
export interface JqOptions {
  readonly nullInput?: boolean;
  readonly rawInput?: boolean;
  readonly slurp?: boolean;
  readonly stream?: boolean;
  readonly compactOutput?: boolean;
  readonly rawOutput?: boolean;
  readonly joinOutput?: boolean;
  readonly rawOutput0?: boolean;
  readonly asciiOutput?: boolean;
  readonly sortKeys?: boolean;
  readonly tab?: boolean;
  readonly indent?: number;
  readonly exitStatus?: boolean;
  readonly fromFile?: string;
  readonly arg?: readonly string[];
  readonly argjson?: readonly string[];
  readonly slurpfile?: readonly string[];
  readonly rawfile?: readonly string[];
}

/** What the words that are no options are. */
export interface JqWords {
  readonly expression: string | undefined;
  readonly files: readonly string[];
  /** Values of `--args` and `--jsonargs`. */
  readonly positional: readonly JsonValue[];
}

/** Parts the two words of an option, and marks values; no command line can contain it. */
const MARK = "\0";
const TEXT_MARK = `${MARK}text${MARK}`;
const JSON_MARK = `${MARK}json${MARK}`;

/** Options of two words, which commander does not know. */
const PAIRS: readonly (readonly [name: string, second: string, help: string])[] = [
  ["--arg", "value", "set $name to a text; may be repeated"],
  ["--argjson", "json", "set $name to a JSON value; may be repeated"],
  ["--slurpfile", "file", "set $name to an array of the JSON values in a file"],
  ["--rawfile", "file", "set $name to a file's text"],
];

/** Options whose next word is theirs. */
const WITH_VALUE = ["-f", "--from-file", "--indent", "--config"];

const collect = (word: string, before: readonly string[] | undefined): readonly string[] => [...before ?? [], word];

function indent(word: string): number {
  if (!/^[0-7]$/.test(word)) throw new InvalidArgumentError("It must be a number from 0 to 7.");
  return Number(word);
}

/** Adds the options. */
export function defineOptions(command: Command): void {
  command
    .usage("[options] EXPR [FILE...]")
    .option("-n, --null-input", "run the expression once, with null as its input; `inputs` reads")
    .option("-R, --raw-input", "each line is an input, a text")
    .option("-s, --slurp", "run the expression once, with an array of all input values; with -R with all the text")
    .option("--stream", "each input is given in parts: paths with what is there, as `tostream` makes them")
    .option("-c, --compact-output", "print each value on one line")
    .option("-r, --raw-output", "print texts without quotes")
    .option("-j, --join-output", "like -r, without line breaks between outputs")
    .option("--raw-output0", "like -r, with a NUL instead of line breaks")
    .option("-a, --ascii-output", "print only ASCII characters, others as \\u escapes")
    .option("-S, --sort-keys", "print objects with their keys in order")
    .option("--tab", "indent with tabs")
    .addOption(new Option("--indent <n>", "indent with so many spaces (0 to 7)").argParser(indent))
    .option("-e, --exit-status", "fail when the last output is false or null, or there is none")
    .option("-f, --from-file <file>", "read the expression from a file; every word is an input file then")
    .addOption(new Option("-M, --monochrome-output", "no colours: there are none").hideHelp());
  for (const [name, second, help] of PAIRS) {
    command.addOption(new Option(`${name} <name ${second}>`, help).argParser(collect));
  }
  command
    .option("--args", "the words that follow are values, texts: $ARGS.positional")
    .option("--jsonargs", "the words that follow are values, JSON: $ARGS.positional");
  const parse = command.parse.bind(command);
  command.parse = (argv, options) => parse(argv === undefined ? argv : prepare(argv), options);
}

/** Joins the words of pairs, and marks what are values. */
function prepare(argv: readonly string[]): string[] {
  const prepared: string[] = [];
  let mark = "";
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!;
    if (word === "--") return [...prepared, word, ...argv.slice(at + 1).map((rest) => mark + rest)];
    if (word === "--args" || word === "--jsonargs") {
      mark = word === "--args" ? TEXT_MARK : JSON_MARK;
      prepared.push(word);
    } else if (PAIRS.some(([name]) => name === word)) {
      if (argv[at + 2] === undefined) throw new UsageError(`${word} takes two words: a name and a value`);
      prepared.push(`${word}=${argv[++at]}${MARK}${argv[++at]}`);
    } else if (WITH_VALUE.includes(word) && argv[at + 1] !== undefined) prepared.push(word, argv[++at]!);
    else prepared.push(word.startsWith("-") && word !== "-" ? word : mark + word);
  }
  return prepared;
}

/** The name and the value of a pair. */
export function pairOf(joined: string): [name: string, value: string] {
  const [name, value] = joined.split(MARK) as [string, string];
  return [name, value];
}

/** Tells the expression, files and values apart. */
export function readWords(words: readonly string[], options: JqOptions): JqWords {
  const files: string[] = [];
  const positional: JsonValue[] = [];
  let expression: string | undefined;
  for (const word of words) {
    const [, kind, text = word] = word.split(MARK) as [string, string?, string?];
    if (expression === undefined && options.fromFile === undefined) expression = text;
    else if (kind === "json") positional.push(parseArgument("--jsonargs", text));
    else if (kind === "text") positional.push(text);
    else files.push(text);
  }
  return { expression, files, positional };
}

/** A value that was given as JSON. */
export function parseArgument(what: string, text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new UsageError(`${what}: the value is not JSON (${(error as Error).message})`);
  }
}

/** The variables that `--arg` and `--argjson` set. */
export function readArguments({ arg = [], argjson = [] }: JqOptions): Record<string, JsonValue> {
  const globals = {};
  for (const joined of arg) setOwn(globals, ...pairOf(joined));
  for (const joined of argjson) {
    const [name, text] = pairOf(joined);
    setOwn(globals, name, parseArgument(`--argjson ${name}`, text));
  }
  return globals;
}
