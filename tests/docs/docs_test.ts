import assert from "node:assert/strict";
import { parseWorkflow } from "../../lib/workflow/read/workflow_file.ts";
import { understand } from "../../lib/cli/main.ts";
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
    if (/^steps:/m.test(block.text)) {
      // A workflow; its own reader says what is wrong with it.
      parseWorkflow(block.text, { shown: title(block), realPath: "/", directory: "/" });
      return;
    }
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
    Deno.test(`docs: the command line in ${title(block)} parses: lait ${command}`, async () => {
      await understand(words(command));
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
  const agents = await Deno.readTextFile(`${REPOSITORY}docs/agents.md`);
  assert(agents.includes(`at most ${LIMITS.agentFiles} agents run within each other`));
  assert(agents.includes(`model requests of one run; ${LIMITS.toolRounds}`));
  assert(agents.includes(`keep_last_n: ${LIMITS.compactionKeeps}`));
  assert.equal(LIMITS.parallelCalls, 8);
  assert(guide.includes("up to eight run at the same time"));
});

Deno.test("docs: the numbers of the MCP guide are those of the program", async () => {
  const guide = (await Deno.readTextFile(`${REPOSITORY}docs/mcp.md`)).replace(/\s+/g, " ");
  const mib = (bytes: number) => `${bytes / 1024 / 1024} MiB`;
  assert(guide.includes(`\`timeout\` is ${LIMITS.mcpRequestMs / 1000} seconds unless`));
  assert.equal(LIMITS.mcpTotalMs, 3_600_000);
  assert(guide.includes(`passed over, up to ${mib(LIMITS.mcpNoiseBytes)}`));
  assert(guide.includes(`a body over HTTP | ${mib(LIMITS.mcpMessageBytes)} |`));
  assert.equal(LIMITS.mcpBodyBytes, LIMITS.mcpMessageBytes);
  assert(guide.includes(`schemas of a server's tools | ${mib(LIMITS.mcpMetadataBytes)} |`));
  assert(guide.includes(`| ${LIMITS.mcpPages}; 1,024; 8,192 |`));
  assert.deepEqual([LIMITS.mcpPageTools, LIMITS.mcpTools, LIMITS.mcpStartupMs], [1_024, 8_192, 60_000]);
  assert.equal(LIMITS.mcpCloseMs, 500);
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
