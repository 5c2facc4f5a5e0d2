/** `lait demo`: the main job, offline: a scripted model finds something with a real command. */
import { UsageError } from "../../base/errors.ts";
import type { Command } from "../../deps/commander.ts";
import { join, resolve } from "../../deps/path.ts";
import { addGlobalOptions, createCommand, parseLine } from "../command_line.ts";
import type { CommandContext } from "../command.ts";
import * as chat from "./chat.ts";

const PROMPT = "Where is work left to do?";

const SAMPLE: Readonly<Record<string, string>> = {
  "notes/garden.md": "# Garden\n\nTODO: water the tomatoes\n",
  "notes/house.md": "# House\n\nThe roof is fine.\nTODO: oil the hinges\n",
  "src/parser.ts": "export function parse(text: string) {\n  return text.split(/\\s+/); // TODO: quoted words\n}\n",
};

const SCRIPT = {
  answers: [
    {
      text: "I search for the marks that people leave.\n",
      calls: [{ name: "tool__find_text", arguments: { pattern: "TODO" } }],
      usage: { input: 64, output: 21 },
    },
    { text: "This is what is left to do:\n\n{{ last }}", usage: { input: 142, output: 48 }, delay_ms: 15 },
  ],
};

/** Adds what the demo takes. */
export function define(command: Command): void {
  command.option("--dir <directory>", "search this directory instead of a few files made for the demo");
}

/** Writes a project into a temporary directory, and asks there as a user would. */
export async function run({ io, line, ...context }: CommandContext): Promise<void> {
  const { dir } = line.options as { dir?: string };
  if (line.words.length > 0) throw new UsageError(`the demo takes no words (got ${JSON.stringify(line.words[0])})`);
  const place = await Deno.makeTempDir({ prefix: "lait-demo-" });
  try {
    const searched = dir === undefined ? await writeSample(place) : resolve(io.directory, dir);
    const config = configText(searched);
    await Deno.writeTextFile(join(place, "lait.config.yml"), config);
    await Deno.writeTextFile(join(place, "script.json"), JSON.stringify(SCRIPT));
    const argv = ["--stream", "--show-usage", "--config", join(place, "lait.config.yml"), "--no-stdin", PROMPT];
    io.stderr.write(`==> demo: a scripted model and a real command; this is its lait.config.yml\n${config}`);
    io.stderr.write(`==> lait --stream --show-usage ${JSON.stringify(PROMPT)}\n`);
    await chat.run({
      ...context,
      io: { ...io, environment: withoutModelSettings(io.environment) },
      line: chatLine(argv),
    });
  } finally {
    await Deno.remove(place, { recursive: true });
  }
}

/** The demo's model is its script, whatever the user's environment says for other prompts. */
function withoutModelSettings(environment: CommandContext["io"]["environment"]): CommandContext["io"]["environment"] {
  return (name) => /^(LLM|OPENAI)_/.test(name) ? undefined : environment(name);
}

function chatLine(argv: readonly string[]): CommandContext["line"] {
  const command = addGlobalOptions(createCommand("lait", "prompt"));
  chat.define(command);
  return parseLine(command, argv);
}

async function writeSample(place: string): Promise<string> {
  const folder = join(place, "sample");
  for (const [path, text] of Object.entries(SAMPLE)) {
    await Deno.mkdir(join(folder, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(folder, path), text);
  }
  return folder;
}

/** JSON strings are YAML strings, so a path with any character in it is written as one. */
function configText(folder: string): string {
  const command = Deno.build.os === "windows"
    ? ["findstr", "/S", "/N", "/C:{{ input.pattern }}", "*"]
    : ["grep", "-rnI", "--exclude-dir=.git", "--exclude-dir=node_modules", "-e", "{{ input.pattern }}", "."];
  // Only what grep needs, which also lets the demo run with narrowed rights. findstr needs more of Windows.
  const environment = Deno.build.os === "windows" ? "" : `    env: { PATH: "\${PATH}" }\n`;
  return `default:
  model: scripted
  tools: [find_text]
models:
  scripted:
    - provider: { script: script.json }
tools:
  find_text:
    description: Finds a text in the files below a directory.
    command: ${JSON.stringify(command)}
    cwd: ${JSON.stringify(folder)}
${environment}    parameters:
      type: object
      properties: { pattern: { type: string } }
      required: [pattern]
`;
}
