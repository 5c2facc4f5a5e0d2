import assert from "node:assert/strict";
import { addGlobalOptions, createCommand, findCommand, parseLine } from "../../lib/cli/command_line.ts";
import * as chat from "../../lib/cli/commands/chat.ts";
import * as demo from "../../lib/cli/commands/demo.ts";
import * as jq from "../../lib/cli/commands/jq.ts";
import { LIMITS } from "../../lib/base/limits.ts";
import { configShape } from "../../lib/project/config_shape.ts";
import { createCommandTool } from "../../lib/tool/command.ts";
import { readShape } from "../../lib/source/shape.ts";
import { readYaml } from "../../lib/source/yaml.ts";
import { REPOSITORY } from "../_support/process.ts";

const STRICT_ASSERT = `${REPOSITORY}tests/docs/strict_assert.ts`;

interface Block {
  readonly file: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

const files = [
  "README.md",
  ...(await Array.fromAsync(Deno.readDir(`${REPOSITORY}docs`))).map(({ name }) => `docs/${name}`),
];

/** Every fenced block of the documentation. */
const blocks: Block[] = [];
for (const file of files) {
  const text = await Deno.readTextFile(`${REPOSITORY}${file}`);
  for (const match of text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)) {
    const line = text.slice(0, match.index).split("\n").length;
    blocks.push({ file, line, language: match[1]!, text: match[2]! });
  }
}

const of = (language: string) => blocks.filter((block) => block.language === language);
const title = ({ file, line }: Block) => `${file}:${line}`;

Deno.test("docs: every language of a block is one that is tested", () => {
  for (const block of blocks) {
    assert(["sh", "yaml", "ts", "text"].includes(block.language), `${title(block)}: ${block.language}`);
  }
});

for (const block of of("yaml")) {
  Deno.test(`docs: the configuration in ${title(block)} is valid`, () => {
    const { root, diagnostics } = readYaml(block.text, block.file);
    const config = readShape(configShape, root!, diagnostics);
    assert.deepEqual(diagnostics, []);
    for (const [name, tool] of Object.entries(config!.tools ?? {})) {
      createCommandTool(name, tool, { variable: () => "", placeOf: () => undefined });
    }
  });
}

/** The words of a shell line; only what the documentation uses: quotes, no expansions. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) =>
    double ?? single ?? plain!
  );
}

for (const block of of("sh")) {
  for (const line of block.text.split("\n")) {
    const command = /(?:^|\| )lait (.*)$/.exec(line)?.[1];
    if (command === undefined) continue;
    Deno.test(`docs: the command line in ${title(block)} parses: lait ${command}`, () => {
      const root = addGlobalOptions(createCommand("lait", ""));
      chat.define(root);
      const argv = words(command);
      const found = findCommand(root, argv, ["demo", "jq"]);
      if (found.command === undefined) {
        parseLine(root, argv);
        return;
      }
      const sub = addGlobalOptions(createCommand(`lait ${found.command}`, ""));
      (found.command === "jq" ? jq : demo).define(sub);
      parseLine(sub, found.rest);
    });
  }
}

for (const block of of("ts")) {
  Deno.test(`docs: the program in ${title(block)} checks and runs`, async () => {
    const path = await Deno.makeTempFile({ suffix: ".ts" });
    try {
      await Deno.writeTextFile(path, block.text.replaceAll('"./', `"file://${REPOSITORY}`));
      const { success, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-A",
          "--check",
          "--quiet",
          "--preload",
          STRICT_ASSERT,
          "--config",
          `${REPOSITORY}deno.json`,
          path,
        ],
      }).output();
      assert(success, new TextDecoder().decode(stderr));
    } finally {
      await Deno.remove(path);
    }
  });
}

Deno.test("docs: the numbers of the guide are those of the program", async () => {
  const guide = await Deno.readTextFile(`${REPOSITORY}docs/tools.md`);
  assert(guide.includes(`seconds, default ${LIMITS.shellToolTimeoutSeconds};`));
  assert(guide.includes(`more than ${LIMITS.commandStreamBytes / 1024 / 1024} MiB to a stream`));
  assert(guide.includes(`\`default.max_tool_rounds\` (${LIMITS.toolRounds})`));
  assert.equal(LIMITS.parallelCalls, 8);
  assert(guide.includes("up to eight run at the same time"));
});

Deno.test("docs: relative links lead to files", async () => {
  for (const file of [...files, "CONTRIBUTING.md", "CHANGELOG.md"]) {
    const text = await Deno.readTextFile(`${REPOSITORY}${file}`);
    for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
      await Deno.stat(new URL(target!, `file://${REPOSITORY}${file}`));
    }
  }
});

Deno.test("docs: the quick start holds exactly two commands", async () => {
  const readme = await Deno.readTextFile(`${REPOSITORY}README.md`);
  const block = /## Quick start[\s\S]*?^```sh\n([\s\S]*?)^```$/m.exec(readme)![1]!;
  assert.equal(block.trim().split("\n").length, 2);
});

Deno.test("docs: every example of a public symbol runs, and holds", async () => {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--doc", "--no-check", "-A", "--quiet", "--preload", STRICT_ASSERT, "lib", "mod.ts"],
    cwd: REPOSITORY,
  }).output();
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert(success, said);
});
