/**
 * The guide to workflows, executed: a block of YAML that begins with the name of a file becomes that file, the command
 * lines of a block that has output behind it run, and print just that.
 */
import assert from "node:assert/strict";
import { LIMITS } from "../../lib/base/limits.ts";
import { JQ_LIMITS } from "../../lib/jq/jq.ts";
import { KINDS } from "../../lib/workflow/kinds/kinds.ts";
import { Flow } from "../workflow/_flow.ts";
import { REPOSITORY } from "../_support/process.ts";

const guide = await Deno.readTextFile(`${REPOSITORY}docs/workflows.md`);

/** What the guide takes for granted: notes, and a model. */
const FILES: Readonly<Record<string, string>> = {
  "notes/a.txt": "one\ntwo\n",
  "notes/b.txt": "three\n",
  "lait.config.yml": "models: { writer: [{ provider: { script: answers.yml } }] }",
  "answers.yml": JSON.stringify([
    { text: '{"kind":"bug"}', when: { contains: "Label this ticket" } },
    { text: "Thank you, we are looking into it.", when: { contains: "Answer this bug in one sentence." } },
  ]),
};

/** Runs a command line of the guide; what stands before `| lait` is a shell's. */
async function runLine(flow: Flow, line: string): Promise<string> {
  const [, before, command] = /^(?:(.*) \| )?lait (.*)$/.exec(line)!;
  const shell = before === undefined ? undefined : await new Deno.Command("sh", { args: ["-c", before] }).output();
  const words = [...command!.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!);
  const stdin = shell === undefined ? "" : new TextDecoder().decode(shell.stdout);
  const { code, stdout, stderr } = await flow.lait(words, { stdin });
  assert.equal(code, 0, `${line}: ${stderr}`);
  return stdout;
}

Deno.test("guide: every example that shows its output prints it", async () => {
  await using flow = await Flow.create(FILES);
  const blocks = [...guide.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }));
  let executed = 0;
  for (const [index, { language, text }] of blocks.entries()) {
    const name = language === "yaml" ? /^# (\S+\.yml)\n/.exec(text)?.[1] : undefined;
    if (name !== undefined) await flow.write(name, text);
    const expected = blocks[index + 1];
    if (language !== "sh" || expected?.language !== "text") continue;
    let printed = "";
    for (const line of text.trimEnd().split("\n")) printed += await runLine(flow, line);
    assert.equal(printed.replaceAll(/^ +$/gm, ""), expected.text);
    executed += 1;
  }
  assert(executed >= 10);
});

Deno.test("guide: its tables have every kind and the numbers of the program", () => {
  for (const name of KINDS.keys()) assert(guide.includes(`\`${name}: `) || guide.includes(`\`${name}\``), name);
  const text = guide.replaceAll(/ +/g, " ");
  const mib = (bytes: number) => `${bytes / 1024 / 1024} MiB`;
  assert(text.includes(`agent, run | ${mib(LIMITS.fileBytes)} |`));
  assert(text.includes(`stream of a program | ${mib(LIMITS.commandStreamBytes)} |`));
  const { sourceBytes, resultBytes, inputBytes } = JQ_LIMITS;
  assert(text.includes(`its input | ${sourceBytes / 1024} KiB; ${mib(resultBytes)}; ${mib(inputBytes)} |`));
  assert.equal(LIMITS.retryWaitMs, 3_600_000);
  assert(text.includes(`call each other | ${LIMITS.workflowFiles} |`));
  assert(text.includes(`in \`decide\` | ${LIMITS.decideOptions}, ${LIMITS.decideLevels} |`));
  assert(text.includes(`unless it says more | ${LIMITS.toolRounds} |`));
});
