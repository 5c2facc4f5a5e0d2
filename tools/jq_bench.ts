/** How fast the jq engine is: `deno run -A tools/jq_bench.ts`. The system's jq, where there is one, and jq-web are timed beside it. */
import { compile } from "../lib/jq/jq.ts";
import { jqWeb } from "../tests/deps.ts";

const web = await (jqWeb as unknown as Promise<{ raw(input: string, program: string, flags: string[]): string }>);

function report(what: string): Promise<number> {
  return Deno.stdout.write(new TextEncoder().encode(`${what}\n`));
}

function best(rounds: number, run: () => void): number {
  let least = Infinity;
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    run();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

const count = 200_000;
const small = compile(".a+1");
const perSecond = (milliseconds: number) => `${Math.round(count / milliseconds * 1000).toLocaleString("en")} a second`;
await report(`.a+1, collect: ${
  perSecond(best(5, () => {
    for (let round = 0; round < count; round++) small.collect({ a: round });
  }))
}`);

const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, v: id % 7, name: `row ${id}` }));
const programs = [
  "[.rows[]|select(.v==3)|.id]|length",
  ".rows|map(.v)|add",
  ".rows|group_by(.v)|map(length)",
  "reduce .rows[] as $r ({}; .[$r.name] = $r.v)|length",
  "reduce .rows[] as $r ([]; . + [$r.id])|length",
  '[.rows[]|.name|test("9$")]|length',
  "[..]|length",
  ".rows|map(.v |= .+1)|length",
  ".rows[].v += 1|.rows|length",
  "def f: if . > 100000 then . else .+1|f end; 0|f",
  "[limit(5; .rows[]|.id)]",
];
const text = JSON.stringify({ rows });
const file = await Deno.makeTempFile();
await Deno.writeTextFile(file, text);
for (const source of programs) {
  const program = compile(source);
  const input = { rows };
  const ours = best(5, () => void [...program.evaluateSync(input)]);
  let theirs = "";
  try {
    const run = () => new Deno.Command("jq", { args: ["-c", source, file] }).outputSync();
    if (run().success) theirs = `, jq ${best(2, run).toFixed(1)} ms with start and parsing`;
  } catch {
    // No jq here.
  }
  theirs += `, jq-web ${best(2, () => void web.raw(text, source, ["-c"])).toFixed(1)} ms with parsing`;
  await report(`${source}: ${ours.toFixed(2)} ms${theirs}`);
}
await Deno.remove(file);
