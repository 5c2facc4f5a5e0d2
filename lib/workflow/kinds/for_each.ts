/** `for_each`: steps for each item of an array, one after the other or several at once. */
import { jsonTypeOf, type JsonValue } from "../../base/json.ts";
import { linkedController } from "../../base/signals.ts";
import type { Expression, Step } from "../definition.ts";
import type { StepRun } from "../run/steps.ts";
import { count, expression as expressionSchema, steps as stepsSchema } from "../schema_parts.ts";
import type { Kind, Outcome } from "./kind.ts";

/** The fields of a for_each step. */
export interface ForEachBody {
  readonly items: Expression | undefined;
  readonly steps: readonly Step[];
  readonly concurrency: number;
}

/** See the module. */
export const forEachKind: Kind<ForEachBody> = {
  name: "for_each",
  schema: expressionSchema("an array; its items are worked on"),
  fields: { steps: stepsSchema("For each item"), max_concurrency: { ...count("Items at once"), default: 1 } },
  required: ["steps"],
  read: (reader) => ({
    items: reader.expression("for_each"),
    steps: reader.steps("steps"),
    concurrency: reader.integer("max_concurrency", 1) ?? 1,
  }),
  bodies: ({ steps, concurrency }) => [{ title: "for_each body", steps, scope: concurrency > 1 ? "items" : "loop" }],
  async run({ items: expression, steps, concurrency }, step) {
    const items = await step.evaluate(expression!, "for_each");
    if (!Array.isArray(items)) {
      throw step.fail(`'for_each' must produce a JSON array (got ${jsonTypeOf(items)})`);
    }
    const together = concurrency > 1 ? `, up to ${concurrency} concurrently` : "";
    step.tell(`iterating over ${items.length} item(s)${together}`);
    return concurrency > 1 ? await atOnce(step, items, steps, concurrency) : await inTurn(step, items, steps);
  },
  plan({ items, steps, concurrency }, writer) {
    writer.line(`items: ${items!.source}`);
    if (concurrency > 1) writer.line(`max_concurrency: ${concurrency}`);
    writer.steps("body:", steps);
  },
  detail: ({ items, concurrency }) => [items!.source, ...concurrency > 1 ? [`max_concurrency: ${concurrency}`] : []],
};

async function inTurn(step: StepRun, items: readonly JsonValue[], steps: readonly Step[]): Promise<Outcome> {
  const values: JsonValue[] = [];
  for (const [index, item] of items.entries()) {
    step.signal.throwIfAborted();
    step.tell(`item ${index + 1}/${items.length}`);
    const outcome = await step.steps(steps, item, { index, item });
    if (outcome.flow === "stop") return outcome;
    values.push(outcome.value);
    step.progress(values.length, items.length);
    if (outcome.flow === "break") break;
  }
  return { value: values };
}

/** A window over the items: the next one starts when the oldest that runs has ended, so that the order holds. */
async function atOnce(
  step: StepRun,
  items: readonly JsonValue[],
  steps: readonly Step[],
  concurrency: number,
): Promise<Outcome> {
  const { controller, release } = linkedController(step.signal);
  const { signal } = controller;
  const window: Promise<JsonValue>[] = [];
  const values: JsonValue[] = [];
  let done = 0;
  let failed = false;
  const start = (item: JsonValue, index: number) => {
    const run = step.apart(steps, item, {
      prefix: `[item-${index + 1}] `,
      concurrent: "items",
      signal,
      loop: { index, item },
    })
      .then(({ value }) => {
        step.progress(++done, items.length);
        return value;
      });
    run.catch(() => failed = true);
    window.push(run);
  };
  try {
    for (const [index, item] of items.entries()) {
      if (window.length === concurrency) values.push(await window.shift()!);
      signal.throwIfAborted();
      // Which failure comes first is known only when those before it have ended; until then no more is begun.
      if (failed) break;
      start(item, index);
    }
    while (window.length > 0) values.push(await window.shift()!);
    return { value: values };
  } catch (error) {
    // What still runs is ended, and has ended, before anybody hears of it.
    controller.abort(error);
    await Promise.allSettled(window);
    throw error;
  } finally {
    release();
  }
}
