/** The command line: commander with lait's voice, and the rules that it does not know. */
import { UsageError } from "../base/errors.ts";
import { didYouMean, nearest } from "../base/nearest.ts";
import { PRODUCT_NAME } from "../base/product.ts";
import { Command, CommanderError, Option } from "../deps/commander.ts";

/** Options that every command takes. */
export interface GlobalOptions {
  /** The configuration file; `false`: none at all. */
  readonly config?: string | false;
  /** How often `-v` was given. */
  readonly verbose: number;
  /** False with `--no-env`. */
  readonly env: boolean;
  /** Whether the response cache is used; absent: as the configuration says. */
  readonly cache?: boolean;
  readonly approveTools?: boolean;
}

/** A parsed command line. */
export interface ParsedLine {
  readonly options: Readonly<Record<string, unknown>> & GlobalOptions;
  readonly words: readonly string[];
}

/** `--help` was given: this is to be printed, and nothing to be done. */
export class HelpRequested extends Error {
  /** Carries the text. */
  constructor(readonly text: string) {
    super("help");
  }
}

/** The parser's text is never coloured, so it need not look at the environment, which it might not be allowed to. */
const PLAIN = { getOutHasColors: () => false, getErrHasColors: () => false };

/** A command without options of its own; `name` as it is typed, such as `lait demo`. */
export function createCommand(name: string, summary: string): Command {
  const command = new Command(name);
  command
    .description(summary)
    .helpOption("-h, --help", "show this help")
    .exitOverride()
    // Nothing is printed by the parser: `parseLine` hands on what it has to say.
    .configureOutput({ ...PLAIN, writeOut: () => {}, writeErr: () => {} })
    .configureHelp({ helpWidth: 100 })
    .showSuggestionAfterError(true)
    .allowExcessArguments(true);
  return command;
}

/** Adds the options that every command takes. */
export function addGlobalOptions(command: Command): Command {
  return command
    .addOption(new Option("--config <path>", "use exactly this configuration file").helpGroup("Global options:"))
    .addOption(new Option("--no-config", "use no configuration file").helpGroup("Global options:"))
    .addOption(new Option("--cache", "answer repeated requests from the disk cache").helpGroup("Global options:"))
    .addOption(new Option("--no-cache", "always ask the model").helpGroup("Global options:"))
    .addOption(new Option("--no-env", "do not read .env").helpGroup("Global options:"))
    .addOption(
      new Option("--approve-tools", "ask on the terminal before each tool call").helpGroup("Global options:"),
    )
    .addOption(
      new Option("-v, --verbose", "say on stderr what is done; twice: everything")
        .argParser((_: string | undefined, before: number) => before + 1).default(0, "silent")
        .helpGroup("Global options:"),
    );
}

/**
 * Parses a command's words.
 *
 * @throws UsageError for what the command does not take
 * @throws HelpRequested with the help text
 */
export function parseLine(command: Command, argv: readonly string[]): ParsedLine {
  const seen = { config: new Set<string>(), cache: new Set<string>() };
  let help = "";
  command.configureOutput({ ...PLAIN, writeOut: (text) => void (help += text), writeErr: () => {} });
  for (const [option, forms] of Object.entries(seen)) {
    for (const form of [option, `no-${option}`]) command.on(`option:${form}`, () => void forms.add(form));
  }
  try {
    command.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.helpDisplayed") throw new HelpRequested(help);
    throw usageError(error, command);
  }
  for (const [option, forms] of Object.entries(seen)) {
    if (forms.size > 1) throw new UsageError(`--${option} and --no-${option} exclude each other`);
  }
  const { config, ...options } = command.opts<Record<string, unknown>>();
  // `true` is what commander makes of an absent `--no-config`.
  const given = config === true || config === undefined ? {} : { config };
  return { options: { ...given, ...options } as ParsedLine["options"], words: command.args };
}

function usageError(error: CommanderError, command: Command): UsageError {
  const message = error.message.replace(/^error: /, "").replace(/\n\(Did you mean (.*)\?\)/, " (did you mean $1?)");
  const prompt = /^unknown option '(-.*\s.*)'/s.exec(message)?.[1];
  const hint = prompt === undefined
    ? `run \`${command.name()} --help\` to see what it takes`
    : `a prompt that starts with - goes behind --: ${PRODUCT_NAME} -- ${JSON.stringify(prompt)}`;
  return new UsageError(message.split("\n").join("; "), hint);
}

/** Where a command line goes. */
export interface Dispatch {
  /** The subcommand; undefined for a prompt. */
  readonly command: string | undefined;
  /** The words before the subcommand. */
  readonly before: readonly string[];
  /** The words behind it; all of them for a prompt. */
  readonly rest: readonly string[];
}

/**
 * Finds the subcommand: the first word that is no option, unless `--` stands before it. `root` tells which options
 * take a value.
 */
export function findCommand(root: Command, argv: readonly string[], names: readonly string[]): Dispatch {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!;
    if (word === "--") break;
    if (!word.startsWith("-") || word === "-") {
      if (!names.includes(word)) break;
      return { command: word, before: argv.slice(0, index), rest: argv.slice(index + 1) };
    }
    const option = root.options.find(({ short, long }) => word === long || word === short);
    if (option?.required) index += 1;
  }
  return { command: undefined, before: [], rest: argv };
}

/**
 * Refuses options of a prompt before a subcommand: `lait --model x run f.yml` would drop them.
 *
 * @throws UsageError naming the option and the subcommand
 */
export function refuseOptionsBefore(before: readonly string[], globals: Command, command: string): void {
  for (const word of before) {
    const name = word.split("=")[0]!;
    if (!name.startsWith("-")) continue;
    if (globals.options.some(({ short, long }) => name === long || name === short || /^-v+$/.test(name))) continue;
    throw new UsageError(
      `the option ${name} is one of prompts and cannot stand before \`${command}\``,
      `put it behind \`${PRODUCT_NAME} ${command}\` if that takes it, or use the prompt alone`,
    );
  }
}

/**
 * The one prompt of a command line.
 *
 * @throws UsageError for several words, and for a single one that looks like a mistyped command
 */
export function onePrompt(
  words: readonly string[],
  names: readonly string[],
  afterDashes: boolean,
): string | undefined {
  const [first] = words;
  if (first === undefined) return undefined;
  if (words.length > 1) {
    const near = didYouMean(first, names);
    throw new UsageError(
      near === undefined
        ? `one PROMPT is expected, and ${words.length} words were given`
        : `unknown command '${first}' (${near})`,
      `quote a prompt of several words: ${PRODUCT_NAME} ${JSON.stringify(words.join(" "))}`,
    );
  }
  const near = afterDashes || /\s/.test(first) || first.length < 4 ? undefined : nearest(first, names);
  if (near !== undefined) {
    throw new UsageError(
      `unknown command '${first}' (did you mean \`${near}\`?)`,
      `to send the word as a prompt: ${PRODUCT_NAME} -- ${first}`,
    );
  }
  return first;
}
