/** `while` and `until`: steps again and again, so many times at most. */
import type { Expression, Step } from "../definition.ts";
import { count, expression, steps as stepsSchema } from "../schema_parts.ts";
import type { Kind } from "./kind.ts";

/** The fields of a loop. */
export interface LoopBody {
  readonly condition: Expression | undefined;
  readonly steps: readonly Step[];
  readonly most: number;
}

/** Loops while its condition holds; the condition is asked before each turn. */
export const whileKind: Kind<LoopBody> = loopKind("while");

/** Loops until its condition holds; the condition is asked after each turn. */
export const untilKind: Kind<LoopBody> = loopKind("until");

function loopKind(name: "while" | "until"): Kind<LoopBody> {
  return {
    name,
    schema: expression(name === "while" ? "asked before each turn" : "asked behind each turn"),
    fields: { steps: stepsSchema("Each turn"), max_iterations: count("Turns at most; more are a failure") },
    required: ["steps", "max_iterations"],
    read(reader) {
      if (!reader.has("max_iterations")) {
        reader.reading.faults.type(
          reader.place,
          `${reader.where}: \`max_iterations\` is missing: a loop must have an end`,
        );
      }
      return {
        condition: reader.expression(name),
        steps: reader.steps("steps"),
        most: reader.integer("max_iterations", 1) ?? 1,
      };
    },
    bodies: ({ steps }) => [{ title: "loop body", steps, scope: "loop" }],
    async run({ condition, steps, most }, step) {
      let value = step.input;
      for (let index = 0;; index++) {
        step.signal.throwIfAborted();
        if (name === "while" && !await step.holds(condition!, name, value)) return { value };
        if (index === most) {
          throw step.fail(`'${name}' reached max_iterations (${most}) without its condition being met`);
        }
        step.tell(`iteration ${index + 1}/${most}`);
        const outcome = await step.steps(steps, value, { index });
        if (outcome.flow === "stop") return outcome;
        value = outcome.value;
        if (outcome.flow === "break") return { value };
        if (name === "until" && await step.holds(condition!, name, value)) return { value };
      }
    },
    plan({ condition, steps, most }, writer) {
      writer.line(`${name}: ${condition!.source}`);
      writer.line(`max_iterations: ${most}`);
      writer.steps("body:", steps);
    },
    detail: ({ condition, most }) => [condition!.source, `max_iterations: ${most}`],
  };
}
