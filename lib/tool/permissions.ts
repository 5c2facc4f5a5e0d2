/** `defineHarnessPermissions`: which calls may run, by rules over tool names, paths and commands. */
import { ConfigurationError } from "../base/errors.ts";
import { checkKeys, checkOneOf, checkText } from "../base/options.ts";
import { compilePathGlob, compileTextGlob, type Glob } from "./glob.ts";
import { normalizePath } from "./path_rule.ts";
import type { Decision } from "./policy.ts";
import type { ToolResources } from "./tool.ts";

/** One rule; it applies when every criterion that it has fits, so always when it has none. */
export interface HarnessPermissionRule {
  /** What the rule does with a call that it applies to. */
  readonly effect: "allow" | "deny";
  /** Text globs over the tool's name. */
  readonly tools?: readonly string[];
  /**
   * Path globs over the declared paths, relative to the root (the root itself is `.`). An allowing rule needs all of
   * them to fit, a denying one needs one. A path outside the root fits nothing.
   */
  readonly paths?: readonly string[];
  /** Text globs over the declared command. */
  readonly commands?: readonly string[];
  /** What the model is told when the rule denies. Default: the rule's number. */
  readonly reason?: string;
}

/** Options of {@link defineHarnessPermissions}. */
export interface HarnessPermissionsOptions {
  /** What happens to calls that no rule applies to. Default: `allow`. */
  readonly default?: "allow" | "deny";
  /** The rules; the first that applies decides. */
  readonly rules: readonly HarnessPermissionRule[];
}

/** Permissions; made by {@link defineHarnessPermissions}, frozen. */
export interface HarnessPermissions {
  /** Marks permissions. */
  readonly kind: "permissions";
  /** Decides about a call by the tool's name and what the call declares that it touches. */
  evaluate(tool: string, resources: ToolResources): Decision;
}

interface CompiledRule {
  readonly effect: "allow" | "deny";
  readonly reason: string | undefined;
  readonly criteria: readonly ((tool: string, resources: ToolResources) => boolean)[];
}

const made = new WeakSet<object>();

/**
 * Defines permissions. They guide a model and are no wall: a declared command is a text and not what the shell makes of
 * it, and a tool's code may touch what it does not declare.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { defineHarnessPermissions } from "./permissions.ts";
 * const permissions = defineHarnessPermissions({
 *   default: "deny",
 *   rules: [{ effect: "allow", tools: ["read_file", "write_file"], paths: ["src/**"] }],
 * });
 * console.assert(permissions.evaluate("read_file", { paths: ["src/a.ts"] }).allowed);
 * console.assert(!permissions.evaluate("read_file", { paths: [".env"] }).allowed);
 * ```
 */
export function defineHarnessPermissions(options: HarnessPermissionsOptions): HarnessPermissions {
  checkKeys("defineHarnessPermissions", options, ["default", "rules"]);
  const { default: otherwise = "allow", rules } = options;
  checkOneOf("defineHarnessPermissions: default", otherwise, ["allow", "deny"]);
  if (!Array.isArray(rules)) throw new ConfigurationError("defineHarnessPermissions: rules must be a list");
  const compiled = rules.map((rule: HarnessPermissionRule, index) =>
    compileRule(rule, `defineHarnessPermissions: rules[${index}]`)
  );
  const permissions: HarnessPermissions = Object.freeze({
    kind: "permissions" as const,
    evaluate(tool: string, resources: ToolResources): Decision {
      const index = compiled.findIndex(({ criteria }) => criteria.every((applies) => applies(tool, resources)));
      const { effect, reason } = compiled[index] ?? { effect: otherwise, reason: undefined };
      if (effect === "allow") return { allowed: true };
      const by = index < 0 ? "the permissions' default" : `permission rule ${index + 1}`;
      return { allowed: false, reason: reason ?? `${by} denies this call of \`${tool}\`` };
    },
  });
  made.add(permissions);
  return permissions;
}

/** Whether a value was made by {@link defineHarnessPermissions}. */
export function isHarnessPermissions(value: unknown): value is HarnessPermissions {
  return typeof value === "object" && value !== null && made.has(value);
}

function compileRule(rule: HarnessPermissionRule, what: string): CompiledRule {
  checkKeys(what, rule, ["effect", "tools", "paths", "commands", "reason"]);
  const { effect, tools, paths, commands, reason } = rule;
  if (effect !== "allow" && effect !== "deny") {
    throw new ConfigurationError(`${what}.effect must be "allow" or "deny" (got ${JSON.stringify(effect)})`);
  }
  if (reason !== undefined) checkText(`${what}.reason`, reason);
  const criteria: CompiledRule["criteria"][number][] = [];
  if (tools !== undefined) {
    const names = compileAll(tools, compileTextGlob, `${what}.tools`);
    criteria.push((tool) => names(tool));
  }
  if (commands !== undefined) {
    const texts = compileAll(commands, compileTextGlob, `${what}.commands`);
    criteria.push((_tool, { command }) => command !== undefined && texts(command));
  }
  if (paths !== undefined) {
    const places = compileAll(paths, compilePathGlob, `${what}.paths`);
    const fits = (path: string) => {
      const normal = normalizePath(path);
      return normal !== undefined && places(normal);
    };
    criteria.push((_tool, { paths: declared = [] }) =>
      effect === "allow" ? declared.length > 0 && declared.every(fits) : declared.some(fits)
    );
  }
  return { effect, reason, criteria };
}

/** Whether one of the patterns fits. */
function compileAll(
  patterns: readonly string[],
  compile: (pattern: string) => Glob,
  what: string,
): (text: string) => boolean {
  if (!Array.isArray(patterns) || patterns.length === 0) {
    throw new ConfigurationError(`${what} must be a list with at least one pattern; leave it out to accept all`);
  }
  patterns.forEach((pattern, index) => checkText(`${what}[${index}]`, pattern));
  const globs = patterns.map(compile);
  return (text) => globs.some((glob) => glob.matches(text));
}
