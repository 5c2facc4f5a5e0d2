/** Where steps may stand: `break` in a loop, nothing that ends the whole or asks a person among several at once. */
import type { Step } from "../definition.ts";
import type { WriteBody } from "../kinds/write.ts";
import type { Faults } from "./fields.ts";

/** What is around a step. */
interface Surroundings {
  /** Whether `break` has a loop to end. */
  readonly loop: boolean;
  /** What runs several at once, the strictest. */
  readonly concurrent: "branch" | "items" | undefined;
}

/** Checks a whole file. */
export function checkPlacement(steps: readonly Step[], faults: Faults): void {
  const ids = new Map<string, Step>();
  visit(steps, { loop: false, concurrent: undefined }, faults, ids);
}

/** What of a file would break the rules where it is called from: told of a child that is called among several at once. */
export function inheritedFaults(steps: readonly Step[], concurrent: "branch" | "items"): string[] {
  const found: string[] = [];
  const walk = (list: readonly Step[]) => {
    for (const step of list) {
      const reason = refusedWithin(step, concurrent);
      if (reason !== undefined && step.kind.name !== "stop") found.push(`${step.where}: ${reason}`);
      for (const { steps } of step.kind.bodies(step.body)) walk(steps);
      if (step.onError !== undefined) walk(step.onError);
    }
  };
  walk(steps);
  return found;
}

function visit(steps: readonly Step[], around: Surroundings, faults: Faults, ids: Map<string, Step>): void {
  for (const step of steps) {
    checkId(step, faults, ids);
    const { name } = step.kind;
    if (name === "break" && !around.loop) {
      const message =
        `${step.where}: \`break\` must be in the steps of a for_each, while or until, and not across several at once`;
      faults.add("placement", step.place, message);
    }
    const reason = around.concurrent && refusedWithin(step, around.concurrent);
    if (reason !== undefined) faults.add("placement", step.place, `${step.where}: ${reason}`);
    for (const { steps: inner, scope } of step.kind.bodies(step.body)) visit(inner, within(around, scope), faults, ids);
    if (step.onError !== undefined) visit(step.onError, around, faults, ids);
  }
}

function within(around: Surroundings, scope: "same" | "loop" | "branch" | "items"): Surroundings {
  switch (scope) {
    case "same":
      return around;
    case "loop":
      return { ...around, loop: true };
    case "branch":
      return { loop: false, concurrent: around.concurrent ?? "branch" };
    case "items":
      return { loop: false, concurrent: "items" };
  }
}

function refusedWithin({ kind, body }: Step, concurrent: "branch" | "items"): string | undefined {
  const place = concurrent === "branch" ? "a `parallel` branch" : "a `for_each` that runs several items at once";
  if (kind.name === "stop" || kind.name === "ask") return `\`${kind.name}\` cannot stand in ${place}`;
  if (kind.name !== "write" || concurrent !== "items") return undefined;
  const { path } = body as WriteBody;
  return path.source.includes("{{")
    ? undefined
    : `\`write\` to a fixed path cannot stand in ${place}: use {{ loop.index }}`;
}

function checkId(step: Step, faults: Faults, ids: Map<string, Step>): void {
  const { id } = step;
  if (id === undefined) return;
  const before = ids.get(id);
  if (before === undefined) ids.set(id, step);
  else {faults.add(
      "duplicate-id",
      step.place,
      `${step.where}: the id '${id}' is used more than once; first at ${before.where}`,
    );}
}
