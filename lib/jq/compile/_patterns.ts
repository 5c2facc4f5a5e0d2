/** The variables of patterns. */
import type { JqPattern } from "../ast.ts";
import type { Compiler } from "./compiler.ts";
import { type Scope, withName } from "./scope.ts";

/** The scope with every variable of the patterns, one slot for a name. */
export function withPatterns(
  compiler: Compiler,
  scope: Scope,
  patterns: readonly JqPattern[],
): { readonly scope: Scope; readonly slots: ReadonlyMap<string, number> } {
  return compiler.once("slots", patterns, scope, () => {
    const slots = new Map<string, number>();
    let inner = scope;
    for (const name of patterns.flatMap(namesIn)) {
      if (slots.has(name)) continue;
      const slot = scope.owner.slot();
      slots.set(name, slot);
      inner = withName(inner, { kind: "variable", name, slot });
    }
    return { scope: inner, slots };
  });
}

/** The names that a pattern binds. */
export function namesIn(pattern: JqPattern): string[] {
  if (pattern.kind === "variable") return [pattern.name];
  if (pattern.kind === "array") return pattern.items.flatMap(namesIn);
  return pattern.entries.flatMap(({ variable, pattern: inside }) => [
    ...(variable === undefined ? [] : [variable]),
    ...(inside === undefined ? [] : namesIn(inside)),
  ]);
}
