/**
 * Runs the engine against a file in the jq project's test format: `deno task jq-conformance FILE`.
 *
 * A case is a program, an input and the expected outputs, one a line; blank lines part cases, `#` starts a comment.
 * `%%FAIL` comes before a program that must not compile, and the message that jq gives for it, which is not compared.
 */
import { isDeepStrictEqual } from "node:util";
import { compile, JqCompileError, JqSyntaxError } from "../lib/jq/jq.ts";
import { parseJson } from "../lib/jq/values/parse.ts";

/** One case of a file. */
export interface ConformanceCase {
  readonly line: number;
  readonly program: string;
  /** Absent where the program must not compile. */
  readonly input?: string;
  readonly outputs: readonly string[];
}

/** What became of a case. */
export interface ConformanceResult {
  readonly test: ConformanceCase;
  /** What was wrong; absent when it passed. */
  readonly fault?: string;
}

/** Reads the cases of a file. */
export function readCases(text: string): ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const lines = text.split("\n");
  const isSkipped = (line: string) => /^\s*(?:#|$)/.test(line);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    if (isSkipped(line)) continue;
    if (line.startsWith("%%FAIL")) {
      cases.push({ line: at + 2, program: lines[at + 1]!, outputs: [] });
      while (at + 1 < lines.length && lines[at + 1] !== "") at++;
      continue;
    }
    const start = at;
    const input = lines[at + 1]!;
    const outputs: string[] = [];
    for (at += 2; at < lines.length && lines[at]!.trim() !== ""; at++) {
      if (!isSkipped(lines[at]!)) outputs.push(lines[at]!);
    }
    cases.push({ line: start + 1, program: line, input, outputs });
  }
  return cases;
}

/** jq's tests build values about 10 000 deep. */
const LIMITS = { depth: 10_001, milliseconds: 20_000 };

/** Runs one case. */
export async function runCase(test: ConformanceCase): Promise<ConformanceResult> {
  try {
    const program = compile(test.program, { limits: LIMITS });
    if (test.input === undefined) return { test, fault: "compiled, but must not" };
    const found: unknown[] = [];
    let failure = "";
    try {
      for await (const value of program.evaluate(parseJson(test.input, Infinity))) {
        found.push(value);
        if (found.length > test.outputs.length + 10) break;
      }
    } catch (error) {
      failure = ` and then failed: ${(error as Error).message}`;
    }
    const wanted = test.outputs.map((output) => plain(parseJson(output, Infinity)));
    if (isDeepStrictEqual(found.map(plain), wanted)) return { test };
    return { test, fault: `gave ${JSON.stringify(found).slice(0, 300)}${failure}` };
  } catch (error) {
    if (!(error instanceof JqSyntaxError || error instanceof JqCompileError)) {
      return { test, fault: `failed: ${(error as Error).message}` };
    }
    return test.input === undefined ? { test } : { test, fault: `did not compile: ${error.message}` };
  }
}

/** As JSON says it: no -0, no NaN. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, part) => part === Infinity ? Number.MAX_VALUE : part));
}

if (import.meta.main) {
  const path = Deno.args[0];
  if (path === undefined) throw new Error("usage: deno task jq-conformance FILE");
  const results: ConformanceResult[] = [];
  for (const test of readCases(await Deno.readTextFile(path))) results.push(await runCase(test));
  const failed = results.filter(({ fault }) => fault !== undefined);
  const text = failed.map(({ test, fault }) =>
    `line ${test.line}: ${test.program}\n  input ${test.input}\n  wanted ${test.outputs.join(" ")}\n  ${fault}\n`
  ).join("");
  await Deno.stdout.write(
    new TextEncoder().encode(`${text}passed ${results.length - failed.length}, failed ${failed.length}\n`),
  );
}
