/** The command: argv in, exit code out. Each command's module is loaded only when it is called. */
import { UsageError } from "../base/errors.ts";
import { didYouMean } from "../base/nearest.ts";
import { PRODUCT_NAME, VERSION } from "../base/product.ts";
import type { Command } from "../deps/commander.ts";
import type { CommandModule } from "./command.ts";
import {
  addGlobalOptions,
  createCommand,
  findCommand,
  HelpRequested,
  onePrompt,
  type ParsedLine,
  parseLine,
  refuseOptionsBefore,
} from "./command_line.ts";
import { loadDotenv } from "./dotenv.ts";
import { EXIT, exitCodeOf, reportError } from "./exit.ts";
import { listenForInterrupts } from "./interrupt.ts";
import type { Io } from "./io.ts";

interface CommandEntry {
  readonly summary: string;
  load(): Promise<CommandModule>;
}

/** A command that has actions, such as `lait agent run`. */
interface CommandGroup {
  readonly summary: string;
  readonly actions: Readonly<Record<string, CommandEntry>>;
}

/** Every subcommand, in the order of the help. */
const COMMANDS: Readonly<Record<string, CommandEntry | CommandGroup>> = {
  agent: {
    summary: "run agents, which are Markdown files, or list them",
    actions: {
      run: { summary: "run an agent", load: () => import("./commands/agent_run.ts") },
      show: { summary: "show what an agent would run with", load: () => import("./commands/agent_show.ts") },
      list: { summary: "list the agents of `agents:`", load: () => import("./commands/agent_list.ts") },
    },
  },
  chat: {
    summary: "talk with a model; bare `lait` on a terminal does the same",
    load: () => import("./commands/repl.ts"),
  },
  decide: {
    summary: "answer typed questions about a text by the decision service",
    load: () => import("./commands/decide.ts"),
  },
  demo: {
    summary: "show the main job offline: a scripted model uses a real command",
    load: () => import("./commands/demo.ts"),
  },
  graph: {
    summary: "draw a workflow, as Mermaid or DOT",
    load: () => import("./commands/graph.ts"),
  },
  jq: {
    summary: "evaluate a jq expression over JSON: a jq in the same binary",
    load: () => import("./commands/jq.ts"),
  },
  mcp: {
    summary: "list and call the tools of MCP servers, log in and out",
    load: () => import("./commands/mcp.ts"),
  },
  run: {
    summary: "run a workflow, which is a YAML file",
    load: () => import("./commands/run.ts"),
  },
  runs: {
    summary: "list and show the runs whose state was kept",
    actions: {
      list: { summary: "list them", load: async () => (await import("./commands/runs.ts")).list },
      show: { summary: "show one", load: async () => (await import("./commands/runs.ts")).show },
    },
  },
  workflow: {
    summary: "list workflows",
    actions: {
      list: { summary: "list the entries of `workflows:`", load: () => import("./commands/workflow_list.ts") },
    },
  },
  prompt: {
    summary: "run the prompts of `prompts:`, or list them",
    actions: {
      run: { summary: "run a prompt", load: () => import("./commands/prompt_run.ts") },
      list: { summary: "list the prompts of `prompts:`", load: () => import("./commands/prompt_list.ts") },
    },
  },
  schema: {
    summary: "print the JSON Schema of a kind of file, for editors",
    actions: {
      workflow: { summary: "that of workflows", load: async () => (await import("./commands/schema.ts")).workflow },
    },
  },
  sessions: {
    summary: "the conversations that --session keeps",
    actions: {
      list: { summary: "list the sessions of this directory", load: () => import("./commands/sessions_list.ts") },
      show: { summary: "print a session", load: () => import("./commands/sessions_show.ts") },
      delete: { summary: "delete a session", load: () => import("./commands/sessions_delete.ts") },
    },
  },
  skill: {
    summary: "list the skills of `skills:`",
    actions: { list: { summary: "list the skills of `skills:`", load: () => import("./commands/skill_list.ts") } },
  },
};

const NAMES = Object.keys(COMMANDS);

/**
 * Runs a command line.
 *
 * @returns the exit code: 0 success, 1 failure, 2 usage, 3 a file that people wrote, 4 model, 5 timeout, 128 and the
 * signal's number when a signal ended it
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const verbose = argv.some((word) => /^-v+$|^--verbose$/.test(word));
  try {
    await execute(argv, io);
    return EXIT.success;
  } catch (error) {
    reportError(io, error, verbose);
    return exitCodeOf(error);
  }
}

/** Runs a command line; what it prints is written when this resolves or throws. */
async function execute(argv: readonly string[], io: Io): Promise<void> {
  try {
    const [first] = argv;
    if (first === "--version" || first === "-V") io.stdout.write(`${PRODUCT_NAME} ${VERSION}\n`);
    else await dispatch(first === "help" ? helpWords(argv) : argv, io);
  } catch (error) {
    if (!(error instanceof HelpRequested)) throw error;
    io.stdout.write(error.text);
  } finally {
    await io.stdout.flush();
  }
}

/** `lait help`, `lait help demo`, `lait help agent run`. */
function helpWords(argv: readonly string[]): readonly string[] {
  return argv[1] !== undefined && NAMES.includes(argv[1]) ? [...argv.slice(1, 3), "--help"] : ["--help"];
}

async function dispatch(argv: readonly string[], io: Io): Promise<void> {
  const { module, line } = await understand(argv);
  await runCommand(module, line, io);
}

/**
 * What a command line asks for.
 *
 * @throws UsageError for what cannot be understood, HelpRequested with the help text
 */
export async function understand(argv: readonly string[]): Promise<{ module: CommandModule; line: ParsedLine }> {
  const chat = await import("./commands/chat.ts");
  const root = createRoot(chat);
  const { command: name, before, rest } = findCommand(root, argv, NAMES);
  if (name === undefined) {
    const line = parseLine(root, rest);
    const prompt = onePrompt(line.words, NAMES, rest.includes("--"));
    return { module: chat, line: { ...line, words: prompt === undefined ? [] : [prompt] } };
  }
  refuseOptionsBefore(before, addGlobalOptions(createCommand("globals", "")), name);
  const { title, summary, load, words } = findAction(name, rest);
  const command = createCommand(`${PRODUCT_NAME} ${title}`, summary);
  const module = await load();
  module.define(command);
  addGlobalOptions(command);
  return { module, line: parseLine(command, [...before, ...words]) };
}

/** The command of a name, or the action of a group, with the words behind it. */
function findAction(
  name: string,
  rest: readonly string[],
): CommandEntry & { readonly title: string; readonly words: readonly string[] } {
  const found = COMMANDS[name]!;
  if ("load" in found) return { ...found, title: name, words: rest };
  const globals = addGlobalOptions(createCommand("globals", ""));
  const actions = Object.keys(found.actions);
  const { command: action, before, rest: words } = findCommand(globals, rest, actions);
  if (action !== undefined) {
    return { ...found.actions[action]!, title: `${name} ${action}`, words: [...before, ...words] };
  }
  if (rest.some((word) => word === "-h" || word === "--help")) throw new HelpRequested(groupHelp(name, found));
  const given = rest.find((word) => !word.startsWith("-"));
  const near = given === undefined ? undefined : didYouMean(given, actions);
  const message = given === undefined
    ? `\`${PRODUCT_NAME} ${name}\` needs an action: ${actions.join(", ")}`
    : `unknown action '${given}' of \`${PRODUCT_NAME} ${name}\`${near === undefined ? "" : ` (${near})`}`;
  throw new UsageError(message, `run \`${PRODUCT_NAME} ${name} --help\` to see what there is`);
}

function groupHelp(name: string, { summary, actions }: CommandGroup): string {
  const width = Math.max(...Object.keys(actions).map((action) => action.length));
  const lines = Object.entries(actions).map(([action, { summary }]) => `  ${action.padEnd(width)}  ${summary}\n`);
  return `Usage: ${PRODUCT_NAME} ${name} <action> [options]\n\n${summary}\n\nActions:\n${lines.join("")}\n` +
    `\`${PRODUCT_NAME} ${name} <action> --help\` tells what an action takes.\n`;
}

function createRoot(chat: CommandModule): Command {
  const root = createCommand(
    PRODUCT_NAME,
    "Ask a language model something, and let it use your local commands.",
  );
  chat.define(root);
  addGlobalOptions(root);
  root.option("-V, --version", "print the version");
  const width = Math.max(...NAMES.map((name) => name.length));
  const commands = NAMES.map((name) => `  ${name.padEnd(width)}  ${COMMANDS[name]!.summary}`).join("\n");
  root.usage("[options] [PROMPT]\n       lait <command> [options]");
  root.addHelpText("after", `\nCommands:\n${commands}\n${EXAMPLES}`);
  return root;
}

const EXAMPLES = `
Examples:
  lait demo                                         see it work, without a model or a key
  lait "Say hello." --model small --base-url http://localhost:1234/v1
  git diff | lait "Review this."                    what is piped in is added to the prompt
  lait "Where is TODO used?" --tool find_text       find_text is a command of lait.config.yml

A command as a tool, in lait.config.yml:
  tools:
    find_text:
      command: ["rg", "-n", "-e", "{{ input.pattern }}"]
      parameters:
        type: object
        properties: { pattern: { type: string } }
        required: [pattern]

Exit codes:
  0 success, 1 failure, 2 usage, 3 a file has faults, 4 model server, 5 timeout, 130 interrupted
`;

async function runCommand(module: CommandModule, line: ParsedLine, io: Io): Promise<void> {
  if (line.options["version"] === true) {
    io.stdout.write(`${PRODUCT_NAME} ${VERSION}\n`);
    return;
  }
  const interrupts = listenForInterrupts(io);
  try {
    const environment = line.options.env ? await loadDotenv(io) : io.environment;
    const { signal, intercept } = interrupts;
    await module.run({ io: { ...io, environment }, line, signal, intercept });
    await io.stdout.flush();
  } finally {
    await interrupts.release();
  }
}
